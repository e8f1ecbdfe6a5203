package scheduler

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/scheduler/config"
)

// entitling lists, by action, the policies that can grant it victims. with is the switch that disables this or the
// argument that enables it.
var entitling = map[string][]struct{ policy, with string }{
	"preempt":     {{"priority", "enablePreemptable"}, {"drf", "enablePreemptable"}, {"tdm", "enablePreemptable"}},
	"gangpreempt": {{"priority", "enablePreemptable"}},
	"reclaim":     {{"proportion", "enableReclaimable"}, {"capacity", "enableReclaimable"}, {"drf", "enableHierarchy"}},
	"gangreclaim": {{"proportion", "enableReclaimable"}, {"capacity", "enableReclaimable"}},
	"shuffle":     {{"tdm", "enabledVictim"}, {"rescheduling", "enabledVictim"}, {"gang", "gang.release-broken"}},
}

// needs lists the policies that have no effect without a certain action.
var needs = []struct{ policy, action, text string }{
	{"overcommit", "enqueue", "has no effect without action enqueue, which calls this policy"},
	{"rescheduling", "shuffle", "has no effect without action shuffle, which performs the evictions"},
}

// warnOfUselessSettings warns about settings that are valid but have no effect in combination with the other settings.
func (e *Engine) warnOfUselessSettings(cfg *config.Config) {
	given, order := indexPolicies(cfg)
	if !slices.ContainsFunc(order, isForeign) {
		e.warnOfIdleActions(cfg.Actions, given)
	}
	for _, need := range needs {
		if given[need.policy] != nil && !slices.Contains(cfg.Actions, need.action) {
			e.addWarning("%s: %s", need.policy, need.text)
		}
	}
	if p := given["tdm"]; p != nil && p.Enabled("enabledVictim") && !slices.Contains(cfg.Actions, "shuffle") {
		e.addWarning("tdm: without action shuffle, pods stay on time-shared nodes after the zone's hours end")
	}
	if p := given["gang"]; p != nil && p.Arguments["gang.release-broken"] != nil && !slices.Contains(cfg.Actions, "shuffle") {
		e.addWarning("gang: gang.release-broken has no effect without action shuffle, which performs the evictions")
	}
	for _, name := range []string{"usage", "rescheduling"} {
		if given[name] != nil && cfg.Metrics.Type == "" {
			e.addWarning("%s: has no effect without a source of load metrics; configure a source under metrics (type, address)", name)
		}
	}
	if p := given["deviceshare"]; p != nil && !sharesDevices(p) {
		e.addWarning("deviceshare: has no effect, because no kind of device is enabled (deviceshare.GPUSharingEnable, .GPUNumberEnable, .VGPUEnable)")
	}
	e.warnOfOverriddenOrders(given, order)
}

// warnOfOverriddenOrders warns about policies that order gangs by past usage after another policy has ordered them.
func (e *Engine) warnOfOverriddenOrders(given map[string]*config.Plugin, order []string) {
	for _, name := range []string{"fairshare", "fairtree"} {
		if drf, fair := slices.Index(order, "drf"), slices.Index(order, name); drf >= 0 && fair > drf && given["drf"].Enabled("enableJobOrder") {
			e.addWarning("%s: drf is listed before %s and already orders the jobs; list %s first", name, name, name)
		}
	}
	if given["fairshare"] != nil && given["fairtree"] != nil {
		e.addWarning("fairshare and fairtree both order jobs by past usage, and the first one decides; remove one of them")
	}
}

// indexPolicies returns the configured policies by name, and their names in order.
func indexPolicies(cfg *config.Config) (given map[string]*config.Plugin, order []string) {
	given = map[string]*config.Plugin{}
	for i := range cfg.Tiers {
		for k := range cfg.Tiers[i].Plugins {
			p := &cfg.Tiers[i].Plugins[k]
			given[p.Name] = p
			order = append(order, p.Name)
		}
	}
	return given, order
}

// warnOfIdleActions warns about actions that evict no pods because no policy grants them victims.
func (e *Engine) warnOfIdleActions(actions []string, given map[string]*config.Plugin) {
	grants := func(o struct{ policy, with string }) bool {
		p := given[o.policy]
		return p != nil && grantsVictims(p, o.with)
	}
	for _, action := range actions {
		policies := entitling[action]
		if policies != nil && !slices.ContainsFunc(policies, grants) {
			e.addWarning("actions: %s evicts no pods, because none of the policies that select its victims is configured (%s)", action, listEntitlingPolicies(action))
		}
	}
}

// grantsVictims reports whether a policy grants victims. This is the case if the given switch is on or the given
// argument is set.
func grantsVictims(p *config.Plugin, with string) bool {
	if isArgumentName(with) {
		return p.Arguments[with] != nil
	}
	return p.Enabled(with)
}

// isArgumentName reports whether a name is an argument, which begins with its policy's name, rather than a switch.
func isArgumentName(with string) bool { return strings.Contains(with, ".") }

// listEntitlingPolicies returns the policies that grant victims to an action, with their switches.
func listEntitlingPolicies(action string) string {
	text := ""
	for i, o := range entitling[action] {
		if i > 0 {
			text += ", "
		}
		text += o.policy
		if o.with == "enableHierarchy" || isArgumentName(o.with) {
			text += " with " + o.with
		}
	}
	return text
}

// sharesDevices reports whether deviceshare places any kind of device.
func sharesDevices(p *config.Plugin) bool {
	for _, kind := range []string{"GPUSharingEnable", "GPUNumberEnable", "VGPUEnable"} {
		if p.Arguments.Bool("deviceshare."+kind, false, nil) {
			return true
		}
	}
	return false
}

// isForeign reports whether a policy was registered by another module. It is unknown whether such a policy grants
// victims.
func isForeign(policy string) bool {
	_, isRegistered := policies[policy]
	isOurs := policy == "extender" || slices.Contains(builtIn, policy)
	return isRegistered && !isOurs
}
