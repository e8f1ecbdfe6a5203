package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// preempted marks a pod as evicted by a scheduler at a time.
func preempted(at time.Time, why string) func(*corev1.Pod) {
	return evictedBy(at, corev1.PodReasonPreemptionByScheduler, "volcano: preempting to accommodate another workload: "+why)
}

func evictedBy(at time.Time, reason, message string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		grace, deleted := int64(30), metav1.NewTime(at.Add(30*time.Second))
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &deleted, &grace
		started := metav1.NewTime(at.Add(-10 * time.Hour))
		pod.CreationTimestamp, pod.Status.StartTime = started, &started
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: message}}
	}
}

// evictionsAfter computes one plan after another, and applies the status of each.
func evictionsAfter(t *testing.T, s *story) (*batchv1alpha1.JobEvictions, []string) {
	t.Helper()
	var told []string
	for range 3 {
		p := Compute(s.Input)
		for _, e := range p.Events {
			if e.Reason == "Evicted" {
				told = append(told, e.Message)
			}
		}
		for _, w := range p.Writes {
			if status, ok := w.(WriteStatus); ok {
				s.Job.Status = status.Status
			}
		}
		s.Lost = nil
	}
	return s.Job.Status.Evictions, told
}

func TestEvictionsAreRecordedOnTheJob(t *testing.T) {
	t.Parallel()
	const why = "default/high in the same queue default needs the resources: the waiting gang has a higher priority (10, compared with 0)"
	at := noon.Add(-5 * time.Second)
	once := &batchv1alpha1.JobEvictions{Times: 1, Pods: 2, Last: batchv1alpha1.JobEviction{
		At: metav1.NewTime(at), Reason: "Preempted", Message: why, Pods: 2, Tasks: map[string]string{"w": "0-1"}, Ran: &metav1.Duration{Duration: 10 * time.Hour},
	}}
	for name, test := range map[string]struct {
		story *story
		want  *batchv1alpha1.JobEvictions
		told  []string
	}{
		"pods that are on their way out": {
			story: given(batchv1alpha1.Running).pod("w", 0, corev1.PodRunning, preempted(at, why)).pod("w", 1, corev1.PodRunning, preempted(at, why)),
			want:  once, told: []string{"Pods are evicted: " + why},
		},
		"a restart by a policy keeps the record": {
			story: given(batchv1alpha1.Running).policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction).
				pod("w", 0, corev1.PodRunning, preempted(at, why)).pod("w", 1, corev1.PodRunning, preempted(at, why)),
			want: once, told: []string{"Pods are evicted: " + why},
		},
		"a second eviction a quarter of an hour later": {
			story: given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) {
				earlier := once.DeepCopy()
				earlier.Last.At = metav1.NewTime(noon.Add(-15 * time.Minute))
				j.Status.Evictions = earlier
			}).pod("w", 0, corev1.PodRunning, evictedBy(at, "EvictionByEvictionAPI", "Eviction API: evicting")).pod("w", 1, corev1.PodRunning),
			want: &batchv1alpha1.JobEvictions{Times: 2, Pods: 3, Last: batchv1alpha1.JobEviction{
				At: metav1.NewTime(at), Reason: "Evicted", Message: "the eviction was requested through the API, as kubectl drain does", Pods: 1,
				Tasks: map[string]string{"w": "0"}, Ran: &metav1.Duration{Duration: 10 * time.Hour},
			}},
			told: []string{"Pods are evicted: the eviction was requested through the API, as kubectl drain does"},
		},
		"two evictions that are noticed together are recorded in their order": {
			story: given(batchv1alpha1.Running).pod("w", 0, corev1.PodRunning, preempted(at, "the second")).pod("w", 1, corev1.PodRunning, preempted(at.Add(-15*time.Minute), "the first")),
			want: &batchv1alpha1.JobEvictions{Times: 2, Pods: 2, Last: batchv1alpha1.JobEviction{
				At: metav1.NewTime(at), Reason: "Preempted", Message: "the second", Pods: 1, Tasks: map[string]string{"w": "0"}, Ran: &metav1.Duration{Duration: 10 * time.Hour},
			}},
			told: []string{"Pods are evicted: the first", "Pods are evicted: the second"},
		},
		"a pod that was deleted without a reason": {
			story: given(batchv1alpha1.Running).pod("w", 0, corev1.PodRunning, func(pod *corev1.Pod) {
				evictedBy(at, "", "")(pod)
				pod.Status.Conditions = nil
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, told := evictionsAfter(t, test.story)
			if diff := cmp.Diff(test.want, got) + cmp.Diff(test.told, told); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPodThatVanishedBeforeItWasSeenIsAnEvictionToo(t *testing.T) {
	t.Parallel()
	s := given(batchv1alpha1.Running).pod("w", 0, corev1.PodRunning, preempted(noon, "default/high takes its room"))
	pod := s.Pods[0]
	s.Pods = nil
	lost, ok := LostFromPod(pod, noon)
	if !ok {
		t.Fatal("no lost pod")
	}
	s.Lost = []Lost{lost}
	if got, _ := evictionsAfter(t, s); got == nil || got.Pods != 1 || got.Last.Message != "default/high takes its room" {
		t.Errorf("%+v", got)
	}
}

func TestALongReasonForAnEvictionIsCut(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{}
	preempted(time.Now(), strings.Repeat("ü", 2*mostOfReason))(pod)
	got := []rune(disruptionText(pod))
	if len(got) != mostOfReason || got[len(got)-1] != '…' || got[0] != 'ü' {
		t.Errorf("the reason has %d characters and ends with %q", len(got), got[len(got)-1])
	}
}
