package fairtree

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

func TestFromAccounts(t *testing.T) {
	accounts := accountv1alpha1.NewTree([]*accountv1alpha1.Account{
		make.Account("bio").Shares(2).Users("ann").UserShares("bob", 0).Obj(),
		make.Account("genomics").Parent("bio").Users("ann").Obj(),
		make.Account("lost").Parent("missing").Users("ann").Obj(),
	})
	usage := map[model.Party]float64{
		{Account: "bio", User: "ann"}:      1,
		{Account: "bio", User: "removed"}:  2,
		{Account: "bio", User: ""}:         4,
		{Account: "genomics", User: "ann"}: 8,
		{Account: "lost", User: "ann"}:     16,
		{Account: "deleted", User: "ann"}:  32,
	}
	want := &Account{Name: "root", Shares: 1, Accounts: []*Account{{
		Name: "bio", Shares: 2, OtherUsage: 6, Users: []User{{Name: "ann", Shares: 1, Usage: 1}, {Name: "bob"}},
		Accounts: []*Account{{Name: "genomics", Shares: 1, Users: []User{{Name: "ann", Shares: 1, Usage: 8}}}},
	}}}
	if diff := cmp.Diff(want, FromAccounts(accounts, usage)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}
