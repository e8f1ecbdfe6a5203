// Package predicates enables Kubernetes' own placement rules: cordons, node selectors and affinity, taints, host
// ports, pod affinity, topology spread, volumes and devices. Requested resources are always checked.
package predicates

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the predicates policy.
type Policy struct {
	conf config.Plugin
	warn func(string)
	// attaching holds the settings for volumes and devices.
	attaching framework.Attaching
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	p := &Policy{conf, warn, parseAttaching(conf.Arguments, warn)}
	p.attaching.NoScores = !conf.Enabled("enableNodeOrder")
	return p
}

// Name returns "predicates".
func (*Policy) Name() string { return "predicates" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rule for volumes and devices, if the session has an Attacher. All other filters are part of
// the judge.
func (p *Policy) Open(s *session.Session) {
	if s.Attacher != nil && p.conf.Enabled("enablePredicate") {
		s.Rules.Nodes = append(s.Rules.Nodes, s.Attacher.Open(s, p.attaching))
	}
}

// Configure enables the filters in the judge.
func (p *Policy) Configure(j *equivalence.Judge) {
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
	// Volcano's cache is always enabled here, because equal pods are evaluated only once.
	p.conf.Arguments.Bool("predicate.CacheEnable", false, p.warn)
}
