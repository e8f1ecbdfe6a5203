package fairtree

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

var approximately = cmpopts.EquateApprox(0, 1e-12)

func user(name string, shares int64, usage float64) User {
	return User{Name: name, Shares: shares, Usage: usage}
}

// fairShares returns the FairShare of each user, by account and name.
func fairShares(root *Account) map[string]float64 {
	out := map[string]float64{}
	for _, a := range Compute(root) {
		if a.User != "" {
			out[a.Account+"/"+a.User] = a.FairShare
		}
	}
	return out
}

// Slurm's documentation (fair_tree.html) contains the tree "root => Acct1 => Acct12 => UserA" and "root => Acct1 =>
// Acct16 => UserB". It says that UserB has a higher FairShare than UserA because Acct16 has a higher Level FS than
// Acct12, that the highest user gets 1.0, and that LF = S/U. The documentation contains no amounts. The shares and usage
// below are chosen, and all expected numbers follow from the equations of the documentation.
func TestExampleOfSlurmsDocumentation(t *testing.T) {
	root := &Account{Name: "root", Shares: 1, Accounts: []*Account{
		{Name: "Acct1", Shares: 3, Accounts: []*Account{
			{Name: "Acct12", Shares: 1, Users: []User{user("UserA", 1, 100), user("UserC", 1, 500)}},
			{Name: "Acct16", Shares: 2, Users: []User{user("UserB", 1, 200)}},
		}},
		{Name: "Acct2", Shares: 1, Users: []User{user("UserD", 1, 200)}},
	}}
	want := []Association{
		{Account: "root", Depth: 0, RawShares: 1, RawUsage: 1000, NormUsage: 1, EffectiveUsage: 1},
		// S = 3/(3+1), U = 800/(800+200)
		{Account: "Acct1", Depth: 1, RawShares: 3, NormShares: 0.75, RawUsage: 800, NormUsage: 0.8, EffectiveUsage: 0.8, LevelFS: 0.9375},
		// S = 1/(1+2), U = 600/(600+200)
		{Account: "Acct12", Depth: 2, RawShares: 1, NormShares: 1.0 / 3, RawUsage: 600, NormUsage: 0.6, EffectiveUsage: 0.75, LevelFS: 4.0 / 9},
		// S = 1/2, U = 100/600 and 500/600
		{Account: "Acct12", User: "UserA", Depth: 3, RawShares: 1, NormShares: 0.5, RawUsage: 100, NormUsage: 0.1, EffectiveUsage: 1.0 / 6, LevelFS: 3, FairShare: 0.5},
		{Account: "Acct12", User: "UserC", Depth: 3, RawShares: 1, NormShares: 0.5, RawUsage: 500, NormUsage: 0.5, EffectiveUsage: 5.0 / 6, LevelFS: 0.6, FairShare: 0.25},
		// S = 2/3, U = 200/800: higher than Acct12, so UserB is ahead of UserA although the own Level FS is lower.
		{Account: "Acct16", Depth: 2, RawShares: 2, NormShares: 2.0 / 3, RawUsage: 200, NormUsage: 0.2, EffectiveUsage: 0.25, LevelFS: 8.0 / 3},
		{Account: "Acct16", User: "UserB", Depth: 3, RawShares: 1, NormShares: 1, RawUsage: 200, NormUsage: 0.2, EffectiveUsage: 1, LevelFS: 1, FairShare: 0.75},
		// S = 1/4, U = 200/1000: higher than Acct1, so UserD is first.
		{Account: "Acct2", Depth: 1, RawShares: 1, NormShares: 0.25, RawUsage: 200, NormUsage: 0.2, EffectiveUsage: 0.2, LevelFS: 1.25},
		{Account: "Acct2", User: "UserD", Depth: 2, RawShares: 1, NormShares: 1, RawUsage: 200, NormUsage: 0.2, EffectiveUsage: 1, LevelFS: 1, FairShare: 1},
	}
	if diff := cmp.Diff(want, Compute(root), approximately); diff != "" {
		t.Errorf("associations (-want +got):\n%s", diff)
	}
}

// The documentation's rules for ties, one case per rule, and cases at the edges.
func TestFairShares(t *testing.T) {
	for name, test := range map[string]struct {
		root *Account
		want map[string]float64
	}{
		"sibling users with the same LevelFS get the same rank": {
			&Account{Name: "root", Users: []User{user("ann", 1, 10), user("bob", 2, 20), user("cay", 1, 20)}},
			map[string]float64{"root/ann": 1, "root/bob": 1, "root/cay": 1.0 / 3},
		},
		"a user gets the rank of the first user below an account with the same LevelFS": {
			&Account{Name: "root", Users: []User{user("ann", 1, 30)}, Accounts: []*Account{
				{Name: "lab", Shares: 1, Users: []User{user("bob", 1, 10), user("cay", 1, 20)}},
			}},
			map[string]float64{"root/ann": 1, "lab/bob": 1, "lab/cay": 1.0 / 3},
		},
		"the users below accounts with the same LevelFS are sorted together": {
			&Account{Name: "root", Accounts: []*Account{
				{Name: "a", Shares: 1, Users: []User{user("ann", 1, 10), user("bob", 1, 20)}},
				{Name: "b", Shares: 1, Users: []User{user("cay", 1, 14), user("dan", 1, 16)}},
			}},
			map[string]float64{"a/ann": 1, "b/cay": 0.75, "b/dan": 0.5, "a/bob": 0.25},
		},
		"without usage, all users are tied": {
			&Account{Name: "root", Users: []User{user("ann", 1, 0)}, Accounts: []*Account{
				{Name: "a", Shares: 1, Users: []User{user("bob", 1, 0)}},
				{Name: "b", Shares: 7, Users: []User{user("cay", 3, 0)}},
			}},
			map[string]float64{"root/ann": 1, "a/bob": 1, "b/cay": 1},
		},
		"a user without shares is last even without usage": {
			&Account{Name: "root", Users: []User{user("ann", 1, 1000), user("bob", 0, 0)}},
			map[string]float64{"root/ann": 1, "root/bob": 0.5},
		},
		"users below an account without shares are last": {
			&Account{Name: "root", Accounts: []*Account{
				{Name: "a", Shares: 0, Users: []User{user("ann", 5, 0)}},
				{Name: "b", Shares: 1, Users: []User{user("bob", 1, 100)}},
			}},
			map[string]float64{"a/ann": 0.5, "b/bob": 1},
		},
		"accounts without users do not count": {
			&Account{Name: "root", Accounts: []*Account{{Name: "empty", Shares: 9}, {Name: "a", Shares: 1, Users: []User{user("ann", 1, 5)}}}},
			map[string]float64{"a/ann": 1},
		},
		"a removed user's usage counts against the account": {
			&Account{Name: "root", Accounts: []*Account{
				{Name: "a", Shares: 1, OtherUsage: 50, Users: []User{user("ann", 1, 10)}},
				{Name: "b", Shares: 1, Users: []User{user("bob", 1, 20)}},
			}},
			map[string]float64{"a/ann": 0.5, "b/bob": 1},
		},
		"root only": {&Account{Name: "root"}, map[string]float64{}},
		"rounding errors do not separate equal users": {
			// 0.1+0.2 is not 0.3 in floating-point numbers.
			&Account{Name: "root", Users: []User{user("ann", 1, 0.1+0.2), user("bob", 1, 0.3)}},
			map[string]float64{"root/ann": 1, "root/bob": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, fairShares(test.root), approximately); diff != "" {
				t.Errorf("FairShare (-want +got):\n%s", diff)
			}
		})
	}
}

// drawTree returns a random tree. Small numbers make ties frequent.
func drawTree(t *rapid.T) *Account {
	accounts := []*Account{{Name: "root", Shares: 1}}
	names := 0
	for range rapid.IntRange(0, 8).Draw(t, "accounts") {
		parent := accounts[rapid.IntRange(0, len(accounts)-1).Draw(t, "parent")]
		names++
		child := &Account{Name: fmt.Sprintf("a%d", names), Shares: rapid.Int64Range(0, 3).Draw(t, "shares")}
		parent.Accounts = append(parent.Accounts, child)
		accounts = append(accounts, child)
	}
	for range rapid.IntRange(0, 12).Draw(t, "users") {
		account := accounts[rapid.IntRange(0, len(accounts)-1).Draw(t, "account")]
		names++
		account.Users = append(account.Users, user(fmt.Sprintf("u%d", names), rapid.Int64Range(0, 3).Draw(t, "shares"), float64(rapid.IntRange(0, 4).Draw(t, "usage"))))
	}
	return accounts[0]
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	propertytest.Check(t, 5000, func(t *rapid.T) {
		root := drawTree(t)
		if diff := cmp.Diff(Compute(root), Compute(permute(t, root))); diff != "" {
			t.Fatalf("associations (-as drawn +permuted):\n%s", diff)
		}
	})
}

func permute(t *rapid.T, a *Account) *Account {
	out := *a
	out.Users = rapid.Permutation(a.Users).Draw(t, "users")
	out.Accounts = nil
	for _, child := range rapid.Permutation(a.Accounts).Draw(t, "accounts") {
		out.Accounts = append(out.Accounts, permute(t, child))
	}
	return &out
}

// Higher usage lowers the LevelFS of the user and of all accounts above, and raises the LevelFS of their siblings.
func TestMoreUsageNeverRaisesAUser(t *testing.T) {
	propertytest.Check(t, 5000, func(t *rapid.T) {
		root := drawTree(t)
		var all []*Account
		var collect func(*Account)
		collect = func(a *Account) {
			if len(a.Users) > 0 {
				all = append(all, a)
			}
			for _, child := range a.Accounts {
				collect(child)
			}
		}
		collect(root)
		if len(all) == 0 {
			return
		}
		account := rapid.SampledFrom(all).Draw(t, "account")
		u := &account.Users[rapid.IntRange(0, len(account.Users)-1).Draw(t, "user")]
		key := account.Name + "/" + u.Name
		before := usersAhead(fairShares(root), key)
		u.Usage += float64(rapid.IntRange(1, 5).Draw(t, "more"))
		if after := usersAhead(fairShares(root), key); after < before {
			t.Fatalf("%d users were ahead of %s, and with more usage %d", before, key, after)
		}
	})
}

func usersAhead(shares map[string]float64, of string) (ahead int) {
	for _, share := range shares {
		if share > shares[of] {
			ahead++
		}
	}
	return ahead
}

func TestInvariants(t *testing.T) {
	propertytest.Check(t, 5000, func(t *rapid.T) {
		all := Compute(drawTree(t))
		best, users := 0.0, 0
		for _, a := range all {
			if a.User != "" {
				best, users = max(best, a.FairShare), users+1
				if a.FairShare <= 0 {
					t.Fatalf("%s in %s has FairShare %v", a.User, a.Account, a.FairShare)
				}
			}
			for _, value := range []float64{a.NormShares, a.NormUsage, a.EffectiveUsage, a.FairShare} {
				if math.IsNaN(value) || value < 0 || value > 1 {
					t.Fatalf("not from 0 to 1: %+v", a)
				}
			}
			if math.IsNaN(a.LevelFS) || (a.RawShares == 0 && a.LevelFS != 0) {
				t.Fatalf("LevelFS: %+v", a)
			}
		}
		if users > 0 && best != 1 {
			t.Fatalf("the first user has FairShare %v", best)
		}
	})
}
