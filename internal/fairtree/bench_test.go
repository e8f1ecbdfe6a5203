package fairtree

import (
	"fmt"
	"testing"
)

// BenchmarkCompute ranks 10,000 users in 500 accounts.
func BenchmarkCompute(b *testing.B) {
	root := &Account{Name: "root", Shares: 1}
	for i := range 50 {
		group := &Account{Name: fmt.Sprintf("group%d", i), Shares: int64(i + 1)}
		root.Accounts = append(root.Accounts, group)
		for k := range 10 {
			account := &Account{Name: fmt.Sprintf("account%d-%d", i, k), Shares: int64(k + 1)}
			group.Accounts = append(group.Accounts, account)
			for u := range 20 {
				account.Users = append(account.Users, user(fmt.Sprintf("user%d", u), 1, float64(u*k+i)))
			}
		}
	}
	for b.Loop() {
		Compute(root)
	}
}
