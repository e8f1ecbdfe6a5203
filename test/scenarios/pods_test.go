package scenarios

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

func (w *world) foreign(args []string) []string {
	b := make.Pod(args[0]).Phase(corev1.PodRunning)
	b.Obj().Spec.SchedulerName = "default-scheduler"
	for _, word := range args[1:] {
		switch key, value := pair(word); key {
		case "node":
			b.On(value)
		case "port":
			b.HostPort(int32(number(w, value)))
		default:
			kind, name, _ := strings.Cut(key, ":")
			if kind == "label" {
				b.Label(name, value)
				continue
			}
			if kind == "note" {
				b.Annotation(name, value)
				continue
			}
			b.Resource(long(key), value)
		}
	}
	w.pods[args[0]] = b.Obj()
	w.model.Apply(model.TaskFrom(b.Obj(), false))
	return []string{"pod " + args[0]}
}

// update sends the new state of a pod to the model.
func (w *world) update(p *corev1.Pod) { w.model.Apply(model.TaskFrom(p, w.ours(p))) }

func (w *world) dropPod(name string) {
	p, ok := w.pods[name]
	if !ok {
		w.fatal("no pod %s", name)
	}
	delete(w.pods, name)
	w.model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
}

func (w *world) each(names []string, f func(string)) []string {
	for _, name := range names {
		f(name)
	}
	return []string{"done"}
}

func (w *world) eachPod(gangs []string, f func(*corev1.Pod)) []string {
	for _, gang := range gangs {
		for _, p := range w.podsOf(gang) {
			f(p)
			w.update(p)
		}
	}
	return []string{"done"}
}

func (w *world) podsOf(gang string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range w.pods {
		if p.Annotations["scheduling.k8s.io/group-name"] == gang {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// deleteGang deletes a PodGroup, and its pods with drop.
func (w *world) deleteGang(name string, drop func(pod string)) {
	for _, p := range w.podsOf(name) {
		drop(p.Name)
	}
	g := w.gangs[name]
	delete(w.gangs, name)
	w.model.Apply(model.GangGone{Namespace: g.Namespace, Name: g.Name, UID: g.UID})
}
