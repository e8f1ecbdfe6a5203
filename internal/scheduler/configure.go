package scheduler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/scheduler/action/allocate"
	"github.com/vc-batch/vc/internal/scheduler/action/backfill"
	"github.com/vc-batch/vc/internal/scheduler/action/enqueue"
	"github.com/vc-batch/vc/internal/scheduler/action/reclaim"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/policy/binpack"
	"github.com/vc-batch/vc/internal/scheduler/policy/conformance"
	"github.com/vc-batch/vc/internal/scheduler/policy/gang"
	"github.com/vc-batch/vc/internal/scheduler/policy/nodeorder"
	"github.com/vc-batch/vc/internal/scheduler/policy/predicates"
	"github.com/vc-batch/vc/internal/scheduler/policy/priority"
	"github.com/vc-batch/vc/internal/scheduler/policy/proportion"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// actions by Volcano's names.
var actions = map[string]session.Action{
	"enqueue":  enqueue.Action{},
	"allocate": allocate.Action{},
	"backfill": backfill.Action{},
	"reclaim":  reclaim.Action{},
}

// policies by Volcano's names.
var policies = map[string]func(config.Plugin, func(string)) session.Policy{
	"gang":        func(p config.Plugin, _ func(string)) session.Policy { return gang.New(p) },
	"priority":    func(p config.Plugin, _ func(string)) session.Policy { return priority.New(p) },
	"conformance": func(p config.Plugin, _ func(string)) session.Policy { return conformance.New(p) },
	"proportion":  func(p config.Plugin, _ func(string)) session.Policy { return proportion.New(p) },
	"predicates":  func(p config.Plugin, warn func(string)) session.Policy { return predicates.New(p, warn) },
	"nodeorder":   func(p config.Plugin, warn func(string)) session.Policy { return nodeorder.New(p, warn) },
	"binpack":     func(p config.Plugin, warn func(string)) session.Policy { return binpack.New(p, warn) },
}

func (e *Engine) warn(format string, args ...any) {
	e.Warnings = append(e.Warnings, fmt.Sprintf(format, args...))
}

// configure takes actions and policies, and warns of what has no effect.
func (e *Engine) configure(cfg *config.Config) error {
	for _, name := range cfg.Actions {
		a, ok := actions[name]
		if !ok {
			return fmt.Errorf("action %q: not known", name)
		}
		e.actions = append(e.actions, a)
		e.enqueues = e.enqueues || name == "enqueue"
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Configurations)) {
		for _, key := range slices.Sorted(maps.Keys(cfg.Configurations[name])) {
			e.warn("configurations: %s: %s has no effect: the action reads no arguments", name, key)
		}
	}
	for _, tier := range cfg.Tiers {
		for _, plugin := range tier.Plugins {
			build, ok := policies[plugin.Name]
			if !ok {
				return fmt.Errorf("policy %q: not known", plugin.Name)
			}
			p := build(plugin, func(text string) { e.warn("%s: %s", plugin.Name, text) })
			for _, key := range plugin.Unread(p.Reads()) {
				e.warn("%s: %s has no effect: the policy does not read it", plugin.Name, key)
			}
			e.policies = append(e.policies, p)
			if j, ok := p.(session.Judging); ok {
				j.Configure(&e.judge)
			}
		}
	}
	return nil
}
