package store

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
)

var sampleChanges = []accounting.Change{
	{ID: "r1", Cluster: "prod", Time: epoch.Add(time.Nanosecond), Actor: "ada", Action: accounting.AddAccount, Account: "physics", Users: []string{"mei", "omar"}, Info: "users[mei]=listed"},
	{ID: "r2", Cluster: "prod", Time: epoch.Add(time.Hour), Actor: "ben", Action: accounting.ModifyAccount, Account: "chem", Info: "shares=1->2"},
	{ID: "r4", Cluster: "prod", Time: epoch.Add(2 * time.Hour), Actor: "omar", Action: accounting.ModifyQOS, QOS: "chem", Info: "description=a->b"},
	{ID: "r3", Cluster: "prod", Time: epoch.AddDate(0, 1, 0), Actor: "ada", Action: accounting.RemoveAccount, Account: "physics"},
}

func testChanges(t *testing.T, newAddress func() string) {
	s := open(t, newAddress())
	for range 2 { // a batch may be stored again
		if err := s.AddChanges(t.Context(), sampleChanges); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		query accounting.ChangeQuery
		want  string
	}{
		{accounting.ChangeQuery{}, "r1 r2 r4 r3"},
		{accounting.ChangeQuery{Accounts: []string{"physics"}}, "r1 r3"},
		{accounting.ChangeQuery{Users: []string{"omar"}}, "r1"},
		{accounting.ChangeQuery{Actors: []string{"ben", "eve"}}, "r2"},
		{accounting.ChangeQuery{Actions: []accounting.ChangeAction{accounting.RemoveAccount}}, "r3"},
		{accounting.ChangeQuery{Clusters: []string{"test"}}, ""},
		{accounting.ChangeQuery{From: epoch.Add(time.Hour)}, "r2 r4 r3"},
		{accounting.ChangeQuery{Accounts: []string{"chem"}}, "r2"}, // not the QOS with this name
		{accounting.ChangeQuery{Actions: []accounting.ChangeAction{accounting.ModifyQOS}}, "r4"},
		{accounting.ChangeQuery{To: epoch.Add(time.Hour)}, "r1"},
		{accounting.ChangeQuery{VisibleAccounts: []string{"chem"}}, "r2"},
		{accounting.ChangeQuery{VisibleAccounts: []string{}}, ""},
	} {
		found, err := s.Changes(t.Context(), c.query)
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]string, len(found))
		for i := range found {
			ids[i] = found[i].ID
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.query, got, c.want)
		}
	}
	var copied bytes.Buffer
	if err := s.Backup(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	restored := open(t, newAddress())
	if err := restored.Restore(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	got, err := restored.Changes(t.Context(), accounting.ChangeQuery{})
	if diff := cmp.Diff(sampleChanges, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := restored.DropMonth(t.Context(), epoch, nil); err != nil {
		t.Fatal(err)
	}
	months, err := restored.Months(t.Context())
	if err != nil || !slices.Equal(months, []time.Time{accounting.Month.Start(sampleChanges[len(sampleChanges)-1].Time)}) {
		t.Errorf("months %v, %v", months, err)
	}
}
