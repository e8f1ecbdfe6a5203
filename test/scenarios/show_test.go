package scenarios

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

func (w *world) show(names []string) []string {
	var out []string
	for _, name := range names {
		s := &w.gangs[name].Status
		out = append(out, fmt.Sprintf("%s %s running=%d succeeded=%d failed=%d", name, s.Phase, s.Running, s.Succeeded, s.Failed))
		for _, c := range s.Conditions {
			out = append(out, strings.TrimRight(fmt.Sprintf("  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message), ": "))
		}
		e := s.Explanation
		if e == nil {
			continue
		}
		out = append(out, fmt.Sprintf("  %s: %s", e.Reason, e.Message), "  hint: "+e.Hint)
		for _, n := range e.Nodes {
			out = append(out, strings.TrimRight(fmt.Sprintf("  nodes: %d %s %s %s", n.Count, n.Reason, n.Detail, n.ShortBy), " "))
		}
		out = append(out, evictions(e)...)
		for _, n := range e.Short {
			out = append(out, fmt.Sprintf("  short: %s in %s: asked %s, available %s, short by %s", n.Resource, n.Scope, n.Asked, n.Available, n.ShortBy))
		}
	}
	return out
}

func (w *world) shares() []string {
	var names, out []string
	for name := range w.model.Queues {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		q := w.figures[name]
		line := fmt.Sprintf("%s allocated %s deserved %s", name, list(q.Allocated), list(q.Deserved))
		if len(q.Terminating) > 0 {
			line += " terminating " + list(q.Terminating)
		}
		out = append(out, line)
	}
	return out
}

func list(l corev1.ResourceList) string {
	var parts []string
	for name, q := range l {
		parts = append(parts, string(name)+"="+q.String())
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ",")
}
