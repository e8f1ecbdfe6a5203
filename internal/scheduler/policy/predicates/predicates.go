// Package predicates switches Kubernetes' own placing rules on: cordons, node
// selectors and affinity, taints, host ports, pod affinity, topology spread,
// volumes and devices. What a pod asks for must always be there.
package predicates

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/internal/scheduler/shape"
)

// Policy is the policy predicates.
type Policy struct {
	conf config.Plugin
	warn func(string)
	// attaching is what is said of volumes and devices.
	attaching session.Attaching
}

// New returns the policy; warn receives arguments that cannot be read.
func New(conf config.Plugin, warn func(string)) *Policy {
	p := &Policy{conf, warn, attaching(conf.Arguments, warn)}
	p.attaching.Pointless = !conf.Enabled("enableNodeOrder")
	return p
}

// Name is predicates.
func (*Policy) Name() string { return "predicates" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers who judges volumes and devices, if somebody does. All other
// filters belong to the judge.
func (p *Policy) Open(s *session.Session) {
	if s.Attacher != nil && p.conf.Enabled("enablePredicate") {
		s.Rules.Nodes = append(s.Rules.Nodes, s.Attacher.Open(s, p.attaching))
	}
}

// Configure sets the filters.
func (p *Policy) Configure(j *shape.Judge) {
	if !p.conf.Enabled("enablePredicate") {
		return
	}
	on := func(key string) bool { return p.conf.Arguments.Bool(key, true, p.warn) }
	f := &j.Filters
	f.Cordon = true
	f.Affinity = on("predicate.NodeAffinityEnable")
	f.Taints = on("predicate.TaintTolerationEnable")
	f.Ports = on("predicate.NodePortsEnable")
	f.PodRules = on("predicate.PodAffinityEnable")
	f.Spread = on("predicate.PodTopologySpreadEnable")
	// What this one switches on in Volcano is always on: equal pods are judged once.
	p.conf.Arguments.Bool("predicate.CacheEnable", false, p.warn)
}
