package accountlimits

import (
	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// member is the user, the account and the QOS toward whose limits a gang counts. It is also the key of the scopes of a
// QOS: with the QOS alone, with a user, or with an account.
type member struct {
	model.Party

	qos string
}

// limitsAnyQOS reports whether any QOS limits running jobs.
func limitsAnyQOS(accounts *accountv1alpha1.Tree) bool {
	for _, name := range accounts.QOSNames() {
		spec := &accounts.QOS(name).Spec
		for _, limits := range []*accountv1alpha1.QOSLimits{spec.Limits, spec.UserLimits, spec.AccountLimits} {
			if limitsRunning(limits) {
				return true
			}
		}
	}
	return false
}

// limitsRunning reports whether there are limits for running jobs.
func limitsRunning(limits *accountv1alpha1.QOSLimits) bool {
	return limits != nil && (limits.MaxRunningJobs != nil || len(limits.MaxResources) > 0)
}

// scopesOfQOS returns the scopes of a member's QOS: all jobs, the jobs of the user, and the jobs of the account.
func (t *tally) scopesOfQOS(of member) []*scope {
	qos := t.cluster.Accounts.QOS(of.qos)
	if qos == nil {
		return nil
	}
	path := t.appendQOSScope(nil, member{qos: of.qos}, qos.Spec.Limits)
	if of.User != "" {
		path = t.appendQOSScope(path, member{Party: model.Party{User: of.User}, qos: of.qos}, qos.Spec.UserLimits)
	}
	if of.Account != "" {
		path = t.appendQOSScope(path, member{Party: model.Party{Account: of.Account}, qos: of.qos}, qos.Spec.AccountLimits)
	}
	return path
}

// appendQOSScope appends the scope of a QOS, or of a user or an account in it, if there are limits.
func (t *tally) appendQOSScope(path []*scope, of member, limits *accountv1alpha1.QOSLimits) []*scope {
	if !limitsRunning(limits) {
		return path
	}
	s := t.qosScopes[of]
	if s == nil {
		s = &scope{
			qos: of.qos, account: of.Account, user: of.User, maxJobs: limits.MaxRunningJobs,
			maxResources: resource.AmountsFrom(limits.MaxResources, resource.RoundDownSum),
		}
		t.qosScopes[of] = s
	}
	return append(path, s)
}

// codes holds the reasons of a scope for holding back a gang.
type codes struct{ jobs, resources reason.Code }

// codes returns the reasons of the scope.
func (s *scope) codes() codes {
	switch {
	case s.qos != "" && s.user != "":
		return codes{reason.QOSUserJobLimit, reason.QOSUserResourceLimit}
	case s.qos != "" && s.account != "":
		return codes{reason.QOSAccountJobLimit, reason.QOSAccountResourceLimit}
	case s.qos != "":
		return codes{reason.QOSJobLimit, reason.QOSResourceLimit}
	case s.user != "":
		return codes{reason.UserJobLimit, reason.UserResourceLimit}
	}
	return codes{reason.AccountJobLimit, reason.AccountResourceLimit}
}
