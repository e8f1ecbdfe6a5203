package admission

import accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"

// submitter is the account, the user and the QOS of a job.
type submitter struct{ account, user, qos string }

// jobCounts counts jobs by account, user and QOS. The keys of the maps have only the fields by which the map counts.
type jobCounts struct {
	byUser    map[submitter]int // with the user's account
	byAccount map[string]int    // without the accounts below
	byQOS     map[submitter]int // of all jobs of a QOS, of each of its users, and of each of its accounts
}

func newJobCounts() jobCounts {
	return jobCounts{byUser: map[submitter]int{}, byAccount: map[string]int{}, byQOS: map[submitter]int{}}
}

// add adds n jobs, which may be negative.
func (c *jobCounts) add(by submitter, n int) {
	addCount(c.byUser, submitter{account: by.account, user: by.user}, n)
	addCount(c.byAccount, by.account, n)
	if by.qos == "" {
		return
	}
	addCount(c.byQOS, submitter{qos: by.qos}, n)
	if by.user != "" {
		addCount(c.byQOS, submitter{qos: by.qos, user: by.user}, n)
	}
	if by.account != "" {
		addCount(c.byQOS, submitter{qos: by.qos, account: by.account}, n)
	}
}

// addCount adds n to a count, and removes a count of zero.
func addCount[K comparable](counts map[K]int, of K, n int) {
	if counts[of] += n; counts[of] == 0 {
		delete(counts, of)
	}
}

// countToward returns the number of jobs that count toward a limit.
func (c *jobCounts) countToward(limit *submitLimit, tree *accountv1alpha1.Tree) int {
	of := submitter{account: limit.account, user: limit.user, qos: limit.qos}
	switch {
	case limit.qos != "":
		return c.byQOS[of]
	case limit.user != "":
		return c.byUser[of]
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
