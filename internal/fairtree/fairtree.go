// Package fairtree ranks the users of a tree of accounts by shares and past usage. It implements Slurm's algorithm Fair
// Tree: if account A is ahead of its sibling B, all users below A are ahead of all users below B.
//
//	In:   a tree of accounts and users with shares and usage
//	Out:  the shares, usage, LevelFS and FairShare of each association
//
// An association is an account, or a user in an account. The siblings of an association are the accounts and users
// directly below the same account. The LevelFS of an association is S/U, where S is its fraction of the shares of all
// siblings, and U is its fraction of their usage. The tree is traversed from the root. At each level, the association
// with the highest LevelFS comes first. The rank of the first user is the number of users, the next user's rank is one
// less, and so on. The FairShare of a user is its rank divided by the number of users.
//
// Ties are handled as follows:
//
//   - Sibling users with the same LevelFS get the same rank.
//   - A user gets the rank of the first user below a sibling account with the same LevelFS.
//   - The users and accounts below sibling accounts with the same LevelFS are sorted together. Slurm's documentation
//     describes this, but Slurm 22.05 does not do it: it ranks the users of such accounts one account after the other.
//
// # Invariants
//
//   - The result does not depend on the order of accounts and users in the input.
//   - The input is not changed.
//
// # Concurrency
//
// Compute may be called by several goroutines.
package fairtree

import (
	"cmp"
	"math"
	"slices"
)

// Account is an account of the tree.
type Account struct {
	Name string
	// Shares is the weight of the account among its siblings. It must not be negative.
	Shares int64
	// OtherUsage is the usage of this account that belongs to none of its users and accounts, for example the usage of
	// users that were removed from the account.
	OtherUsage float64
	Users      []User
	Accounts   []*Account
}

// User is a user of an account.
type User struct {
	Name string
	// Shares is the weight of the user among its siblings. It must not be negative.
	Shares int64
	// Usage is the past usage of the user in this account. It must not be negative.
	Usage float64
}

// Association is an account with the values that Slurm calculates, or a user in an account.
type Association struct {
	// Account is the name of the account. User is the name of the user, or "" for the account itself.
	Account, User string
	// Depth is the number of accounts above the association. The root has depth 0.
	Depth int

	RawShares int64
	// NormShares is the fraction of the siblings' shares. It is 0 for the root.
	NormShares float64
	// RawUsage is the usage. The usage of an account includes everything below it.
	RawUsage float64
	// NormUsage is the fraction of the usage of the whole tree.
	NormUsage float64
	// EffectiveUsage is the fraction of the usage of the account above. It is 1 for the root.
	EffectiveUsage float64
	// LevelFS is NormShares divided by EffectiveUsage. It is 0 without shares, and infinite with shares but without
	// usage. The root has no LevelFS; it is 0.
	LevelFS float64
	// FairShare is the rank of the user divided by the number of users, from 0 (exclusive) to 1. It is 0 for an account.
	FairShare float64
}

// Compute returns the associations of a tree. Each account is followed by its users, sorted by name, and then by the
// accounts below it, sorted by name. The first association is the root.
func Compute(root *Account) []Association {
	c := &computation{}
	top := c.addAccount(root, 0)
	c.out[top.index].EffectiveUsage = 1
	if total := c.out[top.index].RawUsage; total > 0 {
		for i := range c.out {
			c.out[i].NormUsage = c.out[i].RawUsage / total
		}
	}
	c.rank, c.next = c.users, c.users
	c.rankBelow(top.children, false)
	return c.out
}

// computation holds the state of Compute.
type computation struct {
	out []Association
	// users is the number of users in the tree.
	users int
	// rank is the rank of the last ranked user. next is the rank of the next user that is not tied with that user.
	rank, next int
}

// node is an association in the tree.
type node struct {
	index    int // in computation.out
	level    float64
	isUser   bool
	children []node
}

// addAccount appends an account and everything below it to the result, and computes all values except NormUsage and
// FairShare.
func (c *computation) addAccount(account *Account, depth int) node {
	top := node{index: len(c.out)}
	c.out = append(c.out, Association{Account: account.Name, Depth: depth, RawShares: account.Shares})
	shares, usage := int64(0), account.OtherUsage
	for _, user := range slices.SortedFunc(slices.Values(account.Users), func(a, b User) int { return cmp.Compare(a.Name, b.Name) }) {
		top.children = append(top.children, node{index: len(c.out), isUser: true})
		c.out = append(c.out, Association{Account: account.Name, User: user.Name, Depth: depth + 1, RawShares: user.Shares, RawUsage: user.Usage})
		c.users++
		shares, usage = shares+user.Shares, usage+user.Usage
	}
	for _, child := range slices.SortedFunc(slices.Values(account.Accounts), func(a, b *Account) int { return cmp.Compare(a.Name, b.Name) }) {
		below := c.addAccount(child, depth+1)
		top.children = append(top.children, below)
		shares, usage = shares+child.Shares, usage+c.out[below.index].RawUsage
	}
	c.out[top.index].RawUsage = usage
	for i := range top.children {
		c.setLevel(&top.children[i], shares, usage)
	}
	return top
}

// setLevel computes the LevelFS of an association from the shares and the usage of all siblings.
func (c *computation) setLevel(n *node, shares int64, usage float64) {
	a := &c.out[n.index]
	if usage > 0 {
		a.EffectiveUsage = a.RawUsage / usage
	}
	if a.RawShares > 0 {
		a.NormShares = float64(a.RawShares) / float64(shares)
		a.LevelFS = a.NormShares / a.EffectiveUsage
	}
	n.level = roundLevel(a.LevelFS)
}

// roundLevel rounds a LevelFS to 40 bits, so that rounding errors do not separate equal values.
func roundLevel(level float64) float64 {
	fraction, exponent := math.Frexp(level)
	return math.Ldexp(math.Round(math.Ldexp(fraction, 40)), exponent-40)
}

// rankBelow ranks the users among the given siblings and below them. If isTied is true, the first user gets the rank of
// the user before it.
func (c *computation) rankBelow(siblings []node, isTied bool) {
	slices.SortStableFunc(siblings, compareNodes)
	for i := 0; i < len(siblings); i++ {
		n := &siblings[i]
		if i > 0 {
			isTied = n.level == siblings[i-1].level
		}
		if n.isUser {
			c.rankUser(n, isTied)
			continue
		}
		children := slices.Clone(n.children)
		for ; i+1 < len(siblings) && siblings[i+1].level == n.level; i++ { // users come first, so these are accounts
			children = append(children, siblings[i+1].children...)
		}
		c.rankBelow(children, isTied)
	}
}

// compareNodes orders nodes by descending LevelFS. Users are ahead of accounts with the same LevelFS.
func compareNodes(a, b node) int {
	if a.level == b.level && a.isUser != b.isUser {
		if a.isUser {
			return -1
		}
		return 1
	}
	return cmp.Compare(b.level, a.level)
}

func (c *computation) rankUser(n *node, isTied bool) {
	if !isTied {
		c.rank = c.next
	}
	c.next--
	c.out[n.index].FairShare = float64(c.rank) / float64(c.users)
}
