// Package rescheduling evens out the actual load of nodes. It evicts pods from overloaded nodes while other nodes have
// enough capacity for the load of these pods.
//
//	In:   the nodes' measured load, the pods' requests
//	Out:  victims for the shuffle action, once per interval
//
// Volcano identifies pods only by name, and it reads 5m averages although only 10m averages are stored. This package
// identifies pods by their tasks and uses a single load value.
package rescheduling

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	defaultInterval = 5 * time.Minute
	// stale is the age at which a measurement becomes too old to be used.
	stale = 5 * time.Minute
	// systemCritical is the value of the priority class system-cluster-critical, which is Volcano's default for
	// thresholdPriorityClassName.
	systemCritical = 2_000_000_000
)

// Policy implements the rescheduling policy.
type Policy struct {
	conf       config.Plugin
	interval   time.Duration
	strategies []strategy
}

// strategy holds the settings of lowNodeUtilization: its thresholds for cpu and memory, in percent. Thresholds that are
// not set are 100.
type strategy struct{ low, target load }

// load holds percentages.
type load struct{ cpu, memory float64 }

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	p := &Policy{conf: conf, interval: defaultInterval}
	say := formatWarnings(warn)
	if text := conf.Arguments.String("interval", "", warn); text != "" {
		if d, err := time.ParseDuration(text); err == nil && d > 0 {
			p.interval = d
		} else {
			say("argument interval: must be a duration such as 5m, not %q; the default %s is used", text, defaultInterval)
		}
	}
	if _, given := conf.Arguments["metricsPeriod"]; given {
		say("argument metricsPeriod has no effect: loads are always 10-minute averages")
	}
	list, isList := conf.Arguments["strategies"].([]any)
	if given := conf.Arguments["strategies"]; given != nil && !isList {
		say("argument strategies: must be a list, not %v; the argument is ignored", given)
	}
	if len(list) == 0 {
		say("the policy has no effect, because no strategies are configured; use lowNodeUtilization")
	}
	for i, item := range list {
		if parsed, ok := parseStrategy(item, i, warn); ok {
			p.strategies = append(p.strategies, parsed)
		}
	}
	return p
}

// parseStrategy parses the strategy at an index of the list. ok is false if the strategy is unknown.
func parseStrategy(item any, i int, warn func(string)) (parsed strategy, ok bool) {
	say := formatWarnings(warn)
	fields, _ := item.(map[string]any)
	if name, _ := fields["name"].(string); name != "lowNodeUtilization" {
		say("argument strategies[%d].name: unknown strategy %v; use lowNodeUtilization", i, fields["name"])
		return strategy{}, false
	}
	config.Arguments(fields).WarnUnknown(fmt.Sprintf("strategies[%d]", i), warn, "name", "params")
	params, isMap := fields["params"].(map[string]any)
	if given := fields["params"]; given != nil && !isMap {
		say("argument strategies[%d].params: must be a map, not %v; the argument is ignored", i, given)
	}
	config.Arguments(params).WarnUnknown(fmt.Sprintf("strategies[%d].params", i), warn, "thresholds", "targetThresholds", "thresholdPriorityClassName", "nodeFit")
	for _, key := range []string{"thresholdPriorityClassName", "nodeFit"} {
		if _, given := params[key]; given {
			say("argument strategies[%d].params.%s has no effect, as in Volcano", i, key)
		}
	}
	where := fmt.Sprintf("strategies[%d].params.", i)
	return strategy{
		parsePercentages(params["thresholds"], where+"thresholds", warn), parsePercentages(params["targetThresholds"], where+"targetThresholds", warn),
	}, true
}

// formatWarnings returns a function that formats a warning and passes it to warn, unless warn is nil.
func formatWarnings(warn func(string)) func(format string, args ...any) {
	return func(format string, args ...any) {
		if warn != nil {
			warn(fmt.Sprintf(format, args...))
		}
	}
}

// parsePercentages parses percentages for cpu and memory. The default is 100.
func parsePercentages(value any, where string, warn func(string)) load {
	fields, ok := value.(map[string]any)
	if value != nil && !ok && warn != nil {
		warn(fmt.Sprintf("argument %s: must be a map, not %v; the argument is ignored", where, value))
	}
	of := config.Arguments(fields)
	of.WarnUnknown(where, warn, "cpu", "memory")
	of = of.InSection(where)
	return load{of.Percent(where+".cpu", 100, warn), of.Percent(where+".memory", 100, warn)}
}

// Name returns "rescheduling".
func (*Policy) Name() string { return "rescheduling" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the mover if the interval since the last eviction has passed. Otherwise, it requests a cycle for the
// end of the interval.
func (p *Policy) Open(s *session.Session) {
	if !p.conf.Enabled("enabledVictim") || len(p.strategies) == 0 {
		return
	}
	last, ever := s.Cluster.Shuffled[p.Name()]
	if ever && s.Now.Before(last.Add(p.interval)) {
		s.WakeAt(last.Add(p.interval))
		return
	}
	s.Rules.Shuffle(framework.Mover{Name: p.Name(), Victims: func() ([]*model.Task, string) {
		var all []*model.Task
		for _, st := range p.strategies {
			all = append(all, st.selectVictims(s)...)
		}
		return all, "the pod's node is overutilized, and other nodes are underutilized"
	}})
}

// node is a node with a measured load.
type node struct {
	id   model.NodeID
	used load
}

// selectVictims selects the pods to evict. It visits the busiest nodes first and selects pods by ascending priority, as
// long as the node is above its target and the underused nodes have enough capacity for the pods.
func (st strategy) selectVictims(s *session.Session) []*model.Task {
	var low, high []node
	for _, id := range s.View.Order {
		u := s.Cluster.Nodes.Usage[id]
		if u.At.IsZero() || s.Now.Sub(u.At) > stale {
			continue
		}
		n := node{id, load{u.CPUPercent, u.MemoryPercent}}
		switch {
		case n.used.cpu > st.target.cpu || n.used.memory > st.target.memory:
			high = append(high, n)
		case n.used.cpu < st.low.cpu && n.used.memory < st.low.memory && !s.Cluster.Nodes.Info[id].Unschedulable:
			low = append(low, n)
		}
	}
	if len(low) == 0 {
		return nil
	}
	slices.SortStableFunc(high, func(a, b node) int { return cmp.Compare(b.used.cpu+b.used.memory, a.used.cpu+a.used.memory) })
	room := st.loadBelowTarget(s, low)
	var victims []*model.Task
	for _, n := range high {
		victims = append(victims, st.selectFromNode(s, n, &room)...)
	}
	return victims
}

// amounts holds millicores and bytes.
type amounts struct{ cpu, memory float64 }

// loadBelowTarget returns the load that the underused nodes can take until they reach the target.
func (st strategy) loadBelowTarget(s *session.Session, low []node) amounts {
	var sum amounts
	for _, n := range low {
		row := s.Cluster.Nodes.Row(s.Cluster.Nodes.Alloc, n.id)
		sum.cpu += (st.target.cpu - n.used.cpu) / 100 * float64(row[resource.CPU])
		sum.memory += (st.target.memory - n.used.memory) / 100 * float64(row[resource.Memory])
	}
	return sum
}

// selectFromNode selects the pods to evict from one node.
func (st strategy) selectFromNode(s *session.Session, n node, room *amounts) []*model.Task {
	row := s.Cluster.Nodes.Row(s.Cluster.Nodes.Alloc, n.id)
	tasks := slices.DeleteFunc(slices.Clone(s.Cluster.Nodes.Tasks[n.id]), func(t *model.Task) bool {
		isProtected := t.IsProtected() || t.Priority >= systemCritical
		return t.Status != model.Running || t.Gang == nil || isProtected
	})
	slices.SortFunc(tasks, func(a, b *model.Task) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(requestRank(a), requestRank(b)), cmp.Compare(a.Key(), b.Key()))
	})
	var victims []*model.Task
	for _, t := range tasks {
		cpu, memory := float64(t.Shape.Request.Get(resource.CPU)), float64(t.Shape.Request.Get(resource.Memory))
		isBelowTarget := n.used.cpu <= st.target.cpu && n.used.memory <= st.target.memory
		if isBelowTarget || cpu > room.cpu || memory > room.memory {
			break
		}
		n.used.cpu -= percentageOf(cpu, row[resource.CPU])
		n.used.memory -= percentageOf(memory, row[resource.Memory])
		room.cpu -= cpu
		room.memory -= memory
		victims = append(victims, t)
	}
	return victims
}

func percentageOf(amount float64, of int64) float64 {
	if of <= 0 {
		return 0
	}
	return amount / float64(of) * 100
}

// requestRank ranks pods without requests before others.
func requestRank(t *model.Task) int {
	if t.Shape.BestEffort {
		return 0
	}
	return 1
}
