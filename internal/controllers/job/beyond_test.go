package job

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/test/apiserver"
	"github.com/vc-batch/vc/test/propertytest"
)

// counter allocates numbers; some calls fail.
type counter struct{ next, failing int }

func (c *counter) Take(_ context.Context, n int) (int64, error) {
	if c.failing > 0 {
		c.failing--
		return 0, errors.New("no numbers today")
	}
	first := c.next + 1
	c.next += n
	return int64(first), nil
}

// arrayWorld is a world with an array job that may wait for another job.
type arrayWorld struct {
	*world
	ids   *counter
	limit int // highest limit so far; 0 means no limit
	// free reports that the job was permitted to start at some moment.
	free bool
	// looked is the length of the checked history; done are the elements that had ended according to the status at that
	// point.
	looked int
	done   batchv1alpha1.Indices
}

var target = types.NamespacedName{Namespace: "ns", Name: "before"}

func newArrayWorld(t *rapid.T) *arrayWorld {
	job := simpleJob(0)
	limit := rapid.IntRange(0, 3).Draw(t, "limit")
	job.Annotations = map[string]string{
		keys.Array:        rapid.SampledFrom([]string{"0-4", "1,3,5-7", "0-20:4", "9"}).Draw(t, "elements"),
		keys.ArrayLimit:   strconv.Itoa(limit),
		keys.KeepFinished: strconv.FormatBool(rapid.Bool().Draw(t, "keeps")),
	}
	if rapid.IntRange(0, 3).Draw(t, "wide") == 0 {
		job.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{PartitionSize: 2, TotalPartitions: 1}
	}
	if limit == 0 && rapid.IntRange(0, 3).Draw(t, "all at once") == 0 {
		elements, size, _ := batchv1alpha1.ElementsOf(job)
		job.Spec.MinAvailable = int32(elements.Count()) * size
	}
	if rapid.Bool().Draw(t, "depends") {
		job.Annotations[keys.Dependency] = rapid.SampledFrom([]string{"afterok:before", "afterany:before", "after:before"}).Draw(t, "dependency")
	}
	if rapid.Bool().Draw(t, "held") {
		job.Annotations[keys.Hold] = keys.HoldUser
	}
	w := &arrayWorld{world: newWorld(job), ids: &counter{failing: rapid.IntRange(0, 2).Draw(t, "numbers fail")}, limit: limit}
	w.world.ids = w.ids
	w.start()
	before := simpleJob(1)
	before.Name, before.Status.State.Phase = target.Name, batchv1alpha1.Pending
	w.server.Save(before)
	return w
}

// advance changes the phase of the job that is waited for.
func (w *arrayWorld) advance(phase batchv1alpha1.JobPhase) {
	there := apiserver.Find[*batchv1alpha1.Job](w.server, target.Namespace, target.Name)
	if there == nil || plan.IsEndedOrAborted(there.Status.State.Phase) {
		return
	}
	other := there.DeepCopy()
	at := metav1.NewTime(w.clock)
	other.Status.State = batchv1alpha1.JobState{Phase: phase, LastTransitionTime: at}
	other.Status.Conditions = append(other.Status.Conditions, batchv1alpha1.JobCondition{Status: phase, LastTransitionTime: &at})
	w.server.Save(other)
	w.note("%s is %s", target.Name, phase)
}

// mayStart reports whether the job is permitted to start now.
func (w *arrayWorld) mayStart() bool {
	job := w.truth()
	var phase batchv1alpha1.JobPhase
	if other := apiserver.Find[*batchv1alpha1.Job](w.server, target.Namespace, target.Name); other != nil {
		phase = other.Status.State.Phase
	}
	switch job.Annotations[keys.Dependency] {
	case "":
		return job.Annotations[keys.Hold] == ""
	case "afterok:before":
		return job.Annotations[keys.Hold] == "" && phase == batchv1alpha1.Completed
	case "after:before":
		return job.Annotations[keys.Hold] == "" && phase != batchv1alpha1.Pending
	}
	return job.Annotations[keys.Hold] == "" && plan.IsEndedOrAborted(phase)
}

// collect deletes a finished pod whose result is in the status, like the garbage collection of pods.
func (w *arrayWorld) collect(name string) {
	pod := w.pod(name)
	if pod == nil || !finished(pod) {
		return
	}
	states := w.truth().Status.Array
	index, _ := strconv.Atoi(pod.Labels[keys.ArrayIndex])
	if states == nil || !recorded(states).Has(int32(index)) {
		return
	}
	w.server.Remove(pod)
	w.note("collected %s", name)
}

// recorded returns the elements that have ended.
func recorded(states *batchv1alpha1.ArrayStatus) batchv1alpha1.Indices {
	succeeded, _ := batchv1alpha1.ParseIndices(states.Succeeded)
	failed, _ := batchv1alpha1.ParseIndices(states.Failed)
	return succeeded.Union(failed)
}

func (w *arrayWorld) disturb(t *rapid.T, i int) error {
	name := ""
	if names := w.podNames(); len(names) > 0 {
		name = rapid.SampledFrom(names).Draw(t, "pod")
	}
	w.clock = w.clock.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second)
	switch rapid.IntRange(0, 21).Draw(t, "what") {
	case 0, 1, 2:
		return w.reconcile(-1, false)
	case 3, 4:
		return w.reconcile(rapid.IntRange(0, 4).Draw(t, "writes"), rapid.Bool().Draw(t, "lost reply"))
	case 5:
		w.see(rapid.SampledFrom(watched).Draw(t, "kind"), rapid.IntRange(1, 5).Draw(t, "changes"))
	case 6, 7, 8:
		w.seeAll()
		return w.reconcile(-1, false)
	case 9:
		w.schedule(schedulingv1beta1.PodGroupInqueue)
	case 10, 11, 12:
		w.kubelet(name, 0)
	case 13:
		w.kubelet(name, 3)
	case 14:
		if pod := w.pod(name); pod != nil && !finished(pod) {
			w.evict(name)
		}
	case 15:
		w.collect(name)
	case 16:
		w.command(i, rapid.SampledFrom([]busv1alpha1.Action{busv1alpha1.AbortJobAction, busv1alpha1.ResumeJobAction}).Draw(t, "action"))
	case 17:
		switch rapid.IntRange(0, 3).Draw(t, "annotation") {
		case 0:
			w.annotate(keys.Hold, rapid.SampledFrom([]string{"", "user"}).Draw(t, "hold"))
		case 1:
			limit := rapid.IntRange(0, 3).Draw(t, "limit")
			if w.limit != 0 {
				w.limit = max(w.limit, limit)
			}
			if limit == 0 {
				w.limit = 0
			}
			w.annotate(keys.ArrayLimit, strconv.Itoa(limit))
		default:
			elements, _, _ := batchv1alpha1.ElementsOf(w.truth())
			index, _ := elements.At(rapid.IntRange(0, elements.Count()-1).Draw(t, "cancelled"))
			cancelled, _ := batchv1alpha1.ArrayCancelled(w.truth())
			w.annotate(keys.ArrayCancelled, cancelled.Union(batchv1alpha1.Indices{{First: index, Last: index}}).String())
		}
	case 18:
		w.advance(rapid.SampledFrom([]batchv1alpha1.JobPhase{batchv1alpha1.Running, batchv1alpha1.Completed, batchv1alpha1.Failed}).Draw(t, "phase"))
	case 20:
		w.refuse(name)
	case 21:
		return w.illness(t)
	case 19:
		w.restart(rapid.IntRange(0, 8).Draw(t, "changes back"))
	}
	return nil
}

// checkArray checks the conditions that must hold at any moment.
func (w *arrayWorld) checkArray() error {
	alive := map[string]bool{}
	for _, name := range w.podNames() {
		if pod := w.pod(name); !finished(pod) {
			alive[pod.Labels[keys.ArrayIndex]] = true
		}
	}
	if w.limit > 0 && len(alive) > w.limit {
		return fmt.Errorf("%d elements are alive, and the limit was never above %d", len(alive), w.limit)
	}
	for ; w.looked < len(w.server.History); w.looked++ {
		c := w.server.History[w.looked]
		if c.Kind.Kind == "Job" && c.Object != nil && c.Object.GetName() == w.job.Name {
			if states := c.Object.(*batchv1alpha1.Job).Status.Array; states != nil {
				w.done = recorded(states)
			}
		}
		w.free = w.free || w.mayStart()
		if c.Kind.Kind != "Pod" || c.Old != nil || c.Object == nil {
			continue
		}
		if !w.free {
			return fmt.Errorf("%s was made, and at no time was the job allowed to start", c.Object.GetName())
		}
		index, err := strconv.Atoi(c.Object.GetLabels()[keys.ArrayIndex])
		if err != nil || w.done.Has(int32(index)) {
			return fmt.Errorf("%s was made for element %q, which had ended", c.Object.GetName(), c.Object.GetLabels()[keys.ArrayIndex])
		}
	}
	return w.check()
}

// checkEnd checks the conditions that must hold when the job is at rest.
func (w *arrayWorld) checkEnd() error {
	job := w.truth()
	phase, states := job.Status.State.Phase, job.Status.Array
	if !plan.IsEndedOrAborted(phase) || states == nil {
		return fmt.Errorf("phase %s (%s), %+v", phase, job.Status.State.Message, states)
	}
	cancelled, _ := batchv1alpha1.ParseIndices(states.Cancelled)
	elements, size, _ := batchv1alpha1.ElementsOf(job)
	covered := recorded(states).Union(cancelled)
	if phase != batchv1alpha1.Aborted && (covered.String() != elements.String() || covered.Count() != recorded(states).Count()+cancelled.Count()) {
		return fmt.Errorf("elements %s; %+v", elements, states)
	}
	succeeded, _ := batchv1alpha1.ParseIndices(states.Succeeded)
	failed, _ := batchv1alpha1.ParseIndices(states.Failed)
	if len(succeeded.Minus(elements)) > 0 || succeeded.Minus(failed).Count() != succeeded.Count() || states.Running != "" {
		return fmt.Errorf("%+v", states)
	}
	if int(job.Status.Succeeded) < succeeded.Count()*int(size) || job.Status.RetryCount != 0 {
		return fmt.Errorf("status %+v", job.Status)
	}
	if id, ok := batchv1alpha1.JobID(job); !ok || id > int64(w.ids.next) {
		return fmt.Errorf("number %q", job.Labels[keys.JobID])
	}
	for _, name := range w.podNames() {
		pod := w.pod(name)
		if index, err := strconv.Atoi(pod.Labels[keys.ArrayIndex]); err != nil || (pod.Status.Phase == corev1.PodSucceeded && size == 1) != (succeeded.Has(int32(index)) && size == 1) {
			return fmt.Errorf("%s is %s; %+v", name, pod.Status.Phase, states)
		}
	}
	return nil
}

func TestAnArrayComesToItsEndWhateverHappens(t *testing.T) {
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		w := newArrayWorld(t)
		defer func() {
			if t.Failed() {
				t.Log(strings.Join(w.told(), "\n"))
			}
		}()
		for i := range rapid.IntRange(0, 80).Draw(t, "steps") {
			if err := w.disturb(t, i); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			if err := w.checkArray(); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		w.ids.failing = 0
		w.annotate(keys.Hold, "")
		w.advance(batchv1alpha1.Completed)
		if err := w.calm(); err != nil {
			t.Fatalf("calm: %v (%+v)", err, w.truth().Status)
		}
		if err := w.checkArray(); err != nil {
			t.Fatal(err)
		}
		if w.truth().Status.State.Reason == "DependencyNeverSatisfied" {
			return // its target failed, and the reason reports it
		}
		if err := w.checkEnd(); err != nil {
			t.Fatal(err)
		}
	})
}
