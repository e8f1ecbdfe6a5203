package admission

import (
	"fmt"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// qosSubmitLimits returns the limits of the QOS of a job: for all its jobs, for the job's user, and for the job's account.
func qosSubmitLimits(tree *accountv1alpha1.Tree, job submitter) []submitLimit {
	qos := tree.QOS(job.qos)
	if qos == nil {
		return nil
	}
	var limits []submitLimit
	add := func(of *accountv1alpha1.QOSLimits, limit submitLimit) {
		if of != nil && of.MaxSubmittedJobs != nil {
			limit.qos, limit.most = job.qos, *of.MaxSubmittedJobs
			limits = append(limits, limit)
		}
	}
	add(qos.Spec.Limits, submitLimit{})
	if job.user != "" {
		add(qos.Spec.UserLimits, submitLimit{user: job.user})
	}
	if job.account != "" {
		add(qos.Spec.AccountLimits, submitLimit{account: job.account})
	}
	return limits
}

// describeQOS returns whose jobs a limit of a QOS limits.
func (l *submitLimit) describeQOS() string {
	switch {
	case l.user != "":
		return fmt.Sprintf("user %q in QOS %s", l.user, l.qos)
	case l.account != "":
		return fmt.Sprintf("account %s in QOS %s", l.account, l.qos)
	}
	return "QOS " + l.qos
}

// labelKey returns the key of the label that names the object with the limit.
func (l *submitLimit) labelKey() string {
	if l.qos != "" {
		return keys.QOS
	}
	return keys.Account
}
