"""Scenarios for the formatter.

Each is what was written, and how it is formatted; `text_of` in the tests takes the indentation away.
"""

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
