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
  - {name: proportion, enableReclaimable: false}
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
			"configurations: allocate: enablePredicateErrorCache has no effect: the action reads no arguments",
			"configurations: enqueue: overcommit-factor has no effect: the action reads no arguments",
			"configurations: enqueue: xyz has no effect: the action reads no arguments",
		}},
		"switches and arguments of policies": {yaml: `
actions: allocate
tiers:
- plugins:
  - {name: gang, enableNodeOrder: false, enabledSubJobOrder: false}
  - {name: proportion, enableHierarchy: true, arguments: {nonsense: 5}}
  - {name: binpack, arguments: {binpack.resources.nvidia.com/gpu: 4}}
`, want: []string{
			"gang: enableNodeOrder has no effect: the policy does not read it",
			"proportion: enableHierarchy has no effect: the policy does not read it",
			"proportion: nonsense has no effect: the policy does not read it",
			"binpack: binpack.resources.nvidia.com/gpu has no effect: the policy does not read it",
		}},
		"a value of the wrong kind": {yaml: `
actions: allocate
tiers: [{plugins: [{name: nodeorder, arguments: {leastrequested.weight: many}}]}]
`, want: []string{"nodeorder: argument leastrequested.weight: want a whole number, have many; the default is used"}},
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

// TestPoliciesReadWhatTheySay looks for the switches in the policies' source.
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
