package whatif

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/test/propertytest"
)

// crowd fills a queue so that jobs wait in it that a change can start, or that others can be evicted for.
func (w *world) crowd() {
	t := w.t
	q := w.queues[1].DeepCopy()
	if rapid.Bool().Draw(t, "squeeze") {
		q.Spec.Capability = corev1.ResourceList{"cpu": resource.MustParse(strconv.Itoa(rapid.IntRange(1, 6).Draw(t, "little")))}
		w.replace(q)
		w.settle()
	}
	for range rapid.IntRange(2, 12).Draw(t, "jobs more") {
		job := w.draw()
		if rapid.IntRange(0, 3).Draw(t, "there") > 0 {
			job.Spec.Queue = q.Name
		}
		w.submit(job)
		w.settle()
	}
}

// edit draws a change of a queue.
func (w *world) edit() *schedulingv1beta1.Queue {
	t := w.t
	q := w.queues[1]
	if rapid.IntRange(0, 3).Draw(t, "another") == 0 {
		q = rapid.SampledFrom(w.queues[1:]).Draw(t, "edited")
	}
	q = q.DeepCopy()
	q.APIVersion, q.Kind = aQueue.APIVersion, aQueue.Kind
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0:
		q.Spec.Weight = int32(rapid.IntRange(1, 12).Draw(t, "new weight"))
	case 1:
		q.Spec.Capability = corev1.ResourceList{"cpu": resource.MustParse(strconv.Itoa(rapid.IntRange(1, 12).Draw(t, "new cap")))}
	case 2:
		q.Spec.Capability = nil
	case 3:
		q.Spec.Priority = int32(rapid.IntRange(0, 5).Draw(t, "new priority"))
	case 4:
		gives := rapid.Bool().Draw(t, "gives")
		q.Spec.Reclaimable = &gives
	}
	return q
}

// moved holds the existing jobs that start and the existing pods that are evicted.
type moved struct {
	Starts  map[string]int32
	Evicted []string
	// Admitted is the number of admitted gangs by queue.
	Admitted map[string]int
}

// admittedIn parses from the answer how many jobs would be admitted to which queue.
var admittedIn = regexp.MustCompile(`(\d+)(?: waiting jobs? would be admitted)? to queue ([^,]+),`)

// replace replaces the queue of the same name by the changed one.
func (w *world) replace(q *schedulingv1beta1.Queue) {
	at := slices.IndexFunc(w.queues, func(old *schedulingv1beta1.Queue) bool { return old.Name == q.Name })
	w.queues[at] = q
	w.model.Apply(model.QueueFrom(q))
}

// TestWhatAnEditOfAQueueSaysIsWhatHappens simulates the change of a queue on a random cluster, and then makes the
// change.
func TestWhatAnEditOfAQueueSaysIsWhatHappens(t *testing.T) {
	seen, tried := map[string]int{}, 0
	propertytest.Check(t, 400, func(t *rapid.T) {
		tried++
		w := newWorld(t)
		w.crowd()
		w.now = w.now.Add(time.Minute)
		if !w.settle() {
			return
		}
		thinker, err := scheduler.New(w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		edited := w.edit()
		status := w.prepare("edit", edited).RunAllSlices(w.now, thinker, w.model)
		if status.Answers[0].Verdict != insightv1alpha1.VerdictStarts {
			t.Fatalf("admission refuses it: %+v", status.Answers[0])
		}
		foretold := moved{Starts: map[string]int32{}, Admitted: map[string]int{}}
		for _, start := range status.Starts {
			foretold.Starts[start.Name] += start.Pods
		}
		for _, v := range status.Victims {
			foretold.Evicted = append(foretold.Evicted, v.Pod)
		}
		slices.Sort(foretold.Evicted)
		for _, found := range admittedIn.FindAllStringSubmatch(status.Answers[0].Message, -1) {
			foretold.Admitted[found[2]], _ = strconv.Atoi(found[1])
		}
		if d := w.engine.Cycle(w.now, w.model); len(d.Binds)+len(d.Evicts) > 0 {
			t.Fatalf("a simulation changed the decisions: %+v", d)
		}
		w.replace(edited)
		came := moved{Starts: map[string]int32{}, Admitted: map[string]int{}}
		pending := map[types.UID]string{} // and the queue of each
		for _, g := range w.model.Gangs {
			if g.Status.Phase == schedulingv1beta1.PodGroupPending {
				pending[g.UID] = g.Queue.Name
			}
		}
		d := w.engine.Cycle(w.now, w.model)
		for _, g := range d.Gangs {
			if queue, waited := pending[g.Gang.UID]; waited && g.Status.Phase == schedulingv1beta1.PodGroupInqueue {
				came.Admitted[queue]++
			}
		}
		for _, b := range d.Binds {
			came.Starts[w.pods[b.Pod.UID].Labels[keys.JobName]]++
		}
		for _, e := range d.Evicts {
			came.Evicted = append(came.Evicted, e.Pod.Name)
		}
		slices.Sort(came.Evicted)
		if diff := cmp.Diff(foretold, came); diff != "" {
			t.Fatalf("%s: %s; then it came otherwise (-foretold +happened):\n%s", edited.Name, status.Answers[0].Message, diff)
		}
		switch {
		case len(came.Evicted) > 0:
			seen["somebody goes"]++
		case len(came.Starts) > 0:
			seen["somebody starts"]++
		case len(came.Admitted) > 0:
			seen["somebody is let in"]++
		case len(status.Answers[0].Changes) > 0:
			seen["nothing moves"]++
		default:
			seen["unchanged"]++
		}
	})
	t.Logf("foretold: %v", seen)
	enough(t, tried, 200, seen, "somebody goes", "somebody starts", "somebody is let in", "nothing moves")
}
