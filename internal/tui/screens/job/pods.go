package job

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/usecolumn"
	"github.com/vc-batch/vc/internal/tui/widget"
)

type pod = *snapshot.Pod

// newPodTable returns the table of a job's pods, sorted by task and index.
func newPodTable() widget.Table[pod] {
	plain := func(of func(pod) string) func(*screenapi.Context, pod) (string, canvas.Style) {
		return func(_ *screenapi.Context, p pod) (string, canvas.Style) { return of(p), theme.Plain }
	}
	text := func(key, title string, width, from int, of func(pod) string) widget.Column[pod] {
		return widget.Column[pod]{Key: key, Title: title, Width: width, From: from, Cell: plain(of), Compare: func(a, b pod) int { return strings.Compare(of(a), of(b)) }}
	}
	restarts := text("restarts", "RST", 3, 70, func(p pod) string { return strconv.Itoa(int(p.Restarts)) })
	restarts.Empty = func(p pod) bool { return p.Restarts == 0 }
	gpus := text("gpu", "GPU", 3, 110, func(p pod) string { return requestedAmount(p, "gpu") })
	gpus.Empty = func(p pod) bool { return requestedAmount(p, "gpu") == "0" }
	restarts.Right, restarts.Compare = true, func(a, b pod) int { return cmp.Compare(b.Restarts, a.Restarts) }
	index := text("idx", "IDX", 4, 0, func(p pod) string { return strconv.Itoa(int(p.Index)) })
	index.Compare = func(a, b pod) int { return cmp.Compare(a.Index, b.Index) }
	table := widget.Table[pod]{
		ID: func(p pod) string { return string(p.UID) }, DefaultSort: "task, index",
		Columns: []widget.Column[pod]{
			text("task", "TASK", 8, 0, func(p pod) string { return p.Task }),
			index,
			text("pod", "POD", 24, 100, func(p pod) string { return p.Name }),
			{Key: "state", Title: "STATE", Width: 17, Narrow: 11, Cell: func(_ *screenapi.Context, p pod) (string, canvas.Style) { return p.State, jobrow.PodStyle(p) },
				Compare: func(a, b pod) int { return strings.Compare(a.State, b.State) }},
			text("node", "NODE", 12, 0, func(p pod) string { return p.Node }),
			text("ready", "READY", 5, 70, func(p pod) string { return p.Ready }),
			restarts,
			text("cpu", "CPU", 5, 70, func(p pod) string { return requestedAmount(p, "cpu") }),
			text("mem", "MEM", 6, 70, func(p pod) string { return requestedAmount(p, "memory") }),
			gpus,
			{Key: ageColumn, Title: "AGE", Width: 5, From: 100, Ticks: true, Cell: func(ctx *screenapi.Context, p pod) (string, canvas.Style) {
				return render.FormatAgeSince(ctx.Now, p.Created.Time()), theme.Plain
			},
				Compare: func(a, b pod) int { return b.Created.Time().Compare(a.Created.Time()) }},
			{Key: "exit", Title: "EXIT", Width: 4, Right: true, Descending: true, Cell: exitCodeCell, Compare: func(a, b pod) int { return cmp.Compare(a.ExitCode, b.ExitCode) },
				Empty: func(p pod) bool { return !hasExitedWithError(p) }},
			{Key: "message", Title: "MESSAGE", Width: 8, Flex: true, Cell: plain(podMessage)},
		},
	}
	beforeAge := slices.IndexFunc(table.Columns, func(c widget.Column[pod]) bool { return c.Key == ageColumn })
	table.Columns = slices.Insert(table.Columns, beforeAge, usecolumn.Columns((*snapshot.Usage).OfPod, fromWithUse)...)
	return table
}

const (
	ageColumn = "age"
	// fromWithUse is the terminal width from which the measured use is shown.
	fromWithUse = 120
)

// requestedAmount returns the amount of a resource that a pod requests and holds until it ends.
func requestedAmount(p pod, resource string) string {
	if p.Asks == nil {
		return ""
	}
	switch resource {
	case "cpu":
		return render.FormatCores(p.Asks.MilliCPU)
	case "memory":
		return render.FormatMemory(p.Asks.MemoryBytes)
	}
	var sum int64
	for name, n := range p.Asks.Devices {
		if render.IsGPU(name) {
			sum += n
		}
	}
	return strconv.FormatInt(sum, 10)
}

// exitCodeCell returns the exit code of a pod that has ended.
func exitCodeCell(_ *screenapi.Context, p pod) (string, canvas.Style) {
	switch {
	case hasExitedWithError(p):
		return strconv.Itoa(int(p.ExitCode)), theme.Failed
	case p.Exited:
		return "0", theme.Dim
	}
	return "", theme.Plain
}

func hasExitedWithError(p pod) bool { return p.Exited && p.ExitCode != 0 }

// podMessage returns the pod's problem or, if it has ended, the message about its end.
func podMessage(p pod) string {
	if p.Trouble != "" && p.Trouble != p.State {
		return strings.TrimSuffix(p.Trouble+": "+p.Message, ": ")
	}
	return p.Message
}

// hasPodProblem reports whether the pod failed or has a problem.
func hasPodProblem(p pod) bool {
	return hasExitedWithError(p) || p.Phase == "Failed" || p.Trouble != ""
}

// podShortName returns the pod's name without the job's name.
func podShortName(job *snapshot.Job, name string) string {
	return strings.TrimPrefix(name, job.Name+"-")
}
