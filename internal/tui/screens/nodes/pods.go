package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/usecolumn"
	"github.com/vc-batch/vc/internal/tui/widget"
)

func renderAmount(name corev1.ResourceName, amount int64) string {
	return render.FormatAmount(name, amount)
}

// podColumns returns the columns of the pods on a node.
func podColumns() []widget.Column[*snapshot.Pod] {
	type pod = *snapshot.Pod
	plain := func(of func(pod) string) func(*screenapi.Context, pod) (string, canvas.Style) {
		return func(_ *screenapi.Context, p pod) (string, canvas.Style) { return of(p), theme.Plain }
	}
	asks := func(name corev1.ResourceName) func(pod) string {
		return func(p pod) string {
			if p.Asks == nil {
				return "-"
			}
			return render.FormatAmount(name, p.Asks.AmountOfResource(name))
		}
	}
	columns := []widget.Column[pod]{
		{Key: "POD", Title: "POD", Width: 14, Flex: true, Cell: plain(func(p pod) string { return p.Name }), Compare: func(a, b pod) int { return strings.Compare(a.Name, b.Name) }},
		{Key: "NAMESPACE", Title: "NAMESPACE", Width: 12, Hidden: true, Cell: plain(func(p pod) string { return p.Namespace })},
		{Key: "JOB", Title: "JOB", Width: 8, Cell: plain(func(p pod) string { return cmp.Or(p.JobID, p.Job, "-") })},
		{Key: "TASK", Title: "TASK", Width: 8, From: 100, Cell: plain(func(p pod) string { return cmp.Or(p.Task, "-") })},
		{Key: "GPU", Title: "GPU", Width: 3, Right: true, Cell: plain(func(p pod) string {
			sum := int64(0)
			if p.Asks != nil {
				for name, amount := range p.Asks.Devices {
					if render.IsGPU(name) {
						sum += amount
					}
				}
			}
			return fmt.Sprint(sum)
		})},
		{Key: "CPU", Title: "CPU", Width: 5, Right: true, Cell: plain(asks(corev1.ResourceCPU))},
		{Key: "MEM", Title: "MEM", Width: 6, Right: true, Cell: plain(asks(corev1.ResourceMemory))},
		{Key: stateColumn, Title: "STATE", Width: 9, Cell: func(_ *screenapi.Context, p pod) (string, canvas.Style) { return p.State, podStyle(p) }},
		{Key: "AGE", Title: "AGE", Width: 4, Right: true, Ticks: true, Cell: func(ctx *screenapi.Context, p pod) (string, canvas.Style) {
			return render.FormatAgeSince(ctx.Now, p.Created.Time()), theme.Dim
		}},
	}
	beforeState := slices.IndexFunc(columns, func(c widget.Column[pod]) bool { return c.Key == stateColumn })
	return slices.Insert(columns, beforeState, usecolumn.Columns((*snapshot.Usage).OfPod, fromWithUse)...)
}

const stateColumn = "STATE"

func podStyle(p *snapshot.Pod) canvas.Style {
	switch {
	case p.Phase == corev1.PodFailed:
		return theme.Failed
	case p.Phase == corev1.PodPending, p.Terminating:
		return theme.Pending
	}
	return theme.Running
}
