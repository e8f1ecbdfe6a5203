package jobstatus

import (
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// requested maps the action of a Command to a word that describes what the user did to the job.
var requested = map[busv1alpha1.Action]string{
	busv1alpha1.AbortJobAction: "suspended", busv1alpha1.ResumeJobAction: "resumed", busv1alpha1.RestartJobAction: "restarted",
	busv1alpha1.TerminateJobAction: "cancelled", busv1alpha1.CompleteJobAction: "completed",
}

// StateMessage returns the message of the job's state. If a user requested the state with a Command, the message does
// not contain the generated name of the Command.
func StateMessage(job *batchv1alpha1.Job) string {
	state := &job.Status.State
	if name, isName := strings.CutPrefix(state.Message, "command "); isName && !strings.Contains(name, " ") {
		if done := requested[busv1alpha1.Action(state.Reason)]; done != "" {
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
