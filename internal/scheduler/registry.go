package scheduler

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/scheduler/action/allocate"
	"github.com/vc-batch/vc/internal/scheduler/action/backfill"
	"github.com/vc-batch/vc/internal/scheduler/action/enqueue"
	"github.com/vc-batch/vc/internal/scheduler/action/evictions"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/policy/accountlimits"
	"github.com/vc-batch/vc/internal/scheduler/policy/binpack"
	"github.com/vc-batch/vc/internal/scheduler/policy/capacity"
	"github.com/vc-batch/vc/internal/scheduler/policy/cdp"
	"github.com/vc-batch/vc/internal/scheduler/policy/conformance"
	"github.com/vc-batch/vc/internal/scheduler/policy/deviceshare"
	"github.com/vc-batch/vc/internal/scheduler/policy/drf"
	"github.com/vc-batch/vc/internal/scheduler/policy/fairshare"
	"github.com/vc-batch/vc/internal/scheduler/policy/fairtree"
	"github.com/vc-batch/vc/internal/scheduler/policy/gang"
	"github.com/vc-batch/vc/internal/scheduler/policy/networktopologyaware"
	"github.com/vc-batch/vc/internal/scheduler/policy/nodegroup"
	"github.com/vc-batch/vc/internal/scheduler/policy/nodeorder"
	"github.com/vc-batch/vc/internal/scheduler/policy/numaaware"
	"github.com/vc-batch/vc/internal/scheduler/policy/overcommit"
	"github.com/vc-batch/vc/internal/scheduler/policy/pdb"
	"github.com/vc-batch/vc/internal/scheduler/policy/predicates"
	"github.com/vc-batch/vc/internal/scheduler/policy/priority"
	"github.com/vc-batch/vc/internal/scheduler/policy/proportion"
	"github.com/vc-batch/vc/internal/scheduler/policy/rescheduling"
	"github.com/vc-batch/vc/internal/scheduler/policy/resourcequota"
	"github.com/vc-batch/vc/internal/scheduler/policy/resourcestrategyfit"
	"github.com/vc-batch/vc/internal/scheduler/policy/sla"
	"github.com/vc-batch/vc/internal/scheduler/policy/tasktopology"
	"github.com/vc-batch/vc/internal/scheduler/policy/tdm"
	"github.com/vc-batch/vc/internal/scheduler/policy/usage"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// actions maps Volcano's names to actions.
var actions = map[string]cycle.Action{
	"enqueue":     enqueue.Action{},
	"allocate":    allocate.Action{},
	"backfill":    backfill.Action{},
	"shuffle":     evictions.Shuffle,
	"reclaim":     evictions.Reclaim,
	"preempt":     evictions.Preempt,
	"gangpreempt": evictions.GangPreempt,
	"gangreclaim": evictions.GangReclaim,
}

// Builder returns a policy for its entry in the configuration. It calls warn with a message for each invalid setting.
type Builder func(entry config.Plugin, warn func(string)) session.Policy

// policies maps policy names to their builders. Policies that exist in Volcano have the same names as there. Register
// adds other policies.
var policies = map[string]Builder{
	"gang":          func(p config.Plugin, warn func(string)) session.Policy { return gang.New(p, warn) },
	"priority":      func(p config.Plugin, _ func(string)) session.Policy { return priority.New(p) },
	"conformance":   func(p config.Plugin, _ func(string)) session.Policy { return conformance.New(p) },
	"capacity":      func(p config.Plugin, warn func(string)) session.Policy { return capacity.New(p, warn) },
	"overcommit":    func(p config.Plugin, warn func(string)) session.Policy { return overcommit.New(p, warn) },
	"sla":           func(p config.Plugin, warn func(string)) session.Policy { return sla.New(p, warn) },
	"accountlimits": func(p config.Plugin, _ func(string)) session.Policy { return accountlimits.New(p) },
	"resourcequota": func(p config.Plugin, _ func(string)) session.Policy { return resourcequota.New(p) },
	"rescheduling":  func(p config.Plugin, warn func(string)) session.Policy { return rescheduling.New(p, warn) },
	"pdb":           func(p config.Plugin, _ func(string)) session.Policy { return pdb.New(p) },
	"cdp":           func(p config.Plugin, _ func(string)) session.Policy { return cdp.New(p) },
	"drf":           func(p config.Plugin, _ func(string)) session.Policy { return drf.New(p) },
	"fairshare":     func(p config.Plugin, warn func(string)) session.Policy { return fairshare.New(p, warn) },
	"fairtree":      func(p config.Plugin, warn func(string)) session.Policy { return fairtree.New(p, warn) },
	"proportion":    func(p config.Plugin, _ func(string)) session.Policy { return proportion.New(p) },
	"network-topology-aware": func(p config.Plugin, warn func(string)) session.Policy {
		return networktopologyaware.New(p, warn)
	},
	"task-topology":         func(p config.Plugin, warn func(string)) session.Policy { return tasktopology.New(p, warn) },
	"predicates":            func(p config.Plugin, warn func(string)) session.Policy { return predicates.New(p, warn) },
	"nodeorder":             func(p config.Plugin, warn func(string)) session.Policy { return nodeorder.New(p, warn) },
	"deviceshare":           func(p config.Plugin, warn func(string)) session.Policy { return deviceshare.New(p, warn) },
	"resource-strategy-fit": func(p config.Plugin, warn func(string)) session.Policy { return resourcestrategyfit.New(p, warn) },
	"usage":                 func(p config.Plugin, warn func(string)) session.Policy { return usage.New(p, warn) },
	"nodegroup":             func(p config.Plugin, warn func(string)) session.Policy { return nodegroup.New(p, warn) },
	"tdm":                   func(p config.Plugin, warn func(string)) session.Policy { return tdm.New(p, warn) },
	"numa-aware":            func(p config.Plugin, warn func(string)) session.Policy { return numaaware.New(p, warn) },
	"binpack":               func(p config.Plugin, warn func(string)) session.Policy { return binpack.New(p, warn) },
}

// builtIn lists the policies of this module. The effects of all other policies are unknown here.
var builtIn = append(slices.Sorted(maps.Keys(policies)), "extender")

// Register adds a policy under a name. Call it before the first engine is created. It returns an error if the name
// is already in use.
func Register(name string, build Builder) error {
	if name == "" || build == nil {
		return fmt.Errorf("policy %q must have a name and a builder", name)
	}
	if _, taken := policies[name]; taken {
		return fmt.Errorf("policy %q is already registered", name)
	}
	policies[name] = build
	return nil
}

// Policies returns the names of all policies, sorted.
func Policies() []string { return slices.Sorted(maps.Keys(policies)) }
