package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// shared returns the parts of an input that it shares with a cache.
func shared(in Input) []any {
	return []any{in.Job, in.PodGroup, in.Queue, in.Pods, in.Related, in.Commands}
}

// copied returns a deep copy of these parts.
func copied(in Input) []any {
	in.Job, in.PodGroup, in.Queue = in.Job.DeepCopy(), in.PodGroup.DeepCopy(), in.Queue.DeepCopy()
	in.Pods, in.Related, in.Commands = slices.Clone(in.Pods), slices.Clone(in.Related), slices.Clone(in.Commands)
	for i := range in.Pods {
		in.Pods[i] = in.Pods[i].DeepCopy()
	}
	for i := range in.Related {
		in.Related[i] = in.Related[i].DeepCopy()
	}
	for i := range in.Commands {
		in.Commands[i] = in.Commands[i].DeepCopy()
	}
	return shared(in)
}

// TestAPlanChangesNothingThatItWasGiven verifies that a plan does not modify its input, which caches share, and depends
// on nothing else: a second plan is equal.
func TestAPlanChangesNothingThatItWasGiven(t *testing.T) {
	t.Parallel()
	variants := map[string]func(*story){
		"plain":    func(*story) {},
		"an array": func(s *story) { s.asks(keys.Array, "0-2").asks(keys.ArrayLimit, "1").asks(keys.ArrayCancelled, "1") },
		"gated":    func(s *story) { s.asks(keys.Dependency, "afterok:7,singleton").other(7, "a", batchv1alpha1.Completed) },
		"forwarded, with all that goes with a job": func(s *story) {
			s.asks(keys.KeepFinished, "true").with(func(j *batchv1alpha1.Job) {
				j.Spec.Plugins = map[string][]string{"svc": nil, "mpi": {"--master=w"}}
				j.Spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/a", VolumeClaim: &corev1.PersistentVolumeClaimSpec{}}}
			})
			s.Queue.Spec.ExtendClusters = []schedulingv1beta1.Cluster{{Name: "far"}}
		},
	}
	for _, phase := range append([]string{"", string(partly)}, constants(t, "batch/v1alpha1/types.go", "JobPhase")...) {
		for name, change := range variants {
			for _, action := range everyAction {
				s := inPhase(batchv1alpha1.JobPhase(phase)).policy(busv1alpha1.PodFailedEvent, action).command(action)
				change(s)
				s.Since = map[string]time.Time{}
				before := copied(s.Input)
				first := Compute(s.Input)
				for _, place := range []Place{{0, 0}, {0, 2}} {
					pod := NewPodForPlace(first.Job, newBuilder(&s.Input).plugins, place, true)
					first.Array.LabelElementPod(pod, first.Job, place)
				}
				if !equality.Semantic.DeepEqual(before, shared(s.Input)) {
					t.Errorf("%s of a job that is %s, %s: the plan changed what it was given:\n%s", action, phase, name, diff.Diff(before, shared(s.Input)))
				}
				second := Compute(s.Input)
				if a, b := fmt.Sprint(digest(&first), first.Events, first.RequeueAfter), fmt.Sprint(digest(&second), second.Events, second.RequeueAfter); a != b {
					t.Errorf("%s of a job that is %s, %s: first %s, then %s", action, phase, name, a, b)
				}
			}
		}
	}
}

// TestAPlanDoesNotDependOnTheOrderOfThePods verifies that a cache may list the pods in any order: the writes and their
// order, the status, and the texts of the events are the same.
func TestAPlanDoesNotDependOnTheOrderOfThePods(t *testing.T) {
	t.Parallel()
	for _, phase := range append([]string{"", string(partly)}, constants(t, "batch/v1alpha1/types.go", "JobPhase")...) {
		for _, action := range everyAction {
			for _, phaseOfPods := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodFailed} {
				s := inPhase(batchv1alpha1.JobPhase(phase)).task("x", 3).asks(keys.KeepFinished, "true").policy(busv1alpha1.AnyEvent, action)
				s.Job.Spec.Tasks[1].Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
				s.Pods = nil
				for _, task := range []string{"x", "w"} {
					for i := range 4 { // the last one is beyond the replicas
						change := crashed(5+int32(i), 0)
						if phaseOfPods == corev1.PodFailed {
							change = ended(5+int32(i), 0)
						}
						s.pod(task, i, phaseOfPods, change)
					}
				}
				var first string
				for range len(s.Pods) {
					s.Pods = append(s.Pods[1:], s.Pods[0])
					p := Compute(s.Input)
					written, err := json.Marshal([]any{p.Writes, p.Events, p.RequeueAfter})
					if err != nil {
						t.Fatal(err)
					}
					got := fmt.Sprint(digest(&p), string(written))
					if first == "" {
						first = got
					}
					if got != first {
						t.Errorf("%s by pods that are %s in a job that is %s: first %s, then %s", action, phaseOfPods, phase, first, got)
						break
					}
				}
			}
		}
	}
}
