package sreport

import (
	"fmt"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// Kind is a report.
type Kind struct {
	// Group and Name are the words that select the report.
	Group, Name string
	// Title is the first line of the report.
	Title string
	// Format lists the default columns.
	Format string
	// byAccount orders the lines by account and adds a line for each account. byUser orders the lines by user. Without
	// both, the lines are ordered by use, and their number is limited.
	byAccount, byUser bool
}

// Kinds lists the reports.
var Kinds = []Kind{
	{Group: "cluster", Name: "AccountUtilizationByUser", Title: "Cluster/Account/User Utilization", Format: "Cluster,Account,Login,Proper,Used,Energy", byAccount: true},
	{Group: "cluster", Name: "UserUtilizationByAccount", Title: "Cluster/User/Account Utilization", Format: "Cluster,Login,Proper,Account,Used,Energy", byUser: true},
	{Group: "user", Name: "TopUsage", Title: "Top %d Users", Format: "Cluster,Login,Proper,Account,Used,Energy"},
}

// defaultTopCount is the default number of lines of TopUsage.
const defaultTopCount = 10

// Request is a report that a user requests.
type Request struct {
	Kind
	// From and To limit the period. To is exclusive.
	From, To time.Time
	// Accounts, Users and Clusters select what the report covers. Empty lists select everything.
	Accounts, Users, Clusters []string
	// TopCount is the number of lines of TopUsage.
	TopCount int
	// Columns is the requested format, or "".
	Columns string
}

// Parse parses the words of a command line after the options, for example: cluster AccountUtilizationByUser start=11/01
// accounts=physics. Names may be abbreviated, and their case does not matter. The default period is yesterday.
func Parse(words []string, now time.Time) (*Request, error) {
	if len(words) < 2 {
		return nil, usererror.Errorf("for example: sreport cluster AccountUtilizationByUser start=now-7days; reports are "+kindNames(), "specify a report")
	}
	kind, ok := findKind(words[0], words[1])
	if !ok {
		return nil, usererror.Errorf("reports are "+kindNames(), "Not valid report %s %s", words[0], words[1])
	}
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	r := &Request{Kind: kind, From: today.AddDate(0, 0, -1), To: today, TopCount: defaultTopCount}
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

// parseCondition parses a word such as start=now-7days.
func (r *Request) parseCondition(word string, now time.Time) error {
	name, value, ok := strings.Cut(word, "=")
	if !ok {
		return usererror.Errorf("conditions are accounts=, clusters=, end=, format=, start=, topcount= and users=", "Unknown condition: %s", word)
	}
	var err error
	switch name = strings.ToLower(name); {
	case isPrefixOf(name, "start", 1):
		r.From, err = parseTime(value, now)
	case isPrefixOf(name, "end", 1):
		r.To, err = parseTime(value, now)
	case isPrefixOf(name, "accounts", 1):
		r.Accounts = splitList(value)
	case isPrefixOf(name, "users", 1):
		r.Users = splitList(value)
	case isPrefixOf(name, "clusters", 1), isPrefixOf(name, "names", 1):
		r.Clusters = splitList(value)
	case isPrefixOf(name, "format", 1):
		r.Columns = value
	case isPrefixOf(name, "topcount", 1):
		if _, err := fmt.Sscanf(value, "%d", &r.TopCount); err != nil || r.TopCount < 1 {
			return usererror.Errorf("use a positive number", "Invalid number of users: %s", value)
		}
	default:
		return usererror.Errorf("conditions are accounts=, clusters=, end=, format=, start=, topcount= and users=", "Unknown condition: %s", word)
	}
	return err
}

func parseTime(text string, now time.Time) (time.Time, error) {
	t, err := optionvalue.ParseDate(text, now, optionvalue.Past)
	if err != nil {
		return t, usererror.Errorf("use a format such as 2026-11-21, 2026-11-21T22:00, 11/21 or now-7days", "Invalid time specification: %s", text)
	}
	return t, nil
}

// findKind finds a report by its words, which may be abbreviated if they are unambiguous.
func findKind(group, name string) (Kind, bool) {
	var found []Kind
	for _, kind := range Kinds {
		if isPrefixOf(strings.ToLower(group), kind.Group, 1) && isPrefixOf(strings.ToLower(name), strings.ToLower(kind.Name), 1) {
			found = append(found, kind)
		}
	}
	if len(found) != 1 {
		return Kind{}, false
	}
	return found[0], true
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
