package store

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
)

// nodeHistory lists changes of nodes in three months, in order.
var nodeHistory = []accounting.NodeChange{
	{Cluster: "east", Node: "a", Time: epoch.Add(time.Hour), State: accounting.NodeUp, Capacity: accounting.Resources{accounting.CPU: 4000}},
	{Cluster: "east", Node: "a", Time: epoch.AddDate(0, 1, 0), State: accounting.NodeDown, Reason: "NodeStatusUnknown", Capacity: accounting.Resources{accounting.CPU: 4000}},
	{Cluster: "east", Node: "a", Time: epoch.AddDate(0, 1, 3), State: accounting.NodeUp, Capacity: accounting.Resources{accounting.CPU: 8000}},
	{Cluster: "east", Node: "b", Time: epoch.Add(2 * time.Hour), State: accounting.NodeUp, Capacity: accounting.Resources{accounting.CPU: 1000}},
	{Cluster: "east", Node: "b", Time: epoch.AddDate(0, 1, 1), State: accounting.NodeGone},
	{Cluster: "west", Node: "a", Time: epoch.AddDate(0, 2, 0), State: accounting.NodeDrained, Capacity: accounting.Resources{accounting.Memory: 100}},
}

func readNodeChanges(t *testing.T, s accounting.Store, from, to time.Time, clusters ...string) []accounting.NodeChange {
	t.Helper()
	changes, err := s.NodeChanges(t.Context(), clusters, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func testNodeChanges(t *testing.T, newAddress func() string) {
	address := newAddress()
	s := open(t, address)
	shuffled := slices.Clone(nodeHistory)
	slices.Reverse(shuffled)
	for range 2 { // the second time stores nothing
		if err := s.AddNodeChanges(t.Context(), shuffled); err != nil {
			t.Fatal(err)
		}
	}
	all := nodeHistory
	for name, test := range map[string]struct {
		from, to time.Time
		clusters []string
		want     []accounting.NodeChange
	}{
		"all":                   {want: all},
		"a cluster":             {clusters: []string{"west"}, want: all[5:]},
		"since a change":        {from: all[2].Time, want: []accounting.NodeChange{all[2], all[4], all[5]}},
		"before a change":       {to: all[2].Time, want: []accounting.NodeChange{all[0], all[1], all[3], all[4]}},
		"the last ones before":  {from: all[1].Time.Add(time.Hour), to: all[4].Time, want: []accounting.NodeChange{all[1], all[3]}},
		"unknown cluster":       {clusters: []string{"north"}},
		"more than two months":  {from: epoch.AddDate(0, 4, 0)},
		"before the first time": {to: epoch},
	} {
		if diff := cmp.Diff(test.want, readNodeChanges(t, s, test.from, test.to, test.clusters...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if months, err := s.Months(t.Context()); err != nil || len(months) != 3 {
		t.Errorf("months %v, %v", months, err)
	}
	if _, err := s.DropMonth(t.Context(), epoch, nil); err != nil {
		t.Fatal(err)
	}
	want := []accounting.NodeChange{all[1], all[2], all[4], all[5]}
	if diff := cmp.Diff(want, readNodeChanges(t, s, time.Time{}, time.Time{})); diff != "" {
		t.Errorf("after a month was removed (-want +got):\n%s", diff)
	}
}
