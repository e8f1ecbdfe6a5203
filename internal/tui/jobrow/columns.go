package jobrow

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/usecolumn"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Column is a column of job rows.
type Column = widget.Column[Row]

// plainTextCell returns the Cell function of a plain text column.
func plainTextCell(of func(Row) string) func(*screenapi.Context, Row) (string, canvas.Style) {
	return func(_ *screenapi.Context, r Row) (string, canvas.Style) { return of(r), theme.Plain }
}

func compareByField[V cmp.Ordered](of func(Row) V) func(a, b Row) int {
	return func(a, b Row) int { return cmp.Compare(of(a), of(b)) }
}

// AllColumns returns all columns of job rows.
func AllColumns() []Column {
	columns := basicColumns()
	beforeReason := len(columns) - 1
	return slices.Insert(columns, beforeReason, usecolumn.Columns(measureRow, fromWithUse)...)
}

// measureRow returns the measured use of a job. It is measured for the whole job, not for elements of an array.
func measureRow(usage *snapshot.Usage, r Row) snapshot.Measured { return usage.OfPods(r.Job.Pods) }

// basicColumns returns the columns that need no measurements.
func basicColumns() []Column {
	namespace := func(r Row) string { return r.Job.Namespace }
	name := func(r Row) string { return r.Job.Title }
	queue := func(r Row) string { return r.Job.Queue }
	user := func(r Row) string { return r.Job.User }
	return []Column{
		{Key: "jobid", Letter: "I", Title: "JOBID", Width: 13, Narrow: 12, Cell: plainTextCell(Row.NumberAndElements), Compare: compareByNumber},
		{Key: "namespace", Letter: "E", Title: "NAMESPACE", Width: 9, From: 100, Cell: plainTextCell(namespace), Compare: compareByField(namespace)},
		{Key: "name", Letter: "N", Title: "NAME", Width: 17, Narrow: 15, Most: 40, Cell: plainTextCell(name), Compare: compareByField(name)},
		{Key: "queue", Letter: "Q", Title: "QUEUE", Width: 9, From: 100, Cell: plainTextCell(queue), Compare: compareByField(queue)},
		{Key: "user", Letter: "U", Title: "USER", Width: 6, Narrow: 4, From: 70, Cell: plainTextCell(user), Compare: compareByField(user)},
		{Key: stateColumn, Letter: "T", Title: "PHASE", Width: 10, Cell: func(ctx *screenapi.Context, r Row) (string, canvas.Style) {
			return r.StateText(ctx.Words), StateStyle(r.SlurmStateCode())
		}, Compare: compareByField(func(r Row) string { return r.StateText(screenapi.KubernetesWords) })},
		{Key: "prio", Letter: "P", Title: "PRIO", Width: 4, From: 130, Right: true, Descending: true, Cell: priorityCell,
			Compare: compareByField(func(r Row) int32 { return r.Job.Priority })},
		{Key: "nodes", Letter: "O", Title: "NODES", Width: 5, Right: true, From: 70, Descending: true, Cell: func(_ *screenapi.Context, r Row) (string, canvas.Style) {
			if r.NodeCount() == 0 {
				return "-", theme.Dim // it runs on no node, and the number of nodes that it will run on is unknown
			}
			return NumberCell(int64(r.NodeCount()))
		},
			Compare: compareByField(Row.NodeCount)},
		{Key: "pods", Title: "PODS", Width: 5, Right: true, Hidden: true, Descending: true, Cell: numberCell(func(r Row) int64 { return int64(r.Job.Replicas) }),
			Compare: compareByField(func(r Row) int32 { return r.Job.Replicas })},
		{Key: "gpu", Letter: "V", Title: "GPU", Width: 4, Right: true, Descending: true, Cell: numberCell(Row.RequestedGPUs), Compare: compareByField(Row.RequestedGPUs),
			Empty: func(r Row) bool { return r.Job.GPUs == 0 }},
		{Key: cpuColumn, Letter: "C", Title: "CPU", Width: 6, From: fromWithGPUs, Right: true, Descending: true, Cell: amountCell(corev1.ResourceCPU, Row.RequestedMilliCPU),
			Compare: compareByField(Row.RequestedMilliCPU), Empty: func(r Row) bool { return r.Job.MilliCPU == 0 }},
		{Key: memoryColumn, Letter: "F", Title: "MEM", Width: 7, From: fromWithGPUs, Right: true, Descending: true, Cell: amountCell(corev1.ResourceMemory, Row.RequestedMemory),
			Compare: compareByField(Row.RequestedMemory), Empty: func(r Row) bool { return r.Job.MemoryBytes == 0 }},
		{Key: "time", Letter: "D", Title: "TIME", Width: 10, Ticks: true, Descending: true, Cell: func(ctx *screenapi.Context, r Row) (string, canvas.Style) {
			if elapsed, ok := ElapsedTime(r.Job, ctx.Now); ok && (r.Part == nil || !r.IsWaiting()) {
				return state.ShortClock(elapsed), theme.Plain
			}
			return "", theme.Plain
		}, Compare: func(a, b Row) int { return b.Job.Started.Compare(a.Job.Started) }},
		{Key: "left", Letter: "L", Title: "LEFT", Width: 10, From: 150, Ticks: true, Cell: func(ctx *screenapi.Context, r Row) (string, canvas.Style) {
			return TimeLeftText(r.Job, ctx.Now), theme.Plain
		},
			Compare: compareByField(func(r Row) int64 { return int64(r.Job.Limit) }), Empty: func(r Row) bool { return r.Job.Limit == 0 }},
		{Key: "start", Letter: "B", Title: "START", Width: 8, From: 110, Ticks: true, Cell: func(ctx *screenapi.Context, r Row) (string, canvas.Style) {
			return EstimatedStartText(r.Job, ctx.Now), theme.Plain
		},
			Compare: func(a, b Row) int { return a.Job.EstimatedStart.Compare(b.Job.EstimatedStart) }},
		{Key: "counts", Title: "R/P/S/F", Width: 9, From: 140, Cell: plainTextCell(func(r Row) string { return PodCountsText(r.Job) })},
		{Key: "age", Letter: "A", Title: "SUBMITTED", Width: 9, Hidden: true, Ticks: true, Descending: true, Cell: func(ctx *screenapi.Context, r Row) (string, canvas.Style) {
			return FormatMoment(r.Job.Submitted, ctx.Now), theme.Plain
		}, Compare: func(a, b Row) int { return a.Job.Submitted.Compare(b.Job.Submitted) }},
		{Key: reasonColumn, Letter: "W", Title: "NODES OR REASON", Width: 12, Flex: true, Cell: func(ctx *screenapi.Context, r Row) (string, canvas.Style) {
			return r.NodesOrReason(ctx.Words), theme.Plain
		}, Compare: compareByField(func(r Row) string { return r.NodesOrReason(screenapi.KubernetesWords) })},
	}
}

// Columns that AdaptColumns changes. CPU and memory are shown on narrower terminals if the cluster has no GPUs.
const (
	stateColumn  = "st"
	reasonColumn = "why"
	cpuColumn    = "cpu"
	memoryColumn = "mem"
)

// The widths of the terminal from which CPU and memory are shown, in clusters with and without GPUs, and from which the
// measured use is shown.
const (
	fromWithUse     = 180
	fromWithGPUs    = 170
	fromWithoutGPUs = 150
)

// AdaptColumns adapts columns to the resources of the cluster, to the measurements and to the vocabulary.
func AdaptColumns(ctx *screenapi.Context, columns []Column) {
	usecolumn.AdaptColumns(columns, ctx.Snap.Usage, measureRow)
	if ctx.Words == screenapi.SlurmWords {
		useSlurmTitles(columns)
	}
	from := fromWithoutGPUs
	if slices.ContainsFunc(ctx.Snap.Resources, render.IsGPU) {
		from = fromWithGPUs
	}
	for i := range columns {
		if columns[i].Key == cpuColumn || columns[i].Key == memoryColumn {
			columns[i].From = from
		}
	}
}

// useSlurmTitles gives columns the titles and widths of squeue.
func useSlurmTitles(columns []Column) {
	for i := range columns {
		switch column := &columns[i]; column.Key {
		case stateColumn:
			column.Title, column.Width, column.Narrow = "ST", 3, 2
			column.Compare = compareByField(Row.SlurmStateCode)
		case reasonColumn:
			column.Title = "NODELIST(REASON)"
		}
	}
}

func amountCell(name corev1.ResourceName, of func(Row) int64) func(*screenapi.Context, Row) (string, canvas.Style) {
	return func(_ *screenapi.Context, r Row) (string, canvas.Style) {
		if of(r) == 0 {
			return "-", theme.Dim
		}
		return render.FormatAmount(name, of(r)), theme.Plain
	}
}

func numberCell(of func(Row) int64) func(*screenapi.Context, Row) (string, canvas.Style) {
	return func(_ *screenapi.Context, r Row) (string, canvas.Style) { return NumberCell(of(r)) }
}

func priorityCell(_ *screenapi.Context, r Row) (string, canvas.Style) {
	if r.Job.PriorityUnknown {
		return r.Job.PriorityText(), theme.Dim
	}
	return NumberCell(int64(r.Job.Priority))
}

func compareByNumber(a, b Row) int {
	n := func(r Row) int64 { n, _ := strconv.ParseInt(r.Job.ID, 10, 64); return n }
	return cmp.Or(cmp.Compare(n(a), n(b)), strings.Compare(a.Job.Name, b.Job.Name))
}

// DefaultSort describes the order defined by CompareDefault.
const DefaultSort = "queue, -priority"

// CompareDefault compares rows in the default order: active jobs before ended ones, then by queue; within a queue,
// running jobs before pending ones, then by descending priority, then in the order in which the scheduler tries them.
func CompareDefault(a, b Row) int {
	return cmp.Or(
		compareFalseFirst(a.HasEnded(), b.HasEnded()), strings.Compare(a.Job.Queue, b.Job.Queue), compareFalseFirst(a.IsWaiting(), b.IsWaiting()), cmp.Compare(b.Job.Priority, a.Job.Priority),
		cmp.Compare(sortMissingLast(a.Job.Position), sortMissingLast(b.Job.Position)), a.Job.Submitted.Compare(b.Job.Submitted), strings.Compare(a.Job.Namespace, b.Job.Namespace),
		strings.Compare(a.Job.Name, b.Job.Name), strings.Compare(UniqueID(a), UniqueID(b)),
	)
}

func compareFalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sortMissingLast maps positions such that a missing position (0) sorts after all others.
func sortMissingLast(position int32) uint32 { return uint32(position) - 1 }
