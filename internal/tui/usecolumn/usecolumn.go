// Package usecolumn provides the columns that show the measured use of CPU, memory and GPUs, for rows of any kind.
//
//	In:   snapshot.Usage, a function that returns the measured use of a row
//	Out:  columns of a widget.Table
package usecolumn

import (
	"cmp"
	"fmt"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// The keys of the columns.
const (
	cpuColumn    = "cpuused"
	memoryColumn = "memused"
	gpuColumn    = "gpuused"
)

// Measure returns the measured use of a row.
type Measure[R any] func(*snapshot.Usage, R) snapshot.Measured

// Columns returns the columns. from is the terminal width from which they are shown if there are measurements.
// AdaptColumns must be called for every new snapshot.
func Columns[R comparable](measure Measure[R], from int) []widget.Column[R] {
	cell := func(text func(snapshot.Measured) (string, canvas.Style)) func(*screenapi.Context, R) (string, canvas.Style) {
		return func(ctx *screenapi.Context, row R) (string, canvas.Style) { return text(measure(ctx.Snap.Usage, row)) }
	}
	columns := []widget.Column[R]{
		{Key: cpuColumn, Title: "CPU USED", Width: 9, Cell: cell(cpuText)},
		{Key: memoryColumn, Title: "MEM USED", Width: 9, Cell: cell(memoryText)},
		{Key: gpuColumn, Title: "GPU%", Width: 5, Cell: cell(gpuText)},
	}
	for i := range columns {
		columns[i].From, columns[i].Right, columns[i].Descending = from, true, true
		columns[i].Ticks = true // nearly every new measurement differs, so changes are not highlighted
	}
	AdaptColumns(columns, nil, measure)
	return columns
}

// AdaptColumns makes the columns sort by the measurements in usage, and hides columns without any measurement. It leaves
// other columns unchanged.
func AdaptColumns[R comparable](columns []widget.Column[R], usage *snapshot.Usage, measure Measure[R]) {
	measured := map[R]snapshot.Measured{}
	measureOnce := func(row R) snapshot.Measured {
		m, known := measured[row]
		if !known {
			m = measure(usage, row)
			measured[row] = m
		}
		return m
	}
	hasCore, hasGPU := usage != nil && usage.HasCore, usage != nil && usage.HasGPU
	for i := range columns {
		column := &columns[i]
		switch column.Key {
		case cpuColumn:
			column.Hidden, column.Compare = !hasCore, compareBy(measureOnce, usedMilliCPU)
		case memoryColumn:
			column.Hidden, column.Compare = !hasCore, compareBy(measureOnce, usedMemoryBytes)
		case gpuColumn:
			column.Hidden, column.Compare = !hasGPU, compareBy(measureOnce, usedGPUPercent)
		}
	}
}

func compareBy[R any](measure func(R) snapshot.Measured, value func(snapshot.Measured) float64) func(a, b R) int {
	return func(a, b R) int { return cmp.Compare(value(measure(a)), value(measure(b))) }
}

// unmeasured is the value by which rows without a measurement are sorted: below all others.
const unmeasured = -1

func usedMilliCPU(m snapshot.Measured) float64 {
	if m.Core == nil {
		return unmeasured
	}
	return float64(m.Core.MilliCPU)
}

func usedMemoryBytes(m snapshot.Measured) float64 {
	if m.Core == nil {
		return unmeasured
	}
	return float64(m.Core.MemoryBytes)
}

func usedGPUPercent(m snapshot.Measured) float64 {
	if m.GPU == nil {
		return unmeasured
	}
	return m.GPU.Percent
}

func cpuText(m snapshot.Measured) (string, canvas.Style) {
	if m.Core == nil {
		return "-", theme.Dim
	}
	return render.FormatCores(m.Core.MilliCPU), theme.Plain
}

func memoryText(m snapshot.Measured) (string, canvas.Style) {
	if m.Core == nil {
		return "-", theme.Dim
	}
	return render.FormatMemory(m.Core.MemoryBytes), theme.Plain
}

// gpuText returns the mean utilization of the GPUs. Idle ones are conspicuous, because other jobs could use them.
func gpuText(m snapshot.Measured) (string, canvas.Style) {
	switch {
	case m.GPU == nil:
		return "-", theme.Dim
	case m.GPU.Percent < snapshot.BusyPercent:
		return fmt.Sprintf("%.0f", m.GPU.Percent), theme.Warn
	}
	return fmt.Sprintf("%.0f", m.GPU.Percent), theme.Plain
}

// DescribeUse describes measured use beside what is requested or allocatable, for example "12.3 of 32 cpu, 40Gi of 128Gi
// memory, gpu 87 % busy". It returns "" without measurements. A requested amount of 0 is omitted.
func DescribeUse(m snapshot.Measured, milliCPU, memoryBytes int64) string {
	text := ""
	if m.Core != nil {
		text = amountOf(render.FormatCores(m.Core.MilliCPU), render.FormatCores(milliCPU), milliCPU) + " cpu, " +
			amountOf(render.FormatMemory(m.Core.MemoryBytes), render.FormatMemory(memoryBytes), memoryBytes) + " memory"
	}
	if m.GPU == nil {
		return text
	}
	if text != "" {
		text += ", "
	}
	return text + fmt.Sprintf("gpu %.0f %% busy with %s memory", m.GPU.Percent, render.FormatMemory(m.GPU.MemoryBytes))
}

func amountOf(used, total string, amount int64) string {
	if amount == 0 {
		return used
	}
	return used + " of " + total
}
