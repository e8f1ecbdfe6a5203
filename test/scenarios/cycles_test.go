package scenarios

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// cycles runs cycles and describes their decisions.
func (w *world) cycles(args []string) []string {
	n := 1
	if len(args) > 0 {
		n = number(w, args[0])
	}
	var out []string
	for range n {
		d := w.cycle()
		out = append(out, w.say(&d)...)
	}
	return out
}

func (w *world) cycle() decision.Decisions {
	w.now = w.now.Add(2 * time.Second)
	d := w.engine.Cycle(w.now, w.model)
	decision.Assume(w.model, &d)
	for _, q := range d.Stats.Queues {
		w.figures[q.Queue] = q
	}
	for i := range d.Gangs {
		w.gangs[d.Gangs[i].Gang.Name].Status = d.Gangs[i].Status
		w.annotate(&d.Gangs[i])
	}
	for i := range d.Queues {
		if q := w.queues[d.Queues[i].Queue]; q != nil {
			q.Status.Conditions = nil
			if c := d.Queues[i].Invalid; c != nil {
				q.Status.Conditions = append(q.Status.Conditions, *c)
			}
		}
	}
	w.nominate(&d)
	w.events = append(w.events, d.Events...)
	return d
}

// settle runs cycles and applies their decisions until they decide nothing more.
func (w *world) settle(how ...string) []string {
	var out []string
	for range 50 {
		d := w.cycle()
		out = append(out, w.say(&d)...)
		if len(d.Binds)+len(d.Evicts)+len(d.Gangs)+len(d.Nominations)+len(d.Ungates)+len(d.Lingering) == 0 {
			return out
		}
		for _, u := range d.Ungates {
			p := w.pods[u.Name]
			p.Spec.SchedulingGates = nil
			w.update(p)
		}
		for _, b := range d.Binds {
			w.attach(&b)
			p := w.pods[b.Pod.Name]
			p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
			annotated(p, &b)
			w.started(p)
			w.bound(p)
			w.update(p)
		}
		for _, e := range d.Evicts {
			if slices.Contains(how, "lingering") {
				w.linger(e.Pod.Name)
				continue
			}
			w.dropPod(e.Pod.Name)
		}
	}
	return append(out, "does not settle")
}
