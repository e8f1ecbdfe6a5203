package sim

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// TestAnActionNeedsAnEventToWhichThePolicyResponds compares the action that the checks permit with the policies of a job
// that has version 1, one pending pod and one pod that has failed with the codes 0 and 3 a minute ago.
func TestAnActionNeedsAnEventToWhichThePolicyResponds(t *testing.T) {
	restart, abort := busv1alpha1.RestartJobAction, busv1alpha1.AbortJobAction
	onEvents := func(action busv1alpha1.Action, events ...busv1alpha1.Event) batchv1alpha1.LifecyclePolicy {
		return batchv1alpha1.LifecyclePolicy{Events: events, Action: action}
	}
	onCode := func(code int32) batchv1alpha1.LifecyclePolicy {
		return batchv1alpha1.LifecyclePolicy{ExitCode: ptr.To(code), Action: restart}
	}
	delayed := onEvents(restart, busv1alpha1.PodPendingEvent)
	delayed.Timeout = &metav1.Duration{Duration: 2 * time.Minute}
	for name, test := range map[string]struct {
		ofTask, ofJob []batchv1alpha1.LifecyclePolicy
		version       int32 // of the pods
		permitted     bool
	}{
		"no policy":                         {version: 1},
		"the event":                         {ofJob: []batchv1alpha1.LifecyclePolicy{onEvents(restart, busv1alpha1.PodEvictedEvent, busv1alpha1.PodFailedEvent)}, version: 1, permitted: true},
		"another event":                     {ofJob: []batchv1alpha1.LifecyclePolicy{onEvents(restart, busv1alpha1.PodEvictedEvent)}, version: 1},
		"all events":                        {ofJob: []batchv1alpha1.LifecyclePolicy{onEvents(restart, busv1alpha1.AnyEvent)}, version: 1, permitted: true},
		"pods of an older version":          {ofJob: []batchv1alpha1.LifecyclePolicy{onEvents(restart, busv1alpha1.AnyEvent)}, version: 0},
		"the exit code of a container":      {ofJob: []batchv1alpha1.LifecyclePolicy{onCode(3)}, version: 1, permitted: true},
		"another exit code":                 {ofJob: []batchv1alpha1.LifecyclePolicy{onCode(1)}, version: 1},
		"another policy of the task first":  {ofTask: []batchv1alpha1.LifecyclePolicy{onEvents(abort, busv1alpha1.AnyEvent)}, ofJob: []batchv1alpha1.LifecyclePolicy{onCode(3)}, version: 1},
		"a later policy that matches":       {ofJob: []batchv1alpha1.LifecyclePolicy{onEvents(abort, busv1alpha1.PodFailedEvent), onCode(3)}, version: 1},
		"a long wait without a timeout":     {ofJob: []batchv1alpha1.LifecyclePolicy{onEvents(restart, busv1alpha1.PodPendingEvent)}, version: 1},
		"a timeout that has not passed yet": {ofJob: []batchv1alpha1.LifecyclePolicy{delayed}, version: 1},
	} {
		job := &batchv1alpha1.Job{}
		job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "main", Replicas: 2, Policies: test.ofTask}}
		job.Spec.Policies, job.Status.Version = test.ofJob, 1
		c := &checks{world: &World{}, histories: map[types.UID]*jobHistory{}}
		history := c.historyOf("job")
		history.pods = []*podHistory{
			{at: replicaID{"main", 0}, version: test.version, created: epoch},
			{at: replicaID{"main", 1}, version: test.version, created: epoch, failedAt: epoch, codes: []int32{3}},
		}
		if permitted := history.hasResponse(restart, job, epoch.Add(time.Minute), 0); permitted != test.permitted {
			t.Errorf("%s: a restart is permitted: %t", name, permitted)
		}
	}
}

// TestExitCodesOfAllContainersCount verifies that a pod has the exit codes of all its containers, except 0.
func TestExitCodesOfAllContainersCount(t *testing.T) {
	pod := &corev1.Pod{}
	for _, code := range []int32{0, 3, 7} {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code},
		}})
	}
	if codes := exitCodesOf(pod); len(codes) != 2 || codes[0] != 3 || codes[1] != 7 {
		t.Errorf("codes %v", codes)
	}
}
