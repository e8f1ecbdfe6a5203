package scheduler

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/scheduler/config"
)

func TestWhatHasNoEffectIsSaid(t *testing.T) {
	cases := map[string]struct {
		yaml string
		want []string
	}{
		"the built-in form": {yaml: `
actions: "enqueue, allocate, backfill, reclaim"
tiers:
- plugins: [{name: priority}, {name: gang, enableJobOrder: false}]
- plugins:
  - {name: predicates, arguments: {predicate.NodePortsEnable: false}}
  - {name: proportion}
  - {name: nodeorder, arguments: {leastrequested.weight: 3}}
  - {name: binpack, arguments: {binpack.resources: "nvidia.com/gpu", binpack.resources.nvidia.com/gpu: 4}}
`},
		"arguments of actions": {yaml: `
actions: "enqueue, allocate"
configurations:
- name: enqueue
  arguments: {xyz: 3, overcommit-factor: 1.2}
- name: allocate
  arguments: {enablePredicateErrorCache: false}
tiers:
- plugins: [{name: gang}]
`, want: []string{
			"configurations: allocate: enablePredicateErrorCache has no effect: the action accepts no arguments",
			"configurations: enqueue: overcommit-factor has no effect: the action accepts no arguments",
			"configurations: enqueue: xyz has no effect: the action accepts no arguments",
		}},
		"switches and arguments of policies": {yaml: `
actions: allocate
tiers:
- plugins:
  - {name: gang, enableNodeOrder: false, enabledSubJobOrder: false}
  - {name: proportion, enableHierarchy: true, arguments: {nonsense: 5}}
  - {name: binpack, arguments: {binpack.resources.nvidia.com/gpu: 4}}
`, want: []string{
			"gang: enableNodeOrder has no effect: the policy does not use this argument",
			"proportion: enableHierarchy has no effect: the policy does not use this argument",
			"proportion: nonsense has no effect: the policy does not use this argument",
			"binpack: binpack.resources.nvidia.com/gpu has no effect: the policy does not use this argument",
		}},
		"a value of the wrong kind": {yaml: `
actions: allocate
tiers: [{plugins: [{name: nodeorder, arguments: {leastrequested.weight: many}}]}]
`, want: []string{"nodeorder: argument leastrequested.weight: must be a whole number, not many; the default is used"}},
		"evictions that nobody grants": {yaml: `
actions: "allocate, preempt, gangpreempt, reclaim, gangreclaim"
tiers: [{plugins: [{name: priority, enablePreemptable: false}, {name: drf}, {name: gang}]}, {plugins: [{name: proportion, enableReclaimable: false}]}]
`, want: []string{
			"actions: gangpreempt evicts no pods, because none of the policies that select its victims is configured (priority)",
			"actions: reclaim evicts no pods, because none of the policies that select its victims is configured (proportion, capacity, drf with enableHierarchy)",
			"actions: gangreclaim evicts no pods, because none of the policies that select its victims is configured (proportion, capacity)",
		}},
		"action shuffle without a policy that names victims": {yaml: `
actions: "allocate, shuffle"
tiers: [{plugins: [{name: priority}, {name: gang}, {name: tdm, enabledVictim: false}]}]
`, want: []string{
			"actions: shuffle evicts no pods, because none of the policies that select its victims is configured (tdm, rescheduling, gang with gang.release-broken)",
		}},
		"evictions that nobody grants, beside a policy that is none": {yaml: `
actions: "allocate, reclaim"
tiers: [{plugins: [{name: gang}, {name: lifecycle}]}]
`, want: []string{
			"tiers[0].plugins[1]: lifecycle is specific to a vendor's cloud and has no effect: the scheduler does not label nodes with the run time of their pods; use binpack to keep lightly used nodes free for the autoscaler",
			"actions: reclaim evicts no pods, because none of the policies that select its victims is configured (proportion, capacity, drf with enableHierarchy)",
		}},
		"action shuffle with gangs that give back": {yaml: `
actions: "allocate, shuffle"
tiers: [{plugins: [{name: gang, arguments: {gang.release-broken: 1m}}]}]
`},
		"lent nodes that nobody leaves": {yaml: `
actions: allocate
tiers: [{plugins: [{name: tdm, arguments: {"tdm.revocable-zone.a": "00:00-12:00"}}]}]
`, want: []string{"tdm: without action shuffle, pods stay on time-shared nodes after the zone's hours end"}},
		"strategies with keys that mean nothing": {yaml: `
actions: "allocate, shuffle"
metrics: {type: prometheus, address: "http://prometheus:9090"}
tiers:
- plugins:
  - {name: rescheduling, arguments: {strategies: [{name: lowNodeUtilization, parms: 1, params: {treshholds: {cpu: 20}}}, {name: lowNodeUtilization, params: [cpu]}]}}
`, want: []string{
			"rescheduling: argument strategies[0].parms has no effect: the valid keys of strategies[0] are name, params",
			"rescheduling: argument strategies[0].params.treshholds has no effect: the valid keys of strategies[0].params are thresholds, targetThresholds, thresholdPriorityClassName, nodeFit",
			"rescheduling: argument strategies[1].params: must be a map, not [cpu]; the argument is ignored",
		}},
		"policies whose action is not there": {yaml: `
actions: allocate
metrics: {type: prometheus, address: "http://prometheus:9090"}
tiers:
- plugins:
  - {name: overcommit}
  - {name: resourcequota}
  - {name: rescheduling, arguments: {strategies: [{name: lowNodeUtilization, params: {thresholds: {cpu: 20, pods: 20}, targetThresholds: {memory: 180}}}]}}
`, want: []string{
			"rescheduling: argument strategies[0].params.thresholds.pods has no effect: the valid keys of strategies[0].params.thresholds are cpu, memory",
			"rescheduling: argument strategies[0].params.targetThresholds.memory: must be from 0 to 100, not 180; the default is used",
			"overcommit: has no effect without action enqueue, which calls this policy",
			"rescheduling: has no effect without action shuffle, which performs the evictions",
		}},
		"load without a source, devices of no kind, the order of orders": {yaml: `
actions: "allocate, shuffle"
tiers: [{plugins: [{name: drf}, {name: fairshare}, {name: usage}, {name: deviceshare}, {name: rescheduling, arguments: {strategies: low}}]}]
`, want: []string{
			"rescheduling: argument strategies: must be a list, not low; the argument is ignored",
			"rescheduling: the policy has no effect, because no strategies are configured; use lowNodeUtilization",
			"usage: has no effect without a source of load metrics; configure a source under metrics (type, address)",
			"rescheduling: has no effect without a source of load metrics; configure a source under metrics (type, address)",
			"deviceshare: has no effect, because no kind of device is enabled (deviceshare.GPUSharingEnable, .GPUNumberEnable, .VGPUEnable)",
			"fairshare: drf is listed before fairshare and already orders the jobs; list fairshare first",
		}},
		"two policies for past usage": {yaml: `
actions: allocate
tiers: [{plugins: [{name: drf}, {name: fairtree, arguments: {fairtree.halfLife: 7-0}}, {name: fairshare}]}]
`, want: []string{
			`fairtree: argument fairtree.halfLife: must be a duration of at least 1s, such as 4h, not "7-0"; 168h0m0s is used`,
			"fairshare: drf is listed before fairshare and already orders the jobs; list fairshare first",
			"fairtree: drf is listed before fairtree and already orders the jobs; list fairtree first",
			"fairshare and fairtree both order jobs by past usage, and the first one decides; remove one of them",
		}},
		"arguments inside arguments": {yaml: `
actions: allocate
metrics: {type: prometheus, address: "http://prometheus:9090"}
tiers:
- plugins:
  - {name: usage, arguments: {thresholds: {cpu: -5, memory: 70}, estimator: {requestRatio: 1, burst_ratio: -1}}}
  - {name: resource-strategy-fit, arguments: {resources: {cpu: {type: MostAllocated, wieght: 2}}, sra: {enable: true, resources: x, weigth: 3, resourceWeight: {other: 2}}, proportional: {enabled: true, enable: true, resources: g, resourceProportion: {g.cpu: 1, g: 1}}}}
`, want: []string{
			"usage: argument thresholds.memory has no effect: the valid keys of thresholds are cpu, mem",
			"usage: argument thresholds.cpu: must be from 0 to 100, not -5; the default is used",
			"usage: argument estimator.requestRatio has no effect: the valid keys of estimator are request_ratio, burst_ratio, risk_threshold, risk_factor, be_cpu, be_mem",
			"usage: argument estimator.burst_ratio: must be 0 or more, not -1; the default is used",
			"resource-strategy-fit: argument resources.cpu.wieght has no effect: the valid keys of resources.cpu are type, weight",
			"resource-strategy-fit: argument sra.weigth has no effect: the valid keys of sra are enable, resources, weight, resourceWeight",
			"resource-strategy-fit: argument sra.resourceWeight.other has no effect: the valid keys of sra.resourceWeight are x",
			"resource-strategy-fit: argument proportional.enabled has no effect: the valid keys of proportional are enable, resources, resourceProportion",
			"resource-strategy-fit: argument proportional.resourceProportion.g has no effect: the valid keys of proportional.resourceProportion are g.cpu, g.memory",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg, warnings, err := config.Parse([]byte(c.yaml))
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			engine, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, engine.Warnings); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestPoliciesReadWhatTheySay searches the policies' source for the switches.
func TestPoliciesReadWhatTheySay(t *testing.T) {
	call := regexp.MustCompile(`(?:Enabled\(|Switches\[)"(\w+)"[\])]`)
	for name, build := range policies {
		files, err := filepath.Glob(filepath.Join("policy", strings.ReplaceAll(name, "-", ""), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no source of %s: %v", name, err)
		}
		var read []string
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range call.FindAllStringSubmatch(string(source), -1) {
				read = append(read, match[1])
			}
		}
		said := slices.Clone(build(config.Plugin{Name: name}, nil).Reads().Switches)
		slices.Sort(read)
		slices.Sort(said)
		if diff := cmp.Diff(slices.Compact(read), said); diff != "" {
			t.Errorf("policy %s (-in its source +what it says)\n%s", name, diff)
		}
		for _, key := range said {
			if !slices.Contains(config.Switches, key) {
				t.Errorf("policy %s reads %s, which the parser does not know", name, key)
			}
		}
	}
}
