package jobs

import (
	"fmt"

	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// groups lists the ways to group rows, in the order in which "g" cycles through them.
var groups = []struct {
	name string
	of   func(jobrow.Row) string
}{
	{"", nil},
	{"queue", func(r jobrow.Row) string { return r.Job.Queue }},
	{"user", func(r jobrow.Row) string { return r.Job.User }},
	{"namespace", func(r jobrow.Row) string { return r.Job.Namespace }},
	{"state", jobrow.Row.Code},
}

// nextGroup switches to the next grouping.
func (j *Jobs) nextGroup(*screenapi.Context) []screenapi.Effect {
	j.group = (j.group + 1) % len(groups)
	j.table.Group(groups[j.group].of, sumUp)
	return nil
}

// sumUp returns the heading of a group: its name, the numbers of its running and waiting jobs, and their GPUs.
func sumUp(name string, rows []jobrow.Row) string {
	var tally jobrow.Tally
	var gpus int64
	for _, row := range rows {
		tally.Add(row)
		gpus += row.GPUsHeld()
	}
	if name == "" {
		name = "-"
	}
	text := name + "   " + tally.Sentence()
	if gpus > 0 {
		text += fmt.Sprintf(", %s gpu in use", widget.Count(int(gpus)))
	}
	return text
}
