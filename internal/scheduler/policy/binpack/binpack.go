// Package binpack prefers nodes that are nearly full, so that other nodes stay empty for large gangs.
package binpack

import (
	"strings"

	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the binpack policy.
type Policy struct {
	conf config.Plugin
	warn func(string)
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy { return &Policy{conf, warn} }

// Name returns "binpack".
func (*Policy) Name() string { return "binpack" }

// Reads returns the switches and arguments that have an effect. The weight of a resource has an effect only if
// binpack.resources lists the resource.
func (p *Policy) Reads() config.Reads {
	var own []string
	for _, name := range p.parseResources(nil) {
		own = append(own, "binpack.resources."+name)
	}
	return manual.Reads(own...)
}

// Open registers nothing, because the weights are part of the judge.
func (*Policy) Open(*session.Session) {}

// Configure sets the score weights. As in Volcano, a negative weight becomes 1.
func (p *Policy) Configure(j *equivalence.Judge) {
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
	for _, name := range p.parseResources(p.warn) {
		b.Resources[name] = weight("binpack.resources." + name)
	}
}

// parseResources returns the resource names in binpack.resources.
func (p *Policy) parseResources(warn func(string)) []string {
	var names []string
	for _, name := range strings.Split(p.conf.Arguments.String("binpack.resources", "", warn), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
