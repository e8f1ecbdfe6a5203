// Package jobflow implements `vcctl jobflow`, the commands for jobs that depend on other jobs.
//
//	In:   JobFlows; JobTemplates of steps that have not begun; events
//	Out:  tables, the steps as a tree, JobFlows created and deleted
//
// Pure functions (steps.go) compute the description of the steps from the flow and the names of the existing
// templates.
package jobflow

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/render"
)

type jobFlow = *flowv1alpha1.JobFlow

// New returns `vcctl jobflow` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	return jobFlows().NewCommand(f, newWait(f, waitForFlows), newRetry(f, retryFlows), newLogs(f, printLogs))
}

func jobFlows() *resourcecmd.Kind[jobFlow] {
	return &resourcecmd.Kind[jobFlow]{
		Noun: "jobflow", Called: "job flow", Aliases: []string{"jobflows", "jf"}, OldWord: "JobFlow", Sample: "night",
		Short: "Create, watch, retry and delete flows of dependent jobs",
		Long: `
			Work with job flows (jobflows.flow.volcano.sh). Each step of a flow runs a job that
			is created from a job template. A step starts when the steps that it depends on
			have completed or, if it defines probes for these steps, when the probes
			succeed.`,
		GVK: flowv1alpha1.GroupVersion.WithKind("JobFlow"),
		New: func() jobFlow { return &flowv1alpha1.JobFlow{} }, NewList: func() client.ObjectList { return &flowv1alpha1.JobFlowList{} },
		Columns: listColumns, FreeText: true, Spare: []string{"AGE", "STEPS"}, Compat: printCompatTable,
		View: buildSheet,
		Ended: func(flow jobFlow) bool {
			return phaseOf(flow) == flowv1alpha1.Succeed || phaseOf(flow) == flowv1alpha1.Failed
		},
		State: func(flow jobFlow) string { return string(phaseOf(flow)) },
		ListHelp: resourcecmd.Help{
			Short: "List job flows with their phase, steps and current activity",
			Long: `
				List job flows. STEPS is the number of completed steps, out of all steps. NOW shows
				which steps are running, have failed, or are waiting for others.`,
			Examples: `
				# In this namespace
				vcctl jobflow list

				# In all namespaces, with a new row whenever a flow changes
				vcctl jobflow list -A -w

				# Volcano's table
				vcctl jobflow list --compat`,
		},
		ViewHelp: resourcecmd.Help{
			Short: "Show a job flow: its steps as a tree, and what each is waiting for",
			Long: `
				Show a job flow: its steps, each below the steps that it depends on, the state of
				their jobs, what pending steps are waiting for (steps, probes, missing templates),
				and the latest events.`,
			Examples: `
				# One flow
				vcctl jobflow view night

				# Watch: show the flow whenever it changes, until it ends
				vcctl jobflow view night -w

				# The object
				vcctl jobflow view night -o yaml`,
		},
		CreateNote: `The job templates of the steps can be in the same files.`,
		Await:      waitForCreated, AwaitHelp: "Wait until the job flows have ended; exit with an error if a flow fails",
		DeleteNote: `Deleting a flow also deletes its jobs and their pods.`,
	}
}

func phaseOf(flow jobFlow) flowv1alpha1.Phase {
	return cmp.Or(flow.Status.State.Phase, flowv1alpha1.Pending)
}

func listColumns(f *cli.Factory) []cli.Column[jobFlow] {
	style := render.Style{Enabled: f.Streams.IsColored()}
	return []cli.Column[jobFlow]{
		{Title: "NAME", Text: func(flow jobFlow) string { return flow.Name }},
		{Title: "PHASE", Text: func(flow jobFlow) string { return style.PaintPhase(string(phaseOf(flow))) }},
		{Title: "STEPS", Text: func(flow jobFlow) string { return fmt.Sprintf("%d/%d", countCompleted(flow), len(flow.Spec.Flows)) },
			Compare: func(a, b jobFlow) int { return cmp.Compare(countCompleted(a), countCompleted(b)) }},
		{Title: "RUNNING", Wide: true, Text: func(flow jobFlow) string { return fmt.Sprint(len(flow.Status.RunningJobs)) }},
		{Title: "FAILED", Wide: true, Text: func(flow jobFlow) string {
			return fmt.Sprint(len(flow.Status.FailedJobs) + len(flow.Status.TerminatedJobs))
		}},
		{Title: "JOBS", Wide: true, Text: func(flow jobFlow) string { return retentionText(flow) }},
		{Title: "AGE", Volatile: true, Text: func(flow jobFlow) string { return render.FormatAgeSince(f.Now(), flow.CreationTimestamp.Time) },
			Compare: func(a, b jobFlow) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
		{Title: "NOW", Text: currentStateText},
	}
}

// retentionText describes what happens to the flow's jobs after it has succeeded.
func retentionText(flow jobFlow) string {
	if flow.Spec.JobRetainPolicy == flowv1alpha1.Delete {
		return "deleted"
	}
	return "kept"
}

// printCompatTable prints the table in the format of Volcano's vcctl.
func printCompatTable(out io.Writer, f *cli.Factory, flows []jobFlow, _ bool) error {
	var rows [][]string
	for _, flow := range flows {
		rows = append(rows, []string{flow.Name, flow.Namespace, string(flow.Status.State.Phase), render.FormatAgeSince(f.Now(), flow.CreationTimestamp.Time)})
	}
	return resourcecmd.PrintCompatTable(out, []string{"Name", "Namespace", "Phase", "Age"}, rows, 4, 4)
}

// missingTemplates returns the steps that can still begin but whose JobTemplate does not exist. It returns no steps
// for a user without access to JobTemplates.
func missingTemplates(ctx context.Context, c client.Client, flow jobFlow) (map[string]bool, error) {
	missing := map[string]bool{}
	for _, name := range unstartedSteps(flow) {
		missing[name] = true
	}
	if len(missing) == 0 {
		return nil, nil
	}
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(flowv1alpha1.GroupVersion.WithKind("JobTemplateList"))
	err := cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			delete(missing, page.Items[i].Name)
		}
		return nil
	}, client.InNamespace(flow.Namespace))
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	return missing, err
}

func buildSheet(ctx context.Context, f *cli.Factory, c client.Client, flow jobFlow, events bool) (*cli.Sheet, error) {
	missing, err := missingTemplates(ctx, c, flow)
	if err != nil {
		return nil, err
	}
	sheet := newFlowSheet(f, flow, missing)
	if !events {
		return sheet, nil
	}
	happened, err := clusterops.EventsAboutObjects(ctx, c, flow.Namespace, flow)
	sheet.AddTable("Events", cli.NewEventTable(happened, f.Now(), func(*corev1.Event) string { return "job flow" }))
	return sheet, err
}

func newFlowSheet(f *cli.Factory, flow jobFlow, missing map[string]bool) *cli.Sheet {
	now, style := f.Now(), render.Style{Enabled: f.Streams.IsColored()}
	sheet := &cli.Sheet{}
	sheet.AddFact("Name", flow.Name)
	sheet.AddFact("Namespace", flow.Namespace)
	sheet.AddFact("Phase", style.PaintPhase(string(phaseOf(flow)))+resourcecmd.DeletionSuffix(flow))
	sheet.AddFact("Steps", fmt.Sprintf("%d of %d completed", countCompleted(flow), len(flow.Spec.Flows)))
	sheet.AddFact("Jobs", retentionText(flow)+" after all have completed")
	sheet.AddFact("Created", resourcecmd.CreatedText(flow, now))
	steps := newSteps(flow, missing)
	table := render.Table{Header: []string{"STEP", "STATE", "JOB", "RUNTIME", "RETRIES", "AFTER"}, FreeText: true}
	table.SetSpareColumns("RETRIES", "RUNTIME", "JOB")
	for i, step := range sortAsTree(steps) {
		table.Rows = append(table.Rows, []string{treeBranches(sortAsTree(steps), i, f.Streams.SupportsUnicode()) + step.name, style.PaintPhase(step.state),
			step.jobText(), step.runtimeText(now), step.retriesText(), cmp.Or(step.dependenciesText(), "-")})
	}
	sheet.AddTable("Steps", table)
	var lines []string
	for _, step := range steps {
		if step.waits != "" {
			lines = append(lines, step.name+": "+render.ReplaceProgramName(step.waits, f.Program))
		}
	}
	if len(lines) > 0 {
		sheet.Sections = append(sheet.Sections, cli.Section{Title: "Waiting", Write: func(out io.Writer, width int) {
			for _, line := range lines {
				render.WriteWrapped(out, "  ", "    ", line, width)
			}
		}})
	}
	return sheet
}

// elapsedText returns the time from start to end, or to now if end is not set.
func elapsedText(start, end, now time.Time) string {
	if start.IsZero() {
		return "-"
	}
	if end.IsZero() {
		end = now
	}
	return render.FormatDuration(max(0, end.Sub(start)))
}
