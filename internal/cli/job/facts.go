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
	phaseOf      = jobstatus.Phase
	finished     = jobstatus.Finished
	active       = jobstatus.Active
	replicas     = jobstatus.Replicas
	minimum      = jobstatus.Minimum
	ready        = jobstatus.Ready
	bound        = jobstatus.Bound
	userOf       = jobstatus.User
	gpus         = jobstatus.GPUs
	enteredPhase = jobstatus.EnteredPhase
	runtimeOf    = jobstatus.Runtime
	shortPod     = jobstatus.ShortPod
	pluginNames  = jobstatus.PluginNames
	explain      = jobstatus.Explain
	troubleOf    = jobstatus.TroubleOf
	exitCode     = jobstatus.ExitCode
	failures     = jobstatus.Failures
	taskOf       = jobstatus.TaskOf
	resourceText = jobstatus.ResourceText
	addRequests  = jobstatus.AddRequests
	countOf      = jobstatus.Count
)

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}
