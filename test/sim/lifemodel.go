package sim

import (
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// This file is an abstract model of the life of a job, which follows from the documentation of the API. It does not use
// the code of the controllers. check_life.go compares every job with it.

// transition is a change of a job's phase. A job without a status is pending.
type transition struct{ from, to batchv1alpha1.JobPhase }

// cause is a kind of reason for a transition.
type cause int

const (
	// enoughStarted: at least minAvailable pods have started since the last restart.
	enoughStarted cause = iota
	// podsLost: pods that were created for the current version of the job no longer exist, or a user has changed the size of
	// the job, so that fewer than minAvailable run.
	podsLost
	// enoughSucceeded: minSuccess pods have succeeded, or all pods have ended and at least minAvailable have succeeded.
	enoughSucceeded
	// podsEnded: a pod of the current version of the job has failed, or all pods have ended. Pods that were kept from an
	// earlier version, because a user has resumed the job, count as well.
	podsEnded
	// allStopped: no pod is left that has not ended.
	allStopped
	// mayRunAgain: the restart does not exceed maxRetry, or a user requested it.
	mayRunAgain
	// retriesUsedUp: the job has run maxRetry times.
	retriesUsedUp
	// requested: a user has sent a command with an action of the transition.
	requested
	// policyApplies: a policy with an action of the transition responds to an event that has occurred since the last
	// restart.
	policyApplies
	// objectRejected: the API server permanently rejects an object that the job needs.
	objectRejected
	// dependsOnItself: a task depends on itself. Only admission rejects such a job.
	dependsOnItself
)

// lifeOfJobs holds the permitted transitions, each with its possible causes.
var lifeOfJobs = map[transition][]cause{
	{batchv1alpha1.Pending, batchv1alpha1.Running}:        {enoughStarted},
	{batchv1alpha1.Pending, batchv1alpha1.Restarting}:     {requested, policyApplies},
	{batchv1alpha1.Pending, batchv1alpha1.Aborting}:       {requested, policyApplies},
	{batchv1alpha1.Pending, batchv1alpha1.Completing}:     {requested, policyApplies},
	{batchv1alpha1.Pending, batchv1alpha1.Terminating}:    {requested, policyApplies, objectRejected},
	{batchv1alpha1.Pending, batchv1alpha1.Failed}:         {podsEnded, dependsOnItself}, // podsEnded: a task waits for another one that has failed
	{batchv1alpha1.Running, batchv1alpha1.Pending}:        {podsLost},
	{batchv1alpha1.Running, batchv1alpha1.Completed}:      {enoughSucceeded},
	{batchv1alpha1.Running, batchv1alpha1.Failed}:         {podsEnded},
	{batchv1alpha1.Running, batchv1alpha1.Restarting}:     {requested, policyApplies},
	{batchv1alpha1.Running, batchv1alpha1.Aborting}:       {requested, policyApplies},
	{batchv1alpha1.Running, batchv1alpha1.Completing}:     {requested, policyApplies},
	{batchv1alpha1.Running, batchv1alpha1.Terminating}:    {requested, policyApplies, objectRejected},
	{batchv1alpha1.Restarting, batchv1alpha1.Pending}:     {mayRunAgain},
	{batchv1alpha1.Restarting, batchv1alpha1.Failed}:      {retriesUsedUp},
	{batchv1alpha1.Aborting, batchv1alpha1.Aborted}:       {allStopped},
	{batchv1alpha1.Aborting, batchv1alpha1.Restarting}:    {requested},
	{batchv1alpha1.Aborting, batchv1alpha1.Terminating}:   {requested},
	{batchv1alpha1.Aborted, batchv1alpha1.Restarting}:     {requested},
	{batchv1alpha1.Aborted, batchv1alpha1.Terminating}:    {requested},
	{batchv1alpha1.Completing, batchv1alpha1.Completed}:   {allStopped},
	{batchv1alpha1.Terminating, batchv1alpha1.Terminated}: {allStopped},
}

// actionsInto returns the actions of commands and policies that cause a transition.
func actionsInto(t transition) []busv1alpha1.Action {
	switch t.to {
	case batchv1alpha1.Restarting:
		if t.from == batchv1alpha1.Aborting || t.from == batchv1alpha1.Aborted {
			return []busv1alpha1.Action{busv1alpha1.ResumeJobAction}
		}
		return []busv1alpha1.Action{busv1alpha1.RestartJobAction, busv1alpha1.RestartTaskAction, busv1alpha1.RestartPodAction}
	case batchv1alpha1.Aborting:
		return []busv1alpha1.Action{busv1alpha1.AbortJobAction}
	case batchv1alpha1.Completing:
		return []busv1alpha1.Action{busv1alpha1.CompleteJobAction}
	case batchv1alpha1.Terminating:
		return []busv1alpha1.Action{busv1alpha1.TerminateJobAction}
	}
	return nil
}
