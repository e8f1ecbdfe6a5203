package jobstatus

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

func evictedJob() *batchv1alpha1.Job {
	created := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "train", UID: "1234", CreationTimestamp: metav1.NewTime(created)}}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "main", Replicas: 4}}
	job.Status.Evictions = &batchv1alpha1.JobEvictions{Times: 2, Pods: 5, Last: batchv1alpha1.JobEviction{
		At: metav1.NewTime(created.Add(10 * time.Hour)), Reason: "Preempted", Pods: 4, Tasks: map[string]string{"main": "0-3"},
		Message: "nlp/urgent in the same queue default needs the resources: the waiting gang has a higher priority (10, compared with 0)", Ran: &metav1.Duration{Duration: 10 * time.Hour},
	}}
	return job
}

func TestEvictionsNameTheGangThatGotTheResources(t *testing.T) {
	t.Parallel()
	const want = "2 times, last at 2026-11-22T13:00:00Z (4 pods: main-0-3, 10h of run time): " +
		"nlp/urgent in the same queue default needs the resources: the waiting gang has a higher priority (10, compared with 0)"
	if got := EvictionsText(evictedJob(), nil); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := EvictionsText(&batchv1alpha1.Job{}, nil); got != "" {
		t.Errorf("of a job that was not evicted: %s", got)
	}
}

func TestEventsOfPodsThatAreGoneAreTheJobs(t *testing.T) {
	t.Parallel()
	job := evictedJob()
	later, before := job.CreationTimestamp.Add(time.Minute), job.CreationTimestamp.Add(-time.Minute)
	for name, test := range map[string]struct {
		kind, of string
		uid      string
		at       time.Time
		want     bool
	}{
		"the job":                                {kind: "Job", of: "train", uid: "1234", at: later, want: true},
		"its PodGroup before the restart":        {kind: "PodGroup", of: "train-1234", uid: "old", at: later, want: true},
		"the PodGroup of an earlier job":         {kind: "PodGroup", of: "train-0987", uid: "older", at: later},
		"a pod that is gone":                     {kind: "Pod", of: "train-main-3", uid: "gone", at: later, want: true},
		"a pod of an earlier job of its name":    {kind: "Pod", of: "train-main-3", uid: "past", at: before},
		"a pod of a job whose name begins alike": {kind: "Pod", of: "train-main-3-main-0", uid: "other", at: later},
		"a pod of another task":                  {kind: "Pod", of: "train-eval-0", uid: "other", at: later},
	} {
		e := &corev1.Event{LastTimestamp: metav1.NewTime(test.at), InvolvedObject: corev1.ObjectReference{Kind: test.kind, Namespace: "nlp", Name: test.of}}
		e.InvolvedObject.UID = types.UID(test.uid)
		if got := IsAbout(job, e); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
