package job

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/test/apiserver"
	"github.com/vc-batch/vc/test/propertytest"
)

// input is an external event in the life of a job. It has the same effect in all worlds with the same state.
type input struct {
	text string
	do   func(*world)
}

// drawInputs draws events in a job's life, with pods identified by their places.
func drawInputs(t *rapid.T, job *batchv1alpha1.Job) []input {
	pod := func() string {
		task := &job.Spec.Tasks[rapid.IntRange(0, len(job.Spec.Tasks)-1).Draw(t, "of task")]
		return fmt.Sprintf("%s-%s-%d", job.Name, task.Name, rapid.Int32Range(0, task.Replicas-1).Draw(t, "index"))
	}
	var inputs []input
	for i := range rapid.IntRange(1, 6).Draw(t, "inputs") {
		switch rapid.IntRange(0, 9).Draw(t, "input") {
		case 0, 1:
			name, code := pod(), rapid.Int32Range(1, 3).Draw(t, "code")
			inputs = append(inputs, input{fmt.Sprintf("%s exits with %d", name, code), func(w *world) { w.finish(name, code) }})
		case 2, 3:
			name := pod()
			inputs = append(inputs, input{name + " exits with 0", func(w *world) { w.finish(name, 0) }})
		case 4, 5:
			name := pod()
			inputs = append(inputs, input{"somebody deletes " + name, func(w *world) { w.evict(name) }})
		case 6:
			name := pod()
			inputs = append(inputs, input{name + " crashes", func(w *world) { w.crash(name) }})
		case 7:
			task, replicas := rapid.IntRange(0, len(job.Spec.Tasks)-1).Draw(t, "task"), rapid.Int32Range(1, 4).Draw(t, "replicas")
			if job.Spec.Tasks[task].PartitionPolicy == nil && job.Spec.MinAvailable == 0 && job.Annotations[keys.Array] == "" {
				inputs = append(inputs, input{fmt.Sprintf("task %d is scaled to %d", task, replicas), func(w *world) { w.scale(task, replicas) }})
			}
		case 8:
			inputs = append(inputs, input{"the gang is broken", func(w *world) { w.schedule(schedulingv1beta1.PodGroupUnknown) }})
		case 9:
			action := rapid.SampledFrom([]busv1alpha1.Action{busv1alpha1.AbortJobAction, busv1alpha1.ResumeJobAction, busv1alpha1.RestartJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction, "Nonsense"}).Draw(t, "action")
			inputs = append(inputs, input{"command " + string(action), func(w *world) { w.command(i, action) }})
		}
	}
	return inputs
}

// finish ends a running pod.
func (w *world) finish(name string, code int32) {
	if pod := w.pod(name); pod != nil && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
		w.kubelet(name, code)
	}
}

// look reconciles the job until nothing changes.
func (w *world) look() error {
	for range 2 {
		w.clock = w.clock.Add(time.Second)
		w.seeAll()
		if err := w.reconcile(-1, false); err != nil {
			return err
		}
	}
	return nil
}

// longestSilence is the maximum time without a reconcile in which a job needs one.
const longestSilence = time.Minute

// answer reconciles the job only when watches or plans have requested it.
func (w *world) answer() error {
	w.clock = w.clock.Add(time.Second)
	for range 1000 {
		w.seeAll()
		switch {
		case w.due.IsZero():
			return nil
		case w.due.After(w.clock.Add(longestSilence)):
			return fmt.Errorf("the next look is after %v", w.due.Sub(w.clock))
		}
		if w.due.After(w.clock) {
			w.clock = w.due
		}
		w.due = time.Time{}
		if err := w.reconcile(-1, false); err != nil {
			return err
		}
	}
	return errors.New("the controller looks again and again")
}

// settle lets all components act until nothing changes: groups are admitted, pods start and deleted pods are removed;
// no pod ends by itself. The clock is equal in all worlds with the same number of inputs.
func (w *world) settle() error { return w.settleBy(w.look) }

// settleBy is like settle with another controller function.
func (w *world) settleBy(act func() error) error {
	end := w.clock.Truncate(time.Hour).Add(time.Hour)
	for round := 0; ; round++ {
		before := len(w.server.History)
		if err := act(); err != nil {
			return err
		}
		if len(w.server.History) > before && round < 100 {
			continue // the controller acts first, on everything that it can see
		}
		w.collectGarbage()
		w.schedule(schedulingv1beta1.PodGroupInqueue)
		for _, name := range w.podNames() {
			if pod := w.pod(name); pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodPending {
				w.kubelet(name, 0)
			}
		}
		switch {
		case len(w.server.History) > before && round >= 100:
			return fmt.Errorf("it never comes to rest")
		case len(w.server.History) > before:
		case w.clock.Before(end):
			w.clock = end // all delayed actions are due
		default:
			return w.checkQuiet()
		}
	}
}

// checkQuiet checks the conditions when nothing happens any more although pods still run: a running job lacks no pod,
// the status is correct, and a job that waits has a reason.
func (w *world) checkQuiet() error {
	job := w.truth()
	if job == nil {
		return nil
	}
	// such jobs record results of pods that are gone, or not created yet
	records := job.Annotations[keys.Array] != "" || batchv1alpha1.KeepsFinished(job)
	if err := w.checkCounters(job); err != nil && !records {
		return err
	}
	phase := job.Status.State.Phase
	switch {
	case plan.IsEndedOrAborted(phase):
		return nil
	case phase != batchv1alpha1.Pending && phase != batchv1alpha1.Running:
		return fmt.Errorf("phase %s, and nothing happens", phase)
	case records:
		return nil
	}
	live := false
	for _, name := range w.podNames() {
		live = live || !finished(w.pod(name))
	}
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		for index := range task.Replicas {
			name := fmt.Sprintf("%s-%s-%d", job.Name, task.Name, index)
			if w.pod(name) == nil && task.DependsOn == nil {
				return fmt.Errorf("there is no %s in a job that is %s", name, phase)
			}
			if w.pod(name) == nil && !live && job.Status.State.Reason == "" {
				return fmt.Errorf("there is no %s, nothing runs and nobody says why", name)
			}
		}
	}
	return nil
}

// checkCounters compares the status with the pods.
func (w *world) checkCounters(job *batchv1alpha1.Job) error {
	want := map[string]map[corev1.PodPhase]int32{}
	counted := map[corev1.PodPhase]int32{}
	for _, name := range w.podNames() {
		pod := w.pod(name)
		task, index, _, _ := plan.ParsePodIdentity(pod)
		if !slices.ContainsFunc(job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool { return t.Name == task && index < t.Replicas }) {
			continue // kept since before the job ended and was scaled down
		}
		if want[task] == nil {
			want[task] = map[corev1.PodPhase]int32{}
		}
		want[task][pod.Status.Phase]++
		counted[pod.Status.Phase]++
	}
	got := map[string]map[corev1.PodPhase]int32{}
	for task, state := range job.Status.TaskStatusCount {
		got[task] = state.Phase
	}
	s := &job.Status
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("status counts wrongly (-truth +status):\n%s", diff)
	}
	if s.Running != counted[corev1.PodRunning] || s.Succeeded != counted[corev1.PodSucceeded] || s.Failed != counted[corev1.PodFailed] || s.Terminating != 0 {
		return fmt.Errorf("status %+v, in truth %v", s, counted)
	}
	return nil
}

// whoWasEvicted matches the only text that depends on the controller's view: for pods that vanished while no controller
// was running, only the number is known.
var whoWasEvicted = regexp.MustCompile(`^(?:(task\d+)-\d+ was|\d+ of the pods of task (task\d+) were) evicted$`)

// snapshot returns everything that a user can see of the job and its objects, except times and unique names.
func (w *world) snapshot() map[string]string {
	job := w.truth()
	s := &job.Status
	shot := map[string]string{
		"phase":    fmt.Sprintf("%s %s", s.State.Phase, s.State.Reason),
		"restarts": fmt.Sprintf("%d by policies, %d by people, version %d", s.RetryCount, s.UserRestarts, s.Version),
		"made":     fmt.Sprint(s.ControlledResources),
		"counted":  fmt.Sprintf("%d pending, %d running, %d succeeded, %d failed, %d terminating, %d unknown, at least %d", s.Pending, s.Running, s.Succeeded, s.Failed, s.Terminating, s.Unknown, s.MinAvailable),
		"tasks":    fmt.Sprint(s.TaskStatusCount),
		"finished": fmt.Sprint(s.Finished),
		"refused":  fmt.Sprint(s.RefusedPods),
	}
	if s.Gate != nil {
		shot["gate"] = fmt.Sprintf("%+v", *s.Gate)
	}
	if s.Array != nil {
		shot["array"] = fmt.Sprintf("%+v", *s.Array)
	}
	if s.Failure != nil {
		shot["failure"] = fmt.Sprintf("%s %s %v", s.Failure.Reason, whoWasEvicted.ReplaceAllString(s.Failure.Message, "a pod of $1$2 was evicted"), ptr.Deref(s.Failure.ExitCode, 0))
	}
	var path []string
	for _, c := range s.Conditions {
		path = append(path, string(c.Status))
	}
	slices.Sort(path) // a transient phase may be entered earlier or later
	shot["conditions"] = strings.Join(path, " ")
	for _, o := range w.objects("Pod", "PodGroup", "ConfigMap", "Secret", "Service", "NetworkPolicy", "PersistentVolumeClaim", "Queue", "Command") {
		key := fmt.Sprintf("%T %s", o, client.ObjectKeyFromObject(o))
		switch o := o.(type) {
		case *corev1.Pod:
			_, _, version, _ := plan.ParsePodIdentity(o)
			shot[key] = fmt.Sprintf("%s, version %d, the %dth of its place", o.Status.Phase, version, w.madeOf(o.Name))
		case *schedulingv1beta1.PodGroup:
			shot["PodGroup"] = fmt.Sprintf("%s %d %v", o.Status.Phase, o.Spec.MinMember, o.Spec.MinTaskMember)
		default:
			shot[key] = "there"
		}
	}
	return shot
}

// madeOf returns how many pods with this name were created.
func (w *world) madeOf(name string) int {
	made := map[types.UID]bool{}
	for _, c := range w.server.History {
		if c.Kind.Kind == "Pod" && c.Object != nil && c.Object.GetName() == name {
			made[c.Object.GetUID()] = true
		}
	}
	return len(made)
}

// trouble disturbs only the view and the life of the controller.
func (w *world) trouble(t *rapid.T) error {
	for range rapid.IntRange(0, 5).Draw(t, "troubles") {
		switch rapid.IntRange(0, 6).Draw(t, "trouble") {
		case 0, 1:
			w.seeAll()
			if err := w.reconcile(rapid.IntRange(0, 6).Draw(t, "writes"), rapid.Bool().Draw(t, "lost reply")); err != nil {
				return err
			}
		case 2:
			w.see(rapid.SampledFrom(watched).Draw(t, "kind"), rapid.IntRange(1, 3).Draw(t, "changes"))
		case 3:
			if err := w.reconcile(-1, false); err != nil {
				return err
			}
		case 4:
			if rapid.Bool().Draw(t, "pods go meanwhile") {
				w.goAway()
			}
			w.restart(rapid.IntRange(0, 8).Draw(t, "changes back"))
		case 5:
			w.again(rapid.IntRange(1, 8).Draw(t, "changes"))
		case 6:
			if err := w.illness(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// goAway removes the pods that are being deleted.
func (w *world) goAway() {
	for _, name := range w.podNames() {
		for pod := w.pod(name); pod != nil && pod.DeletionTimestamp != nil; pod = w.pod(name) {
			w.kubelet(name, 0)
		}
	}
}

// illness makes the API server fail for some writes.
func (w *world) illness(t *rapid.T) error {
	for range rapid.IntRange(1, 5).Draw(t, "ills") {
		w.api.Faults = append(w.api.Faults, rapid.SampledFrom(apiserver.PossibleFaults()).Draw(t, "fault"))
	}
	w.note("the API server is ill")
	w.seeAll()
	return w.reconcile(-1, false)
}

// TestWhateverTheControllerMissesTheJobEndsTheSame runs the same life of a job twice: once undisturbed, and once with a
// controller that crashes between writes, restarts with older caches, and sees changes late, twice and in another
// order. After every input both worlds must be equal, although the second controller reconciles only when requested,
// and never waits for longer than a minute.
func TestWhateverTheControllerMissesTheJobEndsTheSame(t *testing.T) {
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		job := drawRecords(t, drawJob(t, false))
		calm, shaken := newWorld(job.DeepCopy()), newWorld(job.DeepCopy())
		defer func() {
			if t.Failed() {
				t.Logf("undisturbed:\n%s\n\ndisturbed:\n%s", strings.Join(calm.told(), "\n"), strings.Join(shaken.told(), "\n"))
			}
		}()
		for _, in := range append([]input{{"the job is made", func(*world) {}}}, drawInputs(t, job)...) {
			for _, w := range []*world{calm, shaken} {
				w.note("INPUT %s", in.text)
				in.do(w)
			}
			if err := shaken.trouble(t); err != nil {
				t.Fatalf("%s: %v", in.text, err)
			}
			for w, act := range map[*world]func() error{calm: calm.look, shaken: shaken.answer} {
				if err := w.settleBy(act); err != nil {
					t.Fatalf("%s: %v", in.text, err)
				}
				if err := w.check(); err != nil {
					t.Fatalf("%s: %v", in.text, err)
				}
			}
			if diff := cmp.Diff(calm.snapshot(), shaken.snapshot()); diff != "" {
				t.Fatalf("after %q (-undisturbed +disturbed):\n%s", in.text, diff)
			}
		}
	})
}

// told returns the trace, without reconciles that had no effect.
func (w *world) told() []string {
	return slices.DeleteFunc(slices.Clone(w.trace), func(s string) bool { return s == "reconcile: : <nil>" })
}
