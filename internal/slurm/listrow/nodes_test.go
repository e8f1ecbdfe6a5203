package listrow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

func TestEndedRowsKeepTheNodesOfPodsThatAreGone(t *testing.T) {
	t.Parallel()
	job := func(phase batchv1alpha1.JobPhase, task string, nodes ...batchv1alpha1.JobNode) *batchv1alpha1.Job {
		j := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "wide"}, Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: task, Replicas: 1}}}}
		j.Status.State.Phase, j.Status.Nodes = phase, nodes
		return j
	}
	n1 := batchv1alpha1.JobNode{Name: "n1", Tasks: map[string]string{"head": "0", "node": "0"}}
	n2 := batchv1alpha1.JobNode{Name: "n2", Tasks: map[string]string{"node": "1"}}
	head := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "wide-head-0", Labels: map[string]string{keys.TaskSpec: "head"}}}
	head.Spec.NodeName, head.Status.Phase = "n3", corev1.PodSucceeded
	array := job(batchv1alpha1.Completed, "w", batchv1alpha1.JobNode{Name: "n1", Tasks: map[string]string{"w": "0-1"}}, batchv1alpha1.JobNode{Name: "n2", Tasks: map[string]string{"w": "2"}},
		batchv1alpha1.JobNode{Name: "n4", Tasks: map[string]string{"w": "3"}})
	array.Annotations = map[string]string{keys.Array: "5,7"}
	array.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{PartitionSize: 2}
	array.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "5,7"}
	type seen struct {
		Nodes []string
		Host  string
		Pods  []string
		Count int
	}
	for name, test := range map[string]struct {
		source Source
		of     []string
		want   []seen
	}{
		"all pods are gone": {
			source: Source{Job: job(batchv1alpha1.Completed, "head", n1, n2), PodsRead: true}, of: []string{"wide-head-0", "wide-node-1", "other"},
			want: []seen{{Nodes: []string{"n1", "n2"}, Host: "n1", Pods: []string{"n1", "n2", "other"}, Count: 3}},
		},
		"nobody read the pods": {
			source: Source{Job: job(batchv1alpha1.Terminated, "head", n2)},
			want:   []seen{{Nodes: []string{"n2"}, Host: "n2", Count: 1}},
		},
		"a pod that is there goes before what was written": {
			source: Source{Job: job(batchv1alpha1.Completed, "head", n1), Pods: []*corev1.Pod{head}, PodsRead: true}, of: []string{"wide-head-0"},
			want: []seen{{Nodes: []string{"n1", "n3"}, Host: "n3", Pods: []string{"n3"}, Count: 2}},
		},
		"a job that runs again has its own": {
			source: Source{Job: job(batchv1alpha1.Running, "head", n1), PodsRead: true},
			want:   []seen{{Count: 1}},
		},
		"elements of two pods": {
			source: Source{Job: array, PodsRead: true}, of: []string{"wide-w-3"},
			want: []seen{{Nodes: []string{"n1"}, Host: "n1", Pods: []string{"wide-w-3"}, Count: 2}, {Nodes: []string{"n2", "n4"}, Host: "n2", Pods: []string{"n4"}, Count: 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []seen
			for _, r := range RowsOf(&test.source, true) {
				got = append(got, seen{r.NodeNames(), r.BatchHost(), r.NodesForPods(test.of), r.NodeCount()})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
