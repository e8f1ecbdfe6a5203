package explain

import "fmt"

// describeQOSParty returns the QOS to which a limit applies, or the user or account in it.
func describeQOSParty(l *Limit) string {
	switch {
	case l.User != "":
		return fmt.Sprintf("user %s in QOS %s", l.User, l.QOS)
	case l.Account != "":
		return fmt.Sprintf("account %s in QOS %s", l.Account, l.QOS)
	}
	return "QOS " + l.QOS
}

// describeQOSOwner returns an adjective for the jobs that count toward a limit of a QOS, and the words that follow the noun.
func describeQOSOwner(l *Limit) (before, after string) {
	after = " of QOS " + l.QOS
	switch {
	case l.User != "":
		return "your ", after
	case l.Account != "":
		return "the ", fmt.Sprintf(" of account %s in QOS %s", l.Account, l.QOS)
	}
	return "the ", after
}

func hintForQOSJobLimit(v *Verdict, _ string) string {
	before, after := describeQOSOwner(v.Limit)
	running := fmt.Sprintf("one of %s%s%s", before, countJobs(v.Limit.Held, "running "), after)
	if v.Limit.Held == 1 {
		running = before + "running job" + after
	}
	return fmt.Sprintf("wait for %s to end, or use another QOS", running)
}

func hintForQOS(v *Verdict, _ string) string {
	before, after := describeQOSOwner(v.Limit)
	return fmt.Sprintf("wait until %sjobs%s end, request less, or use another QOS", before, after)
}

func hintIfOverQOS(v *Verdict) string {
	remedy := "use another QOS, or ask an administrator to raise the limit of QOS " + v.Limit.QOS
	if v.Limit.Resource == "" {
		return remedy
	}
	return suggestWithinLimits(v, remedy)
}
