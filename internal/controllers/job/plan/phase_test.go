package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// everyAction lists all actions that may be requested in a phase.
var everyAction = []bus.Action{bus.SyncJobAction, bus.EnqueueAction, bus.RestartJobAction, bus.RestartTaskAction, bus.RestartPodAction,
	bus.RestartPartitionAction, bus.AbortJobAction, bus.ResumeJobAction, bus.CompleteJobAction, bus.TerminateJobAction}

func TestEveryRowOfTheStateTable(t *testing.T) {
	t.Parallel()
	active := map[bus.Action]step{
		bus.RestartJobAction:       {next: batch.Restarting, kill: killAll, retry: true},
		bus.RestartTaskAction:      {next: batch.Restarting, kill: killTarget, retry: true},
		bus.RestartPodAction:       {next: batch.Restarting, kill: killTarget, retry: true},
		bus.RestartPartitionAction: {next: batch.Restarting, kill: killTarget, retry: true},
		bus.AbortJobAction:         {next: batch.Aborting, kill: killLive},
		bus.CompleteJobAction:      {next: batch.Completing, kill: killLive},
		bus.TerminateJobAction:     {next: batch.Terminating, kill: killLive},
		"":                         {sync: true},
	}
	restarting := map[bus.Action]step{
		bus.RestartTaskAction:      {kill: killTarget},
		bus.RestartPodAction:       {kill: killTarget},
		bus.RestartPartitionAction: {kill: killTarget},
		bus.AbortJobAction:         {kill: killAll, hold: true},
		bus.CompleteJobAction:      {kill: killAll, hold: true},
		bus.TerminateJobAction:     {kill: killAll, hold: true},
		"":                         {kill: killAll},
	}
	aborted := map[bus.Action]step{
		bus.ResumeJobAction:    {next: batch.Restarting, kill: killLive, retry: true},
		bus.TerminateJobAction: {next: batch.Terminating, kill: killLive},
		"":                     {kill: killLive},
	}
	ending := map[bus.Action]step{"": {kill: killLive}}
	table := map[batch.JobPhase]map[bus.Action]step{
		"": active, batch.Pending: active, batch.Running: active, batch.Restarting: restarting, batch.Aborting: aborted, batch.Aborted: aborted,
		batch.Completing: ending, batch.Terminating: ending, batch.Completed: ending, batch.Failed: ending, batch.Terminated: ending,
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
		want batch.JobPhase
	}{
		"pending until minAvailable pods have started": {
			given(batch.Pending).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodPending), batch.Pending},
		"running once minAvailable pods have started": {
			given(batch.Pending).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning), batch.Running},
		"pods that have ended have started": {
			given(batch.Pending).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batch.Running},
		"a job scaled to nothing stays as it is": {
			given(batch.Running).with(func(j *batch.Job) { j.Spec.Tasks[0].Replicas = 0 }), batch.Running},
		"minSuccess pods are enough": {
			given(batch.Running).with(func(j *batch.Job) { one := int32(1); j.Spec.MinSuccess = &one }).
				pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodRunning), batch.Completed},
		"completed when all have succeeded": {
			given(batch.Running).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodSucceeded), batch.Completed},
		"not completed while one runs": {
			given(batch.Running).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodRunning), batch.Running},
		"failed when a task has fewer than its minimum of successes": {
			given(batch.Running).with(func(j *batch.Job) { j.Spec.Tasks[0].MinAvailable = &two }).
				pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batch.Failed},
		"a task's minimum says nothing when the job's is smaller": {
			given(batch.Running).with(func(j *batch.Job) { j.Spec.MinAvailable, j.Spec.Tasks[0].MinAvailable = 1, &two }).
				pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batch.Completed},
		"completed with one failure when minAvailable allows it": {
			given(batch.Running).with(func(j *batch.Job) { one := int32(1); j.Spec.MinAvailable, j.Spec.Tasks[0].MinAvailable = 1, &one }).
				pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batch.Completed},
		"failed with fewer successes than minAvailable": {
			given(batch.Running).with(func(j *batch.Job) { j.Spec.MinAvailable = 1 }).
				pod("w", 0, corev1.PodFailed).pod("w", 1, corev1.PodFailed), batch.Failed},
		"failed with fewer successes than minSuccess": {
			given(batch.Running).with(func(j *batch.Job) {
				one := int32(1)
				j.Spec.MinSuccess, j.Spec.MinAvailable, j.Spec.Tasks[0].MinAvailable = &two, 1, &one
			}).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodFailed), batch.Failed},
		"running while no more wait than may": {
			given(batch.Running).with(func(j *batch.Job) { j.Spec.MinAvailable = 1 }).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodPending), batch.Running},
		"pending again when too many pods wait": {
			given(batch.Running).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodPending), batch.Pending},
		"restarting until enough pods have gone": {
			given(batch.Restarting).with(func(j *batch.Job) { j.Status.RetryCount, j.Status.Version = 1, 1 }).
				pod("w", 0, corev1.PodRunning, ofVersion(0), goingAway), batch.Restarting},
		"pending when they have": {
			given(batch.Restarting).with(func(j *batch.Job) { j.Status.RetryCount, j.Status.Version = 1, 1 }), batch.Pending},
		"pending at the last restart that maxRetry allows": {
			given(batch.Restarting).with(func(j *batch.Job) { j.Status.RetryCount, j.Status.Version = 2, 2 }), batch.Pending},
		"failed at the restart that maxRetry does not allow": {
			given(batch.Restarting).with(func(j *batch.Job) { j.Status.RetryCount, j.Status.Version = 3, 3 }), batch.Failed},
		"a person may resume as often as they like": {
			given(batch.Restarting).with(func(j *batch.Job) {
				j.Status.RetryCount, j.Status.Version, j.Status.State.Reason = 3, 3, string(bus.ResumeJobAction)
			}), batch.Pending},
		"aborting until the last pod has gone": {
			given(batch.Aborting).pod("w", 0, corev1.PodRunning, goingAway), batch.Aborting},
		"aborted then":    {given(batch.Aborting).pod("w", 0, corev1.PodSucceeded), batch.Aborted},
		"completed then":  {given(batch.Completing).pod("w", 0, corev1.PodSucceeded), batch.Completed},
		"terminated then": {given(batch.Terminating).pod("w", 0, corev1.PodFailed), batch.Terminated},
		"ended is ended":  {given(batch.Failed).pod("w", 0, corev1.PodFailed), batch.Failed},
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
			given(batch.Running).group("Running").pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodSucceeded).command(bus.AbortJobAction),
			[]string{"status Aborting v1 r0", "delete w-0", "done c0"}},
		"restart stops everything and makes a new group": {
			given(batch.Running).group("Running").pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodSucceeded).command(bus.RestartJobAction),
			[]string{"status Restarting v1 r0 u1", "delete w-0 w-1", "DeleteGroup", "done c0"}},
		"the last restart keeps what has finished": {
			given(batch.Running).group("Running").with(func(j *batch.Job) { j.Status.RetryCount = 2 }).
				pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodFailed).policy(bus.PodFailedEvent, bus.RestartJobAction),
			[]string{"status Restarting v1 r3", "delete w-0", "DeleteGroup"}},
		"a restart that a person asks for is never the last": {
			given(batch.Running).group("Running").with(func(j *batch.Job) { j.Status.RetryCount = 2 }).
				pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodFailed).command(bus.RestartJobAction),
			[]string{"status Restarting v1 r2 u1", "delete w-0 w-1", "DeleteGroup", "done c0"}},
		"resume starts again with what had finished kept": {
			given(batch.Aborted).with(func(j *batch.Job) { j.Status.Version = 1 }).counted().command(bus.ResumeJobAction),
			[]string{"status Restarting v2 r0 u1", "done c0"}},
		"a suspended job can be ended": {
			given(batch.Aborted).with(func(j *batch.Job) { j.Status.Version = 1 }).counted().command(bus.TerminateJobAction),
			[]string{"status Terminating v2 r0", "done c0"}},
		"so can one that is being suspended": {
			given(batch.Aborting).with(func(j *batch.Job) { j.Status.Version = 1 }).pod("w", 0, corev1.PodRunning).command(bus.TerminateJobAction),
			[]string{"status Terminating v2 r0", "delete w-0", "done c0"}},
		"resume of a job that runs is done already": {
			given(batch.Running).group("Running").pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).counted().command(bus.ResumeJobAction),
			[]string{"done c0"}},
		"a command to a finished job does nothing": {
			given(batch.Completed).with(func(j *batch.Job) { j.Status.MinAvailable = 2 }).command(bus.AbortJobAction),
			[]string{"done c0"}},
		"abort of a job that restarts waits for the restart": {
			given(batch.Restarting).with(func(j *batch.Job) { j.Status.Version, j.Status.RetryCount = 1, 1 }).command(bus.AbortJobAction),
			[]string{"status Pending v1 r1"}},
		"a restart asked for twice is one restart": {
			given(batch.Restarting).with(func(j *batch.Job) { j.Status.Version, j.Status.RetryCount = 1, 1 }).
				pod("w", 0, corev1.PodRunning, ofVersion(0)).command(bus.RestartJobAction),
			[]string{"done c0", "status Restarting v1 r1", "delete w-0"}},
		"nonsense is deleted with a word": {
			given(batch.Completed).with(func(j *batch.Job) { j.Status.MinAvailable = 2 }).command("Fly"),
			[]string{"done c0"}},
		"the oldest command goes first": {
			given(batch.Running).group("Running").pod("w", 0, corev1.PodRunning).command(bus.AbortJobAction).command(bus.ResumeJobAction),
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
