// Package jobtemplate implements `vcctl jobtemplate`, the commands for the templates from which job flows create
// jobs.
//
//	In:   JobTemplates and events about them
//	Out:  tables, JobTemplates created and deleted
package jobtemplate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/show"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

type jobTemplate = *flowv1alpha1.JobTemplate

// New returns `vcctl jobtemplate` with all its verbs.
func New(f *cli.Factory) *cobra.Command { return jobTemplates().NewCommand(f) }

func jobTemplates() *resourcecmd.Kind[jobTemplate] {
	return &resourcecmd.Kind[jobTemplate]{
		Noun: "jobtemplate", Called: "job template", Aliases: []string{"jobtemplates", "jt"}, OldWord: "JobTemplate", Sample: "serve",
		Short: "List, show, create and delete the job templates of job flows",
		Long: `
			Work with job templates (jobtemplates.flow.volcano.sh). The steps of job flows
			create their jobs from these templates.`,
		GVK: flowv1alpha1.GroupVersion.WithKind("JobTemplate"),
		New: func() jobTemplate { return &flowv1alpha1.JobTemplate{} }, NewList: func() client.ObjectList { return &flowv1alpha1.JobTemplateList{} },
		Columns: listColumns, Spare: []string{"AGE", "MIN", "TASKS", "JOBS"}, Compat: printCompatTable, View: buildSheet,
		State: func(template jobTemplate) string { return madeText(template) },
		ListHelp: resourcecmd.Help{
			Short: "List job templates with the size and number of their jobs",
			Long: `
				List job templates. PODS is the number of pods of a job created from the
				template, and MIN is the number of these pods that must run together. JOBS is
				the number of existing jobs that were created from the template.`,
			Examples: `
				# In this namespace
				vcctl jobtemplate list

				# The names of the jobs created from each template
				vcctl jobtemplate list -o custom-columns=NAME:.metadata.name,JOBS:.status.jobDependsOnList

				# Volcano's table
				vcctl jobtemplate list --compat`,
		},
		ViewHelp: resourcecmd.Help{
			Short: "Show a job template: its tasks, and the jobs created from it",
			Long: `
				Show a job template: its tasks and their requests, the existing jobs that were
				created from it, and the latest events.`,
			Examples: `
				# One template
				vcctl jobtemplate view serve

				# The object
				vcctl jobtemplate view serve -o yaml`,
		},
		DeleteNote: `Jobs that were created from a template remain; steps that have not started wait until
			a template with this name exists again.`,
	}
}

func madeText(template jobTemplate) string {
	if n := len(template.Status.JobDependsOnList); n != 1 {
		return fmt.Sprintf("%d jobs", n)
	}
	return "1 job"
}

func listColumns(f *cli.Factory) []cli.Column[jobTemplate] {
	return []cli.Column[jobTemplate]{
		{Title: "NAME", Text: func(t jobTemplate) string { return t.Name }},
		{Title: "QUEUE", Text: func(t jobTemplate) string { return cmp.Or(t.Spec.Queue, keys.DefaultQueue) }},
		{Title: "TASKS", Text: func(t jobTemplate) string { return fmt.Sprint(len(t.Spec.Tasks)) }},
		{Title: "PODS", Text: func(t jobTemplate) string { return fmt.Sprint(countPods(t)) }},
		{Title: "MIN", Text: func(t jobTemplate) string { return fmt.Sprint(minimumPods(t)) }},
		{Title: "JOBS", Text: func(t jobTemplate) string { return fmt.Sprint(len(t.Status.JobDependsOnList)) }},
		{Title: "PRIORITY", Wide: true, Text: func(t jobTemplate) string { return cmp.Or(t.Spec.PriorityClassName, "-") }},
		{Title: "AGE", Volatile: true, Text: func(t jobTemplate) string { return render.FormatAgeSince(f.Now(), t.CreationTimestamp.Time) },
			Compare: func(a, b jobTemplate) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
	}
}

// countPods returns the number of pods in each job that is created from the template.
func countPods(t jobTemplate) int32 {
	return jobstatus.CountReplicas(&batchv1alpha1.Job{Spec: t.Spec})
}

// minimumPods returns the minimum number of pods that must start together; by default, all pods.
func minimumPods(t jobTemplate) int32 {
	return cmp.Or(t.Spec.MinAvailable, countPods(t))
}

// printCompatTable prints the table in the format of Volcano's vcctl.
func printCompatTable(out io.Writer, _ *cli.Factory, templates []jobTemplate, _ bool) error {
	var rows [][]string
	for _, t := range templates {
		rows = append(rows, []string{t.Name, t.Namespace})
	}
	return resourcecmd.PrintCompatTable(out, []string{"Name", "Namespace"}, rows, 4, 4)
}

// maxJobs is the maximum number of jobs created from a template that a view lists.
const maxJobs = 20

func buildSheet(ctx context.Context, f *cli.Factory, c client.Client, t jobTemplate, events bool) (*cli.Sheet, error) {
	sheet := &cli.Sheet{}
	sheet.AddFact("Name", t.Name)
	sheet.AddFact("Namespace", t.Namespace)
	sheet.AddFact("Queue", cmp.Or(t.Spec.Queue, keys.DefaultQueue))
	sheet.AddFact("Priority", t.Spec.PriorityClassName)
	sheet.AddFact("Pods", fmt.Sprintf("%d, %d must run together", countPods(t), minimumPods(t)))
	jobs := t.Status.JobDependsOnList
	text := strings.Join(jobs[:min(len(jobs), maxJobs)], ", ")
	if len(jobs) > maxJobs {
		text += fmt.Sprintf(" and %d more", len(jobs)-maxJobs)
	}
	sheet.AddFact("Jobs", cmp.Or(text, "none"))
	sheet.AddFact("Created", resourcecmd.CreatedText(t, f.Now()))
	sheet.AddTable("Tasks", show.NewTemplateTable(t.Spec.Tasks))
	if !events {
		return sheet, nil
	}
	happened, err := clusterops.EventsAboutObjects(ctx, c, t.Namespace, t)
	sheet.AddTable("Events", cli.NewEventTable(happened, f.Now(), func(*corev1.Event) string { return "job template" }))
	return sheet, err
}
