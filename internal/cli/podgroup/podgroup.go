// Package podgroup implements `vcctl podgroup`, the commands for gangs, that is, pods that start together or not at
// all.
//
//	In:   PodGroups, their pods, events about both
//	Out:  tables, the reason why a gang is waiting, PodGroups created and deleted
package podgroup

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

type podGroup = *schedulingv1beta1.PodGroup

// New returns `vcctl podgroup` with all its verbs.
func New(f *cli.Factory) *cobra.Command { return podGroups().NewCommand(f) }

func podGroups() *resourcecmd.Kind[podGroup] {
	return &resourcecmd.Kind[podGroup]{
		Noun: "podgroup", Called: "pod group", Aliases: []string{"podgroups", "pg"}, Sample: "train",
		Short: "List and show pod groups (gangs), and why they are waiting",
		Long: `
			Work with pod groups (podgroups.scheduling.volcano.sh): sets of pods that start
			together or not at all. Every job has a pod group; vc also creates pod groups
			for the other pods that it schedules.`,
		GVK: schedulingv1beta1.GroupVersion.WithKind("PodGroup"),
		New: func() podGroup { return &schedulingv1beta1.PodGroup{} }, NewList: func() client.ObjectList { return &schedulingv1beta1.PodGroupList{} },
		Columns: listColumns, FreeText: true, Spare: []string{"AGE", "QUEUE", "OWNER", "MIN", "READY"}, Filter: addFilterFlags, View: buildSheet,
		Ended: func(g podGroup) bool { return g.Status.Phase == schedulingv1beta1.PodGroupCompleted },
		State: func(g podGroup) string { return string(phaseOf(g)) },
		ListHelp: resourcecmd.Help{
			Short: "List pod groups with their queue, phase and reason for waiting",
			Long: `
				List pod groups. READY is the number of pods that are running or have succeeded.
				MIN is the number of pods that must start together. OWNER is the object that the
				group was created for. REASON shows why the group is waiting. --queue and --phase
				filter on the client side. You can specify a job's name instead of its pod group's
				name.`,
			Examples: `
				# In this namespace
				vcctl podgroup list

				# The group of a job, by the job's name
				vcctl podgroup list train

				# Waiting groups of a queue, in all namespaces
				vcctl podgroup list -A --queue research --phase Pending,Inqueue

				# Watch: a row is added whenever a group changes
				vcctl podgroup list -w`,
		},
		ViewHelp: resourcecmd.Help{
			Short: "Show a pod group: its pods, conditions, and why it is waiting",
			Long: `
				Show a pod group: its requests, its pods, its conditions, and the latest events. If
				it is waiting, the reason, the estimated start and possible solutions follow, as in
				'vcctl job explain'.`,
			Examples: `
				# The group of a job, by the job's name
				vcctl podgroup view train

				# Only the reason, for a script
				vcctl podgroup view train -o jsonpath='{.status.explanation.reason}'`,
		},
		Otherwise:  findByJob,
		DeleteNote: `The controller re-creates the pod group of a job; delete the job instead.`,
	}
}

// findByJob finds the PodGroup of a job by the name of the job. Users usually do not know the PodGroup's own name,
// because it ends with the job's UID.
func findByJob(ctx context.Context, c client.Client, namespace, name string) (group podGroup, found bool, err error) {
	group, err = clusterops.PodGroupOfJobNamed(ctx, c, client.ObjectKey{Namespace: namespace, Name: cli.BareName(name, "jobs")})
	return group, err == nil && group != nil, err
}

func phaseOf(g podGroup) schedulingv1beta1.PodGroupPhase {
	return cmp.Or(g.Status.Phase, schedulingv1beta1.PodGroupPending)
}

var phases = []string{"Pending", "Inqueue", "Running", "Unknown", "Completed"}

func addFilterFlags(f *cli.Factory, cmd *cobra.Command) func(context.Context, bool) (resourcecmd.Narrowed[podGroup], error) {
	var queues, wanted []string
	cmd.Flags().StringSliceVarP(&queues, "queue", "q", nil, "Only groups in these queues (filtered on the client side)")
	cmd.Flags().StringSliceVar(&wanted, "phase", nil, "Only groups in these phases (filtered on the client side): "+strings.Join(phases, ", "))
	_ = cmd.RegisterFlagCompletionFunc("queue", f.CompleteQueues())
	_ = cmd.RegisterFlagCompletionFunc("phase", cli.CompleteValues(phases...))
	return func(ctx context.Context, _ bool) (resourcecmd.Narrowed[podGroup], error) {
		f.WarnUnknown(ctx, "--queue", "queue", schedulingv1beta1.GroupVersion.WithKind("Queue"), queues...)
		words, err := cli.ParseWords("--phase", "phase of a pod group", wanted, phases)
		if err != nil || len(queues)+len(words) == 0 {
			return resourcecmd.Narrowed[podGroup]{}, err
		}
		return resourcecmd.Narrowed[podGroup]{Keep: func(g podGroup) bool {
			inQueue := len(queues) == 0 || slices.Contains(queues, queueNameOf(g))
			inPhase := len(words) == 0 || slices.Contains(words, string(phaseOf(g)))
			return inQueue && inPhase
		}}, nil
	}
}

func queueNameOf(g podGroup) string { return cmp.Or(g.Spec.Queue, keys.DefaultQueue) }

func listColumns(f *cli.Factory) []cli.Column[podGroup] {
	style := render.Style{Enabled: f.Streams.IsColored()}
	return []cli.Column[podGroup]{
		{Title: "NAME", Text: func(g podGroup) string { return g.Name }},
		{Title: "OWNER", Text: func(g podGroup) string { return ownerText(g) }},
		{Title: "QUEUE", Text: queueNameOf},
		{Title: "PHASE", Text: func(g podGroup) string { return style.PaintPhase(string(phaseOf(g))) }},
		{Title: "READY", Text: func(g podGroup) string { return fmt.Sprint(g.Status.Running + g.Status.Succeeded) }},
		{Title: "MIN", Text: func(g podGroup) string { return fmt.Sprint(g.Spec.MinMember) }},
		{Title: "SUCCEEDED", Wide: true, Text: func(g podGroup) string { return fmt.Sprint(g.Status.Succeeded) }},
		{Title: "FAILED", Wide: true, Text: func(g podGroup) string { return fmt.Sprint(g.Status.Failed) }},
		{Title: "PRIORITY", Wide: true, Text: func(g podGroup) string { return cmp.Or(g.Spec.PriorityClassName, "-") }},
		{Title: "NEEDS", Wide: true, Text: requestText},
		{Title: "AGE", Volatile: true, Text: func(g podGroup) string { return render.FormatAgeSince(f.Now(), g.CreationTimestamp.Time) },
			Compare: func(a, b podGroup) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
		{Title: "REASON", Text: func(g podGroup) string { return cmp.Or(jobstatus.GroupReason(g), "-") }},
	}
}

// requestText formats the total resource request of the gang.
func requestText(g podGroup) string {
	if g.Spec.MinResources == nil {
		return "-"
	}
	return cmp.Or(jobstatus.ResourceText(*g.Spec.MinResources), "-")
}

func controllerOf(g podGroup) *metav1.OwnerReference {
	if owner := metav1.GetControllerOf(g); owner != nil {
		return owner
	}
	if len(g.OwnerReferences) > 0 {
		return &g.OwnerReferences[0]
	}
	return nil
}

func ownerText(g podGroup) string {
	owner := controllerOf(g)
	if owner == nil {
		return "-"
	}
	return strings.ToLower(owner.Kind) + "/" + owner.Name
}

func buildSheet(ctx context.Context, f *cli.Factory, c client.Client, g podGroup, events bool) (*cli.Sheet, error) {
	now, style := f.Now(), render.Style{Enabled: f.Streams.IsColored()}
	sheet := newFactSheet(g, style, now)
	found, err := findGroupPods(ctx, c, g)
	if err != nil {
		return nil, err
	}
	sheet.AddTable("Pods", newPodTable(found.pods, style, now))
	if found.more {
		sheet.AddFact("Pods", fmt.Sprintf("the list below may be incomplete: only the first %d pods in the namespace were checked", mostPods))
	}
	sheet.AddTable("Conditions", newConditionTable(g, now))
	if events {
		about := []client.Object{g}
		for _, pod := range found.pods {
			about = append(about, pod)
		}
		happened, err := clusterops.EventsAboutObjects(ctx, c, g.Namespace, about...)
		if err != nil {
			return nil, err
		}
		sheet.AddTable("Events", cli.NewEventTable(happened, now, objectDescriber(g)))
	}
	addReason(sheet, f, g, style)
	return sheet, nil
}

func newFactSheet(g podGroup, style render.Style, now time.Time) *cli.Sheet {
	sheet := &cli.Sheet{}
	sheet.AddFact("Name", g.Name)
	sheet.AddFact("Namespace", g.Namespace)
	sheet.AddFact("Owner", ownerText(g))
	sheet.AddFact("Phase", style.PaintPhase(string(phaseOf(g)))+resourcecmd.DeletionSuffix(g))
	sheet.AddFact("Queue", queueNameOf(g))
	sheet.AddFact("Priority", g.Spec.PriorityClassName)
	sheet.AddFact("Members", fmt.Sprintf("%d must start together; %d running, %d succeeded, %d failed", g.Spec.MinMember, g.Status.Running, g.Status.Succeeded, g.Status.Failed))
	var tasks []string
	for task, least := range g.Spec.MinTaskMember {
		tasks = append(tasks, fmt.Sprintf("%s %d", task, least))
	}
	slices.Sort(tasks)
	sheet.AddFact("Of each task", strings.Join(tasks, ", "))
	if g.Spec.MinResources != nil {
		sheet.AddFact("Needs", requestText(g))
	}
	sheet.AddFact("Topology", topologyText(g.Spec.NetworkTopology))
	for _, policy := range g.Spec.SubGroupPolicy {
		sheet.AddFact("Sub-groups", subGroupText(&policy))
	}
	sheet.AddFact("Created", resourcecmd.CreatedText(g, now))
	return sheet
}

func topologyText(t *schedulingv1beta1.NetworkTopologySpec) string {
	switch {
	case t == nil:
		return ""
	case t.HighestTierName != "":
		return fmt.Sprintf("%s, within a HyperNode of tier %s or lower", t.Mode, t.HighestTierName)
	case t.HighestTierAllowed != nil:
		return fmt.Sprintf("%s, within a HyperNode of tier %d or lower", t.Mode, *t.HighestTierAllowed)
	}
	return string(t.Mode)
}

func subGroupText(p *schedulingv1beta1.SubGroupPolicySpec) string {
	text := cmp.Or(p.Name, "unnamed")
	if p.SubGroupSize != nil {
		text += fmt.Sprintf(", %s each", textformat.CountWithNoun(int(*p.SubGroupSize), "pod"))
	}
	if p.MinSubGroups != nil {
		text += fmt.Sprintf(", %d must start together", *p.MinSubGroups)
	}
	if t := topologyText(p.NetworkTopology); t != "" {
		text += ", " + t
	}
	return text
}

func newConditionTable(g podGroup, now time.Time) render.Table {
	table := render.Table{Header: []string{"TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"}, FreeText: true}
	table.SetSpareColumns("SINCE")
	for _, c := range g.Status.Conditions {
		table.Rows = append(table.Rows, []string{string(c.Type), string(c.Status), render.FormatAgeSince(now, c.LastTransitionTime.Time), cmp.Or(c.Reason, "-"), cmp.Or(c.Message, "-")})
	}
	return table
}

// addReason adds the reason why the gang is waiting, if any, to the end of the sheet.
func addReason(sheet *cli.Sheet, f *cli.Factory, g podGroup, style render.Style) {
	reason := jobstatus.GroupReason(g)
	if reason == "" {
		return
	}
	sheet.Sections = append(sheet.Sections, cli.Section{Title: "Why it is waiting", Write: func(out io.Writer, width int) {
		jobstatus.WriteSentence(out, reason, width)
		if e := g.Status.Explanation; e != nil {
			jobstatus.WriteExplanation(out, e, f.Program, style, f.Now(), width)
			return
		}
		jobstatus.WriteSentence(out, "The scheduler provided no explanation; this reason comes from the group's conditions.", width)
	}})
}
