package sreport

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
)

var now = time.Date(2026, 11, 29, 15, 30, 0, 0, time.UTC)

// usage is the use of two accounts by two users.
var usage = []accounting.Usage{
	{Cluster: "prod", Account: "physics", User: "mei", Resource: accounting.CPU, Seconds: 2 * 3600 * 1000},
	{Cluster: "prod", Account: "physics", User: "omar", Resource: accounting.CPU, Seconds: 600 * 1000},
	{Cluster: "prod", Account: "biology", User: "mei", Resource: accounting.CPU, Seconds: 90 * 500},
	{Cluster: "prod", Account: "physics", User: "mei", Resource: "nvidia.com/gpu", Seconds: 7200},
}

// facts is a cluster with 4 CPUs, in which jobs waited for an hour for 2 CPUs, and one CPU was not available
// for an hour and a half. Account physics is below science.
var facts = Facts{
	Usage:   usage,
	Waiting: []accounting.Usage{{Cluster: "prod", Resource: accounting.CPU, Seconds: 3600 * 2000}},
	Capacity: []accounting.Capacity{
		{Cluster: "prod", Resource: accounting.CPU, State: accounting.NodeDown, Seconds: 3600 * 1000},
		{Cluster: "prod", Resource: accounting.CPU, State: accounting.NodeDrained, Seconds: 1800 * 1000},
		{Cluster: "prod", Resource: accounting.CPU, State: accounting.NodeUp, Seconds: (86400*4 - 5400) * 1000},
		{Cluster: "prod", Resource: accounting.Memory, State: accounting.NodeUp, Seconds: 7},
	},
	Parents: map[string]string{"physics": "science"},
}

// print returns the report that the words request.
func print(t *testing.T, words string, resources []TRES, unit Unit) string {
	t.Helper()
	r, err := Parse(strings.Fields(words), now)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := r.ParseColumns(resources, unit)
	if err != nil {
		t.Fatal(err)
	}
	return r.Heading(resources, unit) + columns.FormatTable(r.Merge(r.Lines(&facts, resources, unit)), tableformat.Form{Heading: true})
}

func TestReports(t *testing.T) {
	t.Parallel()
	both, err := ParseTRES("cpu,gres/gpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		words     string
		resources []TRES
		unit      string
		want      string
	}{
		{"cluster accountutilizationbyuser", []TRES{CPU}, "min", `
--------------------------------------------------------------------------------
Cluster/Account/User Utilization 2026-11-28T00:00:00 - 2026-11-28T23:59:59 (86400 secs)
Usage reported in CPU Minutes
--------------------------------------------------------------------------------
  Cluster         Account     Login     Proper Name       Used     Energy 
--------- --------------- --------- --------------- ---------- ---------- 
     prod         biology                                    0          0 
     prod         biology       mei             mei          0          0 
     prod         physics                                  130          0 
     prod         physics       mei             mei        120          0 
     prod         physics      omar            omar         10          0 
`},
		{"user top start=11/01 end=11/02 topcount=1", both, "Hours", `
--------------------------------------------------------------------------------
Top 1 Users 2026-11-01T00:00:00 - 2026-11-01T23:59:59 (86400 secs)
Usage reported in TRES Hours
--------------------------------------------------------------------------------
  Cluster     Login     Proper Name         Account      TRES Name       Used 
--------- --------- --------------- --------------- -------------- ---------- 
     prod       mei             mei         physics            cpu          2 
     prod       mei             mei         physics       gres/gpu          2 
`},
		{"cl user", []TRES{CPU}, "sec", `
--------------------------------------------------------------------------------
Cluster/User/Account Utilization 2026-11-28T00:00:00 - 2026-11-28T23:59:59 (86400 secs)
Usage reported in CPU Seconds
--------------------------------------------------------------------------------
  Cluster     Login     Proper Name         Account       Used     Energy 
--------- --------- --------------- --------------- ---------- ---------- 
     prod       mei             mei         biology         45          0 
     prod       mei             mei         physics       7200          0 
     prod      omar            omar         physics        600          0 
`},
		{"cluster utilization", []TRES{CPU}, "min", `
--------------------------------------------------------------------------------
Cluster Utilization 2026-11-28T00:00:00 - 2026-11-28T23:59:59 (86400 secs)
Usage reported in CPU Minutes
--------------------------------------------------------------------------------
  Cluster    Allocated       Down  PLND Down         Idle    Planned     Reported 
--------- ------------ ---------- ---------- ------------ ---------- ------------ 
     prod          130         90          0         5419        120         5760 
`},
		{"cluster acc tree", []TRES{CPU}, "hourper", `
--------------------------------------------------------------------------------
Cluster/Account/User Utilization 2026-11-28T00:00:00 - 2026-11-28T23:59:59 (86400 secs)
Usage reported in CPU Hours/Percentage of Total
--------------------------------------------------------------------------------
  Cluster Account             Login     Proper Name                Used     Energy 
--------- --------------- --------- --------------- ------------------- ---------- 
     prod biology                                              0(0.01%)          0 
     prod biology               mei             mei            0(0.01%)          0 
     prod science                                              2(2.26%)          0 
     prod  physics                                             2(2.26%)          0 
     prod  physics              mei             mei            2(2.08%)          0 
     prod  physics             omar            omar            0(0.17%)          0 
`},
		{"user top group", []TRES{CPU}, "percent", `
--------------------------------------------------------------------------------
Top 10 Users 2026-11-28T00:00:00 - 2026-11-28T23:59:59 (86400 secs)
Usage reported in CPU Percentage of Total
--------------------------------------------------------------------------------
  Cluster     Login     Proper Name         Account       Used     Energy 
--------- --------- --------------- --------------- ---------- ---------- 
     prod       mei             mei biology,physics      2.10%          0 
     prod      omar            omar         physics      0.17%          0 
`},
	} {
		unit, err := ParseUnit(test.unit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), print(t, test.words, test.resources, unit)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.words, diff)
		}
	}
}

func TestConditionsSelectWhatIsReported(t *testing.T) {
	t.Parallel()
	r, err := Parse(strings.Fields("cluster AccountUtilizationByUser start=now-2hours END=now accounts=physics,biology users=mei cluster=prod format=Login,Used"), now)
	if err != nil {
		t.Fatal(err)
	}
	want := accounting.UsageQuery{
		Clusters: []string{"prod"}, Users: []string{"mei"}, Accounts: []string{"physics", "biology"}, Resources: []string{accounting.CPU},
		From: time.Date(2026, 11, 29, 13, 0, 0, 0, time.UTC), To: time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC),
		By: []accounting.Dimension{accounting.ByCluster, accounting.ByAccount, accounting.ByUser},
	}
	if diff := cmp.Diff(want, r.Query([]TRES{CPU})); diff != "" || r.Columns != "Login,Used" {
		t.Errorf("columns %q, -want +got:\n%s", r.Columns, diff)
	}
}

func TestBadWordsGetAReason(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"":                          "specify a report",
		"cluster":                   "specify a report",
		"cluster Weather":           "Not valid report cluster Weather",
		"user top colour=red":       "Unknown condition: colour=red",
		"user top tree":             "Unknown condition: tree",
		"cluster util users=mei":    "Unknown condition: users=mei",
		"job sizes grouping=9,8":    "Invalid grouping: 9,8",
		"res util":                  "the report reservation Utilization is not available: the usage of reservations is not recorded",
		"user top topcount=none":    "Invalid number of users: none",
		"user top start=yesterweek": "Invalid time specification: yesterweek",
		"user top start=2026-11-21 end=2026-11-20": "the period from 2026-11-21T00:00:00 to 2026-11-20T00:00:00 is empty",
	} {
		if _, err := Parse(strings.Fields(words), now); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %q", words, err, want)
		}
	}
	if _, err := ParseTRES("wood"); err == nil {
		t.Error("an unknown resource is accepted")
	}
	if _, err := ParseUnit("fortnights"); err == nil {
		t.Error("an unknown unit is accepted")
	}
}

func TestSizesAreCountedFromTheirFirstNumberOfCPUs(t *testing.T) {
	t.Parallel()
	r, err := Parse(strings.Fields("job sizes grouping=2,64 printjobcount"), now)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []accounting.Usage
	for i, milliCPUs := range []int64{0, 1999, 2000, 63_999, 64_000, 1_000_000} {
		jobs = append(jobs, accounting.Usage{Cluster: "prod", Account: "physics", MilliCPUs: milliCPUs, Resource: accounting.Nodes, Seconds: 9, Attempts: 1 << (2 * i)})
	}
	lines := r.Lines(&Facts{Usage: jobs}, []TRES{CPU}, Minutes)
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	var counts []int64
	for _, size := range lines[0].sizes {
		counts = append(counts, size.value)
	}
	if diff := cmp.Diff([]int64{1 + 4, 16 + 64, 256 + 1024}, counts); diff != "" {
		t.Error(diff)
	}
}

func TestAccountsThatAreTheirOwnParentsEndTheTree(t *testing.T) {
	t.Parallel()
	if path := pathUp("a", map[string]string{"a": "b", "b": "a"}); len(path) != maxDepth {
		t.Errorf("the path has %d accounts", len(path))
	}
}

// TestUsageWithoutAUserCountsOnce checks the line of an account whose jobs have no user.
func TestUsageWithoutAUserCountsOnce(t *testing.T) {
	t.Parallel()
	r := &Request{Kind: Kind{layout: accountsAndUsers}}
	lines := r.linesOfResource(&Facts{Usage: []accounting.Usage{
		{Cluster: "prod", Resource: accounting.CPU, Seconds: 3000},
		{Cluster: "prod", User: "mei", Resource: accounting.CPU, Seconds: 2000},
	}}, CPU, Unit{})
	got := map[string]int64{}
	for _, line := range lines {
		got[line.Account+"/"+line.Login] = line.used.value
	}
	if diff := cmp.Diff(map[string]int64{"/": 5000, "/mei": 2000}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
