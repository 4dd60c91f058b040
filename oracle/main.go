// Command oracle answers allocation cases with the allocator of Kubernetes.
//
// Each line of the input is a case, each line of the output its answer. A case with "rounds" is a measurement: every
// claim is tried on every node that many times, and the answer is the time of the fastest round.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	core "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const patience = 10 * time.Second

type Step struct {
	Node       string   `json:"node"`
	Allocate   []string `json:"allocate"`
	Deallocate []string `json:"deallocate"`
}

type Case struct {
	ID      string            `json:"id"`
	Gates   map[string]bool   `json:"featureGates"`
	Objects []json.RawMessage `json:"objects"`
	Steps   []Step            `json:"steps"`
	Rounds  int               `json:"rounds"`
}

type Answer struct {
	ID    string   `json:"id"`
	Steps []Result `json:"steps,omitempty"`
	// Nanoseconds that NewAllocator and Allocate took.
	Nanoseconds int64 `json:"ns"`
	Calls       int   `json:"calls,omitempty"`
	Allocated   int   `json:"allocated,omitempty"`
}

type Result struct {
	Status      string                               `json:"status"`
	Message     string                               `json:"message,omitempty"`
	Allocations map[string]resource.AllocationResult `json:"allocations,omitempty"`
}

// classes serves the device classes of a case.
type classes map[string]*resource.DeviceClass

func (c classes) List() ([]*resource.DeviceClass, error) {
	all := make([]*resource.DeviceClass, 0, len(c))
	for _, class := range c {
		all = append(all, class)
	}
	return all, nil
}

func (c classes) Get(name string) (*resource.DeviceClass, error) {
	if class := c[name]; class != nil {
		return class, nil
	}
	return nil, fmt.Errorf("deviceclass.resource.k8s.io %q not found", name)
}

// cluster is the state of a case while its steps are played.
type cluster struct {
	features structured.Features
	nodes    map[string]*core.Node
	order    []*core.Node
	classes  classes
	slices   []*resource.ResourceSlice
	claims   map[string]*resource.ResourceClaim
	labels   []string
	cache    *cel.Cache
	shares   int
}

func newCluster(c Case, caches map[cel.Features]*cel.Cache) (*cluster, error) {
	k := &cluster{
		features: structured.Features{
			AdminAccess:             c.Gates["DRAAdminAccess"],
			PrioritizedList:         c.Gates["DRAPrioritizedList"],
			PartitionableDevices:    c.Gates["DRAPartitionableDevices"],
			DeviceTaints:            c.Gates["DRADeviceTaints"],
			DeviceBindingAndStatus:  c.Gates["DRADeviceBindingConditions"],
			ConsumableCapacity:      c.Gates["DRAConsumableCapacity"],
			FractionalCapacityRange: c.Gates["DRAFractionalCapacityRange"],
			ListTypeAttributes:      c.Gates["DRAListTypeAttributes"],
			OptionalNodeOperations:  c.Gates["DRAOptionalNodeOperations"],
			DerivedAttributes:       c.Gates["DRADerivedAttributes"],
			CompatibilityGroups:     c.Gates["DRADeviceCompatibilityGroups"],
		},
		nodes:   map[string]*core.Node{},
		classes: classes{},
		claims:  map[string]*resource.ResourceClaim{},
	}
	for _, raw := range c.Objects {
		if err := k.add(raw); err != nil {
			return nil, err
		}
	}
	wanted := cel.Features{
		EnableConsumableCapacity: k.features.ConsumableCapacity,
		EnableListTypeAttributes: k.features.ListTypeAttributes,
	}
	if caches[wanted] == nil {
		caches[wanted] = cel.NewCache(1000, wanted)
	}
	k.cache = caches[wanted]
	return k, nil
}

func (k *cluster) add(raw json.RawMessage) error {
	var kind meta.TypeMeta
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	switch kind.Kind {
	case "Node":
		node := new(core.Node)
		k.order = append(k.order, node)
		err := json.Unmarshal(raw, node)
		k.nodes[node.Name] = node
		return err
	case "DeviceClass":
		class := new(resource.DeviceClass)
		err := json.Unmarshal(raw, class)
		k.classes[class.Name] = class
		return err
	case "ResourceSlice":
		slice := new(resource.ResourceSlice)
		k.slices = append(k.slices, slice)
		return json.Unmarshal(raw, slice)
	case "ResourceClaim":
		claim := new(resource.ResourceClaim)
		err := json.Unmarshal(raw, claim)
		label := claim.Namespace + "/" + claim.Name
		k.labels = append(k.labels, label)
		k.claims[label] = claim
		return err
	}
	return nil
}

// inUse collects what the claims hold, as the scheduler does.
func (k *cluster) inUse() structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range k.claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, held := range claim.Status.Allocation.Devices.Results {
			id := structured.MakeDeviceID(held.Driver, held.Pool, held.Device)
			switch {
			case held.AdminAccess != nil && *held.AdminAccess:
			case held.ShareID != nil && k.features.ConsumableCapacity:
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, held.ShareID))
				if held.ConsumedCapacity != nil {
					state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, held.ConsumedCapacity))
				}
			default:
				state.AllocatedDevices.Insert(id)
			}
		}
	}
	return state
}

func (k *cluster) allocator(ctx context.Context, state structured.AllocatedState) (structured.Allocator, error) {
	return structured.NewAllocator(ctx, k.features, state, k.classes, k.slices, k.cache)
}

func (k *cluster) play(step Step) (result Result, took time.Duration) {
	defer func() {
		if problem := recover(); problem != nil {
			result = Result{Status: "panic", Message: fmt.Sprint(problem)}
		}
	}()
	for _, label := range step.Deallocate {
		k.claims[label].Status.Allocation = nil
	}
	var wanted []*resource.ResourceClaim
	for _, label := range step.Allocate {
		wanted = append(wanted, k.claims[label])
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	state := k.inUse()
	start := time.Now()
	var allocations []resource.AllocationResult
	allocator, err := k.allocator(ctx, state)
	if err == nil {
		allocations, err = allocator.Allocate(ctx, k.nodes[step.Node], wanted)
	}
	took = time.Since(start)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Result{Status: "timeout"}, took
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		return Result{Status: "node-error", Message: err.Error()}, took
	case err != nil:
		return Result{Status: "error", Message: err.Error()}, took
	case len(allocations) < len(wanted):
		return Result{Status: "unallocatable"}, took
	}
	result = Result{Status: "allocated", Allocations: map[string]resource.AllocationResult{}}
	for i, label := range step.Allocate {
		k.number(&allocations[i])
		k.claims[label].Status.Allocation = allocations[i].DeepCopy()
		result.Allocations[label] = allocations[i]
	}
	return result, took
}

// number replaces the random share IDs.
func (k *cluster) number(allocation *resource.AllocationResult) {
	for i := range allocation.Devices.Results {
		if held := &allocation.Devices.Results[i]; held.ShareID != nil {
			k.shares++
			id := types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", k.shares))
			held.ShareID = &id
		}
	}
}

// measure tries every claim on every node, and keeps the first node that serves it.
func (k *cluster) measure(id string, rounds int) (Answer, error) {
	ctx := context.Background()
	best := Answer{ID: id}
	for round := range rounds {
		answer := Answer{ID: id}
		for _, claim := range k.claims {
			claim.Status.Allocation = nil
		}
		for _, label := range k.labels {
			claim := k.claims[label]
			state := k.inUse()
			var first *resource.AllocationResult
			start := time.Now()
			allocator, err := k.allocator(ctx, state)
			if err != nil {
				return answer, err
			}
			for _, node := range k.order {
				allocations, err := allocator.Allocate(ctx, node, []*resource.ResourceClaim{claim})
				if err != nil {
					return answer, err
				}
				answer.Calls++
				if first == nil && len(allocations) == 1 {
					first = &allocations[0]
				}
			}
			answer.Nanoseconds += time.Since(start).Nanoseconds()
			if first != nil {
				answer.Allocated++
				claim.Status.Allocation = first
			}
		}
		if round == 0 || answer.Nanoseconds < best.Nanoseconds {
			best = answer
		}
	}
	return best, nil
}

func answer(c Case, caches map[cel.Features]*cel.Cache) (Answer, error) {
	k, err := newCluster(c, caches)
	if err != nil {
		return Answer{}, err
	}
	if c.Rounds > 0 {
		return k.measure(c.ID, c.Rounds)
	}
	result := Answer{ID: c.ID}
	for _, step := range c.Steps {
		played, took := k.play(step)
		result.Steps = append(result.Steps, played)
		result.Nanoseconds += took.Nanoseconds()
	}
	return result, nil
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	caches := map[cel.Features]*cel.Cache{}
	for {
		var c Case
		if err := in.Decode(&c); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		a, err := answer(c, caches)
		if err != nil {
			log.Fatalf("case %s: %v", c.ID, err)
		}
		if err := out.Encode(a); err != nil {
			log.Fatal(err)
		}
	}
}
