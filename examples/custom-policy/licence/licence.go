// Package licence implements a scheduling policy for programs with floating licences: only a limited number of pods may
// run at the same time, on any nodes.
//
//	plugins:
//	- name: licence
//	  arguments:
//	    licence.matlab: 3
//
// A pod requests a licence with the label example.com/licence: matlab. Licences that the configuration does not name
// are not available.
package licence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/plugin"
)

// Label is the label with the name of the licence that a pod needs.
const Label = "example.com/licence"

const prefix = "licence."

// Policy implements the policy licence.
type Policy struct {
	has map[string]int // number of licences, by program
}

// New returns the policy for an entry in the configuration.
func New(entry plugin.Entry, warn func(string)) plugin.Policy {
	p := &Policy{has: map[string]int{}}
	for _, key := range slices.Sorted(maps.Keys(entry.Arguments)) {
		if program, ok := strings.CutPrefix(key, prefix); ok {
			p.has[program] = entry.Arguments.Int(key, 0, warn)
		}
	}
	return p
}

// Name returns the name of the policy, licence.
func (*Policy) Name() string { return "licence" }

// Reads returns the arguments that have an effect: all that start with licence.
func (p *Policy) Reads() plugin.Reads {
	var reads plugin.Reads
	for program := range p.has {
		reads.Arguments = append(reads.Arguments, prefix+program)
	}
	return reads
}

// Open counts the licences in use and registers the rule. The count follows the pods that the cycle places or takes
// back. A cycle may take back pods that an earlier cycle promised a node, so these count from the start, too.
func (p *Policy) Open(s *plugin.Session) {
	used := map[string]int{}
	for _, gang := range s.Cluster.Gangs {
		for _, task := range gang.Tasks {
			if task.Status.CountsOnNode() || task.Status == plugin.Pipelined {
				used[task.Labels[Label]]++
			}
		}
	}
	s.Rules.Nodes = append(s.Rules.Nodes, plugin.NodeRule{
		Name:    p.Name(),
		Applies: func(_ *plugin.Job, t *plugin.Task) bool { return t.Labels[Label] != "" },
		Allows: func(_ *plugin.Job, t *plugin.Task, _ plugin.NodeID, _ bool) (plugin.Code, string) {
			program := t.Labels[Label]
			if used[program] >= p.has[program] {
				return plugin.ByPolicy, fmt.Sprintf("all %d licences of %s are in use", p.has[program], program)
			}
			return "", ""
		},
		Placed: func(_ *plugin.Job, t *plugin.Task, _ plugin.NodeID, sign int) { used[t.Labels[Label]] += sign },
	})
}
