package top

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/node"
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/render"
)

// writeFrame prints the summary, the nodes, the pods, and the specified tables of queues and jobs.
func (p *frame) writeFrame(out io.Writer, queues, jobs render.Table, now time.Time, width int, namespaces bool) error {
	var text strings.Builder
	text.WriteString("Summary:\n")
	totals := p.summaryTable()
	totals.MaxWidth = width
	if err := totals.Fprint(&text); err != nil {
		return err
	}
	text.WriteString("\nNodes:\n")
	rooms := nodecapacity.RoomOfAllNodes(p.nodes, p.all)
	slices.SortStableFunc(rooms, func(a, b nodecapacity.Room) int { return render.CompareNatural(a.Name, b.Name) })
	nodes := node.NewListTable(rooms, width)
	if p.hidden != "" {
		text.WriteString("not shown: " + p.hidden + "\n")
	} else if len(p.nodes) == 0 {
		text.WriteString("No resources found\n")
	} else if err := nodes.Fprint(&text); err != nil {
		return err
	}
	pods := p.podTable(now, namespaces)
	pods.MaxWidth = width
	pods.SetSpareColumns("RESTARTS", "AGE")
	queues.MaxWidth = width
	for _, block := range []struct {
		title, hidden string
		table         render.Table
	}{{"Queues", p.hiddenQueues, queues}, {"Pods", "", pods}, {"Jobs", "", jobs}} {
		fmt.Fprintf(&text, "\n%s:\n", block.title)
		if block.hidden != "" {
			text.WriteString("not shown: " + block.hidden + "\n")
			continue
		}
		if len(block.table.Rows) == 0 {
			text.WriteString("No resources found\n")
			continue
		}
		if err := block.table.Fprint(&text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func (p *frame) podTable(now time.Time, namespaces bool) render.Table {
	table := render.Table{Header: []string{"NAME", "READY", "STATUS", "RESTARTS", "AGE"}}
	if namespaces {
		table.Header = append([]string{"NAMESPACE"}, table.Header...)
	}
	for _, pod := range p.pods {
		restarts := int32(0)
		for _, status := range pod.Status.ContainerStatuses {
			restarts += status.RestartCount
		}
		row := []string{pod.Name, cli.PodReady(pod), cli.PodStatus(pod), strconv.Itoa(int(restarts)), render.FormatAgeSince(now, pod.CreationTimestamp.Time)}
		if namespaces {
			row = append([]string{pod.Namespace}, row...)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
