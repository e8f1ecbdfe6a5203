package sacctmgr

import (
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// transactionColumns lists the default columns of a list of transactions, as in Slurm.
const transactionColumns = "Time,Action,Actor,Where,Info"

// Transactions is a request that lists changes of accounts.
type Transactions struct {
	Query accounting.ChangeQuery
	// Columns is the requested format, or "".
	Columns string
}

// ParseTransactions parses a command line that lists transactions. isOne is false if the entity of the command line is
// another one. now is the time to which relative times refer.
func ParseTransactions(words []string, now time.Time) (request *Transactions, isOne bool, err error) {
	const least = 3
	if len(words) < 2 || !getopt.IsAbbreviation(words[1], "transactions", least) {
		return nil, false, nil
	}
	if verb, ok := findWord(verbs, words[0]); !ok || verb != List {
		return nil, true, usererror.Errorf("use show transactions", "transactions can only be listed")
	}
	request = &Transactions{}
	for _, word := range words[2:] {
		if strings.EqualFold(word, "where") {
			continue
		}
		if err := request.parseWord(word, now); err != nil {
			return nil, true, err
		}
	}
	query := &request.Query
	if isEmpty := !query.To.IsZero() && !query.From.Before(query.To); isEmpty {
		return nil, true, usererror.Errorf("specify a start that is before end", "the time from %s to %s is empty", query.From.Format(timeformat.Standard), query.To.Format(timeformat.Standard))
	}
	return request, true, nil
}

// parseWord parses a condition or the format.
func (t *Transactions) parseWord(word string, now time.Time) error {
	name, value, hasValue := strings.Cut(word, "=")
	if !hasValue {
		return usererror.Errorf("write NAME=value, for example accounts=physics", "Unknown condition: %s", word)
	}
	if strings.Trim(value, ", ") == "" {
		return usererror.Errorf("specify a value after "+name+"=", "%s is empty", word)
	}
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
		return parseTransactionTime(value, now, &t.Query.To)
	case getopt.IsAbbreviation(name, "format", 1):
		t.Columns = value
	case getopt.IsAbbreviation(name, "start", 1):
		return parseTransactionTime(value, now, &t.Query.From)
	case getopt.IsAbbreviation(name, "users", 1):
		t.Query.Users = splitList(value)
	default:
		return usererror.Errorf("conditions are accounts, action, actor, clusters, end, start and users", "Unknown condition: %s", word)
	}
	return nil
}

func parseTransactionTime(text string, now time.Time, into *time.Time) error {
	at, err := optionvalue.ParseDate(text, now, optionvalue.Past)
	if err != nil {
		return usererror.Errorf("for example 2026-11-21, 2026-11-21T14:00, now-7days or today", "Invalid time: %s", text)
	}
	*into = at
	return nil
}

// parseActions parses actions: add, modify and remove, or the words in the column.
func (t *Transactions) parseActions(value string) error {
	actions := map[string]accounting.ChangeAction{
		"add": accounting.AddAccount, "create": accounting.AddAccount, "modify": accounting.ModifyAccount, "update": accounting.ModifyAccount,
		"remove": accounting.RemoveAccount, "delete": accounting.RemoveAccount,
	}
	for _, text := range splitList(value) {
		verb, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
		action, ok := actions[verb]
		if !ok {
			return usererror.Errorf("use add, modify or remove", "Unknown action: %s", text)
		}
		t.Query.Actions = append(t.Query.Actions, action)
	}
	return nil
}

// ParseColumns returns the columns of the list. Times are printed in a time zone.
func (t *Transactions) ParseColumns(zone *time.Location) (tableformat.Columns[*accounting.Change], error) {
	field := func(names, title string, width int, value func(*accounting.Change) string) tableformat.Field[*accounting.Change] {
		return tableformat.NewField(0, names, title, width, value)
	}
	fields := []tableformat.Field[*accounting.Change]{
		field("Accounts", "Accounts", 20, func(c *accounting.Change) string { return c.Account }),
		field("Action", "Action", 20, func(c *accounting.Change) string { return string(c.Action) }),
		field("Actor", "Actor", 10, func(c *accounting.Change) string { return c.Actor }),
		field("Clusters", "Clusters", 20, func(c *accounting.Change) string { return c.Cluster }),
		field("Info", "Info", 20, func(c *accounting.Change) string { return c.Info }),
		field("Time|TimeStamp", "Time", 19, func(c *accounting.Change) string { return c.Time.In(zone).Format(timeformat.Standard) }),
		field("Users", "Users", 20, func(c *accounting.Change) string { return strings.Join(c.Users, ",") }),
		field("Where", "Where", 20, func(c *accounting.Change) string { return "name='" + c.Account + "'" }),
	}
	format := t.Columns
	if format == "" {
		format = transactionColumns
	}
	columns, err := tableformat.ParseSized(format, fields)
	if err != nil {
		var names []string
		for _, f := range fields {
			names = append(names, f.Names[0])
		}
		slices.Sort(names)
		return nil, usererror.Errorf("columns are "+strings.Join(names, ", "), "%s", err)
	}
	return columns, nil
}
