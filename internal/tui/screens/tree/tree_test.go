package tree

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// flowJob returns a job of a JobFlow with two tasks. The task worker has two pods; the pod of the other task is missing.
func flowJob() *snapshot.Job {
	yes := true
	object := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "JobFlow", Name: "night", UID: "flow", Controller: &yes}}},
		Spec:       batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "head", Replicas: 1}, {Name: "worker", Replicas: 3}}},
		Status:     batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running}, Running: 1, Failed: 1},
	}
	return &snapshot.Job{
		UID: "job", Namespace: "nlp", Name: "night-a", Object: object, Phase: batchv1alpha1.Running, State: "R", Queue: "default", Replicas: 4,
		Group:   &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{UID: "group", Namespace: "nlp", Name: "night-a-job"}, Spec: schedulingv1beta1.PodGroupSpec{MinMember: 4}},
		Running: 1, Pods: []*snapshot.Pod{
			{UID: "pod-0", Namespace: "nlp", Name: "night-a-worker-0", Task: "worker", Phase: corev1.PodRunning, State: "Running"},
			{UID: "pod-1", Namespace: "nlp", Name: "night-a-worker-1", Task: "worker", Phase: corev1.PodFailed, State: "Error", Exited: true, ExitCode: 137, Message: "killed"},
		},
	}
}

// outline returns the titles of rows, indented by level. The last child of a row has the mark `.
func outline(rows []*row) string {
	var text strings.Builder
	for _, r := range rows {
		for level, isLast := range r.last {
			switch {
			case level == 0:
			case level == len(r.last)-1 && isLast:
				text.WriteString("` ")
			case level == len(r.last)-1:
				text.WriteString("| ")
			default:
				text.WriteString("  ")
			}
		}
		text.WriteString(strings.TrimSpace(r.title+"  "+r.message) + "\n")
	}
	return text.String()
}

func TestTheTreeStartsAtTheObjectThatCreatedTheJob(t *testing.T) {
	t.Parallel()
	rows := rowsOfJob(&screenapi.Context{}, flowJob())
	want := "JobFlow night\n" +
		"` Job night-a  queue default, 1 of 4 pods running\n" +
		"  ` PodGroup night-a-job  at least 4 of 4 pods must run at the same time\n" +
		"    | task head  0 of 1 running\n" +
		"    ` task worker  1 of 3 running, 1 failed\n" +
		"      | night-a-worker-0\n" +
		"      ` night-a-worker-1  exit code 137: killed\n"
	if got := outline(rows); got != want {
		t.Errorf("the tree is\n%swant\n%s", got, want)
	}
}

func TestTasksAreBelowTheJobIfThereIsNoPodGroup(t *testing.T) {
	t.Parallel()
	job := flowJob()
	job.Group, job.Object.OwnerReferences = nil, nil
	rows := rowsOfJob(&screenapi.Context{}, job)
	if first, second := rows[0], rows[1]; first.kind != "Job" || second.title != "task head" || second.parent != first {
		t.Errorf("the tree is\n%s", outline(rows))
	}
}

func TestThePodsOfARemovedTaskAreBelowThePodGroup(t *testing.T) {
	t.Parallel()
	job := flowJob()
	job.Pods[0].Task = "removed"
	var found bool
	for _, r := range rowsOfJob(&screenapi.Context{}, job) {
		if r.pod == job.Pods[0] {
			found = true
			if r.parent.kind != "PodGroup" {
				t.Errorf("the pod of a removed task is below %q", r.parent.title)
			}
		}
	}
	if !found {
		t.Error("the pod of a removed task is missing")
	}
}
