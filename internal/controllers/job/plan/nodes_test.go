package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

func onNode(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.NodeName = name }
}

func TestTheNodesOfPodsAreWrittenBeforeThePodsAreDeleted(t *testing.T) {
	t.Parallel()
	both := []batchv1alpha1.JobNode{{Name: "n1", Tasks: map[string]string{"w": "0"}}, {Name: "n2", Tasks: map[string]string{"w": "1"}}}
	earlier := []batchv1alpha1.JobNode{{Name: "n9", Tasks: map[string]string{"w": "0-1"}}}
	array := func(j *batchv1alpha1.Job) {
		j.Annotations = map[string]string{keys.Array: "0-1", keys.ArrayCancelled: "1"}
	}
	for name, test := range map[string]struct {
		story *story
		want  []batchv1alpha1.JobNode
	}{
		"a job that runs names none": {
			story: given(batchv1alpha1.Running).pod("w", 0, corev1.PodRunning, onNode("n1")).pod("w", 1, corev1.PodRunning, onNode("n2")),
		},
		"a job that is aborted": {
			story: given(batchv1alpha1.Running).command(busv1alpha1.AbortJobAction).
				pod("w", 0, corev1.PodRunning, onNode("n1")).pod("w", 1, corev1.PodRunning, onNode("n2")),
			want: both,
		},
		"a pod without a node is left out": {
			story: given(batchv1alpha1.Running).command(busv1alpha1.AbortJobAction).pod("w", 0, corev1.PodRunning, onNode("n1")).pod("w", 1, corev1.PodPending),
			want:  both[:1],
		},
		"a job that completes by a policy": {
			story: given(batchv1alpha1.Running).policy(busv1alpha1.TaskCompletedEvent, busv1alpha1.CompleteJobAction).
				pod("w", 0, corev1.PodSucceeded, onNode("n1")).pod("w", 1, corev1.PodSucceeded, onNode("n2")),
			want: both,
		},
		"a job whose pods all ended": {
			story: given(batchv1alpha1.Running).pod("w", 0, corev1.PodSucceeded, onNode("n1")).pod("w", 1, corev1.PodSucceeded, onNode("n2")),
			want:  both,
		},
		"an ended job keeps them without pods": {
			story: given(batchv1alpha1.Completed).with(func(j *batchv1alpha1.Job) { j.Status.Nodes = both }),
			want:  both,
		},
		"a restart of the whole job forgets them": {
			story: given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Status.Nodes = earlier }).command(busv1alpha1.RestartJobAction).
				pod("w", 0, corev1.PodRunning, onNode("n1")),
		},
		"a cancelled element of an array": {
			story: given(batchv1alpha1.Running).with(array).pod("w", 0, corev1.PodRunning, onNode("n1")).pod("w", 1, corev1.PodRunning, onNode("n2")),
			want:  both[1:],
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.story.Input)
			status := test.story.Job.Status
			for _, w := range p.Writes {
				switch w := w.(type) {
				case WriteStatus:
					status = w.Status
				case DeletePods:
					if diff := cmp.Diff(test.want, status.Nodes); diff != "" {
						t.Errorf("before pods are deleted (-want +got):\n%s", diff)
					}
				}
			}
			if diff := cmp.Diff(test.want, status.Nodes); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAtMostAThousandPodsAreNamed(t *testing.T) {
	t.Parallel()
	s := given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1200 }).command(busv1alpha1.AbortJobAction)
	for i := 1199; i >= 0; i-- {
		s.pod("w", i, corev1.PodRunning, onNode(fmt.Sprintf("n%d", i%3)))
	}
	for _, w := range Compute(s.Input).Writes {
		if status, ok := w.(WriteStatus); ok {
			pods := batchv1alpha1.NodesOfPods(status.Status.Nodes)
			if len(pods) != batchv1alpha1.MaxStatusNodesPods || pods[batchv1alpha1.PodPlace{Task: "w", Index: 999}] != "n0" {
				t.Errorf("%d pods, the last on %q; want 1000, the last on n0", len(pods), pods[batchv1alpha1.PodPlace{Task: "w", Index: 999}])
			}
		}
	}
}
