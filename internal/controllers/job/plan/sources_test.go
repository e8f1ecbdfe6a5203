package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// marked marks a pod as stopped by the controller.
func marked(pod *corev1.Pod) { pod.Annotations[keys.OutOfSync] = "true" }

// codes sets the exit codes of a pod's containers, init containers first.
func codes(init, first, second int32) func(*corev1.Pod) {
	end := func(code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(noon)}}}
	}
	return func(pod *corev1.Pod) {
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{end(init)}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{end(first), end(second)}
	}
}

// TestEverySourceOfEvents covers everything that may happen to a job, and the resulting events for policies.
func TestEverySourceOfEvents(t *testing.T) {
	t.Parallel()
	vanished := func(change func(*Lost)) *story {
		s := without(running(), 1)
		s.Fresh = true
		s.counted() // the status counts it already
		l := Lost{UID: "gone", Name: "j-w-1", Task: "w", Index: 1, At: noon}
		change(&l)
		s.Lost = []Lost{l}
		return s
	}
	at1 := func(phase corev1.PodPhase, changes ...func(*corev1.Pod)) *story {
		return replacePod(running(), 1, phase, changes...)
	}
	grouped := func(phase schedulingv1beta1.PodGroupPhase) *story {
		s := running()
		s.PodGroup.Status.Phase = phase
		return s
	}
	maxRetry := func(s *story, n int32) *story {
		return s.with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].MaxRetry = n })
	}
	tests := map[string]struct {
		in   *story
		want []string
	}{
		// The job.
		"a new job":         {given(""), nil},
		"a job that runs":   {running(), nil},
		"a job scaled up":   {running().with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 5 }), nil},
		"a job scaled down": {running().with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1 }), nil},
		"a job scaled down, whose pod goes away": {at1(corev1.PodRunning, goingAway, marked).
			with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1 }), nil},
		"a job scaled down, whose pod has vanished": {vanished(func(*Lost) {}).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1 }), nil},
		// An existing pod.
		"a pod is pending":                               {at1(corev1.PodPending), []string{"PodPending w/1"}},
		"a pod has no phase yet":                         {at1(""), []string{"PodPending w/1"}},
		"a pod of an older version is pending":           {at1(corev1.PodPending, ofVersion(-1)), nil},
		"a pod runs":                                     {at1(corev1.PodRunning), nil},
		"nobody hears from a pod":                        {at1(corev1.PodUnknown), nil},
		"a pod failed":                                   {at1(corev1.PodFailed, codes(0, 2, 0)), []string{"PodFailed w/1 [2]"}},
		"the second container failed":                    {at1(corev1.PodFailed, codes(0, 0, 3)), []string{"PodFailed w/1 [3]"}},
		"an init container failed":                       {at1(corev1.PodFailed, codes(4, 0, 0)), []string{"PodFailed w/1 [4]"}},
		"several containers failed":                      {at1(corev1.PodFailed, codes(4, 2, 2)), []string{"PodFailed w/1 [2 4]"}},
		"a pod failed without a word":                    {at1(corev1.PodFailed), []string{"PodFailed w/1"}},
		"a pod of an older version failed":               {at1(corev1.PodFailed, ofVersion(-1)), nil},
		"a pod failed that we stop":                      {at1(corev1.PodFailed, marked), nil},
		"one of two pods succeeded":                      {at1(corev1.PodSucceeded, ended(0, 0)), nil},
		"all pods of a task succeeded":                   {replacePod(at1(corev1.PodSucceeded), 0, corev1.PodSucceeded).pod("w", 1, corev1.PodSucceeded), []string{"TaskCompleted w"}},
		"all pods succeeded before a restart":            {replacePod(running(), 0, corev1.PodSucceeded, ofVersion(-1)).pod("w", 1, corev1.PodSucceeded, ofVersion(-1)), nil},
		"the last pods of a task succeeded after it":     {replacePod(running(), 0, corev1.PodSucceeded, ofVersion(-1)).pod("w", 1, corev1.PodSucceeded), []string{"TaskCompleted w"}},
		"a task without pods":                            {running().with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 0 }), nil},
		"containers restarted as often as a task allows": {at1(corev1.PodRunning, restarted(3)), []string{"TaskFailed w/1"}},
		"less often":                                     {at1(corev1.PodRunning, restarted(2)), nil},
		"those of all pods together":                     {replacePod(running(), 0, corev1.PodRunning, restarted(2)).pod("w", 1, corev1.PodRunning, restarted(1)), []string{"TaskFailed w/0 w/1"}},
		"those of pending pods, too":                     {at1(corev1.PodPending, restarted(3)), []string{"PodPending w/1", "TaskFailed w/1"}},
		"more often than a task without limit":           {maxRetry(at1(corev1.PodRunning, restarted(99)), -1), nil},
		"as often as a task says":                        {maxRetry(at1(corev1.PodRunning, restarted(1)), 1), []string{"TaskFailed w/1"}},
		// A deleted pod.
		"somebody deletes a pod":                      {at1(corev1.PodRunning, goingAway), []string{"PodEvicted w/1"}},
		"somebody deletes a pending pod":              {at1(corev1.PodPending, goingAway), []string{"PodEvicted w/1"}},
		"a deleted pod's containers have ended since": {at1(corev1.PodFailed, goingAway, ended(143, 0)), []string{"PodEvicted w/1"}},
		"a pod is deleted that had failed before":     {at1(corev1.PodFailed, goingAway, ended(1, time.Minute)), []string{"PodFailed w/1 [1]"}},
		"a pod is deleted that had succeeded before":  {at1(corev1.PodSucceeded, goingAway, ended(0, time.Minute)), nil},
		"a pod goes that we stop":                     {at1(corev1.PodRunning, goingAway, marked).counted(), nil},
		"a pod goes that this process stops":          {func() *story { s := running(); s.Killed = map[types.UID]bool{"uid-j-w-1": true}; return s }(), nil},
		"a pod of an older version goes":              {at1(corev1.PodRunning, goingAway, ofVersion(-1)).counted(), nil},
		"a pod was seen to vanish":                    {vanished(func(*Lost) {}), []string{"PodEvicted w/1"}},
		"a failed pod was seen to vanish":             {vanished(func(l *Lost) { l.Failed, l.Codes = true, []int32{7} }), []string{"PodFailed w/1 [7]"}},
		"one of an older version was":                 {vanished(func(l *Lost) { l.Version = -1 }), nil},
		"one of a task that is not the job's was":     {vanished(func(l *Lost) { l.Task = "x" }), nil},
		"a pod vanished while nobody looked":          {without(running(), 1), []string{"PodEvicted w/1"}},
		"a pod that had succeeded has vanished":       {without(at1(corev1.PodSucceeded, ended(0, 0)).counted(), 1), nil},
		"a pod that had failed has, answered or not":  {without(at1(corev1.PodFailed, ended(1, 0)).counted(), 1), nil},
		// The group.
		"the group is broken":                     {grouped(schedulingv1beta1.PodGroupUnknown), []string{"Unknown"}},
		"the group waits":                         {grouped(schedulingv1beta1.PodGroupPending), nil},
		"the group is let in":                     {grouped(schedulingv1beta1.PodGroupInqueue), nil},
		"the group has ended":                     {grouped(schedulingv1beta1.PodGroupCompleted), nil},
		"the group of an older version is broken": {grouped(schedulingv1beta1.PodGroupUnknown).with(func(j *batchv1alpha1.Job) { j.Status.Version = 9 }), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.in.policy(busv1alpha1.AnyEvent, busv1alpha1.RestartJobAction) // without a policy there are no events
			var got []string
			for _, e := range newBuilder(&test.in.Input).collectEvents() {
				got = append(got, eventText(test.in, &e))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func eventText(s *story, e *event) string {
	text := string(e.kind)
	if e.task >= 0 && len(e.where) == 0 {
		text += " " + s.Job.Spec.Tasks[e.task].Name
	}
	for _, p := range e.where {
		text += fmt.Sprintf(" %s/%d", s.Job.Spec.Tasks[p.Task].Name, p.Index)
	}
	if len(e.codes) > 0 {
		text += fmt.Sprint(" ", e.codes)
	}
	return text
}

// TestWhichPolicyAnswers covers the order in which policies are evaluated.
func TestWhichPolicyAnswers(t *testing.T) {
	t.Parallel()
	type policy = batchv1alpha1.LifecyclePolicy
	on := func(action busv1alpha1.Action, events ...busv1alpha1.Event) policy {
		return policy{Action: action, Events: events}
	}
	code := func(action busv1alpha1.Action, code int32) policy { return policy{Action: action, ExitCode: &code} }
	after := func(p policy, d time.Duration) policy { p.Timeout = &metav1.Duration{Duration: d}; return p }
	const abort, complete, terminate = busv1alpha1.AbortJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction
	failed := event{kind: busv1alpha1.PodFailedEvent, task: 0, codes: []int32{3, 5}}
	pending := event{kind: busv1alpha1.PodPendingEvent, task: 0}
	tests := map[string]struct {
		event     event
		task, job []policy
		want      string
	}{
		"no policy":                                  {failed, nil, nil, "none"},
		"a policy for another event":                 {failed, nil, []policy{on(abort, busv1alpha1.PodEvictedEvent)}, "none"},
		"the event itself":                           {failed, nil, []policy{{Action: abort, Event: busv1alpha1.PodFailedEvent}}, "AbortJob"},
		"one of several":                             {failed, nil, []policy{on(abort, busv1alpha1.PodEvictedEvent, busv1alpha1.PodFailedEvent)}, "AbortJob"},
		"event and events together":                  {failed, nil, []policy{{Action: abort, Event: busv1alpha1.PodEvictedEvent, Events: []busv1alpha1.Event{busv1alpha1.PodFailedEvent}}}, "AbortJob"},
		"any event":                                  {failed, nil, []policy{on(abort, busv1alpha1.AnyEvent)}, "AbortJob"},
		"the first that matches":                     {failed, nil, []policy{on(abort, busv1alpha1.PodFailedEvent), on(complete, busv1alpha1.PodFailedEvent)}, "AbortJob"},
		"the task before the job":                    {failed, []policy{on(complete, busv1alpha1.PodFailedEvent)}, []policy{on(abort, busv1alpha1.PodFailedEvent)}, "CompleteJob"},
		"the task's any before the job's very event": {failed, []policy{on(complete, busv1alpha1.AnyEvent)}, []policy{on(abort, busv1alpha1.PodFailedEvent)}, "CompleteJob"},
		"the job where the task has no match":        {failed, []policy{on(complete, busv1alpha1.TaskCompletedEvent)}, []policy{on(abort, busv1alpha1.PodFailedEvent)}, "AbortJob"},
		"an event of the whole job asks no task":     {event{kind: busv1alpha1.JobUnknownEvent, task: -1}, []policy{on(complete, busv1alpha1.AnyEvent)}, []policy{on(abort, busv1alpha1.JobUnknownEvent)}, "AbortJob"},
		"an exit code":                               {failed, nil, []policy{code(terminate, 3)}, "TerminateJob"},
		"the exit code of another container":         {failed, nil, []policy{code(terminate, 5)}, "TerminateJob"},
		"another exit code":                          {failed, nil, []policy{code(terminate, 4)}, "none"},
		"exit code 0 is none":                        {event{kind: busv1alpha1.PodFailedEvent, task: 0, codes: []int32{0}}, nil, []policy{code(terminate, 0)}, "none"},
		"an exit code before an event":               {failed, nil, []policy{code(terminate, 3), on(abort, busv1alpha1.PodFailedEvent)}, "TerminateJob"},
		"an exit code that came later":               {failed, nil, []policy{on(abort, busv1alpha1.PodFailedEvent), code(terminate, 3)}, "AbortJob"},
		"pending without a timeout":                  {pending, nil, []policy{on(abort, busv1alpha1.PodPendingEvent)}, "none"},
		"pending is not any without a timeout":       {pending, nil, []policy{on(abort, busv1alpha1.AnyEvent)}, "none"},
		"pending with a timeout":                     {pending, nil, []policy{after(on(abort, busv1alpha1.PodPendingEvent), time.Minute)}, "AbortJob after 1m0s"},
		"any event with a timeout is pending, too":   {pending, nil, []policy{after(on(abort, busv1alpha1.AnyEvent), time.Minute)}, "AbortJob after 1m0s"},
		"a timeout delays any answer":                {failed, nil, []policy{after(on(abort, busv1alpha1.PodFailedEvent), time.Second)}, "AbortJob after 1s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1alpha1.Job{Spec: batchv1alpha1.JobSpec{Policies: test.job, Tasks: []batchv1alpha1.TaskSpec{{Policies: test.task}}}}
			got := "none"
			if a, ok := resolveResponse(job, &test.event); ok {
				got = string(a.action)
				if a.delay > 0 {
					got += fmt.Sprintf(" after %v", a.delay)
				}
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestDelayIsReportedOnceForAllPodsOfATask(t *testing.T) {
	t.Parallel()
	waits := func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(noon.Add(-10 * time.Second)) }
	in := delayed(given(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupInqueue), busv1alpha1.PodPendingEvent, busv1alpha1.RestartPodAction, time.Minute).
		pod("w", 0, corev1.PodPending, waits).pod("w", 1, corev1.PodPending, waits)
	p := Compute(in.Input)
	want := []Event{{Type: corev1.EventTypeNormal, Reason: "ExecuteAction", Message: "Execute action RestartPod after 1m: pod j-w-0 is pending"}}
	if diff := cmp.Diff(want, p.Events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.Since, in.Now = p.Since, in.Now.Add(time.Second)
	p = Compute(in.Input)
	in.Since = p.Since
	if again := Compute(in.Input); len(p.Events)+len(again.Events) > 0 {
		t.Errorf("told again: %v, %v", p.Events, again.Events)
	}
}

// TestDelayedAnswers covers when the response of a policy with a timeout is carried out, and when it is cancelled.
func TestDelayedAnswers(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	// A pod that has been pending, failed or gone for half a minute.
	pending := func() *story {
		return delayed(replacePod(running(), 1, corev1.PodPending, func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(noon.Add(-30 * time.Second)) }),
			busv1alpha1.PodPendingEvent, busv1alpha1.RestartPodAction, minute)
	}
	failed := func() *story {
		return delayed(replacePod(running(), 1, corev1.PodFailed, ended(1, 30*time.Second)), busv1alpha1.PodFailedEvent, busv1alpha1.AbortJobAction, minute)
	}
	evicted := func() *story {
		s := delayed(without(running(), 1), busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction, minute)
		s.Lost = []Lost{{UID: "gone", Name: "j-w-1", Task: "w", Index: 1, At: noon.Add(-30 * time.Second)}}
		return s
	}
	later := func(s *story, d time.Duration) *story { s.Now = s.Now.Add(d); return s }
	tests := map[string]struct {
		in    *story
		phase batchv1alpha1.JobPhase // the entered phase; "" for none
		again time.Duration
	}{
		"a pod waits, not too long": {pending(), "", 30 * time.Second},
		"too long":                  {later(pending(), 30*time.Second), batchv1alpha1.Restarting, 0},
		"it runs in time":           {later(replacePod(pending(), 1, corev1.PodRunning), minute), "", 0},
		"it fails in time":          {later(replacePod(pending(), 1, corev1.PodFailed), minute), "", 0},
		"it goes in time":           {later(replacePod(pending(), 1, corev1.PodPending, goingAway), minute), "", 0},
		"another pod took its place and waits again":    {later(replacePod(pending(), 1, corev1.PodPending, func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(noon.Add(20 * time.Second)) }), 30*time.Second), "", 50 * time.Second},
		"a pod failed, not long ago":                    {failed(), "", 30 * time.Second},
		"long ago":                                      {later(failed(), 30*time.Second), batchv1alpha1.Aborting, 0},
		"another pod took its place and runs":           {later(replacePod(failed(), 1, corev1.PodRunning), minute), "", 0},
		"a pod was evicted, not long ago":               {evicted(), "", 30 * time.Second},
		"its place is still empty":                      {later(evicted(), 30*time.Second), batchv1alpha1.Restarting, 0},
		"its place is taken by a pod that does not run": {later(evicted().pod("w", 1, corev1.PodPending), 30*time.Second), batchv1alpha1.Restarting, 0},
		"its place is taken by one that runs":           {later(evicted().pod("w", 1, corev1.PodRunning), 30*time.Second), "", 0},
		"the job was restarted meanwhile":               {later(failed().with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }), minute), "", 0},
		"the job ends meanwhile":                        {later(failed().with(func(j *batchv1alpha1.Job) { j.Status.State.Phase = batchv1alpha1.Completing }), minute), batchv1alpha1.Completed, 0},
		"an answer at once goes before":                 {failed().policy(busv1alpha1.PodFailedEvent, busv1alpha1.TerminateJobAction), "", 30 * time.Second}, // the first matching policy is the response
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.phase == batchv1alpha1.Completed {
				test.in.Pods = test.in.Pods[1:]
			}
			one := int32(1)
			test.in.Job.Spec.MinAvailable, test.in.Job.Spec.Tasks[0].MinAvailable = 1, &one
			p := Compute(test.in.counted().Input)
			if p.Entered != test.phase || test.again > 0 && p.RequeueAfter != test.again {
				t.Errorf("entered %q, again after %v; want %q and %v", p.Entered, p.RequeueAfter, test.phase, test.again)
			}
		})
	}
}
