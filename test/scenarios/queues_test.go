package scenarios

import (
	"strings"
	"time"

	schedulingk8s "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

func (w *world) queue(args []string) []string {
	b := make.Queue(args[0])
	for _, word := range args[1:] {
		key, value := pair(word)
		kind, name, _ := strings.Cut(key, ":")
		switch kind {
		case "weight":
			b.Weight(int32(number(w, value)))
		case "priority":
			b.Priority(int32(number(w, value)))
		case "cap":
			b.Capability(long(name), value)
		case "guarantee":
			b.Guarantee(long(name), value)
		case "deserved":
			b.Deserved(long(name), value)
		case "parent":
			b.Parent(value)
		case "note":
			b.Annotation(name, value)
		case "require", "prefer", "avoid", "refuse":
			groups(b.Obj(), kind, strings.Split(value, ","))
		case "reclaimable":
			b.Reclaimable(value == "true")
		case "state":
			b.State(schedulingv1beta1.QueueState(value))
		case "backfill":
			b.Annotation("vc-batch.dev/backfill", value)
		case "fifo":
			b.Fifo()
		default:
			w.fatal("queue: %q: no such word", word)
		}
	}
	q := b.Obj()
	w.made++
	q.CreationTimestamp = metav1.NewTime(make.Epoch.Add(time.Duration(w.made) * time.Second))
	w.queues[args[0]] = q
	w.model.Apply(model.QueueFrom(q))
	return []string{"queue " + args[0]}
}

func (w *world) class(args []string) []string {
	_, value := pair(args[1])
	c := &schedulingk8s.PriorityClass{Value: int32(number(w, value))}
	c.Name = args[0]
	w.classes[c.Name] = c
	w.model.Apply(model.PriorityClassFrom(c))
	return []string{"class " + args[0]}
}
