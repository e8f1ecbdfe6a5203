// Package licence is a scheduling policy: programs with floating licences run at
// most so often at a time, on whatever nodes.
//
//   - name: licence
//     arguments:
//     licence.matlab: 3
//
// Pods that need one say so by the label example.com/licence: matlab. A licence
// that the configuration does not name is not to be had.
package licence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/plugin"
)

// Label names the licence that a pod needs.
const Label = "example.com/licence"

const prefix = "licence."

// Policy is the policy licence.
type Policy struct {
	has map[string]int // licences, by program
}

// New reads the policy's entry in the configuration.
func New(entry plugin.Entry, warn func(string)) plugin.Policy {
	p := &Policy{has: map[string]int{}}
	for _, key := range slices.Sorted(maps.Keys(entry.Arguments)) {
		if program, ok := strings.CutPrefix(key, prefix); ok {
			p.has[program] = entry.Arguments.Int(key, 0, warn)
		}
	}
	return p
}

// Name is licence.
func (*Policy) Name() string { return "licence" }

// Reads says which arguments have an effect: whatever begins with licence.
func (p *Policy) Reads() plugin.Reads {
	var reads plugin.Reads
	for program := range p.has {
		reads.Arguments = append(reads.Arguments, prefix+program)
	}
	return reads
}

// Open counts the licences in use and registers the rule. The count follows what
// the cycle places, and what it undoes: that may be what an earlier cycle promised, so promises count from the start.
func (p *Policy) Open(s *plugin.Session) {
	used := map[string]int{}
	for _, gang := range s.Cluster.Gangs {
		for _, task := range gang.Tasks {
			if task.Status.OnNode() || task.Status == plugin.Pipelined {
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
