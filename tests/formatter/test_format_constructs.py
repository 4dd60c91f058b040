"""What authors write, and the one way to write it: at least one case for each rule of the grammar."""

import re

import pytest

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_source
from dralang.resources import grammar_path
from dralang.syntax import nodes
from dralang.syntax.reading import parse
from dralang.syntax.vocabulary import KEYWORDS
from dralang.syntax.walk import walk

# What was written, and how it is formatted; see `text_of` for the indentation.
DECLARATIONS = {
    "headers": (
        """
        kubernetes   1.37
        gates{DRAPreemption:true,DRADerivedAttributes:false,}
        quirks {}
        scheduler { percentageOfNodesToScore:50; plugins:{score:{disabled:[{name:NodeAffinity}]}} }
        """,
        """
        kubernetes 1.37
        gates { DRAPreemption: true, DRADerivedAttributes: false }
        quirks {}
        scheduler { percentageOfNodesToScore: 50; plugins: { score: { disabled: [{ name: NodeAffinity }] } } }
        """,
    ),
    "modules": (
        """
        use   "manifests/slices.yaml"
        use std.nvidia.a100   as  a100
        use "a b.dra" as x; use std.invariants
        """,
        """
        use "manifests/slices.yaml"
        use std.nvidia.a100 as a100
        use "a b.dra" as x
        use std.invariants
        """,
    ),
    "a fixture and its uses": (
        """
        fixture gpu-node( name,gpus=8 , tags=[a,b], ) {
           node ${name}



           slice ${name}-gpus { device gpu-[0..${gpus - 1}] } }
        gpu-node( worker-[1..4] )
        gpu-node (w,gpus:2,)
        """,
        """
        fixture gpu-node(name, gpus = 8, tags = [a, b]) {
          node ${name}

          slice ${name}-gpus { device gpu-[0..${gpus - 1}] }
        }
        gpu-node(worker-[1..4])
        gpu-node(w, gpus: 2)
        """,
    ),
    "a fixture on one line": (
        """
        fixture two(n){node ${n}-a;node ${n}-b}
        fixture none(){}
        none( )
        """,
        """
        fixture two(n) { node ${n}-a; node ${n}-b }
        fixture none() {}
        none()
        """,
    ),
    "every kind of declaration": (
        """
        node a
        slice b{}
        class c;claim d
        template e
        pod team-a/f
        priority g : 1000
        priority h: -10{preemptionPolicy:Never}
        taintrule i
        podgroup j
        pdb k
        namespace l
        workload m
        poolrequest o
        node "odd@name"
        """,
        """
        node a
        slice b {}
        class c
        claim d
        template e
        pod team-a/f
        priority g: 1000
        priority h: -10 { preemptionPolicy: Never }
        taintrule i
        podgroup j
        pdb k
        namespace l
        workload m
        poolrequest o
        node "odd@name"
        """,
    ),
    "a slice": (
        """
        slice s{driver:d;nodeName:n,device gpu-[0..1]}
        slice s {
          counters  card-0{memory:80Gi,slots:{value:7}}
          device gpu-[0..7 as i] {attributes {index:${i},model:"a100"};consumes card-0{memory:10Gi}
              taint gpu.example.com/x = yes : NoExecute;taint  k:NoSchedule ; taint k= :None}
        }
        """,
        """
        slice s { driver: d; nodeName: n; device gpu-[0..1] }
        slice s {
          counters card-0 { memory: 80Gi, slots: { value: 7 } }
          device gpu-[0..7 as i] {
            attributes { index: ${i}, model: "a100" }
            consumes card-0 { memory: 10Gi }
            taint gpu.example.com/x=yes:NoExecute
            taint k:NoSchedule
            taint k:None
          }
        }
        """,
    ),
    "a class": (
        """
        class gpu{where   `device.driver == "d"`
        }
        """,
        """
        class gpu { where `device.driver == "d"` }
        """,
    ),
    "requests and constraints": (
        """
        claim c {
        request a:2   of gpu where `x`where `y`
        request b :all of gpu
        request c: 1 of gpu{where `x`;capacity:{requests:{memory:10Gi}};adminAccess:true}
        request d: first   available{whole:1 of gpu;halves: 2 of half{where `y`};rest:all of q where `z`}
        match gpu.example.com/numa   across a,b
        match k
        distinct k
           across a
        }
        """,
        """
        claim c {
          request a: 2 of gpu where `x` where `y`
          request b: all of gpu
          request c: 1 of gpu { where `x`; capacity: { requests: { memory: 10Gi } }; adminAccess: true }
          request d: first available { whole: 1 of gpu; halves: 2 of half { where `y` }; rest: all of q where `z` }
          match gpu.example.com/numa across a, b
          match k
          distinct k across a
        }
        """,
    ),
    "tolerations and derived attributes": (
        """
        claim c { request a: 1 of gpu {
        tolerate k for 5m
        tolerate k=v:NoExecute
          for  2m
        tolerate k:E;tolerate k
        derive derived/numa=`device.x`} }
        """,
        """
        claim c {
          request a: 1 of gpu {
            tolerate k for 5m
            tolerate k=v:NoExecute for 2m
            tolerate k:E
            tolerate k
            derive derived/numa = `device.x`
          }
        }
        """,
    ),
    "a pod": (
        """
        pod p {
        claim  a  from t;claim b is  c
        container main{claim a request r;claim b}
        init   container i
        on   node w
        requests{cpu:4,example.com/gpu:2}
        }
        """,
        """
        pod p {
          claim a from t
          claim b is c
          container main { claim a request r; claim b }
          init container i
          on node w
          requests { cpu: 4, example.com/gpu: 2 }
        }
        """,
    ),
    "values": (
        """
        node n { a: 42, b: true, c: null, d: "te xt", e: 80Gi, f: v1.2.3-rc.1+b, g: [ x,"y",[ ] , ], h: {  } }
        node m { p: `a + 1`; q: ${n}; r: ${n}Gi; s: "a\\"b\\u00e9\\\\" ; i: { j:{ k:[{l:m}] } } }
        """,
        """
        node n { a: 42; b: true; c: null; d: "te xt"; e: 80Gi; f: v1.2.3-rc.1+b; g: [x, "y", []]; h: {} }
        node m { p: `a + 1`; q: ${n}; r: ${n}Gi; s: "a\\"b\\u00e9\\\\"; i: { j: { k: [{ l: m }] } } }
        """,
    ),
    "a map in a body has a colon or not, as its author likes, on one line only": (
        """
        slice s {
          pool : {name:x}
          pool {name:x}
          pool: {
            name: x }
        }
        """,
        """
        slice s {
          pool: { name: x }
          pool { name: x }
          pool {
            name: x
          }
        }
        """,
    ),
    "a map in a map has a colon": (
        """
        node n { metadata { labels { a: b }, annotations {
          c: d } } }
        """,
        """
        node n {
          metadata {
            labels: { a: b }
            annotations: {
              c: d
            }
          }
        }
        """,
    ),
    "a field that is called like a continuation word keeps its colon": (
        """
        node n { a: 1, with {
          x: 1
        }, for: 2, tagged { }, "xfail" {}
        }
        """,
        """
        node n {
          a: 1
          with: {
            x: 1
          }
          for: 2
          tagged: {}
          "xfail" {}
        }
        """,
    ),
    "keywords are names": (
        """
        pod pod { labels { pod: pod, first: all }; claim claim from template;on node node }
        template match{request request: 1 of class; match match across match}
        class all
        node  at{taint at:NoExecute}
        """,
        """
        pod pod { labels { pod: pod, first: all }; claim claim from template; on node node }
        template match { request request: 1 of class; match match across match }
        class all
        node at { taint at:NoExecute }
        """,
    ),
    "names with ranges, substitutions and quotes": (
        """
        node worker-[00..11]-${ n + 1 }
        pod   "a b"
        """,
        """
        node worker-[00..11]-${ n + 1 }
        pod "a b"
        """,
    ),
}

SCENARIOS = {
    "a scenario's head": (
        """
        scenario   "a"tagged x,y xfail "why" for X in [1,2]{}
        scenario "b" for X in 1 .. 3
           tagged x {}
        scenario "c" for (X , Y) in [ (1,a),(2,b), ] { }
        scenario "d"
        xfail "w" tagged a tagged b {}
        """,
        """
        scenario "a" tagged x, y xfail "why" for X in [1, 2] {}
        scenario "b" tagged x for X in 1..3 {}
        scenario "c" for (X, Y) in [(1, a), (2, b)] {}
        scenario "d" tagged a, b xfail "w" {}
        """,
    ),
    "a fuzz": (
        """
        fuzz "f"tagged x from  gpu-node(w,gpus:2) {
          repeat any 1 .. 12 as i{create p-${i} like any of [a,b]{priority:any 0..9}}
          maybe at any 0s..60s restart scheduler
          any  order  of {
            create a;create any of [b , c]
          }
          taint any   device with k=v:E
          pause any of  [scheduler ,kubelet];resume any  of [scheduler]
          delay any of [scheduler,kubelet]  by any 0s .. 5s
          fail next any 1 .. 3 bind of any pod; fail next   any of [1,3] create of a
          within any 5s ..30s   expect a run
          taint device any of  [x,y]  with any of [k,l] = any of [v]:any of [E,F]
          untaint node any of [w] k : any of [E,F]
          set condition any of [r,s] of any claim device any  device : any of [true,false]
          label any of [a,b] k=any of [v,w]; set any of [a,b] priority:1
          create pod p like pod any of [a,b] { claim a from any of [t,u]; claim b is any  claim; on node any node }
          create claim c { request r: any 1 ..2 of any of [c,d] { tolerate k=any of [v]:any of [E] for any 1s.. 5s } }
          delete any pod
          compare
            with{gates{DRAPreemption:false}}
          node n { labels { a: any subset  of [x,y] } }
        }
        """,
        """
        fuzz "f" from gpu-node(w, gpus: 2) tagged x {
          repeat any 1..12 as i { create p-${i} like any of [a, b] { priority: any 0..9 } }
          maybe at any 0s..60s restart scheduler
          any order of {
            create a; create any of [b, c]
          }
          taint any device with k=v:E
          pause any of [scheduler, kubelet]; resume any of [scheduler]
          delay any of [scheduler, kubelet] by any 0s..5s
          fail next any 1..3 bind of any pod; fail next any of [1, 3] create of a
          within any 5s..30s expect a runs
          taint device any of [x, y] with any of [k, l]=any of [v]:any of [E, F]
          untaint node any of [w] k:any of [E, F]
          set condition any of [r, s] of any claim device any device: any of [true, false]
          label any of [a, b] k=any of [v, w]; set any of [a, b] priority: 1
          create pod p like pod any of [a, b] { claim a from any of [t, u]; claim b is any claim; on node any node }
          create claim c { request r: any 1..2 of any of [c, d] { tolerate k=any of [v]:any of [E] for any 1s..5s } }
          delete any pod
          compare with { gates { DRAPreemption: false } }
          node n { labels { a: any subset of [x, y] } }
        }
        """,
    ),
    "time": (
        """
        scenario "t" {
          at  10s create a
          at 1m{create b;delete b}
          after 5s
          after 5s create c
          after 6s {
            settle
          }
          within   30s   expect a runs
          settle
        }
        """,
        """
        scenario "t" {
          at 10s create a
          at 1m { create b; delete b }
          after 5s
          after 5s create c
          after 6s {
            settle
          }
          within 30s expect a runs
          settle
        }
        """,
    ),
    "actions": (
        """
        scenario "a" {
          kubernetes 1.38; gates {DRAPreemption:false}
          create a , pod b
          create pod x like small { priority:1 ; claim a from t }
          delete a,b
          finish pod a
          fail a
          cordon w;uncordon node w
          set slice gpus devices[gpu-0].allNodes : true
          set broken taint.effect:None
          set taintrule broken {taint k=v:None}
          set condition is-ready of c device gpu-0 : true because   "x"
          set condition is-ready of c device gpu-0: false
          publish slice gpus{device gpu-0}
          taint device gpu-0 with k=v:NoExecute
          taint node w  with k:NoSchedule
          untaint device gpu-0 k
          untaint node w k : NoSchedule
          label node w a=b , c=
          repeat 3 as i {create p-${i}}
          repeat 2 { settle }
          pause resourceclaim-controller
          resume resourceclaim-controller
          restart scheduler
          fail next bind of a
          fail next 2 create of pod a
          fail next update of a; fail next delete of a
          delay resourceclaim-controller by 5s
          gpu-node(w)
        }
        """,
        """
        scenario "a" {
          kubernetes 1.38; gates { DRAPreemption: false }
          create a, pod b
          create pod x like small { priority: 1; claim a from t }
          delete a, b
          finish pod a
          fail a
          cordon w; uncordon node w
          set slice gpus devices[gpu-0].allNodes: true
          set broken taint.effect: None
          set taintrule broken { taint k=v:None }
          set condition is-ready of c device gpu-0: true because "x"
          set condition is-ready of c device gpu-0: false
          publish slice gpus { device gpu-0 }
          taint device gpu-0 with k=v:NoExecute
          taint node w with k:NoSchedule
          untaint device gpu-0 k
          untaint node w k:NoSchedule
          label node w a=b, c=
          repeat 3 as i { create p-${i} }
          repeat 2 { settle }
          pause resourceclaim-controller
          resume resourceclaim-controller
          restart scheduler
          fail next bind of a
          fail next 2 create of pod a
          fail next update of a; fail next delete of a
          delay resourceclaim-controller by 5s
          gpu-node(w)
        }
        """,
    ),
    "expectations": (
        """
        scenario "e" {
          expect serve is pending
             because   "cannot allocate"
          expect serve is nominated on worker-1
          expect serve's claim gpu is allocated worker-1/gpu-0
          expect share is allocated gpu-0 for gpu , nic-0 for nic consuming {bandwidth:2Gi}
          expect shared is reserved
            for a-1,a-2
          expect a runs on w with gpu-0,gpu-1 because "x"
          expect device gpu-1 is not free
          expect counters card-0 has 40Gi memory left
          expect batch was not evicted by x;expect serve preempted batch,b
          expect condition EvictionInProgress of broken is false
          expect broken says   "2 devices"
          expect `a
            && b` because "y"
          always no pending pod can preempt
          never more than 1 pod was preempted
          witness a is running
        }
        always `true`
        """,
        """
        scenario "e" {
          expect serve is pending because "cannot allocate"
          expect serve is nominated on worker-1
          expect serve's claim gpu is allocated worker-1/gpu-0
          expect share is allocated gpu-0 for gpu, nic-0 for nic consuming { bandwidth: 2Gi }
          expect shared is reserved for a-1, a-2
          expect a runs on w with gpu-0, gpu-1 because "x"
          expect device gpu-1 is not free
          expect counters card-0 has 40Gi memory left
          expect batch was not evicted by x; expect serve preempted batch, b
          expect condition EvictionInProgress of broken is false
          expect broken says "2 devices"
          expect `a
            && b`
              because "y"
          always no pending pod can preempt
          never more than 1 pod was preempted
          witness a is running
        }
        always `true`
        """,
    ),
    "verbs agree with their subjects": (
        """
        scenario "v" {
          expect a run
          expect a, b runs
          expect batch-* runs
          expect a-[0..2] does not run
          expect a,b is pending
          expect a were preempted
          expect device x have 1 y left
          expect counters c-[0..1] has 1 y left
          expect exactly 1 of a,b run
          expect exactly 2 of a,b runs
          expect at least 2 pod is settled
          expect at most 1 pods are settled
          expect fewer than ${n} pod runs
          expect none of a,b runs
          expect all of a,b runs
          expect all pod is settled
          expect no pods run
          expect any of [a,b] run
          expect a do not run
          expect a, b was not evicted
        }
        """,
        """
        scenario "v" {
          expect a runs
          expect a, b run
          expect batch-* run
          expect a-[0..2] do not run
          expect a, b are pending
          expect a was preempted
          expect device x has 1 y left
          expect counters c-[0..1] have 1 y left
          expect exactly 1 of a, b runs
          expect exactly 2 of a, b run
          expect at least 2 pods are settled
          expect at most 1 pod is settled
          expect fewer than ${n} pods run
          expect none of a, b run
          expect all of a, b run
          expect all pods are settled
          expect no pod runs
          expect any of [a, b] runs
          expect a does not run
          expect a, b were not evicted
        }
        """,
    ),
}


def text_of(page: str) -> str:
    """A text of the tables without the indentation that it has here."""
    lines = page.strip("\n").rstrip(" ").splitlines()
    return "".join([line.removeprefix(" " * 8) + "\n" for line in lines])


def formatted(text: str) -> str:
    log = DiagnosticLog()
    result = format_source(SourceFile("a.dra", text), log)
    assert result is not None, [(str(item.span), item.code, item.message) for item in log.sorted()]
    return result


@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_declaration_is_written_in_one_way(name):
    written, wanted = DECLARATIONS[name]
    assert formatted(text_of(written)) == text_of(wanted)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_is_written_in_one_way(name):
    written, wanted = SCENARIOS[name]
    assert formatted(text_of(written)) == text_of(wanted)


@pytest.mark.parametrize("name", [*DECLARATIONS, *SCENARIOS])
def test_what_is_formatted_stays_as_it_is(name):
    wanted = text_of({**DECLARATIONS, **SCENARIOS}[name][1])
    assert formatted(wanted) == wanted


def test_the_cases_have_every_keyword_that_the_grammar_and_the_vocabulary_know():
    words = set(
        re.findall(r"[a-z]+", " ".join([wanted for _, wanted in [*DECLARATIONS.values(), *SCENARIOS.values()]]))
    )
    of_grammar = set(re.findall(r'"([a-z]+)"', grammar_path().read_text(encoding="utf-8")))
    assert of_grammar == set(KEYWORDS)
    assert of_grammar - words == set()


def test_the_cases_have_every_kind_of_node():
    wanted = {
        found
        for found in vars(nodes).values()
        if isinstance(found, type) and issubclass(found, nodes.Node) and found is not nodes.Node
    }
    seen = set()
    for _, text in [*DECLARATIONS.values(), *SCENARIOS.values()]:
        seen |= {type(node) for node in walk(parse(SourceFile("a.dra", text_of(text)), DiagnosticLog()))}
    assert wanted - seen == set()
