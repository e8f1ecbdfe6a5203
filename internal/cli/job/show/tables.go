package show

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

// This file contains the tables of jobs that other command groups print as well.

// NewListTable returns the table of `job list` without its wide columns, including the reasons why jobs are waiting.
// With an empty namespace, the table lists the jobs of all namespaces and has a namespace column.
func NewListTable(ctx context.Context, f *cli.Factory, c client.WithWatch, namespace string, jobs []*batchv1alpha1.Job) (render.Table, error) {
	r := &reasons{f: f, c: c, namespace: namespace}
	if err := r.readGroups(ctx, jobs); err != nil {
		return render.Table{}, err
	}
	columns := slices.DeleteFunc(listColumns(f, r), func(c cli.Column[*batchv1alpha1.Job]) bool { return c.Wide })
	if namespace == "" {
		name := cli.Column[*batchv1alpha1.Job]{Title: "NAMESPACE", Text: func(j *batchv1alpha1.Job) string { return j.Namespace }}
		columns = slices.Insert(columns, 0, name)
	}
	table := render.Table{FreeText: true, Colored: f.Streams.IsColored(), MaxWidth: f.Streams.Width}
	for _, column := range columns {
		table.Header = append(table.Header, column.Title)
	}
	for _, job := range jobs {
		var row []string
		for _, column := range columns {
			row = append(row, column.Text(job))
		}
		table.Rows = append(table.Rows, row)
	}
	table.SetSpareColumns(spare...)
	return table, nil
}

// NewTemplateTable returns a table of the tasks of a job that does not exist yet.
func NewTemplateTable(tasks []batchv1alpha1.TaskSpec) render.Table {
	table := render.Table{Header: []string{"NAME", "REPLICAS", "MIN", "REQUESTS", "IMAGE"}, FreeText: true}
	for i := range tasks {
		task := &tasks[i]
		requests, images := requestsAndImages(task)
		table.Rows = append(table.Rows, []string{task.Name, numberText(task.Replicas), numberText(jobstatus.MinimumPodsOfTask(task)), requests, images})
	}
	return table
}

// requestsAndImages returns the table cells for the requests of each pod of a task and for its images.
func requestsAndImages(task *batchv1alpha1.TaskSpec) (requests, images string) {
	spec := &task.Template.Spec
	names := make([]string, len(spec.Containers))
	for i := range spec.Containers {
		names[i] = spec.Containers[i].Image
	}
	return cmp.Or(jobstatus.RequestsText(spec), "-"), cmp.Or(strings.Join(names, ", "), "-")
}
