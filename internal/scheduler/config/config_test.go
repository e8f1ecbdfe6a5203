package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		yaml    string
		actions []string
		plugins []string
		// arguments of actions, for cases about them
		arguments map[string]Arguments
		warnings  []string // parts of the warnings, in order
		err       string
	}{
		"Volcano's default file loads, what is missing is named": {
			yaml: `
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
`,
			actions: []string{"enqueue", "allocate", "backfill"},
			plugins: []string{"priority", "gang", "conformance", "overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack"},
		},
		"the ConfigMap around it": {
			yaml: "kind: ConfigMap\ndata:\n  default-scheduler.conf: |\n    actions: \"allocate\"\n    tiers: [{plugins: [{name: gang}]}]\n", actions: []string{"allocate"},
			plugins: []string{"gang"}, warnings: []string{"only data[default-scheduler.conf] of the ConfigMap is used"},
		},
		"a ConfigMap without a configuration": {yaml: "kind: ConfigMap\ndata: {other: x}", err: "no key volcano-scheduler.conf or default-scheduler.conf in data"},
		"a vendor's add-on parameters": {
			yaml:    `{"ca_cert": "", "default_scheduler_conf": {"actions": "allocate, backfill, preempt", "tiers": [{"plugins": [{"name": "priority"}, {"name": "cce-gpu"}]}]}, "server_key": ""}`,
			actions: []string{"allocate", "backfill", "preempt"}, plugins: []string{"priority", "cce-gpu"}, warnings: []string{"default_scheduler_conf is used"},
		},
		"a policy named twice counts once": {
			yaml: "actions: allocate\ntiers: [{plugins: [{name: gang}]}, {plugins: [{name: gang}]}]", actions: []string{"allocate"}, plugins: []string{"gang"},
			warnings: []string{"tiers[1].plugins[0]: gang is already listed at tiers[0].plugins[0]"},
		},
		"proportion beside capacity": {
			yaml: "actions: allocate\ntiers: [{plugins: [{name: proportion}]}, {plugins: [{name: capacity}]}]", err: "remove one of these policies",
		},
		"a source of metrics that is none": {yaml: "actions: allocate\nmetrics: {type: guesses}\ntiers: [{plugins: [{name: gang}]}]", err: `metrics.type: unknown type "guesses"`},
		"a source of metrics without an address": {
			yaml: "actions: allocate\nmetrics: {type: prometheus, address: here}\ntiers: [{plugins: [{name: gang}]}]", err: "metrics.address: must be http://",
		},
		"an interval of metrics that is no time": {
			yaml:    "actions: allocate\nmetrics: {type: prometheus, address: 'http://p:9090', interval: often}\ntiers: [{plugins: [{name: gang}]}]",
			actions: []string{"allocate"}, plugins: []string{"gang"}, warnings: []string{"metrics.interval: must be a duration"},
		},
		"an unknown action is refused with the known ones": {
			yaml: `actions: "enqueue, alocate"`, err: `unknown action "alocate"; valid actions are allocate`,
		},
		"no action at all is refused":  {yaml: `tiers: []`, err: "actions: empty"},
		"text that is no YAML":         {yaml: "actions: [", err: "does not have the expected format"},
		"a plugin without a name":      {yaml: "actions: allocate\ntiers: [{plugins: [{nam: gang}]}]", err: "tiers[0].plugins[0].name: missing"},
		"a switch that is not boolean": {yaml: "actions: allocate\ntiers: [{plugins: [{name: gang, enableJobOrder: maybe}]}]", err: "tiers[0].plugins[0].enableJobOrder: must be true or false"},
		"drf with hierarchy beside proportion": {
			yaml: "actions: allocate\ntiers: [{plugins: [{name: drf, enableHierarchy: true}, {name: proportion}]}]", err: "different tiers",
		},
		"unknown switches and policies are ignored, and said to be": {
			yaml: "actions: allocate\ntiers: [{plugins: [{name: gang, enableMagic: true}, {name: magic}]}]", actions: []string{"allocate"}, plugins: []string{"gang", "magic"},
			warnings: []string{"enableMagic: unknown switch"},
		},
		"keys that mean nothing where they stand are named": {
			yaml:    "actions: allocate\nconfiguration: []\ntiers: [{plugin: x, plugins: [{name: gang}]}]\nconfigurations: [{name: allocate, args: {}}]\n",
			actions: []string{"allocate"}, plugins: []string{"gang"},
			warnings: []string{"configuration is unknown and ignored; valid keys: actions,", "tiers[0].plugin is unknown", "configurations[0].args is unknown"},
		},
		"keys in large letters are read, and not called unknown": {
			yaml: "Actions: allocate\nTiers: [{Plugins: [{name: gang}]}]\n", actions: []string{"allocate"}, plugins: []string{"gang"},
		},
		"arguments of actions that do not run, or are there twice": {
			yaml: "actions: allocate, backfill\ntiers: [{plugins: [{name: gang}]}]\n" +
				"configurations: [{name: preempt, arguments: {a: 1}}, {name: backfill, arguments: {easy: false}}, {name: backfill, arguments: {easy: true}}, {name: magic}]\n",
			actions: []string{"allocate", "backfill"}, plugins: []string{"gang"}, arguments: map[string]Arguments{"backfill": {"easy": false}},
			warnings: []string{"configurations[0].name: preempt is not listed in actions", "configurations[2].name: backfill is already listed", `configurations[3].name: unknown action "magic"`},
		},
		"the first of two entries says whether it contradicts": {
			yaml: "actions: allocate\ntiers: [{plugins: [{name: drf, enableHierarchy: true}, {name: drf}, {name: proportion}]}]", err: "different tiers",
		},
		"metrics without a type ask nobody": {
			yaml:    "actions: allocate\nmetrics: {address: 'http://p:9090', interval: 5s}\ntiers: [{plugins: [{name: gang}]}]",
			actions: []string{"allocate"}, plugins: []string{"gang"}, warnings: []string{"metrics.type: missing"},
		},
		"no tiers at all are said to decide nothing": {
			yaml: "actions: allocate, preempt\ntiers: []", actions: []string{"allocate", "preempt"}, warnings: []string{"tiers: missing"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg, warnings, err := Parse([]byte(c.yaml))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var plugins []string
			for _, tier := range cfg.Tiers {
				for _, p := range tier.Plugins {
					plugins = append(plugins, p.Name)
				}
			}
			if diff := cmp.Diff(c.actions, cfg.Actions) + cmp.Diff(c.plugins, plugins); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.arguments, cfg.Configurations); c.arguments != nil && diff != "" {
				t.Errorf("arguments (-want +got)\n%s", diff)
			}
			if len(warnings) != len(c.warnings) {
				t.Fatalf("warnings %q, want %q", warnings, c.warnings)
			}
			for i, want := range c.warnings {
				if !strings.Contains(warnings[i], want) {
					t.Errorf("warning %q, want one with %q", warnings[i], want)
				}
			}
		})
	}
}

func TestSwitches(t *testing.T) {
	p := Plugin{Switches: map[string]bool{"enableJobOrder": false, "enableHierarchy": true}}
	for key, want := range map[string]bool{
		"enableJobOrder": false, "enableHierarchy": true, "enableQueueOrder": true, "enabledClusterOrder": false,
	} {
		if got := p.Enabled(key); got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	var warnings []string
	warn := func(text string) { warnings = append(warnings, text) }
	a := Arguments{"whole": 3.0, "part": 1.5, "text": "true", "word": "many"}
	if a.Int("whole", 0, warn) != 3 || a.Float("part", 0, warn) != 1.5 || !a.Bool("text", false, warn) || a.String("word", "", warn) != "many" || a.Int("none", 7, warn) != 7 {
		t.Error("a value that is right is not read")
	}
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
	if a.Int("part", 5, warn) != 5 || a.Bool("word", true, warn) != true || a.Float("word", 2, warn) != 2 || len(warnings) != 3 {
		t.Errorf("a value of another kind: want the default and a warning each, have %q", warnings)
	}
}

func TestPasswordsAreNotTold(t *testing.T) {
	plain := "actions: allocate # as written\nmetrics: {type: prometheus, address: 'http://p:9090'}\n"
	if got := RedactPasswords([]byte(plain)); got != plain {
		t.Errorf("without a password %q is told, want the text as it is", got)
	}
	for name, text := range map[string]string{
		"with dots":    "actions: allocate\nmetrics:\n  type: elasticsearch\n  address: https://l:9200\n  elasticsearch.password: swordfish\n",
		"as a section": "actions: allocate\nMetrics: {type: elasticsearch, address: 'https://l:9200', elasticsearch: {password: swordfish, username: me}}\n",
		"as a number":  "actions: allocate\nmetrics: {type: elasticsearch, address: 'https://l:9200', elasticsearch.password: 20711}\n",
		"in many lines": "kind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n    actions: allocate\n    metrics:\n      type: elasticsearch\n      address: https://l:9200\n" +
			"      elasticsearch.password: |\n        swordfish\n",
	} {
		t.Run(name, func(t *testing.T) {
			told := RedactPasswords([]byte(text))
			if strings.Contains(told, "swordfish") || strings.Contains(told, "20711") {
				t.Errorf("told: %s", told)
			}
			before, _, err := Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			after, _, err := Parse([]byte(told))
			if err != nil {
				t.Fatalf("%v: %s", err, told)
			}
			before.Metrics.Elastic.Password = hidden
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("what is told means something else (-read +told)\n%s", diff)
			}
		})
	}
}

// FuzzParse parses arbitrary input. It must not panic, and an accepted configuration names only existing actions.
func FuzzParse(f *testing.F) {
	f.Add("actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    arguments: {a: 1}\n")
	f.Add("actions: \"enqueue, allocate\"\nconfigurations:\n- name: allocate\n  arguments: {x: y}\n")
	f.Add("tiers: [[]]")
	f.Add("kind: ConfigMap\ndata: {volcano-scheduler.conf: 'actions: allocate'}")
	f.Add("default_scheduler_conf: {actions: allocate}\nmetrics: {type: prometheus, address: 'http://x', interval: 1s}")
	f.Fuzz(func(t *testing.T, text string) {
		cfg, _, err := Parse([]byte(text))
		if err != nil {
			return
		}
		for _, name := range cfg.Actions {
			if !slices.Contains(knownActions, name) {
				t.Fatalf("action %q", name)
			}
		}
	})
}
