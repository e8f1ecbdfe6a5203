package sacctmgr

import (
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// transactionColumns lists the default columns of a list of transactions, as in Slurm.
const transactionColumns = "Time,Action,Actor,Where,Info"

// Transactions is a request that lists changes of accounts and QOS.
type Transactions struct {
	Query accounting.ChangeQuery
	// Columns is the requested format, or "".
	Columns string
}

// ParseTransactions parses a command line that lists transactions. isOne is false if the entity of the command line is
// another one. now is the time to which relative times refer.
func ParseTransactions(words []string, now time.Time) (request *Transactions, isOne bool, err error) {
	request = &Transactions{}
	entity := recordedEntity{name: "transactions", least: 3, example: "accounts=physics"}
	if isOne, err = entity.parse(words, func(name, value string) error { return request.parseCondition(name, value, now) }); !isOne || err != nil {
		return nil, isOne, err
	}
	if err := checkInterval(request.Query.From, request.Query.To); err != nil {
		return nil, true, err
	}
	return request, true, nil
}

// parseCondition parses a condition or the format.
func (t *Transactions) parseCondition(name, value string, now time.Time) error {
	switch {
	case getopt.IsAbbreviation(name, "accounts", 3), getopt.IsAbbreviation(name, "accts", 4):
		for _, text := range splitList(value) {
			account, err := parseAccountName(text)
			if err != nil {
				return err
			}
			t.Query.Accounts = append(t.Query.Accounts, account)
		}
	case getopt.IsAbbreviation(name, "action", 4):
		return t.parseActions(value)
	case getopt.IsAbbreviation(name, "actors", 4):
		t.Query.Actors = splitList(value)
	case getopt.IsAbbreviation(name, "clusters", 1):
		t.Query.Clusters = splitList(value)
	case getopt.IsAbbreviation(name, "end", 1):
		return parsePastTime(value, now, &t.Query.To)
	case getopt.IsAbbreviation(name, "format", 1):
		t.Columns = value
	case getopt.IsAbbreviation(name, "start", 1):
		return parsePastTime(value, now, &t.Query.From)
	case getopt.IsAbbreviation(name, "users", 1):
		t.Query.Users = splitList(value)
	default:
		return unknownCondition(name, value, "accounts, action, actor, clusters, end, start and users")
	}
	return nil
}

// actionsByVerb holds the actions of each verb, for accounts and QOS.
var actionsByVerb = func() map[string][]accounting.ChangeAction {
	add, modify := []accounting.ChangeAction{accounting.AddAccount, accounting.AddQOS}, []accounting.ChangeAction{accounting.ModifyAccount, accounting.ModifyQOS}
	remove := []accounting.ChangeAction{accounting.RemoveAccount, accounting.RemoveQOS}
	return map[string][]accounting.ChangeAction{"add": add, "create": add, "modify": modify, "update": modify, "remove": remove, "delete": remove}
}()

// parseActions parses actions: add, modify and remove for all objects, or the words in the column for objects of one kind.
func (t *Transactions) parseActions(value string) error {
	for _, text := range splitList(value) {
		verb, kind, hasKind := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
		isSelected := func(action accounting.ChangeAction) bool {
			_, of, _ := strings.Cut(strings.ToLower(string(action)), " ")
			return !hasKind || of == strings.TrimSpace(kind)
		}
		found := len(t.Query.Actions)
		for _, action := range actionsByVerb[verb] {
			if isSelected(action) {
				t.Query.Actions = append(t.Query.Actions, action)
			}
		}
		if len(t.Query.Actions) == found {
			return usererror.Errorf("use add, modify or remove", "Unknown action: %s", text)
		}
	}
	return nil
}

// ParseColumns returns the columns of the list. Times are printed in a time zone.
func (t *Transactions) ParseColumns(zone *time.Location) (tableformat.Columns[*accounting.Change], error) {
	field := func(names, title string, width int, value func(*accounting.Change) string) tableformat.Field[*accounting.Change] {
		return tableformat.NewField(0, names, title, width, value)
	}
	return parseRecordedColumns(t.Columns, transactionColumns, []tableformat.Field[*accounting.Change]{
		field("Accounts", "Accounts", 20, func(c *accounting.Change) string { return c.Account }),
		field("Action", "Action", 20, func(c *accounting.Change) string { return string(c.Action) }),
		field("Actor", "Actor", 10, func(c *accounting.Change) string { return c.Actor }),
		field("Clusters", "Clusters", 20, func(c *accounting.Change) string { return c.Cluster }),
		field("Info", "Info", 20, func(c *accounting.Change) string { return c.Info }),
		field("Time|TimeStamp", "Time", 19, func(c *accounting.Change) string { return c.Time.In(zone).Format(timeformat.Standard) }),
		field("Users", "Users", 20, func(c *accounting.Change) string { return strings.Join(c.Users, ",") }),
		field("Where", "Where", 20, func(c *accounting.Change) string { return "name='" + c.Name() + "'" }),
	})
}
