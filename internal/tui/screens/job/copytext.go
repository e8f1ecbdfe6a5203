package job

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Twin returns the open page as text.
func (j *Job) Twin(ctx *screenapi.Context) string {
	if j.job == nil {
		return ""
	}
	var text bytes.Buffer
	switch j.page {
	case logs:
		j.log.selectLines(ctx.Logs, j.podSelector())
		for _, one := range j.log.shown {
			fmt.Fprintf(&text, "%s | %s\n", podShortName(j.job, one.Pod), widget.PlainText(one.Text))
		}
	case events:
		for _, line := range j.eventLines(ctx) {
			fmt.Fprintln(&text, line)
		}
	case manifest:
		return j.yaml
	default:
		j.writeSheet(ctx, &text)
	}
	return text.String()
}

// writeSheet writes the content of the summary, with all pods.
func (j *Job) writeSheet(ctx *screenapi.Context, text *bytes.Buffer) {
	fmt.Fprintf(text, "%s %s/%s\n", j.job.ID, j.job.Namespace, j.job.Name)
	for _, fact := range listJobFacts(ctx, j.job) {
		fmt.Fprintf(text, "  %-10s%s\n", fact.Name, strings.Join(strings.Fields(fact.Text), " "))
	}
	fmt.Fprintln(text, "\nTimeline:")
	for _, l := range timelineLines(ctx, j.job) {
		fmt.Fprintf(text, "%s\n", strings.TrimRight(fmt.Sprintf("  %-13s%-30s %s", l.at, l.text, l.after), " "))
	}
	table := render.Table{Gap: 2, Header: []string{"POD", "STATE", "NODE", "READY", "RESTARTS", "AGE", "MESSAGE"}}
	for _, p := range j.job.Pods {
		table.Rows = append(table.Rows, []string{p.Name, p.State, p.Node, p.Ready, fmt.Sprint(p.Restarts), render.FormatAgeSince(ctx.Now, p.Created.Time()), podMessage(p)})
	}
	if len(table.Rows) > 0 {
		fmt.Fprintln(text, "\nPods:")
		_ = table.Fprint(text) // writing to a buffer cannot fail
	}
	if a := j.reading.ReportFor(ctx.Snap, j.job); a.IsWaitingJob() {
		fmt.Fprintln(text)
		a.Write(text, ctx.Program, render.Style{}, ctx.Now, 0)
	}
}
