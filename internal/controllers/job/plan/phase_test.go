package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// everyAction lists all actions that may be requested in a phase.
var everyAction = []busv1alpha1.Action{busv1alpha1.SyncJobAction, busv1alpha1.EnqueueAction, busv1alpha1.RestartJobAction, busv1alpha1.RestartTaskAction, busv1alpha1.RestartPodAction,
	busv1alpha1.RestartPartitionAction, busv1alpha1.AbortJobAction, busv1alpha1.ResumeJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction}

func TestEveryRowOfTheStateTable(t *testing.T) {
	t.Parallel()
	active := map[busv1alpha1.Action]step{
		busv1alpha1.RestartJobAction:       {next: batchv1alpha1.Restarting, kill: killAll, retry: true},
		busv1alpha1.RestartTaskAction:      {next: batchv1alpha1.Restarting, kill: killTarget, retry: true},
		busv1alpha1.RestartPodAction:       {next: batchv1alpha1.Restarting, kill: killTarget, retry: true},
		busv1alpha1.RestartPartitionAction: {next: batchv1alpha1.Restarting, kill: killTarget, retry: true},
		busv1alpha1.AbortJobAction:         {next: batchv1alpha1.Aborting, kill: killLive},
		busv1alpha1.CompleteJobAction:      {next: batchv1alpha1.Completing, kill: killLive},
		busv1alpha1.TerminateJobAction:     {next: batchv1alpha1.Terminating, kill: killLive},
		"":                                 {sync: true},
	}
	restarting := map[busv1alpha1.Action]step{
		busv1alpha1.RestartTaskAction:      {kill: killTarget},
		busv1alpha1.RestartPodAction:       {kill: killTarget},
		busv1alpha1.RestartPartitionAction: {kill: killTarget},
		busv1alpha1.AbortJobAction:         {kill: killAll, hold: true},
		busv1alpha1.CompleteJobAction:      {kill: killAll, hold: true},
		busv1alpha1.TerminateJobAction:     {kill: killAll, hold: true},
		"":                                 {kill: killAll},
	}
	aborted := map[busv1alpha1.Action]step{
		busv1alpha1.ResumeJobAction:    {next: batchv1alpha1.Restarting, kill: killLive, retry: true},
		busv1alpha1.TerminateJobAction: {next: batchv1alpha1.Terminating, kill: killLive},
		"":                             {kill: killLive},
	}
	ending := map[busv1alpha1.Action]step{"": {kill: killLive}}
	table := map[batchv1alpha1.JobPhase]map[busv1alpha1.Action]step{
		"": active, batchv1alpha1.Pending: active, batchv1alpha1.Running: active, batchv1alpha1.Restarting: restarting, batchv1alpha1.Aborting: aborted, batchv1alpha1.Aborted: aborted,
		batchv1alpha1.Completing: ending, batchv1alpha1.Terminating: ending, batchv1alpha1.Completed: ending, batchv1alpha1.Failed: ending, batchv1alpha1.Terminated: ending,
	}
	for phase, row := range table {
		for _, action := range everyAction {
			want, special := row[action]
			if !special {
				want = row[""]
			}
			if got := responseInPhase(phase, action); got != want {
				t.Errorf("%s in %q: %+v, want %+v", action, phase, got, want)
			}
		}
	}
}

func TestAPhaseEndsByItself(t *testing.T) {
	t.Parallel()
	two := int32(2)
	tests := map[string]struct {
		in   *story
		want batchv1alpha1.JobPhase
	}{
		"pending until at least minAvailable pods have started": {
			given(batchv1alpha1.Pending).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodPending), batchv1alpha1.Pending},
		"running once at least minAvailable pods have started": {
			given(batchv1alpha1.Pending).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning), batchv1alpha1.Running},
		"pods that have ended have started": {
			given(batchv1alpha1.Pending).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batchv1alpha1.Running},
		"a job scaled to nothing stays as it is": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 0 }), batchv1alpha1.Running},
		"minSuccess pods are enough": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { one := int32(1); j.Spec.MinSuccess = &one }).
				pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodRunning), batchv1alpha1.Completed},
		"completed when all have succeeded": {
			given(batchv1alpha1.Running).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodSucceeded), batchv1alpha1.Completed},
		"not completed while one runs": {
			given(batchv1alpha1.Running).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodRunning), batchv1alpha1.Running},
		"failed when a task has fewer than its minimum of successes": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].MinAvailable = &two }).
				pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batchv1alpha1.Failed},
		"a task's minimum says nothing when the job's is smaller": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Spec.MinAvailable, j.Spec.Tasks[0].MinAvailable = 1, &two }).
				pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batchv1alpha1.Completed},
		"completed with one failure when minAvailable allows it": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) {
				one := int32(1)
				j.Spec.MinAvailable, j.Spec.Tasks[0].MinAvailable = 1, &one
			}).
				pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batchv1alpha1.Completed},
		"failed with fewer successes than minAvailable": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Spec.MinAvailable = 1 }).
				pod("w", 0, corev1.PodFailed).pod("w", 1, corev1.PodFailed), batchv1alpha1.Failed},
		"failed with fewer successes than minSuccess": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) {
				one := int32(1)
				j.Spec.MinSuccess, j.Spec.MinAvailable, j.Spec.Tasks[0].MinAvailable = &two, 1, &one
			}).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batchv1alpha1.Failed},
		"running while no more wait than may": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Spec.MinAvailable = 1 }).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodPending), batchv1alpha1.Running},
		"pending again when too many pods wait": {
			given(batchv1alpha1.Running).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodPending), batchv1alpha1.Pending},
		"restarting until enough pods have gone": {
			given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) { j.Status.RetryCount, j.Status.Version = 1, 1 }).
				pod("w", 0, corev1.PodRunning, ofVersion(0), goingAway), batchv1alpha1.Restarting},
		"pending when they have": {
			given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) { j.Status.RetryCount, j.Status.Version = 1, 1 }), batchv1alpha1.Pending},
		"pending at the last restart that maxRetry allows": {
			given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) { j.Status.RetryCount, j.Status.Version = 2, 2 }), batchv1alpha1.Pending},
		"failed at the restart that maxRetry does not allow": {
			given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) { j.Status.RetryCount, j.Status.Version = 3, 3 }), batchv1alpha1.Failed},
		"a person may resume as often as they like": {
			given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) {
				j.Status.RetryCount, j.Status.Version, j.Status.State.Reason = 3, 3, string(busv1alpha1.ResumeJobAction)
			}), batchv1alpha1.Pending},
		"aborting until the last pod has gone": {
			given(batchv1alpha1.Aborting).pod("w", 0, corev1.PodRunning, goingAway), batchv1alpha1.Aborting},
		"aborted then":    {given(batchv1alpha1.Aborting).pod("w", 0, corev1.PodSucceeded), batchv1alpha1.Aborted},
		"completed then":  {given(batchv1alpha1.Completing).pod("w", 0, corev1.PodSucceeded), batchv1alpha1.Completed},
		"terminated then": {given(batchv1alpha1.Terminating).pod("w", 0, corev1.PodFailed), batchv1alpha1.Terminated},
		"ended is ended":  {given(batchv1alpha1.Failed).pod("w", 0, corev1.PodFailed), batchv1alpha1.Failed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			if got := status(test.in, &p).State.Phase; got != test.want {
				t.Errorf("phase %s, want %s; %v", got, test.want, digest(&p))
			}
		})
	}
}

func TestCommandsAndPhases(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   *story
		want []string
	}{
		"abort keeps what has finished": {
			given(batchv1alpha1.Running).group("Running").pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodSucceeded).command(busv1alpha1.AbortJobAction),
			[]string{"status Aborting v1 r0", "delete w-0", "done c0"}},
		"restart stops everything and makes a new group": {
			given(batchv1alpha1.Running).group("Running").pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodSucceeded).command(busv1alpha1.RestartJobAction),
			[]string{"status Restarting v1 r0 u1", "delete w-0 w-1", "DeleteGroup", "done c0"}},
		"the last restart keeps what has finished": {
			given(batchv1alpha1.Running).group("Running").with(func(j *batchv1alpha1.Job) { j.Status.RetryCount = 2 }).
				pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction),
			[]string{"status Restarting v1 r3", "delete w-0", "DeleteGroup"}},
		"a restart that a person asks for is never the last": {
			given(batchv1alpha1.Running).group("Running").with(func(j *batchv1alpha1.Job) { j.Status.RetryCount = 2 }).
				pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodFailed).command(busv1alpha1.RestartJobAction),
			[]string{"status Restarting v1 r2 u1", "delete w-0 w-1", "DeleteGroup", "done c0"}},
		"resume starts again with what had finished kept": {
			given(batchv1alpha1.Aborted).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).counted().command(busv1alpha1.ResumeJobAction),
			[]string{"status Restarting v2 r0 u1", "done c0"}},
		"a suspended job can be ended": {
			given(batchv1alpha1.Aborted).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).counted().command(busv1alpha1.TerminateJobAction),
			[]string{"status Terminating v2 r0", "done c0"}},
		"so can one that is being suspended": {
			given(batchv1alpha1.Aborting).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).pod("w", 0, corev1.PodRunning).command(busv1alpha1.TerminateJobAction),
			[]string{"status Terminating v2 r0", "delete w-0", "done c0"}},
		"resume of a job that runs is done already": {
			given(batchv1alpha1.Running).group("Running").pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).counted().command(busv1alpha1.ResumeJobAction),
			[]string{"done c0"}},
		"a command to a finished job does nothing": {
			given(batchv1alpha1.Completed).with(func(j *batchv1alpha1.Job) { j.Status.MinAvailable = 2 }).command(busv1alpha1.AbortJobAction),
			[]string{"done c0"}},
		"abort of a job that restarts waits for the restart": {
			given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) { j.Status.Version, j.Status.RetryCount = 1, 1 }).command(busv1alpha1.AbortJobAction),
			[]string{"status Pending v1 r1"}},
		"a restart asked for twice is one restart": {
			given(batchv1alpha1.Restarting).with(func(j *batchv1alpha1.Job) { j.Status.Version, j.Status.RetryCount = 1, 1 }).
				pod("w", 0, corev1.PodRunning, ofVersion(0)).command(busv1alpha1.RestartJobAction),
			[]string{"done c0", "status Restarting v1 r1", "delete w-0"}},
		"a restart by a policy counts as a retry, also if a resume that changes nothing arrives at the same time": {
			given(batchv1alpha1.Running).group("Running").pod("w", 0, corev1.PodFailed).pod("w", 1, corev1.PodRunning).
				policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartJobAction).command(busv1alpha1.ResumeJobAction),
			[]string{"done c0", "status Restarting v1 r1", "delete w-0 w-1", "DeleteGroup"}},
		"nonsense is deleted with a word": {
			given(batchv1alpha1.Completed).with(func(j *batchv1alpha1.Job) { j.Status.MinAvailable = 2 }).command("Fly"),
			[]string{"done c0"}},
		"the oldest command goes first": {
			given(batchv1alpha1.Running).group("Running").pod("w", 0, corev1.PodRunning).command(busv1alpha1.AbortJobAction).command(busv1alpha1.ResumeJobAction),
			[]string{"status Aborting v1 r0", "delete w-0", "done c0"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			if diff := cmp.Diff(test.want, digest(&p)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// TestARestartOfTheWholeJobReplacesThatOfATask has the gang of a job become incomplete while a task is being restarted and
// the last of its pods is still being deleted.
func TestARestartOfTheWholeJobReplacesThatOfATask(t *testing.T) {
	t.Parallel()
	s := given(batchv1alpha1.Restarting).policy(busv1alpha1.JobUnknownEvent, busv1alpha1.RestartJobAction).
		with(func(j *batchv1alpha1.Job) {
			j.Status.RetryCount, j.Status.State.Reason = 1, string(busv1alpha1.RestartTaskAction)
			j.Status.ControlledResources = map[string]string{targetKey: "task/w"}
		}).
		group("Unknown").pod("w", 0, corev1.PodRunning, goingAway, func(p *corev1.Pod) { p.Annotations[keys.OutOfSync] = "true" })
	p := Compute(s.Input)
	got := status(s, &p)
	if got.Version != 1 || got.State.Reason != string(busv1alpha1.RestartJobAction) || got.ControlledResources[targetKey] != "" {
		t.Errorf("version %d, reason %s, target %q; want the restart of the whole job", got.Version, got.State.Reason, got.ControlledResources[targetKey])
	}
}
