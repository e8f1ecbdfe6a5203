package clustertest

import "github.com/vc-batch/vc/internal/scheduler/config"

// Configurations are the configurations for which the invariants of the scheduler are checked, by name.
var Configurations = map[string]string{
	"default": config.DefaultText,
	"Volcano's": `
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: overcommit}, {name: drf, enablePreemptable: false}, {name: predicates}, {name: proportion}, {name: nodeorder}, {name: binpack}]
`,
	"capacity": `
actions: "enqueue, allocate, backfill, reclaim, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}]
- plugins: [{name: predicates}, {name: capacity}, {name: nodeorder}]
`,
	"a tree of queues": `
actions: "enqueue, allocate, backfill, gangreclaim, gangpreempt"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: sla, arguments: {sla-waiting-time: 20s}}]
- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, {name: binpack}]
`,
	"dominant shares": `
actions: "allocate, preempt, backfill"
tiers:
- plugins: [{name: gang}]
- plugins: [{name: drf}, {name: predicates}, {name: nodeorder}]
`,
	"fair shares": `
actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins: [{name: fairshare, arguments: {fairshare.halfLife: 10s, fairshare.queues: true}}, {name: gang}]
- plugins: [{name: predicates}, {name: proportion}]
`,
}

// TopologyConfig is a configuration of the scheduler for gangs with network topologies.
const TopologyConfig = `
actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: network-topology-aware
`
