package jobstatus

import (
	"testing"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestMessagesNameNoCommands shows what a user did, and keeps all other messages.
func TestMessagesNameNoCommands(t *testing.T) {
	for _, c := range []struct{ reason, message, want string }{
		{"TerminateJob", "cancelled by a user (command train-terminatejob-x2v4k)", "cancelled by a user"},
		{"TerminateJob", "command train-terminatejob-x2v4k", "cancelled by a user"},
		{"RestartJob", "command x", "restarted by a user"},
		{"RestartJob", "too slow (see (command a)) (command x)", "too slow (see (command a))"},
		{"PodFailed", "task main failed: exit code 3 (command not found)", "task main failed: exit code 3 (command not found)"},
		{"PodFailed", "command not found", "command not found"},
		{"PodFailed", "command x", "command x"},
		{"", "", ""},
	} {
		job := &batchv1alpha1.Job{}
		job.Status.State.Reason, job.Status.State.Message = c.reason, c.message
		if got := StateMessage(job); got != c.want {
			t.Errorf("%s: %q: %q, want %q", c.reason, c.message, got, c.want)
		}
	}
}
