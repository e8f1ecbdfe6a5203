package show

import (
	"fmt"
	"io"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/jobstatus"
)

// printCompatTable prints the table of Volcano's vcctl with identical spacing.
func printCompatTable(out io.Writer, jobs []*batchv1alpha1.Job, allNamespaces bool) error {
	nameWidth, namespaceWidth := len("Name"), len("Namespace")
	for _, job := range jobs {
		nameWidth = max(nameWidth, len(job.Name))
		namespaceWidth = max(namespaceWidth, len(job.Namespace))
	}
	line := func(namespace, name string, rest ...any) error {
		if allNamespaces {
			if _, err := fmt.Fprintf(out, "%-*s", namespaceWidth+3, namespace); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(out, "%-*s%-15v%-12v%-12v%-12v%-6v%-10v%-10v%-12v%-10v%-12v%-10v\n", append([]any{nameWidth + 3, name}, cli.FormatCells(rest)...)...)
		return err
	}
	err := line("Namespace", "Name", "Creation", "Phase", "JobType", "Replicas", "Min", "Pending", "Running", "Succeeded", "Failed", "Unknown", "RetryCount")
	for _, job := range jobs {
		if err != nil {
			return err
		}
		s := &job.Status
		err = line(job.Namespace, job.Name, job.CreationTimestamp.Format("2006-01-02"), s.State.Phase, cli.JobType(job.Labels[keys.JobType]),
			jobstatus.CountReplicas(job), s.MinAvailable, s.Pending, s.Running, s.Succeeded, s.Failed, s.Unknown, s.RetryCount)
	}
	return err
}
