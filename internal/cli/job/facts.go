package job

import (
	"github.com/vc-batch/vc/internal/account"
)

// What is told about a job is told by package account, to the dashboard in the same words. These are its names here.
type (
	why = account.Why
	// Fact is one line of what is told about a job: a name and a text.
	Fact = account.Fact
)

var (
	phaseOf      = account.Phase
	finished     = account.Finished
	active       = account.Active
	replicas     = account.Replicas
	minimum      = account.Minimum
	ready        = account.Ready
	bound        = account.Bound
	userOf       = account.User
	gpus         = account.GPUs
	enteredPhase = account.EnteredPhase
	runtimeOf    = account.Runtime
	shortPod     = account.ShortPod
	pluginNames  = account.PluginNames
	explain      = account.Explain
	troubleOf    = account.TroubleOf
	exitCode     = account.ExitCode
	failures     = account.Failures
	taskOf       = account.TaskOf
	resourceText = account.ResourceText
	addRequests  = account.AddRequests
	countOf      = account.Count
)

func orElse(text, other string) string {
	if text != "" {
		return text
	}
	return other
}
