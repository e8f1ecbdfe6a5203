package explain

import "fmt"

// describeParty returns the user, the account or the QOS to which a limit applies.
func describeParty(l *Limit) string {
	if l.QOS != "" {
		return describeQOSParty(l)
	}
	if l.User != "" {
		return fmt.Sprintf("user %s in account %s", l.User, l.Account)
	}
	return "account " + l.Account
}

// causeOfJobLimit compares the number of running jobs with a limit of an account or a QOS.
func causeOfJobLimit(v *Verdict, _ string) string {
	if v.Limit.Limit <= 0 {
		return fmt.Sprintf("%s may run no jobs", describeParty(v.Limit))
	}
	return fmt.Sprintf("%s already runs %s, and the limit is %.0f", describeParty(v.Limit), countJobs(v.Limit.Held, ""), v.Limit.Limit)
}

// countJobs returns a number of jobs with an adjective.
func countJobs(n float64, adjective string) string {
	if n == 1 {
		return "1 " + adjective + "job"
	}
	return fmt.Sprintf("%.0f %sjobs", n, adjective)
}

func hintForJobLimit(v *Verdict, _ string) string {
	whose := "your "
	if v.Limit.User == "" {
		whose = "the "
	}
	running := fmt.Sprintf("one of %s%s", whose, countJobs(v.Limit.Held, "running "))
	if v.Limit.Held == 1 {
		running = whose + "running job"
	}
	if v.Limit.User == "" {
		running += " of account " + v.Limit.Account
	}
	return fmt.Sprintf("wait for %s to end, or ask the administrator of account %s to raise the limit", running, v.Limit.Account)
}

func podTextOfAccount(v *Verdict, _ string) string {
	return describeParty(v.Limit) + " would exceed its resource limit"
}

// causeOfAccount compares a request with the resource limits of an account, a user or a QOS.
func causeOfAccount(v *Verdict, sentence string) string {
	if v.IsNeverPossible() {
		return fmt.Sprintf("the request exceeds the limit of %s: %s", describeParty(v.Limit), describeBeyond(v.limitAndMore()))
	}
	text := podTextOfAccount(v, sentence)
	separator := ": "
	for _, l := range v.limitAndMore() {
		text += separator + describeGap(&l)
		separator = "; "
	}
	return text
}

func hintForAccount(v *Verdict, _ string) string {
	whose := "jobs of this account"
	if v.Limit.User != "" {
		whose = "your jobs in this account"
	}
	return fmt.Sprintf("wait until %s end, request less, or ask the administrator of account %s to raise the limit", whose, v.Limit.Account)
}

func hintIfOverAccount(v *Verdict) string {
	remedy := fmt.Sprintf("ask the administrator of account %s to raise the limit, or submit for another account", v.Limit.Account)
	if v.Limit.Resource == "" {
		return remedy
	}
	return suggestWithinLimits(v, remedy)
}
