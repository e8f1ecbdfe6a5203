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

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestTransactionsHaveSlurmsConditions(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]Transactions{
		"show transactions": {},
		"list trans where accounts=Physics,chem users=mei actor=ada,ben action=add,Remove": {Query: accounting.ChangeQuery{
			Accounts: []string{"physics", "chem"}, Users: []string{"mei"}, Actors: []string{"ada", "ben"}, Actions: []accounting.ChangeAction{accounting.AddAccount, accounting.AddQOS, accounting.RemoveAccount, accounting.RemoveQOS},
		}},
		"show transaction start=2026-11-01 end=now-1hour format=Time,Actor%20 cluster=prod": {Columns: "Time,Actor%20", Query: accounting.ChangeQuery{
			Clusters: []string{"prod"}, From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), To: noon.Add(-time.Hour),
		}},
	} {
		got, isOne, err := ParseTransactions(strings.Fields(words), noon)
		if err != nil || !isOne {
			t.Errorf("%s: %t, %v", words, isOne, err)
			continue
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s: %s", words, diff)
		}
	}
	request, _, err := ParseTransactions([]string{"show", "transactions", "action=modify qos,Add Accounts"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]accounting.ChangeAction{accounting.ModifyQOS, accounting.AddAccount}, request.Query.Actions); diff != "" {
		t.Error(diff)
	}
	if _, isOne, _ := ParseTransactions([]string{"show", "tres"}, noon); isOne {
		t.Error("tres are taken for transactions")
	}
}

func TestBadConditionsOfTransactionsGetAReason(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"add transactions":                                  "transactions can only be listed",
		"show transactions physics":                         "Unknown condition: physics",
		"show transactions colour=red":                      "Unknown condition: colour=red",
		"show transactions accounts=":                       "accounts= is empty",
		"show transactions accounts=a_b":                    "Invalid account name: a_b",
		"show transactions action=paint":                    "Unknown action: paint",
		"show transactions start=soonish":                   "Invalid time: soonish",
		"show transactions start=2026-11-02 end=2026-11-01": "the time from 2026-11-02T00:00:00 to 2026-11-01T00:00:00 is empty",
	} {
		_, _, err := ParseTransactions(strings.Fields(words), noon)
		if human := usererror.FromError(err); err == nil || human.What != want || human.Hint == "" {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
}

func TestTransactionsArePrintedAsSlurmDoes(t *testing.T) {
	t.Parallel()
	request := &Transactions{}
	columns, err := request.ParseColumns(time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	change := &accounting.Change{Time: noon, Actor: "ada", Action: accounting.ModifyAccount, Account: "physics", Info: "shares=1->3"}
	inQOS := &accounting.Change{Time: noon, Actor: "ada", Action: accounting.RemoveQOS, QOS: "short", Info: "priority=1"}
	want := "" +
		"               Time               Action      Actor                Where                 Info \n" +
		"------------------- -------------------- ---------- -------------------- -------------------- \n" +
		"2026-11-29T12:00:00      Modify Accounts        ada       name='physics'          shares=1->3 \n" +
		"2026-11-29T12:00:00           Remove QOS        ada         name='short'           priority=1 \n"
	if diff := cmp.Diff(want, columns.FormatTable([]*accounting.Change{change, inQOS}, tableformat.Form{Between: "|", Heading: true})); diff != "" {
		t.Error(diff)
	}
	request.Columns = "colour"
	if _, err := request.ParseColumns(time.UTC); err == nil {
		t.Error("an unknown column is accepted")
	}
}
