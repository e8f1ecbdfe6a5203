package admission

import accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"

// submitter is the account and the user of a job.
type submitter struct{ account, user string }

// jobCounts counts jobs by account and user.
type jobCounts struct {
	bySubmitter map[submitter]int
	byAccount   map[string]int // without the accounts below
}

func newJobCounts() jobCounts {
	return jobCounts{bySubmitter: map[submitter]int{}, byAccount: map[string]int{}}
}

// add adds n jobs, which may be negative.
func (c *jobCounts) add(by submitter, n int) {
	if c.bySubmitter[by] += n; c.bySubmitter[by] == 0 {
		delete(c.bySubmitter, by)
	}
	if c.byAccount[by.account] += n; c.byAccount[by.account] == 0 {
		delete(c.byAccount, by.account)
	}
}

// countToward returns the number of jobs that count toward a limit.
func (c *jobCounts) countToward(limit *submitLimit, tree *accountv1alpha1.Tree) int {
	if limit.user != "" {
		return c.bySubmitter[submitter{account: limit.account, user: limit.user}]
	}
	total := 0
	counted := map[string]bool{} // accounts may form a cycle
	for open := []string{limit.account}; len(open) > 0; {
		account := open[len(open)-1]
		open = open[:len(open)-1]
		if counted[account] {
			continue
		}
		counted[account] = true
		total += c.byAccount[account]
		open = append(open, tree.Children(account)...)
	}
	return total
}
