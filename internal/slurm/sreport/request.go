package sreport

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// layout determines what the lines of a report describe.
type layout int

const (
	accountsAndUsers layout = iota // a line for each account, followed by its users
	usersAndAccounts
	accountsAndQOS
	topUsers
	clusters
	sizes
)

// Kind is a report.
type Kind struct {
	// Group and Name are the words that select the report. Name may be abbreviated to a number of letters.
	Group, Name string
	letters     int
	// Title is the first line of the report.
	Title string
	// Format lists the default columns.
	Format string
	layout layout
	// conditions lists the conditions that only this report has. Names of conditions with a value
	// end with =.
	conditions []string
}

// Kinds lists the reports.
var Kinds = []Kind{
	{
		Group: "cluster", Name: "AccountUtilizationByUser", letters: 1, Title: "Cluster/Account/User Utilization",
		Format: "Cluster,Account,Login,Proper,Used,Energy", layout: accountsAndUsers, conditions: []string{"accounts=", "tree", "users="},
	},
	{
		Group: "cluster", Name: "AccountUtilizationByQOS", letters: 21, Title: "Cluster/Account/QOS Utilization",
		Format: "Cluster,Account,QOS,Used,Energy", layout: accountsAndQOS, conditions: []string{"accounts=", "users="},
	},
	{
		Group: "cluster", Name: "UserUtilizationByAccount", letters: 2, Title: "Cluster/User/Account Utilization",
		Format: "Cluster,Login,Proper,Account,Used,Energy", layout: usersAndAccounts, conditions: []string{"accounts=", "users="},
	},
	{
		Group: "cluster", Name: "Utilization", letters: 2, Title: "Cluster Utilization",
		Format: "Cluster,Allocated,Down,PlannedDown,Idle,Planned,Reported", layout: clusters,
	},
	{
		Group: "job", Name: "SizesByAccount", letters: 1, Title: "Job Sizes",
		Format: "Cluster,Account", layout: sizes,
		conditions: []string{"accounts=", "flatview", "grouping=", "partitions=", "printjobcount", "users="},
	},
	{
		Group: "user", Name: "TopUsage", letters: 1, Title: "Top %d Users",
		Format: "Cluster,Login,Proper,Account,Used,Energy", layout: topUsers, conditions: []string{"accounts=", "group", "topcount=", "users="},
	},
}

// unrecorded lists reports of Slurm that need data which is not recorded.
var unrecorded = []struct{ group, name, reason string }{
	{"cluster", "UserUtilizationByWCKey", "use is not recorded by workload characterization key"},
	{"cluster", "WCKeyUtilizationByUser", "use is not recorded by workload characterization key"},
	{"job", "SizesByAccountAndWCKey", "use is not recorded by workload characterization key"},
	{"job", "SizesByWCKey", "use is not recorded by workload characterization key"},
	{"reservation", "Utilization", "the usage of reservations is not recorded"},
}

// commonConditions lists the conditions of all reports.
var commonConditions = []string{"clusters=", "end=", "format=", "names=", "start="}

// defaultTopCount is the default number of lines of TopUsage.
const defaultTopCount = 10

// Request is a report that a user requests.
type Request struct {
	Kind
	// From and To limit the period. To is exclusive.
	From, To time.Time
	// Accounts, Users, Clusters and Partitions select what the report covers. Empty lists select everything.
	Accounts, Users, Clusters, Partitions []string
	// TopCount is the number of lines of TopUsage. Group requests one line for each user, with the sum over all accounts.
	TopCount int
	Group    bool
	// Tree requests the accounts as a tree, in which the use of an account includes that of the accounts below.
	Tree bool
	// Grouping lists the numbers of CPUs at which a new column of SizesByAccount begins. PrintJobCount requests numbers of
	// jobs in place of use.
	Grouping      []int64
	PrintJobCount bool
	// Columns is the requested format, or "".
	Columns string
}

// Parse parses the words of a command line after the options, for example: cluster AccountUtilizationByUser start=11/01
// accounts=physics. Names may be abbreviated, and their case does not matter. The default period is yesterday.
func Parse(words []string, now time.Time) (*Request, error) {
	if len(words) < 2 {
		return nil, usererror.Errorf("for example: sreport cluster AccountUtilizationByUser start=now-7days; reports are "+kindNames(), "specify a report")
	}
	kind, err := findKind(words[0], words[1])
	if err != nil {
		return nil, err
	}
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	r := &Request{Kind: kind, From: today.AddDate(0, 0, -1), To: today, TopCount: defaultTopCount, Grouping: []int64{50, 250, 500, 1000}}
	for _, word := range words[2:] {
		if err := r.parseCondition(word, now); err != nil {
			return nil, err
		}
	}
	r.From, r.To = r.From.Truncate(time.Hour), r.To.Truncate(time.Hour) // use is summed up by the hour
	if !r.From.Before(r.To) {
		return nil, usererror.Errorf("specify start= and end= so that at least an hour lies between them", "the period from %s to %s is empty", r.From.Format(periodFormat), r.To.Format(periodFormat))
	}
	return r, nil
}

// parseCondition parses a word such as start=now-7days or tree.
func (r *Request) parseCondition(word string, now time.Time) error {
	name, value, hasValue := strings.Cut(word, "=")
	allowed := slices.Concat(r.conditions, commonConditions)
	slices.Sort(allowed)
	at := slices.IndexFunc(allowed, func(condition string) bool {
		full, takesValue := strings.CutSuffix(condition, "=")
		return takesValue == hasValue && isPrefixOf(strings.ToLower(name), full, 1)
	})
	if at < 0 {
		return usererror.Errorf("conditions of this report are "+strings.Join(allowed, ", "), "Unknown condition: %s", word)
	}
	var err error
	switch allowed[at] {
	case "start=":
		r.From, err = parseTime(value, now)
	case "end=":
		r.To, err = parseTime(value, now)
	case "accounts=":
		r.Accounts = splitList(value)
	case "users=":
		r.Users = splitList(value)
	case "clusters=", "names=":
		r.Clusters = splitList(value)
	case "partitions=":
		r.Partitions = splitList(value)
	case "format=":
		r.Columns = value
	case "group":
		r.Group = true
	case "tree":
		r.Tree = true
	case "printjobcount":
		r.PrintJobCount = true
	case "flatview": // the accounts are always listed without their tree
	case "grouping=":
		r.Grouping, err = parseGrouping(value)
	case "topcount=":
		if r.TopCount, err = strconv.Atoi(value); err != nil || r.TopCount < 1 {
			return usererror.Errorf("use a positive number", "Invalid number of users: %s", value)
		}
	}
	return err
}

// parseGrouping parses a list of ascending numbers of CPUs.
func parseGrouping(text string) ([]int64, error) {
	var limits []int64
	last := int64(0)
	for _, word := range splitList(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n <= last {
			return nil, usererror.Errorf("use ascending numbers of CPUs, for example Grouping=50,250,500,1000", "Invalid grouping: %s", text)
		}
		limits, last = append(limits, n), n
	}
	if len(limits) == 0 {
		return nil, usererror.Errorf("use ascending numbers of CPUs, for example Grouping=50,250,500,1000", "Invalid grouping: %q", text)
	}
	return limits, nil
}

func parseTime(text string, now time.Time) (time.Time, error) {
	t, err := optionvalue.ParseDate(text, now, optionvalue.Past)
	if err != nil {
		return t, usererror.Errorf("use a format such as 2026-11-21, 2026-11-21T22:00, 11/21 or now-7days", "Invalid time specification: %s", text)
	}
	return t, nil
}

// findKind finds a report by its words, which may be abbreviated.
func findKind(group, name string) (Kind, error) {
	matches := func(ofGroup, ofName string, letters int) bool {
		return isPrefixOf(strings.ToLower(group), ofGroup, 1) && isPrefixOf(strings.ToLower(name), strings.ToLower(ofName), letters)
	}
	for _, kind := range Kinds {
		if matches(kind.Group, kind.Name, kind.letters) {
			return kind, nil
		}
	}
	for _, kind := range unrecorded {
		if matches(kind.group, kind.name, 1) {
			return Kind{}, usererror.Errorf("reports are "+kindNames(), "the report %s %s is not available: %s", kind.group, kind.name, kind.reason)
		}
	}
	return Kind{}, usererror.Errorf("reports are "+kindNames(), "Not valid report %s %s", group, name)
}

// isPrefixOf reports whether word is an abbreviation of a name with at least a number of letters.
func isPrefixOf(word, name string, least int) bool {
	return len(word) >= least && strings.HasPrefix(name, word)
}

func splitList(text string) []string {
	var list []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			list = append(list, word)
		}
	}
	return list
}

// kindNames lists the reports for a hint.
func kindNames() string {
	var names []string
	for _, kind := range Kinds {
		names = append(names, kind.Group+" "+kind.Name)
	}
	return strings.Join(names, ", ")
}
