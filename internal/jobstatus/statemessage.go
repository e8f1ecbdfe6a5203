package jobstatus

import (
	"strings"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// requested describes what a user did by a Command with an action.
var requested = map[bus.Action]string{
	bus.AbortJobAction: "suspended", bus.ResumeJobAction: "resumed", bus.RestartJobAction: "restarted",
	bus.TerminateJobAction: "cancelled", bus.CompleteJobAction: "completed",
}

// StateMessage returns the message of the job's state without the generated name of the Command by which a user
// requested the state.
func StateMessage(job *batch.Job) string {
	state := &job.Status.State
	if name, isName := strings.CutPrefix(state.Message, "command "); isName && !strings.Contains(name, " ") {
		if done := requested[bus.Action(state.Reason)]; done != "" {
			return done + " by a user"
		}
		return state.Message
	}
	text, name, found := cutAtLastSeparator(state.Message, " (command ")
	if found && strings.HasSuffix(name, ")") && !strings.Contains(name, " ") {
		return text
	}
	return state.Message
}

// cutAtLastSeparator divides text at the last occurrence of sep.
func cutAtLastSeparator(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
