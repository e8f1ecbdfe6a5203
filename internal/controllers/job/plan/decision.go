package plan

import busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"

// obstacle is the reason why a job cannot start.
type obstacle struct{ code, text string }

func (o *obstacle) reasonCode() string {
	if o == nil {
		return ""
	}
	return o.code
}

func (o *obstacle) messageText() string {
	if o == nil {
		return ""
	}
	return o.text
}

// decision is the action to carry out on the job now.
type decision struct {
	action  busv1alpha1.Action // SyncJob means that no command or policy applies
	why     string             // a sentence for users
	targets []string           // the parts of the job that a targeted restart affects
	cause   *Cause             // the failure to which a policy responds
	command *busv1alpha1.Command
	// idle is a command that changes nothing in the current phase. Any action has another cause.
	idle *busv1alpha1.Command
}

var nothing = decision{action: busv1alpha1.SyncJobAction}
