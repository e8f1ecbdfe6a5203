package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// vanished adds a pod of the task w that vanished and left a message.
func (s *story) vanished(index, version int32, message string) *story {
	s.Reports = append(s.Reports, Report{UID: types.UID(fmt.Sprintf("gone-%d-%d", index, version)), Version: version,
		PodReport: batchv1alpha1.PodReport{Task: "w", Index: index, Message: message}})
	return s
}

func TestTheReportsOfDeletedPodsOfSlurmJobsAreKept(t *testing.T) {
	t.Parallel()
	bySbatch := func(j *batchv1alpha1.Job) { j.Annotations = map[string]string{keys.Slurm: "{}"} }
	reported := func(messages ...string) (list []batchv1alpha1.PodReport) {
		for i, message := range messages {
			list = append(list, batchv1alpha1.PodReport{Task: "w", Index: int32(i), Message: message})
		}
		return list
	}
	kept := func(messages ...string) func(*batchv1alpha1.Job) {
		return func(j *batchv1alpha1.Job) { j.Status.Reports = reported(messages...) }
	}
	version := func(j *batchv1alpha1.Job) { j.Status.Version = 1 }
	array := func(j *batchv1alpha1.Job) { j.Annotations[keys.Array], j.Annotations[keys.ArrayCancelled] = "0-1", "1" }
	large := strings.Repeat("x", 4096)
	var sixteen []string
	for range 16 {
		sixteen = append(sixteen, large)
	}
	for name, test := range map[string]struct {
		story    *story
		want     []batchv1alpha1.PodReport
		answered int
	}{
		"a job that is being cancelled":         {story: given(batchv1alpha1.Terminating).with(bySbatch).with(version).vanished(0, 0, "a"), want: reported("a")},
		"a job that was cancelled":              {story: given(batchv1alpha1.Terminated).with(bySbatch).with(version).vanished(1, 0, "b").vanished(0, 0, "a"), want: reported("a", "b")},
		"what the status has needs no memory":   {story: given(batchv1alpha1.Terminated).with(bySbatch).with(kept("a")).vanished(0, 0, "a"), want: reported("a"), answered: 1},
		"an element of an array":                {story: given(batchv1alpha1.Running).with(bySbatch).with(array).pod("w", 1, corev1.PodRunning).vanished(0, 0, "a"), want: reported("a")},
		"a pod of an earlier run":               {story: given(batchv1alpha1.Running).with(bySbatch).with(version).pod("w", 1, corev1.PodRunning).vanished(0, 0, "a"), answered: 1},
		"a pod that was created again":          {story: given(batchv1alpha1.Running).with(bySbatch).with(kept("a")).pod("w", 0, corev1.PodRunning)},
		"a pod that is being created again":     {story: given(batchv1alpha1.Running).with(bySbatch).pod("w", 0, corev1.PodRunning).vanished(0, 0, "a")},
		"a restart of the whole job":            {story: given(batchv1alpha1.Running).with(bySbatch).with(kept("a")).command(busv1alpha1.RestartJobAction)},
		"a job that restarts":                   {story: given(batchv1alpha1.Restarting).with(bySbatch).with(version).pod("w", 1, corev1.PodRunning, goingAway, ofVersion(0)).vanished(0, 0, "a"), answered: 1},
		"a job that no Slurm command submitted": {story: given(batchv1alpha1.Terminated).vanished(0, 0, "a"), answered: 1},
		"a job with 64 KiB of messages":         {story: given(batchv1alpha1.Terminated).with(bySbatch).with(kept(sixteen...)).vanished(16, 0, "a"), want: reported(sixteen...), answered: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.story.Input)
			if diff := cmp.Diff(test.want, status(test.story, &p).Reports, equateEmpty); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(p.Reported) != test.answered {
				t.Errorf("%d messages may be forgotten, want %d", len(p.Reported), test.answered)
			}
		})
	}
}

// equateEmpty makes no difference between no list and an empty one, like the API.
var equateEmpty = cmp.FilterValues(func(x, y []batchv1alpha1.PodReport) bool { return len(x) == 0 && len(y) == 0 }, cmp.Ignore())

func TestAReportIsTheMessageOfAContainerThatEnded(t *testing.T) {
	t.Parallel()
	begun, over := metav1.NewTime(noon.Add(-1)), metav1.NewTime(noon)
	saying := func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{}, {State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Message: "a", StartedAt: begun, FinishedAt: over}}}}
	}
	silent, spoke := given(batchv1alpha1.Running).pod("w", 1, corev1.PodFailed).Pods[0], given(batchv1alpha1.Running).pod("w", 1, corev1.PodFailed, saying).Pods[0]
	if report, ok := ReportFromPod(silent); ok {
		t.Errorf("of a pod that left no message: %v", report)
	}
	report, ok := ReportFromPod(spoke)
	want := Report{UID: spoke.UID, PodReport: batchv1alpha1.PodReport{Task: "w", Index: 1, StartTime: &begun, FinishTime: &over, Message: "a"}}
	if diff := cmp.Diff(want, report); diff != "" || !ok {
		t.Errorf("ok %v (-want +got):\n%s", ok, diff)
	}
}
