package jobstatus

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(ago time.Duration) *metav1.Time { return &metav1.Time{Time: noon.Add(-ago)} }

func TestRuntime(t *testing.T) {
	t.Parallel()
	running := batchv1alpha1.JobCondition{Status: batchv1alpha1.Running, LastTransitionTime: at(time.Hour)}
	cases := map[string]struct {
		status batchv1alpha1.JobStatus
		want   time.Duration
	}{
		"a job that never ran has no runtime": {batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Pending}}, 0},
		"a running job runs until now": {batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running},
			Conditions: []batchv1alpha1.JobCondition{running}}, time.Hour},
		"without conditions the state tells": {batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running, LastTransitionTime: *at(time.Minute)}}, time.Minute},
		"a finished job ran until it ended": {batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Completed, LastTransitionTime: *at(20 * time.Minute)},
			Conditions: []batchv1alpha1.JobCondition{running}}, 40 * time.Minute},
		"clocks that disagree give no negative time": {batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running, LastTransitionTime: *at(-time.Minute)}}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := RunningTime(&batchv1alpha1.Job{Status: tc.status}, noon); got != tc.want {
				t.Errorf("runtime %s, want %s", got, tc.want)
			}
		})
	}
}

func TestGPUs(t *testing.T) {
	t.Parallel()
	container := func(pairs ...string) corev1.Container {
		limits := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			limits[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return corev1.Container{Resources: corev1.ResourceRequirements{Limits: limits, Requests: limits}}
	}
	job := &batchv1alpha1.Job{Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{
		{Replicas: 2, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container("nvidia.com/gpu", "4", "cpu", "1"), container("amd.com/gpu", "1")}}}},
		{Replicas: 3, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container("volcano.sh/gpu-memory", "1024")}}}},
	}}}
	if got := RequestedGPUs(job); got != 10 {
		t.Errorf("gpus = %d, want 10: requests and limits are the same GPUs, memory of GPUs is none", got)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	pending := &batchv1alpha1.Job{Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Pending}}}
	in := func(phase batchv1alpha1.JobPhase) *batchv1alpha1.Job {
		return &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Status: batchv1alpha1.JobStatus{Running: 1, State: batchv1alpha1.JobState{Phase: phase, Reason: "R", Message: "m"}}}
	}
	group := func(phase schedulingv1beta1.PodGroupPhase, e *schedulingv1beta1.Explanation, conditions ...schedulingv1beta1.PodGroupCondition) *schedulingv1beta1.PodGroup {
		return &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Phase: phase, Explanation: e, Conditions: conditions}}
	}
	unschedulable := func(status corev1.ConditionStatus, message string) schedulingv1beta1.PodGroupCondition {
		return schedulingv1beta1.PodGroupCondition{Type: schedulingv1beta1.PodGroupUnschedulableType, Status: status, Reason: "NotEnoughResources", Message: message}
	}
	cases := map[string]struct {
		job   *batchv1alpha1.Job
		group *schedulingv1beta1.PodGroup
		want  string
	}{
		"the scheduler's explanation comes first":   {pending, group("Pending", &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "closed"}, unschedulable("True", "old")), "QueueClosed: closed"},
		"a code without a message has its sentence": {pending, group("Pending", &schedulingv1beta1.Explanation{Reason: "QueueClosed"}), "QueueClosed: " + reason.Get(reason.QueueClosed).Sentence},
		"else the last true condition":              {pending, group("Pending", nil, unschedulable("True", "first"), unschedulable("True", "last"), unschedulable("False", "not this")), "NotEnoughResources: last"},
		"no pod group: the controller is missing":   {pending, nil, "NoPodGroup: no controller has processed the job yet"},
		"a new pod group: the scheduler is missing": {pending, group("", nil), `Submitted: scheduler "volcano" has not processed the job yet`},
		"a pending pod group without a word":        {pending, group("Pending", nil), `Submitted: scheduler "volcano" has not processed the job yet`},
		"a running job that lacks pods says so":     {in(batchv1alpha1.Running), group("Running", &schedulingv1beta1.Explanation{Reason: "OverCapability", Message: "2 of 8 wait"}), "OverCapability: 2 of 8 wait"},
		"a running job needs no reason":             {in(batchv1alpha1.Running), group("Running", nil, unschedulable("True", "stale")), ""},
		"a completed job needs no reason":           {in(batchv1alpha1.Completed), group("Completed", nil), ""},
		"a failed job has the controller's":         {in(batchv1alpha1.Failed), nil, "R: m"},
		"a suspended job is suspended":              {in(batchv1alpha1.Aborted), nil, "Suspended: the job is suspended; its pods are stopped"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ExplainJob(tc.job, tc.group).CodeAndMessage(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPodsAreInTheOrderOfTasksAndIndexes(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "ps"}, {Name: "worker"}}}}
	var pods []*corev1.Pod
	for _, name := range []string{"j-worker-10", "j-worker-2", "j-ps-1", "j-worker-9", "j-ps-0"} {
		task := "worker"
		if name[2] == 'p' {
			task = "ps"
		}
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{keys.TaskSpec: task}}})
	}
	SortPods(job, pods)
	var got []string
	for _, pod := range pods {
		got = append(got, pod.Name)
	}
	if diff := cmp.Diff([]string{"j-ps-0", "j-ps-1", "j-worker-2", "j-worker-9", "j-worker-10"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExitCodeIsThatOfTheFirstFailure(t *testing.T) {
	t.Parallel()
	pod := func(code int32, ago time.Duration) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: *at(ago)}},
		}}}}
	}
	if got := ExitCode([]*corev1.Pod{pod(0, 9*time.Minute), pod(137, time.Minute), pod(3, 2*time.Minute), {}}); got != 3 {
		t.Errorf("exit code %d, want 3", got)
	}
}

func TestBoundPodsAreThoseWithANode(t *testing.T) {
	t.Parallel()
	job := func(phase batchv1alpha1.JobPhase, running, replicas int32) *batchv1alpha1.Job {
		j := &batchv1alpha1.Job{Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: phase}, Running: running}}
		j.Spec.MinAvailable, j.Spec.Tasks = 2, []batchv1alpha1.TaskSpec{{Name: "a", Replicas: replicas}}
		return j
	}
	group := func(phase schedulingv1beta1.PodGroupPhase, placed int32) *schedulingv1beta1.PodGroup {
		return &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Phase: phase,
			Explanation: &schedulingv1beta1.Explanation{Members: &schedulingv1beta1.ExplainedMembers{Running: placed}}}}
	}
	cases := map[string]struct {
		job   *batchv1alpha1.Job
		group *schedulingv1beta1.PodGroup
		want  int32
	}{
		"without a pod group those that run":                 {job(batchv1alpha1.Running, 3, 4), nil, 3},
		"those the scheduler has placed of a gang":           {job(batchv1alpha1.Pending, 0, 4), group(schedulingv1beta1.PodGroupInqueue, 1), 1},
		"the minimum, once the gang runs, though none began": {job(batchv1alpha1.Pending, 0, 4), group(schedulingv1beta1.PodGroupRunning, 0), 2},
		"more run than must":                                 {job(batchv1alpha1.Running, 4, 4), group(schedulingv1beta1.PodGroupRunning, 0), 4},
		"a suspended job has none":                           {job(batchv1alpha1.Aborted, 0, 4), group(schedulingv1beta1.PodGroupRunning, 0), 0},
		"a restart begins anew":                              {job(batchv1alpha1.Restarting, 0, 4), group(schedulingv1beta1.PodGroupRunning, 0), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := CountBoundPods(tc.job, tc.group); got != tc.want {
				t.Errorf("%d bound, want %d", got, tc.want)
			}
		})
	}
}
