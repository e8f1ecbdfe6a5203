package jobs

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// groups are what rows are put together by, in the order in which "g" goes through them.
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

// nextGroup groups by the next of groups.
func (j *Jobs) nextGroup(*screen.Context) []screen.Effect {
	j.group = (j.group + 1) % len(groups)
	j.table.Group(groups[j.group].of, sumUp)
	return nil
}

// sumUp is the line above a group: its name, how many jobs run and wait, and what they ask for.
func sumUp(name string, rows []jobrow.Row) string {
	var running, waiting, ended int
	var gpus int64
	for _, row := range rows {
		switch {
		case row.Ended():
			ended++
		case row.Waits():
			waiting++
		default:
			running++
			gpus += row.GPUs()
		}
	}
	if name == "" {
		name = "-"
	}
	parts := []string{fmt.Sprintf("%s running", widget.Count(running)), fmt.Sprintf("%s waiting", widget.Count(waiting))}
	if ended > 0 {
		parts = append(parts, fmt.Sprintf("%s ended", widget.Count(ended)))
	}
	if gpus > 0 {
		parts = append(parts, fmt.Sprintf("%s gpu held", widget.Count(int(gpus))))
	}
	return name + "   " + strings.Join(parts, ", ")
}
