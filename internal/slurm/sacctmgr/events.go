package sacctmgr

import (
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// eventColumns lists the default columns of a list of events, as in Slurm.
const eventColumns = "Cluster,NodeName,TimeStart,TimeEnd,State,Reason,User"

// eventStates holds Slurm's names of the states of nodes.
var eventStates = map[accounting.NodeState]string{accounting.NodeDown: "DOWN", accounting.NodeDrained: "DRAIN"}

// Events is a request that lists the events of nodes.
type Events struct {
	Query accounting.NodeEventQuery
	// Columns is the requested format, or "".
	Columns string
}

// ParseEvents parses a command line that lists events. isOne is false if the entity of the command line is another one.
// now is the time to which relative times refer. Without start= and nodes=, the events since the beginning of the previous
// day are selected, as in Slurm.
func ParseEvents(words []string, now time.Time) (request *Events, isOne bool, err error) {
	request = &Events{}
	entity := recordedEntity{name: "events", least: 1, example: "nodes=n[1-4]"}
	if isOne, err = entity.parse(words, func(name, value string) error { return request.parseCondition(name, value, now) }); !isOne || err != nil {
		return nil, isOne, err
	}
	query := &request.Query
	if query.From.IsZero() && len(query.Nodes) == 0 {
		query.From = time.Date(now.Year(), now.Month(), now.Day()-1, 0, 0, 0, 0, now.Location())
	}
	if err := checkInterval(query.From, query.To); err != nil {
		return nil, true, err
	}
	return request, true, nil
}

// parseCondition parses a condition or the format.
func (e *Events) parseCondition(name, value string, now time.Time) error {
	switch {
	case getopt.IsAbbreviation(name, "clusters", 1):
		e.Query.Clusters = splitList(value)
	case getopt.IsAbbreviation(name, "end", 1):
		return parsePastTime(value, now, &e.Query.To)
	case getopt.IsAbbreviation(name, "format", 1):
		e.Columns = value
	case getopt.IsAbbreviation(name, "nodes", 1):
		nodes, err := hostlist.ExpandList(value)
		if err != nil {
			return usererror.Errorf("for example nodes=n1,n2 or nodes=n[1-4]", "Invalid node list: %s: %v", value, err)
		}
		e.Query.Nodes = nodes
	case getopt.IsAbbreviation(name, "start", 4):
		return parsePastTime(value, now, &e.Query.From)
	case getopt.IsAbbreviation(name, "states", 4):
		return e.parseStates(value)
	default:
		return unknownCondition(name, value, "clusters, end, nodes, start and states")
	}
	return nil
}

// parseStates parses names of states.
func (e *Events) parseStates(value string) error {
	for _, text := range splitList(value) {
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "down":
			e.Query.States = append(e.Query.States, accounting.NodeDown)
		case "drain", "drained":
			e.Query.States = append(e.Query.States, accounting.NodeDrained)
		default:
			return usererror.Errorf("use down or drain", "Unknown state: %s", text)
		}
	}
	return nil
}

// ParseColumns returns the columns of the list. Times are printed in a time zone. The duration of an event that has not ended
// is computed up to now.
func (e *Events) ParseColumns(zone *time.Location, now time.Time) (tableformat.Columns[*accounting.NodeEvent], error) {
	field := func(names, title string, width int, value func(*accounting.NodeEvent) string) tableformat.Field[*accounting.NodeEvent] {
		return tableformat.NewField(0, names, title, width, value)
	}
	return parseRecordedColumns(e.Columns, eventColumns, []tableformat.Field[*accounting.NodeEvent]{
		field("Cluster", "Cluster", 10, func(e *accounting.NodeEvent) string { return e.Cluster }),
		field("Duration", "Duration", 13, func(e *accounting.NodeEvent) string { return timeformat.LongDuration(durationOf(e, now)) }),
		field("NodeName", "NodeName", 15, func(e *accounting.NodeEvent) string { return e.Node }),
		field("Reason", "Reason", 30, func(e *accounting.NodeEvent) string { return e.Reason }),
		field("State|StateRaw", "State", 6, func(e *accounting.NodeEvent) string { return stateOf(e) }),
		field("TimeEnd|End", "TimeEnd", 19, func(e *accounting.NodeEvent) string {
			if e.End.IsZero() {
				return "Unknown"
			}
			return e.End.In(zone).Format(timeformat.Standard)
		}),
		field("TimeStart|Start", "TimeStart", 19, func(e *accounting.NodeEvent) string { return e.Start.In(zone).Format(timeformat.Standard) }),
		field("User", "User", 20, func(*accounting.NodeEvent) string { return "" }), // no user is recorded
	})
}

// durationOf returns the length of an event. It is computed up to now if the event has not ended.
func durationOf(e *accounting.NodeEvent, now time.Time) time.Duration {
	end := e.End
	if end.IsZero() {
		end = now
	}
	return max(end.Sub(e.Start), 0)
}

// stateOf returns Slurm's name for the state of an event.
func stateOf(e *accounting.NodeEvent) string {
	if name, ok := eventStates[e.State]; ok {
		return name
	}
	return strings.ToUpper(string(e.State))
}
