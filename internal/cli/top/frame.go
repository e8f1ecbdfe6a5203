package top

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/node"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/room"
)

// write prints the three blocks.
func (p *frame) write(out io.Writer, now time.Time, width int, namespaces bool) error {
	var text strings.Builder
	text.WriteString("Nodes:\n")
	nodes := node.Table(room.All(p.nodes, p.all), width)
	if p.hidden != "" {
		text.WriteString("not shown: " + p.hidden + "\n")
	} else if len(p.nodes) == 0 {
		text.WriteString("No resources found\n")
	} else if err := nodes.Fprint(&text); err != nil {
		return err
	}
	for _, block := range []struct {
		title string
		table render.Table
	}{
		{"Pods", p.podTable(now, namespaces)},
		{"Volcano Jobs", p.jobTable(namespaces)},
	} {
		block.table.MaxWidth = width
		block.table.CanSpare("RESTARTS", "AGE", "JobType", "RetryCount", "Creation", "Failed", "Succeeded", "Pending", "Min", "Replicas")
		fmt.Fprintf(&text, "\n%s:\n", block.title)
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
	table := render.Table{Header: []string{"NAME", "READY", "STATUS", "RESTARTS", "AGE"}, FirstGap: 2}
	if namespaces {
		table.Header = append([]string{"NAMESPACE"}, table.Header...)
		table.FirstGap = 0
	}
	for _, pod := range p.pods {
		restarts := int32(0)
		for _, status := range pod.Status.ContainerStatuses {
			restarts += status.RestartCount
		}
		row := []string{pod.Name, cli.PodReady(pod), cli.PodStatus(pod), strconv.Itoa(int(restarts)), render.Age(now, pod.CreationTimestamp.Time)}
		if namespaces {
			row = append([]string{pod.Namespace}, row...)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func (p *frame) jobTable(namespaces bool) render.Table {
	table := render.Table{Header: []string{"Name", "Creation", "Phase", "JobType", "Replicas", "Min", "Pending", "Running", "Succeeded", "Failed", "RetryCount"}}
	if namespaces {
		table.Header = append([]string{"Namespace"}, table.Header...)
	}
	for _, job := range p.jobs {
		row := []string{job.Name, job.CreationTimestamp.Format(time.DateTime), phaseText(job), cli.JobType(job.Labels[keys.JobType])}
		var replicas int32
		for i := range job.Spec.Tasks {
			replicas += job.Spec.Tasks[i].Replicas
		}
		s := &job.Status
		for _, n := range []int32{replicas, job.Spec.MinAvailable, s.Pending, s.Running, s.Succeeded, s.Failed, s.RetryCount} {
			row = append(row, strconv.Itoa(int(n)))
		}
		if namespaces {
			row = append([]string{job.Namespace}, row...)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func phaseText(job *batchv1alpha1.Job) string {
	if job.Status.State.Phase == "" {
		return string(batchv1alpha1.Pending)
	}
	return string(job.Status.State.Phase)
}
