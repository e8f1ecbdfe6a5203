package job

import (
	"github.com/vc-batch/vc/internal/jobstatus"
)

// Short names for types and functions of package jobstatus, which formats the facts about a job for the dashboard as
// well.
type (
	why = jobstatus.Why
	// Fact is one line about a job: a name and a text.
	Fact = jobstatus.Fact
)

var (
	phaseOf      = jobstatus.PhaseOrPending
	finished     = jobstatus.IsFinishedPhase
	active       = jobstatus.IsActivePhase
	replicas     = jobstatus.CountReplicas
	minimum      = jobstatus.MinimumPods
	ready        = jobstatus.CountReadyPods
	bound        = jobstatus.CountBoundPods
	userOf       = jobstatus.SubmittingUser
	gpus         = jobstatus.RequestedGPUs
	enteredPhase = jobstatus.EnteredPhase
	runtimeOf    = jobstatus.RunningTime
	shortPod     = jobstatus.ShortPod
	pluginNames  = jobstatus.PluginNames
	explain      = jobstatus.ExplainJob
	troubleOf    = jobstatus.TroubleOfPod
	exitCode     = jobstatus.ExitCode
	failures     = jobstatus.ListFailures
	taskOf       = jobstatus.TaskNameOf
	resourceText = jobstatus.ResourceText
	addRequests  = jobstatus.AddRequests
	countOf      = jobstatus.CountWithNoun
)

func textOrDefault(text, other string) string {
	if text != "" {
		return text
	}
	return other
}
