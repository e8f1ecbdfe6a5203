// Package binpack prefers nodes that are nearly full, so that others stay empty
// for large gangs.
package binpack

import (
	"strings"

	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/internal/scheduler/shape"
)

// Policy is the policy binpack.
type Policy struct {
	conf config.Plugin
	warn func(string)
}

// New returns the policy; warn receives arguments that cannot be read.
func New(conf config.Plugin, warn func(string)) *Policy { return &Policy{conf, warn} }

// Name is binpack.
func (*Policy) Name() string { return "binpack" }

// Reads says which switches and arguments have an effect; weights of resources
// only where binpack.resources names them.
func (p *Policy) Reads() config.Reads {
	var own []string
	for _, name := range p.resources(nil) {
		own = append(own, "binpack.resources."+name)
	}
	return manual.Reads(own...)
}

// Open registers nothing: weights belong to the judge.
func (*Policy) Open(*session.Session) {}

// Configure sets the weights; a negative one becomes 1, as in Volcano.
func (p *Policy) Configure(j *shape.Judge) {
	if !p.conf.Enabled("enableNodeOrder") {
		return
	}
	weight := func(key string) float64 {
		v := p.conf.Arguments.Int(key, 1, p.warn)
		if v < 0 {
			v = 1
		}
		return float64(v)
	}
	b := &j.Weights.Binpack
	b.Weight = weight("binpack.weight")
	b.Resources = map[string]float64{"cpu": weight("binpack.cpu"), "memory": weight("binpack.memory")}
	for _, name := range p.resources(p.warn) {
		b.Resources[name] = weight("binpack.resources." + name)
	}
}

// resources are the names that binpack.resources lists.
func (p *Policy) resources(warn func(string)) []string {
	var names []string
	for _, name := range strings.Split(p.conf.Arguments.String("binpack.resources", "", warn), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
