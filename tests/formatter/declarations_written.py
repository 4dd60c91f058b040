"""Declarations for the formatter.

Each is what was written, and how it is formatted; `text_of` in the tests takes the indentation away.
"""

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
