// Package pod implements `vcctl pod`, the commands for the pods of jobs.
//
//	In:   Pods, by job, task, node and queue; events about them
//	Out:  tables, the reason why a pod is not running, Pods created and deleted
package pod

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

// New returns `vcctl pod` with all its verbs.
func New(f *cli.Factory) *cobra.Command { return podKind().NewCommand(f) }

func podKind() *resourcecmd.Kind[*corev1.Pod] {
	return &resourcecmd.Kind[*corev1.Pod]{
		Noun: "pod", Called: "pod", Aliases: []string{"pods", "po"}, Sample: "train-worker-0",
		Short: "List and show the pods of jobs, and why they are not running",
		Long: `
			Work with the pods of jobs: list them by job, task, node and queue, and see why a
			pod does not run. For logs, use 'vcctl job logs'; for everything else, use
			kubectl.`,
		GVK: corev1.SchemeGroupVersion.WithKind("Pod"),
		New: func() *corev1.Pod { return &corev1.Pod{} }, NewList: func() client.ObjectList { return &corev1.PodList{} },
		Columns: listColumns, FreeText: true, Spare: []string{"TASK", "RESTARTS", "JOB", "AGE", "READY", "NODE"}, Filter: addFilterFlags, Compat: printCompatTable, View: buildSheet,
		Ended: func(pod *corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		},
		State: cli.PodStatus,
		ListHelp: resourcecmd.Help{
			Short: "List the pods of jobs, with the reasons why they are not running",
			Long: `
				List the pods of jobs. Other pods are listed if you name them, or with --any.
				REASON shows why a pod is waiting or why it failed. --job, --node and --phase
				filter on the server; --task and --queue filter on the client side.`,
			Examples: `
				# The pods of all jobs in this namespace
				vcctl pod list

				# The pods of one task of a job, with their addresses
				vcctl pod list --job train --task worker -o wide

				# All pods on a node
				vcctl pod list -A --node node-1 --any

				# Volcano's table
				vcctl pod list --queue research --compat`,
		},
		ViewHelp: resourcecmd.Help{
			Short: "Show a pod: its containers, its gang, and why it is not running",
			Long: `
				Show a pod: its job, task and gang, its containers and how they ended, its
				conditions, the latest events, and why it does not run.`,
			Examples: `
				# One pod
				vcctl pod view train-worker-0

				# Watch: show the pod whenever it changes, until it ends
				vcctl pod view train-worker-0 -w`,
		},
		CreateNote: `vc schedules only pods with schedulerName: volcano. If several pods must start
			together, create a job.`,
		DeleteNote: `If you delete a pod of a job, the job's policies determine whether the pod is re-created or the job ends.`,
	}
}

func jobNameOf(pod *corev1.Pod) string { return pod.Labels[keys.JobName] }

func taskNameOf(pod *corev1.Pod) string {
	return cmp.Or(pod.Labels[keys.TaskSpec], pod.Annotations[keys.TaskSpec])
}

// queueNameOf returns the queue in the pod's label or annotation, or "".
func queueNameOf(pod *corev1.Pod) string {
	return cmp.Or(pod.Labels[keys.QueueName], pod.Annotations[keys.PodQueueName])
}

func listColumns(f *cli.Factory) []cli.Column[*corev1.Pod] {
	type pod = *corev1.Pod
	style := render.Style{Enabled: f.Streams.IsColored()}
	return []cli.Column[pod]{
		{Title: "NAME", Text: func(p pod) string { return p.Name }},
		{Title: "JOB", Text: func(p pod) string { return cmp.Or(jobNameOf(p), "-") }},
		{Title: "TASK", Text: func(p pod) string { return cmp.Or(taskNameOf(p), "-") }},
		{Title: "READY", Text: cli.PodReady},
		{Title: "STATUS", Text: func(p pod) string { return style.PaintPhase(cli.PodStatus(p)) }},
		{Title: "RESTARTS", Text: func(p pod) string { return cli.PodRestarts(p, f.Now()) }},
		{Title: "NODE", Text: func(p pod) string { return cmp.Or(p.Spec.NodeName, "-") }},
		{Title: "IP", Wide: true, Text: func(p pod) string { return cmp.Or(p.Status.PodIP, "-") }},
		{Title: "QUEUE", Wide: true, Text: func(p pod) string { return cmp.Or(queueNameOf(p), "-") }},
		{Title: "GROUP", Wide: true, Text: func(p pod) string { return cmp.Or(keys.PodGroupOf(p.Annotations), "-") }},
		{Title: "PRIORITY", Wide: true, Text: func(p pod) string { return cmp.Or(p.Spec.PriorityClassName, "-") }},
		{Title: "AGE", Volatile: true, Text: func(p pod) string { return render.FormatAgeSince(f.Now(), p.CreationTimestamp.Time) },
			Compare: func(a, b pod) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
		{Title: "REASON", Text: func(p pod) string { return cmp.Or(jobstatus.PodReason(p, nil), "-") }},
	}
}

// printCompatTable prints the table in the format of Volcano's vcctl, sorted by namespace and name.
func printCompatTable(out io.Writer, f *cli.Factory, pods []*corev1.Pod, allNamespaces bool) error {
	titles := []string{"Name", "Ready", "Status", "Restart", "Age"}
	if allNamespaces {
		titles = append([]string{"Namespace"}, titles...)
	}
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	var rows [][]string
	for _, pod := range sorted {
		row := []string{pod.Name, cli.PodReady(pod), cli.PodStatus(pod), cli.PodRestarts(pod, f.Now()), render.FormatAgeSince(f.Now(), pod.CreationTimestamp.Time)}
		if allNamespaces {
			row = append([]string{pod.Namespace}, row...)
		}
		rows = append(rows, row)
	}
	return resourcecmd.PrintCompatTable(out, titles, rows, 2, 8)
}

func buildSheet(ctx context.Context, f *cli.Factory, c client.Client, pod *corev1.Pod, events bool) (*cli.Sheet, error) {
	now, style := f.Now(), render.Style{Enabled: f.Streams.IsColored()}
	sheet := &cli.Sheet{}
	sheet.AddFact("Name", pod.Name)
	sheet.AddFact("Namespace", pod.Namespace)
	sheet.AddFact("Status", style.PaintPhase(cli.PodStatus(pod)))
	sheet.AddFact("Job", jobNameOf(pod))
	sheet.AddFact("Task", taskText(pod))
	sheet.AddFact("Pod group", keys.PodGroupOf(pod.Annotations))
	sheet.AddFact("Queue", queueNameOf(pod))
	sheet.AddFact("Scheduler", pod.Spec.SchedulerName)
	sheet.AddFact("Priority", pod.Spec.PriorityClassName)
	sheet.AddFact("Node", cmp.Or(pod.Spec.NodeName, "none yet"))
	sheet.AddFact("Nominated", pod.Status.NominatedNodeName)
	sheet.AddFact("IP", pod.Status.PodIP)
	sheet.AddFact("Requests", jobstatus.RequestsText(&pod.Spec))
	sheet.AddFact("Created", resourcecmd.CreatedText(pod, now))
	sheet.AddTable("Containers", newContainerTable(pod, style, f))
	conditions := render.Table{Header: []string{"TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"}, FreeText: true}
	for _, one := range pod.Status.Conditions {
		conditions.Rows = append(conditions.Rows, []string{string(one.Type), string(one.Status), render.FormatAgeSince(now, one.LastTransitionTime.Time), cmp.Or(one.Reason, "-"), cmp.Or(one.Message, "-")})
	}
	sheet.AddTable("Conditions", conditions)
	// The reason why a pod is not running may be found only in the events.
	happened, err := clusterops.EventsAboutObjects(ctx, c, pod.Namespace, pod)
	if err != nil {
		return nil, err
	}
	if events {
		sheet.AddTable("Events", cli.NewEventTable(happened, now, func(*corev1.Event) string { return "pod" }))
	}
	addReason(sheet, f, pod, happened)
	return sheet, nil
}

func taskText(pod *corev1.Pod) string {
	task := taskNameOf(pod)
	if index := cmp.Or(pod.Labels[keys.TaskIndex], pod.Annotations[keys.TaskIndex]); task != "" && index != "" {
		task += ", pod " + index
	}
	return task
}

func newContainerTable(pod *corev1.Pod, style render.Style, f *cli.Factory) render.Table {
	table := render.Table{Header: []string{"NAME", "STATE", "RESTARTS", "SINCE", "IMAGE"}, FreeText: true}
	table.SetSpareColumns("SINCE", "RESTARTS")
	add := func(containers []corev1.Container, statuses []corev1.ContainerStatus, prefix string) {
		for i := range containers {
			state, since, restarts := "Waiting", "-", "0"
			at := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == containers[i].Name })
			if at >= 0 {
				restarts = strconv.Itoa(int(statuses[at].RestartCount))
				switch s := statuses[at].State; {
				case s.Running != nil:
					state, since = "Running", render.FormatAgeSince(f.Now(), s.Running.StartedAt.Time)
				case s.Terminated != nil:
					state, since = fmt.Sprintf("%s (%d)", cmp.Or(s.Terminated.Reason, "Ended"), s.Terminated.ExitCode), render.FormatAgeSince(f.Now(), s.Terminated.FinishedAt.Time)
				case s.Waiting != nil:
					state = cmp.Or(s.Waiting.Reason, state)
				}
			}
			table.Rows = append(table.Rows, []string{prefix + containers[i].Name, style.PaintPhase(state), restarts, since, containers[i].Image})
		}
	}
	add(pod.Spec.InitContainers, pod.Status.InitContainerStatuses, "init: ")
	add(pod.Spec.Containers, pod.Status.ContainerStatuses, "")
	return table
}

// addReason adds the reason why the pod is not running, if any, to the end of the sheet.
func addReason(sheet *cli.Sheet, f *cli.Factory, pod *corev1.Pod, events []corev1.Event) {
	reason := jobstatus.PodReason(pod, events)
	if reason == "" {
		return
	}
	title, hint := "Why it is waiting", ""
	switch {
	case pod.Status.Phase == corev1.PodFailed:
		title, hint = "Why it failed", "job logs "+jobNameOf(pod)+" --failed"
	case pod.Spec.NodeName == "":
		hint = "job explain " + jobNameOf(pod)
	default:
		hint = "job logs " + jobNameOf(pod) + " --previous"
	}
	sheet.Sections = append(sheet.Sections, cli.Section{Title: title, Write: func(out io.Writer, width int) {
		jobstatus.WriteSentence(out, reason, width)
		if jobNameOf(pod) != "" {
			jobstatus.WriteSentence(out, "More: "+f.CommandText(hint), width)
		}
	}})
}
