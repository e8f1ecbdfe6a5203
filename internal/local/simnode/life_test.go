package simnode

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

var birth = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// testPod is a bound pod with one container.
func testPod(policy corev1.RestartPolicy, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u-1", Annotations: annotations},
		Spec: corev1.PodSpec{NodeName: "sim-1", RestartPolicy: policy,
			Containers: []corev1.Container{{Name: "main", Image: "busybox"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// live advances a record to the given time. It returns the written statuses as "offset phase" lines.
func live(r *record, until time.Duration) []string {
	var story []string
	for range 100 {
		what, at := r.nextStepAndTime()
		if what == stepNone || at.After(birth.Add(until)) {
			break
		}
		offset := at.Sub(birth).String()
		if what == stepRemove {
			return append(story, offset+" removed")
		}
		*r = r.recordAfterStep(what, at)
		story = append(story, offset+" "+string(r.podPhaseNow()))
	}
	return story
}

func TestLife(t *testing.T) {
	t.Parallel()
	seconds := int64(5)
	for name, c := range map[string]struct {
		policy      corev1.RestartPolicy
		annotations map[string]string
		change      func(*corev1.Pod)
		want        []string
		code        int32
		endless     bool // only the beginning of the story is compared
	}{
		"a pod that says nothing runs": {policy: corev1.RestartPolicyNever, want: []string{"0s Running"}},
		"a run that ends well succeeds": {
			policy: corev1.RestartPolicyNever, annotations: map[string]string{AnnotationRunTime: "30s", AnnotationStartDelay: "2s"},
			want: []string{"2s Running", "32s Succeeded"}},
		"a run that ends badly fails with its code": {
			policy: corev1.RestartPolicyNever, annotations: map[string]string{AnnotationRunTime: "1s", AnnotationExitCode: "7"},
			want: []string{"0s Running", "1s Failed"}, code: 7},
		"a failure is tried again with growing pauses": {
			policy: corev1.RestartPolicyOnFailure, annotations: map[string]string{AnnotationRunTime: "1s", AnnotationExitCode: "1"},
			want: []string{"0s Running", "1s Running", "11s Running", "12s Running", "32s Running", "33s Running"}, code: 1, endless: true},
		"a success is not tried again on failure": {
			policy: corev1.RestartPolicyOnFailure, annotations: map[string]string{AnnotationRunTime: "1s"},
			want: []string{"0s Running", "1s Succeeded"}},
		"restart always runs a success again": {
			policy: corev1.RestartPolicyAlways, annotations: map[string]string{AnnotationRunTime: "20s"},
			want: []string{"0s Running", "20s Running", "30s Running", "50s Running"}, endless: true},
		"a pod that never starts stays as it is": {
			policy: corev1.RestartPolicyNever, annotations: map[string]string{AnnotationStartDelay: "never"}},
		"a deadline ends a pod": {
			policy: corev1.RestartPolicyNever, change: func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = &seconds },
			want: []string{"0s Running", "5s Failed"}, code: codeKilled},
		"a deadline ends a pod between two runs": {
			policy: corev1.RestartPolicyAlways, annotations: map[string]string{AnnotationExitCode: "2"},
			change: func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = &seconds },
			want:   []string{"0s Running", "0s Running", "5s Failed"}, code: 2},
		"a pod that is deleted before it started is removed": {
			policy: corev1.RestartPolicyNever, annotations: map[string]string{AnnotationStartDelay: "never"},
			change: deletedAt(birth.Add(30 * time.Second)), want: []string{"0s removed"}},
		"a running pod that is deleted is told to stop and removed": {
			policy: corev1.RestartPolicyNever, change: func(p *corev1.Pod) { asRunning(p); deletedAt(birth.Add(30 * time.Second))(p) },
			want: []string{"0s Failed", "0s removed"}, code: codeTerminated},
		"stopping takes the time it takes": {
			policy: corev1.RestartPolicyNever, annotations: map[string]string{AnnotationStopTime: "7s"},
			change: func(p *corev1.Pod) { asRunning(p); deletedAt(birth.Add(30 * time.Second))(p) },
			want:   []string{"7s Failed", "0s removed"}, code: codeTerminated},
		"the grace period ends a pod that does not stop": {
			policy: corev1.RestartPolicyNever, annotations: map[string]string{AnnotationStopTime: "1h"},
			change: func(p *corev1.Pod) { asRunning(p); deletedAt(birth.Add(30 * time.Second))(p) },
			want:   []string{"30s Failed", "0s removed"}, code: codeKilled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := testPod(c.policy, c.annotations)
			if c.change != nil {
				c.change(pod)
			}
			r, _ := newRecord(pod, 0, birth)
			got := live(&r, time.Minute)
			if c.endless {
				got = got[:len(c.want)]
			}
			compare(t, c.want, got)
			if r.exitCode != c.code {
				t.Errorf("exit code: want %d, got %d", c.code, r.exitCode)
			}
		})
	}
}

func compare(t *testing.T, want, got []string) {
	t.Helper()
	same := len(want) == len(got)
	for i := 0; same && i < len(want); i++ {
		same = want[i] == got[i]
	}
	if !same {
		t.Errorf("want %q\n got %q", want, got)
	}
}

func deletedAt(end time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: end} }
}

// asRunning gives a pod the status of a pod that started at birth.
func asRunning(p *corev1.Pod) {
	r, _ := newRecord(testPod(p.Spec.RestartPolicy, nil), 0, birth)
	r = r.recordAfterStep(stepStart, birth)
	p.Status = r.kubeletStatus("198.18.0.1")
}

func TestALifeGoesOnFromItsStatus(t *testing.T) {
	t.Parallel()
	annotations := map[string]string{AnnotationRunTime: "10s-60s", AnnotationFailureRate: "0.5"}
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}).Draw(t, "policy")
		pod := testPod(policy, annotations)
		r, _ := newRecord(pod, 0, birth)
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			what, at := r.nextStepAndTime()
			if what == stepNone {
				break
			}
			// The API stores whole seconds, so the step is taken at a whole second.
			r = r.recordAfterStep(what, at.Truncate(time.Second))
			pod.Status = r.kubeletStatus("198.18.0.1")
		}
		again, _ := newRecord(pod, 0, birth)
		if r.stage == ended { // an ended pod only waits for its deletion
			if again.stage != ended {
				t.Fatalf("ended, then %d", again.stage)
			}
			return
		}
		whatA, atA := r.nextStepAndTime()
		whatB, atB := again.nextStepAndTime()
		if whatA != whatB || !atA.Equal(atB) || again.restarts != r.restarts {
			t.Fatalf("before: step %d at %s; after: step %d at %s (%+v)", whatA, atA, whatB, atB, again)
		}
	})
}

func TestStatusTellsWhatAKubeletWould(t *testing.T) {
	t.Parallel()
	pod := testPod(corev1.RestartPolicyOnFailure, map[string]string{AnnotationRunTime: "1s", AnnotationExitCode: "3"})
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{{Name: "setup"}, {Name: "proxy", RestartPolicy: &always}}
	r, _ := newRecord(pod, 0, birth)
	r = r.recordAfterStep(stepStart, birth)
	r.podIP = "100.64.0.1"
	s := r.kubeletStatus("198.18.0.1")
	if s.PodIP != "100.64.0.1" || s.HostIP != "198.18.0.1" || s.ContainerStatuses[0].State.Running == nil || !s.ContainerStatuses[0].Ready {
		t.Errorf("running: %+v", s)
	}
	if end := s.InitContainerStatuses[0].State.Terminated; end == nil || end.Reason != "Completed" {
		t.Errorf("init container: %+v", s.InitContainerStatuses[0])
	}
	if s.InitContainerStatuses[1].State.Running == nil {
		t.Errorf("sidecar: %+v", s.InitContainerStatuses[1])
	}
	r = r.recordAfterStep(stepExit, birth.Add(time.Second))
	c := r.kubeletStatus("198.18.0.1").ContainerStatuses[0]
	if c.State.Waiting == nil || c.State.Waiting.Reason != "CrashLoopBackOff" || c.LastTerminationState.Terminated.ExitCode != 3 {
		t.Errorf("back-off: %+v", c)
	}
	r = r.recordAfterStep(stepStart, birth.Add(11*time.Second))
	c = r.kubeletStatus("198.18.0.1").ContainerStatuses[0]
	if c.RestartCount != 1 || c.LastTerminationState.Terminated.Reason != "Error" || c.ContainerID != "simulated://u-1/main/1" {
		t.Errorf("second run: %+v", c)
	}
}
