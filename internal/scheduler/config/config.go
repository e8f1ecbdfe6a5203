// Package config parses the scheduler's configuration, Volcano's volcano-scheduler.conf.
//
//	In:   YAML
//	Out:  Config and warnings for the administrator, or an error; after an error, keep the last valid configuration
//
// # Concurrency
//
// All functions are pure. A Config does not change after Parse, so several engines may read it.
package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Config holds the actions in the order in which they run, and the policies by tier.
type Config struct {
	Actions []string
	Tiers   []Tier
	// Configurations holds the arguments of each action, by action name.
	Configurations map[string]Arguments
	// Metrics describes the source of the nodes' actual load.
	Metrics Metrics
}

// Tier is a set of policies of equal rank. Earlier tiers take precedence.
type Tier struct {
	Plugins []Plugin
}

// Reads lists the switches and arguments that a policy uses. All other keys have no effect.
type Reads struct {
	Switches  []string
	Arguments []string
}

// UnreadKeys returns the given switches and arguments that have no effect, switches first, each group sorted.
func (p *Plugin) UnreadKeys(reads Reads) []string {
	return append(keysWithout(p.Switches, reads.Switches), keysWithout(p.Arguments, reads.Arguments)...)
}

func keysWithout[V any](given map[string]V, read []string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(read, key) {
			out = append(out, key)
		}
	}
	return out
}

// Plugin is one policy with its switches and arguments.
type Plugin struct {
	Name string
	// Where is the plugin's position in the file, such as tiers[0].plugins[2], or "" if the plugin does not come from a
	// file.
	Where string
	// Switches holds the enable… keys that are present in the file.
	Switches  map[string]bool
	Arguments Arguments
}

// Enabled reports whether a switch is on. Switches that are missing from the file are on, except for those that are
// off by default in Volcano.
func (p *Plugin) Enabled(key string) bool {
	if v, ok := p.Switches[key]; ok {
		return v
	}
	return key != "enableHierarchy" && key != "enabledClusterOrder"
}

// Switches lists the keys that turn one hook of a policy on or off, in Volcano's spelling.
var Switches = []string{
	"enableJobOrder", "enableHierarchy", "enableJobReady", "enableJobPipelined", "enableTaskOrder", "enablePreemptable",
	"enableReclaimable", "enablePreemptive", "enableQueueOrder", "enabledClusterOrder", "enablePredicate", "enableBestNode",
	"enableNodeOrder", "enableTargetJob", "enableReservedNodes", "enableJobEnqueued", "enabledVictim", "enableJobStarving",
	"enabledOverused", "enabledAllocatable", "enabledHyperNodeOrder", "enabledSubJobReady", "enabledSubJobPipelined",
	"enabledSubJobOrder", "enabledHyperNodeGradient",
}

// knownActions lists the action names, as in Volcano.
var knownActions = []string{"enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle"}

type file struct {
	Actions        string           `json:"actions"`
	Tiers          []fileTier       `json:"tiers"`
	Configurations []fileAction     `json:"configurations"`
	Metrics        map[string]any   `json:"metrics"`
	Plugins        []map[string]any `json:"plugins"`
}

type fileTier struct {
	Plugins []map[string]any `json:"plugins"`
}

type fileAction struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// Parse parses a configuration file. The warnings describe settings that are accepted but have no effect, in file
// order.
func Parse(data []byte) (*Config, []string, error) {
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	data, err := unwrapConfig(data, warn)
	if err != nil {
		return nil, warnings, err
	}
	var f file
	if err := yaml.Unmarshal(data, &f); err != nil {
		return nil, warnings, fmt.Errorf("scheduler configuration does not have the expected format: %w", err)
	}
	warnUnknownKeys(data, warn)
	cfg := &Config{Configurations: map[string]Arguments{}}
	if err := cfg.readActions(f.Actions, warn); err != nil {
		return nil, warnings, err
	}
	for i, tier := range f.Tiers {
		var t Tier
		for k, raw := range tier.Plugins {
			p, err := readPlugin(raw, fmt.Sprintf("tiers[%d].plugins[%d]", i, k), warn)
			if err != nil {
				return nil, warnings, err
			}
			t.Plugins = append(t.Plugins, p)
		}
		cfg.Tiers = append(cfg.Tiers, t)
	}
	if err := cfg.checkPolicyConflicts(warn); err != nil {
		return nil, warnings, err
	}
	if len(f.Plugins) > 0 {
		warn("plugins: policies belong under tiers[].plugins; policies at the top level are ignored")
	}
	if len(f.Tiers) == 0 {
		warn("tiers: missing; without policies, the scheduler ignores gangs and shares, and filters nodes only by free resources")
	}
	for i, c := range f.Configurations {
		cfg.readArguments(i, c, warn)
	}
	if cfg.Metrics, err = readMetrics(f.Metrics, warn); err != nil {
		return nil, warnings, err
	}
	return cfg, warnings, nil
}

func (cfg *Config) readActions(text string, warn func(string, ...any)) error {
	for _, name := range strings.Split(text, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "" && strings.TrimSpace(text) == "":
			return fmt.Errorf("actions: empty; specify at least one of %s", joinSortedNames(knownActions))
		case !slices.Contains(knownActions, name):
			return fmt.Errorf("actions: unknown action %q; valid actions are %s", name, joinSortedNames(knownActions))
		case slices.Contains(cfg.Actions, name):
			warn("actions: %s is listed twice; the second entry is ignored", name)
		default:
			cfg.Actions = append(cfg.Actions, name)
		}
	}
	return nil
}

// readPlugin parses one policy. The engine checks whether a policy of that name exists.
func readPlugin(raw map[string]any, where string, warn func(string, ...any)) (p Plugin, err error) {
	name, isText := raw["name"].(string)
	if !isText || name == "" {
		return p, fmt.Errorf("%s.name: missing", where)
	}
	p = Plugin{Name: name, Where: where, Switches: map[string]bool{}}
	keys := make([]string, 0, len(raw))
	for key := range raw {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		switch value := raw[key].(type) {
		case bool:
			if slices.Contains(Switches, key) {
				p.Switches[key] = value
				continue
			}
			warn("%s.%s: unknown switch; ignored", where, key)
		case map[string]any:
			if key == "arguments" {
				p.Arguments = Arguments(value)
				continue
			}
			warn("%s.%s: not expected; ignored", where, key)
		default:
			if slices.Contains(Switches, key) {
				return p, fmt.Errorf("%s.%s: must be true or false, not %v", where, key, value)
			}
			if key != "name" && value != nil {
				warn("%s.%s: not expected; ignored", where, key)
			}
		}
	}
	return p, nil
}

// readArguments parses the arguments of one action. As in Volcano, only the first entry for an action counts.
func (cfg *Config) readArguments(i int, c fileAction, warn func(string, ...any)) {
	_, twice := cfg.Configurations[c.Name]
	switch {
	case !slices.Contains(knownActions, c.Name):
		warn("configurations[%d].name: unknown action %q; ignored", i, c.Name)
	case !slices.Contains(cfg.Actions, c.Name):
		warn("configurations[%d].name: %s is not listed in actions; its arguments have no effect", i, c.Name)
	case twice:
		warn("configurations[%d].name: %s is already listed; this entry is ignored", i, c.Name)
	default:
		cfg.Configurations[c.Name] = Arguments(c.Arguments)
	}
}

// checkQueueOrders rejects combinations of queue orders that Volcano rejects as well.
func (t *Tier) checkQueueOrders(i int) error {
	tree := slices.ContainsFunc(t.Plugins, func(p Plugin) bool { return p.Name == "drf" && p.Enabled("enableHierarchy") })
	if tree && slices.ContainsFunc(t.Plugins, func(p Plugin) bool { return p.Name == "proportion" }) {
		return fmt.Errorf("tiers[%d]: drf with enableHierarchy and proportion order queues by different rules; put them in different tiers", i)
	}
	return nil
}

// checkPolicyConflicts rejects policies that contradict each other and drops duplicate policies.
func (cfg *Config) checkPolicyConflicts(warn func(string, ...any)) error {
	first := map[string]string{}
	for i := range cfg.Tiers {
		kept := cfg.Tiers[i].Plugins[:0]
		for _, p := range cfg.Tiers[i].Plugins {
			if where, twice := first[p.Name]; twice {
				warn("%s: %s is already listed at %s; this entry is ignored", p.Where, p.Name, where)
				continue
			}
			first[p.Name] = p.Where
			kept = append(kept, p)
		}
		cfg.Tiers[i].Plugins = kept
		if err := cfg.Tiers[i].checkQueueOrders(i); err != nil {
			return err
		}
	}
	if byWeight, byAmount := first["proportion"], first["capacity"]; byWeight != "" && byAmount != "" {
		return fmt.Errorf("%s proportion and %s capacity: both policies set the deserved share of a queue, proportion by weight and capacity by amount; remove one of these policies", byWeight, byAmount)
	}
	return nil
}

func joinSortedNames(list []string) string {
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, ", ")
}
