// Package nodeorder weighs kube-scheduler's scores: how much of a node is asked
// for, how evenly, preferred affinity and taints, images that are there already.
package nodeorder

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/internal/scheduler/shape"
)

// Policy is the policy nodeorder.
type Policy struct {
	conf config.Plugin
	warn func(string)
}

// New returns the policy; warn receives arguments that cannot be read.
func New(conf config.Plugin, warn func(string)) *Policy { return &Policy{conf, warn} }

// Name is nodeorder.
func (*Policy) Name() string { return "nodeorder" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers nothing: weights belong to the judge.
func (*Policy) Open(*session.Session) {}

// Configure sets the weights; the defaults are Volcano's.
func (p *Policy) Configure(j *shape.Judge) {
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
