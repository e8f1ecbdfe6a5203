package history

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
)

// column is a column of the table.
type column struct {
	title string
	text  func(*Job) string
	// wide columns are shown with -o wide only. spare columns are omitted on a narrow terminal, the highest number last.
	wide  bool
	spare int
}

// printJobs prints the jobs in the selected format.
func (o *options) printJobs(records []*accounting.Record) error {
	jobs := make([]*Job, len(records))
	for i, record := range records {
		jobs[i] = newJob(record)
	}
	if done, err := o.out.PrintAnswer(o.f, jobs); done {
		return err
	}
	if o.out.Format == "csv" {
		return o.printCSV(jobs)
	}
	if len(jobs) == 0 {
		_, err := fmt.Fprintln(o.f.Streams.Err, "No ended jobs found.")
		return err
	}
	columns := slices.DeleteFunc(o.columns(), func(c column) bool { return c.wide && o.out.Format != "wide" })
	table := render.Table{NoHeader: o.noHeaders, Colored: o.f.Streams.IsColored()}
	if o.out.Format != "wide" {
		table.MaxWidth = o.f.Streams.Width
	}
	var spare []string
	for _, c := range columns {
		table.Header = append(table.Header, c.title)
	}
	for rank := 1; rank <= len(columns); rank++ {
		for _, c := range columns {
			if c.spare == rank {
				spare = append(spare, c.title)
			}
		}
	}
	for _, job := range jobs {
		var row []string
		for _, c := range columns {
			row = append(row, c.text(job))
		}
		table.Rows = append(table.Rows, row)
	}
	if table.MaxWidth > 0 {
		table.SetSpareColumns(spare...)
		table.KeepColumns(table.FitColumns())
	}
	return table.Fprint(o.f.Streams.Out)
}

func (o *options) columns() []column {
	style := render.Style{Enabled: o.f.Streams.IsColored()}
	showsOthers := o.allUsers || len(o.users) > 0
	columns := []column{
		{title: "ID", text: func(j *Job) string { return orDash(j.ID) }},
		{title: "NAME", text: func(j *Job) string { return j.Name }},
		{title: "USER", text: func(j *Job) string { return orDash(j.User) }, wide: !showsOthers, spare: 4},
		{title: "ACCOUNT", text: func(j *Job) string { return orDash(j.Account) }, wide: true},
		{title: "QUEUE", text: func(j *Job) string { return orDash(j.Queue) }, spare: 3},
		{title: "STATE", text: func(j *Job) string { return paintState(style, j.State) }},
		{title: "ENDED", text: func(j *Job) string { return render.FormatAgeSince(o.f.Now(), j.Ended) }},
		{title: "WAITED", text: func(j *Job) string { return formatSeconds(j.WaitSeconds) }, wide: true},
		{title: "RAN", text: func(j *Job) string { return formatSeconds(j.RunSeconds) }},
		{title: "PODS", text: func(j *Job) string { return strconv.Itoa(int(j.Pods)) }, wide: true},
		{title: "CPU", text: func(j *Job) string { return render.FormatCores(j.MilliCPU) }, spare: 2},
		{title: "CPU%", text: func(j *Job) string { return j.formatPercent(func(u *Use) *float64 { return u.CPUEfficiency }) }},
		{title: "MEMORY", text: func(j *Job) string { return render.FormatMemory(j.MemoryBytes) }, spare: 1},
		{title: "MEM%", text: func(j *Job) string { return j.formatPercent(func(u *Use) *float64 { return u.MemoryEfficiency }) }},
		{title: "GPU", text: func(j *Job) string { return strconv.FormatInt(j.countGPUs(), 10) }, wide: true},
		{title: "GPU%", text: func(j *Job) string { return j.formatPercent(func(u *Use) *float64 { return u.GPUEfficiency }) }, wide: true},
		{title: "RESTARTS", text: func(j *Job) string { return strconv.Itoa(int(j.Restarts)) }, wide: true},
		{title: "EXIT", text: func(j *Job) string { return strconv.Itoa(int(j.ExitCode)) }, wide: true},
		{title: "NODES", text: func(j *Job) string { return orDash(strings.Join(j.Nodes, ",")) }, wide: true},
		{title: "REASON", text: func(j *Job) string { return orDash(j.Reason) }, wide: true},
	}
	if o.allNamespaces {
		columns = slices.Insert(columns, 0, column{title: "NAMESPACE", text: func(j *Job) string { return j.Namespace }})
	}
	return columns
}

// formatPercent returns an efficiency in percent, or a dash if it is unknown.
func (j *Job) formatPercent(of func(*Use) *float64) string {
	if j.Use == nil || of(j.Use) == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100**of(j.Use))
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func formatSeconds(seconds int64) string {
	return render.FormatDuration(time.Duration(seconds) * time.Second)
}

func paintState(style render.Style, state string) string {
	switch accounting.Outcome(state) {
	case accounting.Completed:
		return style.Good(state)
	case accounting.Cancelled, accounting.Suspended, accounting.Restarted, accounting.Preempted:
		return style.Warn(state)
	}
	return style.Bad(state)
}

// csvHeader lists the columns of CSV. Times are in UTC.
var csvHeader = []string{
	"cluster", "namespace", "name", "id", "user", "account", "qos", "queue", "state", "reason", "exit_code", "restarts", "submitted", "started", "ended",
	"wait_seconds", "run_seconds", "pods", "cpus", "memory_bytes", "gpus", "cpu_seconds_used", "peak_memory_bytes", "cpu_efficiency", "memory_efficiency",
	"gpu_seconds_used", "gpu_seconds_measured", "gpu_efficiency",
}

func (o *options) printCSV(jobs []*Job) error {
	rows := make([][]string, 0, len(jobs)+1)
	if !o.noHeaders {
		rows = append(rows, csvHeader)
	}
	for _, j := range jobs {
		rows = append(rows, j.csvRow())
	}
	return csv.NewWriter(o.f.Streams.Out).WriteAll(rows)
}

// csvRow returns the cells of a job. Cells with unknown values are empty.
func (j *Job) csvRow() []string {
	started := ""
	if j.Started != nil {
		started = formatTime(*j.Started)
	}
	row := []string{
		j.Cluster, j.Namespace, j.Name, j.ID, j.User, j.Account, j.QOS, j.Queue, j.State, j.Reason, strconv.Itoa(int(j.ExitCode)),
		strconv.Itoa(int(j.Restarts)), formatTime(j.Submitted), started, formatTime(j.Ended), strconv.FormatInt(j.WaitSeconds, 10),
		strconv.FormatInt(j.RunSeconds, 10), strconv.Itoa(int(j.Pods)), formatNumber(float64(j.MilliCPU) / 1000), strconv.FormatInt(j.MemoryBytes, 10),
		strconv.FormatInt(j.countGPUs(), 10),
	}
	if j.Use == nil {
		row = append(row, "", "", "", "", "", "", "")
	} else {
		row = append(row, formatNumber(j.Use.CPUSeconds), strconv.FormatInt(j.Use.PeakMemoryBytes, 10), formatPart(j.Use.CPUEfficiency), formatPart(j.Use.MemoryEfficiency),
			formatOptional(j.Use.GPUSeconds), formatOptional(j.Use.GPUMeasuredSeconds), formatPart(j.Use.GPUEfficiency))
	}
	for i := range row {
		row[i] = printable.EscapeLine(row[i])
	}
	return row
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func formatNumber(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// formatOptional formats a number that may be unknown.
func formatOptional(value *float64) string {
	if value == nil {
		return ""
	}
	return formatNumber(*value)
}

// formatPart formats a part of a whole, with four decimals.
func formatPart(part *float64) string {
	if part == nil {
		return ""
	}
	return strconv.FormatFloat(*part, 'f', 4, 64)
}
