package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

func (e *Engine) addWarning(format string, args ...any) {
	e.Warnings = append(e.Warnings, fmt.Sprintf(format, args...))
}

// applyConfig sets up the actions and policies, and warns about settings that have no effect.
func (e *Engine) applyConfig(cfg *config.Config) error {
	for _, name := range cfg.Actions {
		a, ok := actions[name]
		if !ok {
			e.addWarning("actions: %s is not available; the other actions run without it", name)
			continue
		}
		e.actions = append(e.actions, a)
		e.enqueues = e.enqueues || name == "enqueue"
		switch kind := framework.AttackKind(name); kind {
		case framework.Preempt, framework.Reclaim, framework.GangPreempt, framework.GangReclaim:
			e.attacks = append(e.attacks, kind)
		}
		e.preempts = e.preempts || name == "preempt" || name == "gangpreempt"
	}
	if len(e.actions) == 0 {
		return fmt.Errorf("actions: none of the listed actions is available: %s", strings.Join(cfg.Actions, ", "))
	}
	e.configureActions(cfg)
	for _, a := range e.actions {
		if b, ok := a.(interface{ Easy() bool }); ok {
			e.easy = b.Easy()
		}
	}
	e.configureImpliedPolicies(cfg)
	for i, tier := range cfg.Tiers {
		for _, plugin := range tier.Plugins {
			e.configurePolicy(i, plugin)
		}
	}
	e.warnOfUselessSettings(cfg)
	return nil
}

// configureActions passes the arguments to the actions.
func (e *Engine) configureActions(cfg *config.Config) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Configurations)) {
		if !slices.Contains(cfg.Actions, name) {
			continue // reported when the file was parsed
		}
		arguments := cfg.Configurations[name]
		var reads []string
		for i, a := range e.actions {
			c, ok := a.(cycle.Configurable)
			if !ok || a.Name() != name {
				continue
			}
			reads = c.Reads()
			e.actions[i] = c.Configured(arguments, func(text string) { e.addWarning("configurations: %s: %s", name, text) })
		}
		for _, key := range slices.Sorted(maps.Keys(arguments)) {
			why, known := config.NoEffectReason(key)
			switch {
			case known && !slices.Contains(reads, key):
				e.addWarning("configurations: %s: %s has no effect: %s", name, key, why)
			case len(reads) == 0:
				e.addWarning("configurations: %s: %s has no effect: the action accepts no arguments", name, key)
			case !slices.Contains(reads, key):
				e.addWarning("configurations: %s: %s has no effect: the action accepts only the arguments %s", name, key, strings.Join(reads, ", "))
			}
		}
	}
}

// implied lists policies that run even if the configuration does not name them. Without them, the scheduler would admit
// gangs whose pods the API server rejects, and accounts would have no limits on running jobs. To disable one of them, add
// an entry for it with enableJobEnqueued: false.
var implied = []string{"resourcequota", "accountlimits"}

func (e *Engine) configureImpliedPolicies(cfg *config.Config) {
	for _, name := range implied {
		named := slices.ContainsFunc(cfg.Tiers, func(t config.Tier) bool {
			return slices.ContainsFunc(t.Plugins, func(p config.Plugin) bool { return p.Name == name })
		})
		if !named {
			e.configurePolicy(0, config.Plugin{Name: name})
		}
	}
}

// configurePolicy adds a policy to a tier.
func (e *Engine) configurePolicy(tier int, plugin config.Plugin) {
	build, ok := policies[plugin.Name]
	if !ok {
		if instead, ok := config.VendorReplacement(plugin.Name); ok {
			e.addWarning("%s: %s is specific to a vendor's cloud and has no effect: %s", plugin.Where, plugin.Name, instead)
			return
		}
		e.addWarning("%s: unknown policy %q is ignored; valid policies are %s", plugin.Where, plugin.Name, strings.Join(Policies(), ", "))
		return
	}
	p := build(plugin, func(text string) { e.addWarning("%s: %s", plugin.Name, text) })
	for _, key := range plugin.UnreadKeys(p.Reads()) {
		why, known := config.NoEffectReason(key)
		if !known {
			why = "the policy does not use this argument"
		}
		e.addWarning("%s: %s has no effect: %s", plugin.Name, key, why)
	}
	e.policies = append(e.policies, tiered{p, tier})
	if j, ok := p.(session.Judging); ok {
		j.Configure(&e.judge)
	}
}

// tiered is a policy and the number of its tier.
type tiered struct {
	session.Policy
	tier int
}
