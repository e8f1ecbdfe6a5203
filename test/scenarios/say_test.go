package scenarios

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// say describes decisions as lines. Binds of one gang to one node share a line.
func (w *world) say(d *decision.Decisions) []string {
	var out []string
	for i := 0; i < len(d.Binds); {
		k := i
		var names []string
		for ; k < len(d.Binds) && d.Binds[k].Node == d.Binds[i].Node && d.Binds[k].Gang == d.Binds[i].Gang; k++ {
			names = append(names, d.Binds[k].Pod.Name)
		}
		out = append(out, fmt.Sprintf("bind %s to %s", strings.Join(names, " "), d.Binds[i].Node))
		for ; i < k; i++ {
			out = append(out, sayAttach(&d.Binds[i])...)
		}
		i = k
	}
	for _, e := range d.Evicts {
		taker := ""
		if e.Preemptor.Name != "" {
			taker = " for " + e.Preemptor.Name
		}
		out = append(out, fmt.Sprintf("evict %s from %s%s: %s", e.Pod.Name, e.Node, taker, e.Message))
	}
	for _, u := range d.Ungates {
		out = append(out, "gate opened for "+u.Name)
	}
	for _, n := range d.Nominations {
		if n.Node == "" {
			out = append(out, fmt.Sprintf("release %s", n.Pod.Name))
			continue
		}
		out = append(out, fmt.Sprintf("promise %s to %s", n.Node, n.Pod.Name))
	}
	for _, h := range d.HyperNodes {
		if h.Ready.Message != "" {
			out = append(out, fmt.Sprintf("hyperNode %s has %d nodes, ready %s, %s: %s", h.HyperNode, h.NodeCount, h.Ready.Status, h.Ready.Reason, h.Ready.Message))
		}
	}
	for _, g := range d.Gangs {
		line := fmt.Sprintf("%s is %s", g.Gang.Name, g.Status.Phase)
		if e := g.Status.Explanation; e != nil {
			line += ", waits: " + e.Message
		}
		if g.HyperNode != nil {
			line += ", in hyperNode " + *g.HyperNode
		}
		out = append(out, line)
	}
	return out
}

// tellEvents returns the events since the last call.
func (w *world) tellEvents() []string {
	out := make([]string, 0, len(w.events))
	for _, e := range w.events {
		out = append(out, fmt.Sprintf("%s %s %s: %s", cmp.Or(e.Gang.Name, e.Queue.Name), e.Type, e.Reason, e.Message))
	}
	w.events = nil
	return out
}

// conditions describes the conditions of waiting pods, which autoscalers read.
func (w *world) conditions(gangs []string) []string {
	var out []string
	for _, gang := range gangs {
		for _, p := range w.podsOf(gang) {
			if t := w.model.Task(p.UID); t != nil && t.Condition.Reason != "" {
				out = append(out, fmt.Sprintf("%s %s: %s", p.Name, t.Condition.Reason, t.Condition.Message))
			}
		}
	}
	return out
}
