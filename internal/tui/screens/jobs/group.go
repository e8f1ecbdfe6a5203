package jobs

import (
	"cmp"
	"fmt"

	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// groups lists the ways to group rows, in the order in which "g" cycles through them.
var groups = []struct {
	name string
	of   func(*screenapi.Context, jobrow.Row) string
}{
	{"", nil},
	{"queue", func(_ *screenapi.Context, r jobrow.Row) string { return r.Job.Queue }},
	{"user", func(_ *screenapi.Context, r jobrow.Row) string { return r.Job.User }},
	{"namespace", func(_ *screenapi.Context, r jobrow.Row) string { return r.Job.Namespace }},
	{"state", func(ctx *screenapi.Context, r jobrow.Row) string { return r.StateText(ctx.Words) }},
}

// nextGroup switches to the next grouping.
func (j *Jobs) nextGroup(ctx *screenapi.Context) []screenapi.Effect {
	j.group = (j.group + 1) % len(groups)
	of := groups[j.group].of
	if of == nil {
		j.table.GroupRowsBy(nil, groupHeading)
		return nil
	}
	j.table.GroupRowsBy(func(r jobrow.Row) string { return of(ctx, r) }, groupHeading)
	return nil
}

// groupHeading returns the heading of a group: its name, the numbers of its running and waiting jobs, and their GPUs.
func groupHeading(name string, rows []jobrow.Row) string {
	var tally jobrow.Tally
	var gpus int64
	for _, row := range rows {
		tally.Add(row)
		gpus += row.GPUsInUse()
	}
	name = cmp.Or(name, "-")
	text := name + "   " + tally.Sentence()
	if gpus > 0 {
		text += fmt.Sprintf(", %s gpu in use", widget.FormatCount(int(gpus)))
	}
	return text
}
