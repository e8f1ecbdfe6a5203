package job

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

// This file contains the functions that other command groups use to print jobs.

// NewListTable returns the table of `job list` without its wide columns, including the reasons why jobs wait. With an
// empty namespace, the table lists the jobs of all namespaces and has a namespace column.
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

// Functions of package jobstatus, exported for other command groups.
var (
	GroupReason      = jobstatus.GroupReason
	PodReason        = jobstatus.PodReason
	WriteExplanation = jobstatus.WriteExplanation
	WriteFacts       = jobstatus.WriteFacts
	WriteSentence    = jobstatus.WriteSentence
)

// NewTemplateTable returns a table of the tasks of a job that does not exist yet.
func NewTemplateTable(tasks []batchv1alpha1.TaskSpec) render.Table {
	table := render.Table{Header: []string{"NAME", "REPLICAS", "MIN", "REQUESTS", "IMAGE"}, FreeText: true}
	for i := range tasks {
		task := &tasks[i]
		least := task.Replicas
		if task.MinAvailable != nil {
			least = *task.MinAvailable
		}
		requests, images := requestsAndImages(task)
		table.Rows = append(table.Rows, []string{task.Name, numberText(task.Replicas), numberText(least), requests, images})
	}
	return table
}

// requestsAndImages returns the table cells for the requests of each pod of a task and for its images.
func requestsAndImages(task *batchv1alpha1.TaskSpec) (requests, images string) {
	sum, names := corev1.ResourceList{}, []string{}
	for _, container := range task.Template.Spec.Containers {
		names = append(names, container.Image)
		addRequests(sum, container.Resources)
	}
	return textOrDefault(resourceText(sum), "-"), textOrDefault(strings.Join(names, ", "), "-")
}

// ResourceText formats a list of resources in a fixed order: cpu, memory, then the others by name.
func ResourceText(list corev1.ResourceList) string { return resourceText(list) }

// CountReplicas returns the total number of pods of the tasks.
func CountReplicas(tasks []batchv1alpha1.TaskSpec) int32 {
	return replicas(&batchv1alpha1.Job{Spec: batchv1alpha1.JobSpec{Tasks: tasks}})
}

// RequestsText returns the total requests of a pod's containers.
func RequestsText(spec *corev1.PodSpec) string {
	sum := corev1.ResourceList{}
	for i := range spec.Containers {
		addRequests(sum, spec.Containers[i].Resources)
	}
	return resourceText(sum)
}

// ReadRelated reads the PodGroup and the pods of a job. The PodGroup is nil if it does not exist. If the user lacks
// access to PodGroups or pods, that result is empty.
func ReadRelated(ctx context.Context, c client.Client, job *batchv1alpha1.Job) (*schedulingv1beta1.PodGroup, []*corev1.Pod, error) {
	group, err := clusterops.PodGroupOfJob(ctx, c, job)
	if ignoreForbidden(err) != nil {
		return nil, nil, err
	}
	pods, err := clusterops.PodsOfJob(ctx, c, job)
	return group, pods, ignoreForbidden(err)
}
