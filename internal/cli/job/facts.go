package job

import (
	"github.com/vc-batch/vc/internal/account"
)

// Package account formats the facts about a job, for the dashboard as well. These are its names in this package.
type (
	why = account.Why
	// Fact is one line about a job: a name and a text.
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
