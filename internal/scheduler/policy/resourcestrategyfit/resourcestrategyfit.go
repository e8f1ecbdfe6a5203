// Package resourcestrategyfit scores each resource of a node by its own strategy, so that some resources are spread
// over nodes and others are packed. It also keeps pods that do not request a scarce resource away from nodes that
// have it (sra), and reserves cpu and memory for idle devices (proportional).
package resourcestrategyfit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/score"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the resource-strategy-fit policy.
type Policy struct {
	conf        config.Plugin
	strategy    score.Strategy
	proportions []*fit.Proportion
}

// defaultWeight is the default weight of the policy, and of sra if it is enabled.
const defaultWeight = 10

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	r := reader{warn}
	p := &Policy{conf: conf}
	p.strategy.Weight = float64(max(conf.Arguments.Int("resourceStrategyFitWeight", defaultWeight, warn), 0))
	p.strategy.Resources = r.parseResources(conf.Arguments["resources"])
	p.strategy.Scarce = r.parseScarce(r.parseSection("sra", conf.Arguments["sra"]))
	p.proportions = r.parseProportions(r.parseSection("proportional", conf.Arguments["proportional"]))
	return p
}

// Name returns "resource-strategy-fit".
func (*Policy) Name() string { return "resource-strategy-fit" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Configure sets the weights and filters in the judge.
func (p *Policy) Configure(j *equivalence.Judge) {
	if p.conf.Enabled("enableNodeOrder") {
		j.Weights.Strategy = p.strategy
	}
	if p.conf.Enabled("enablePredicate") {
		j.Filters.Proportions = append(j.Filters.Proportions, p.proportions...)
	}
}

// Open registers the warnings about annotations and looks up the indexes of the scarce resources, which may change when
// new resources appear.
func (p *Policy) Open(s *session.Session) {
	if p.conf.Enabled("enableNodeOrder") {
		s.Rules.Remarks = append(s.Rules.Remarks, strategyWarnings)
	}
	for _, o := range p.proportions {
		o.Index = -1
		if i, ok := s.Cluster.Resources.Find(o.Resource); ok {
			o.Index = i
		}
	}
}

// strategyWarnings returns warnings about pods whose annotations contain an invalid strategy.
func strategyWarnings(j *framework.Job) (texts []string) {
	var last *model.Shape
	for _, t := range j.Tasks {
		if t.Shape == last {
			continue
		}
		last = t.Shape
		if _, _, err := score.ParseOverride(t.Shape.Notes); err != nil {
			texts = append(texts, err.Error()+"; the configured strategy is used for this pod")
		}
	}
	return texts
}

// reader parses arguments and warns about invalid ones.
type reader struct{ warn func(string) }

func (r reader) warnFormatted(format string, args ...any) {
	if r.warn != nil {
		r.warn(fmt.Sprintf(format, args...))
	}
}

func (r reader) parseSection(name string, raw any) config.Arguments {
	if raw == nil {
		return nil
	}
	section, ok := raw.(map[string]any)
	if !ok {
		r.warnFormatted("argument %s: must be a map, not %v; the argument is ignored", name, raw)
	}
	return section
}

// parseResources parses the strategy of each resource. By default, cpu and memory are spread.
func (r reader) parseResources(raw any) map[string]score.Term {
	out := map[string]score.Term{"cpu": {Weight: 1}, "memory": {Weight: 1}}
	given := r.parseSection("resources", raw)
	if len(given) == 0 {
		return out
	}
	clear(out)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		entry := r.parseSection("resources."+name, given[name])
		entry.WarnUnknown("resources."+name, r.warn, "type", "weight")
		kind := entry.String("type", "", r.warn)
		switch star := strings.IndexByte(name, '*'); {
		case name == "*", star >= 0 && star < len(name)-1:
			r.warnFormatted("argument resources: %q is ignored: use a resource name, or a prefix with * at the end", name)
			continue
		case kind != score.LeastAllocated && kind != score.MostAllocated:
			r.warnFormatted("argument resources.%s.type: must be %s or %s, not %q; this resource is ignored", name, score.LeastAllocated, score.MostAllocated, kind)
			continue
		}
		weight := entry.Int("weight", 1, r.warn)
		if weight <= 0 {
			weight = 1
		}
		out[name] = score.Term{Most: kind == score.MostAllocated, Weight: float64(weight)}
	}
	return out
}

func (r reader) parseScarce(sra config.Arguments) (out score.Scarce) {
	sra.WarnUnknown("sra", r.warn, "enable", "resources", "weight", "resourceWeight")
	names := splitNames(sra.String("resources", "", r.warn))
	if !sra.Bool("enable", false, r.warn) || len(names) == 0 {
		return out
	}
	out.Weight = float64(max(sra.Int("weight", defaultWeight, r.warn), 0))
	weights := r.parseSection("sra.resourceWeight", sra["resourceWeight"])
	weights.WarnUnknown("sra.resourceWeight", r.warn, names...)
	out.Resources = map[string]float64{}
	for _, name := range names {
		weight := weights.Int(name, 1, r.warn)
		if weight <= 0 {
			weight = 1
		}
		out.Resources[name] = float64(weight)
	}
	return out
}

// parseProportions parses the amounts of cpu (in cores) and memory (in GB) to reserve for each idle unit of a scarce
// resource.
func (r reader) parseProportions(section config.Arguments) (out []*fit.Proportion) {
	section.WarnUnknown("proportional", r.warn, "enable", "resources", "resourceProportion")
	if !section.Bool("enable", false, r.warn) {
		return nil
	}
	rates := r.parseSection("proportional.resourceProportion", section["resourceProportion"])
	names := splitNames(section.String("resources", "", r.warn))
	known := make([]string, 0, 2*len(names))
	for _, name := range names {
		known = append(known, name+".cpu", name+".memory")
	}
	rates.WarnUnknown("proportional.resourceProportion", r.warn, known...)
	for _, name := range names {
		cpu, memory := rates.Float(name+".cpu", 0, r.warn), rates.Float(name+".memory", 0, r.warn)
		isNegative := cpu < 0 || memory < 0
		if isNegative || (cpu == 0 && memory == 0) {
			r.warnFormatted("argument proportional.resourceProportion: %s.cpu and %s.memory must be numbers greater than 0; this resource is ignored", name, name)
			continue
		}
		out = append(out, &fit.Proportion{Resource: name, Index: -1, MilliCPU: cpu * 1000, Memory: memory * 1e9})
	}
	return out
}

func splitNames(text string) (names []string) {
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
