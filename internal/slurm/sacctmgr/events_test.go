package sacctmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

func TestEventsHaveSlurmsConditions(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]Events{
		"show event":                 {Query: accounting.NodeEventQuery{From: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)}},
		"list events nodes=n[1-2],m": {Query: accounting.NodeEventQuery{Nodes: []string{"n1", "n2", "m"}}},
		"show event where state=DOWN,drain start=2026-11-01 end=now-1hour format=NodeName,Reason%-40 cluster=prod": {Columns: "NodeName,Reason%-40", Query: accounting.NodeEventQuery{
			Clusters: []string{"prod"}, States: []accounting.NodeState{accounting.NodeDown, accounting.NodeDrained}, From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), To: noon.Add(-time.Hour),
		}},
	} {
		got, isOne, err := ParseEvents(strings.Fields(words), noon)
		if err != nil || !isOne {
			t.Errorf("%s: %t, %v", words, isOne, err)
			continue
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s: %s", words, diff)
		}
	}
	if _, isOne, _ := ParseEvents([]string{"show", "account"}, noon); isOne {
		t.Error("accounts are taken for events")
	}
}

func TestBadConditionsOfEventsGetAReason(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"add event":                                  "events can only be listed",
		"show event n1":                              "Unknown condition: n1",
		"show event colour=red":                      "Unknown condition: colour=red",
		"show event sta=down":                        "Unknown condition: sta=down",
		"show event nodes=":                          "nodes= is empty",
		"show event state=up":                        "Unknown state: up",
		"show event start=soonish":                   "Invalid time: soonish",
		"show event start=2026-11-02 end=2026-11-01": "the time from 2026-11-02T00:00:00 to 2026-11-01T00:00:00 is empty",
	} {
		_, _, err := ParseEvents(strings.Fields(words), noon)
		if human := usererror.FromError(err); err == nil || human.What != want || human.Hint == "" {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
	if _, _, err := ParseEvents([]string{"show", "event", "nodes=n[1-"}, noon); err == nil {
		t.Error("an invalid list of nodes is accepted")
	}
}

func TestEventsArePrintedAsSlurmDoes(t *testing.T) {
	t.Parallel()
	request := &Events{}
	columns, err := request.ParseColumns(time.UTC, noon)
	if err != nil {
		t.Fatal(err)
	}
	events := []*accounting.NodeEvent{
		{Cluster: "prod", Node: "n1", Start: noon.Add(-2 * time.Hour), End: noon.Add(-time.Hour), State: accounting.NodeDown, Reason: "NodeStatusUnknown"},
		{Cluster: "prod", Node: "n2", Start: noon.Add(-time.Hour), State: accounting.NodeDrained, Reason: "Cordoned"},
	}
	want := "" +
		"   Cluster        NodeName           TimeStart             TimeEnd  State                         Reason                 User \n" +
		"---------- --------------- ------------------- ------------------- ------ ------------------------------ -------------------- \n" +
		"      prod              n1 2026-11-29T10:00:00 2026-11-29T11:00:00   DOWN              NodeStatusUnknown                      \n" +
		"      prod              n2 2026-11-29T11:00:00             Unknown  DRAIN                       Cordoned                      \n"
	if diff := cmp.Diff(want, columns.FormatTable(events, tableformat.Form{Between: "|", Heading: true})); diff != "" {
		t.Error(diff)
	}
	request.Columns = "node,duration"
	if columns, err = request.ParseColumns(time.UTC, noon); err != nil {
		t.Fatal(err)
	}
	if got := columns.FormatTable(events, tableformat.Form{Between: "|", Parsable: true}); got != "n1|01:00:00\nn2|01:00:00\n" {
		t.Errorf("durations: %q", got)
	}
	request.Columns = "colour"
	if _, err := request.ParseColumns(time.UTC, noon); err == nil {
		t.Error("an unknown column is accepted")
	}
}
