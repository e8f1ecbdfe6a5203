// Package nodeorder sets the weights of kube-scheduler's scores: how much of a node's resources is requested and how
// evenly, preferred affinity, taints, and the images that are present on the node.
package nodeorder

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the nodeorder policy.
type Policy struct {
	conf config.Plugin
	warn func(string)
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy { return &Policy{conf, warn} }

// Name returns "nodeorder".
func (*Policy) Name() string { return "nodeorder" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers nothing, because the weights are part of the judge.
func (*Policy) Open(*session.Session) {}

// Configure sets the score weights. The defaults are Volcano's.
func (p *Policy) Configure(j *equivalence.Judge) {
	if !p.conf.Enabled("enableNodeOrder") {
		return
	}
	weight := func(key string, def int) float64 {
		return float64(max(p.conf.Arguments.Int(key+".weight", def, p.warn), 0))
	}
	w := &j.Weights
	w.LeastRequested = weight("leastrequested", 1)
	w.MostRequested = weight("mostrequested", 0)
	w.Balanced = weight("balancedresource", 1)
	w.NodeAffinity = weight("nodeaffinity", 2)
	w.PodAffinity = weight("podaffinity", 2)
	w.Taints = weight("tainttoleration", 3)
	w.ImageLocality = weight("imagelocality", 1)
	w.Spread = weight("podtopologyspread", 2)
}
