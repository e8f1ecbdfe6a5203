// Package podgroup implements `vcctl podgroup`, the commands for gangs: pods that start together or not at all.
//
//	In:   PodGroups, their pods, events about both
//	Out:  tables, why a gang waits, PodGroups created and deleted
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
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

type podGroup = *schedulingv1beta1.PodGroup

// New returns `vcctl podgroup` with all its verbs.
func New(f *cli.Factory) *cobra.Command { return podGroups().Command(f) }

func podGroups() *resourcecmd.Kind[podGroup] {
	return &resourcecmd.Kind[podGroup]{
		Noun: "podgroup", Called: "pod group", Aliases: []string{"podgroups", "pg"}, Sample: "train",
		Short: "Gangs of pods: where they stand, and why they wait",
		Long: `
			Work with pod groups (podgroups.scheduling.volcano.sh): sets of pods that start
			together or not at all. Every job has one; plain pods of our scheduler get one.`,
		GVK: schedulingv1beta1.GroupVersion.WithKind("PodGroup"),
		New: func() podGroup { return &schedulingv1beta1.PodGroup{} }, NewList: func() client.ObjectList { return &schedulingv1beta1.PodGroupList{} },
		Columns: columns, FreeText: true, Spare: []string{"AGE", "QUEUE", "OWNER", "MIN", "READY"}, Filter: filter, View: view,
		Ended: func(g podGroup) bool { return g.Status.Phase == schedulingv1beta1.PodGroupCompleted },
		State: func(g podGroup) string { return string(phaseOf(g)) },
		ListHelp: resourcecmd.Help{
			Short: "List pod groups: queue, phase, pods that run, and why they wait",
			Long: `
				List pod groups. READY is the number of pods that run or have succeeded, MIN how
				many must start together. OWNER is what the group was made for. REASON says why it waits.
				--queue and --phase filter here, at the client. The name of a job stands for that
				of its pod group.`,
			Examples: `
				# In this namespace
				vcctl podgroup list

				# That of a job, by the job's name
				vcctl podgroup list train

				# What waits in a queue, wherever it is
				vcctl podgroup list -A --queue research --phase Pending,Inqueue

				# Follow: a row is added whenever one changes
				vcctl podgroup list -w`,
		},
		ViewHelp: resourcecmd.Help{
			Short: "Show a pod group: its pods, conditions, and why it waits",
			Long: `
				Show a pod group: what it needs, its pods, its conditions, the last events, and,
				while it waits, why, until when, and what would help, as 'vcctl job explain'
				tells it for a job.`,
			Examples: `
				# The group of a job, by the job's name
				vcctl podgroup view train

				# The reason alone, for a script
				vcctl podgroup view train -o jsonpath='{.status.explanation.reason}'`,
		},
		Otherwise:  ofJob,
		DeleteNote: `The pod group of a job is made anew by the job's controller; delete the job instead.`,
	}
}

// ofJob finds the PodGroup of a job by the job's name; the PodGroup's own name ends with the job's UID.
func ofJob(ctx context.Context, c client.Client, namespace, name string) (group podGroup, found bool, err error) {
	group, err = clusterops.GroupOfJobNamed(ctx, c, client.ObjectKey{Namespace: namespace, Name: cli.BareName(name, "jobs")})
	return group, err == nil && group != nil, err
}

func phaseOf(g podGroup) schedulingv1beta1.PodGroupPhase {
	return cmp.Or(g.Status.Phase, schedulingv1beta1.PodGroupPending)
}

var phases = []string{"Pending", "Inqueue", "Running", "Unknown", "Completed"}

func filter(f *cli.Factory, cmd *cobra.Command) func(context.Context, bool) (resourcecmd.Narrowed[podGroup], error) {
	var queues, wanted []string
	cmd.Flags().StringSliceVarP(&queues, "queue", "q", nil, "Only groups of these queues (filtered at the client)")
	cmd.Flags().StringSliceVar(&wanted, "phase", nil, "Only groups in these phases (filtered at the client): "+strings.Join(phases, ", "))
	_ = cmd.RegisterFlagCompletionFunc("queue", f.CompleteQueues())
	_ = cmd.RegisterFlagCompletionFunc("phase", cli.Values(phases...))
	return func(ctx context.Context, _ bool) (resourcecmd.Narrowed[podGroup], error) {
		f.WarnUnknown(ctx, "--queue", "queue", schedulingv1beta1.GroupVersion.WithKind("Queue"), queues...)
		words, err := cli.Words("--phase", "phase of a pod group", wanted, phases)
		if err != nil || len(queues)+len(words) == 0 {
			return resourcecmd.Narrowed[podGroup]{}, err
		}
		return resourcecmd.Narrowed[podGroup]{Keep: func(g podGroup) bool {
			return (len(queues) == 0 || slices.Contains(queues, queueOf(g))) && (len(words) == 0 || slices.Contains(words, string(phaseOf(g))))
		}}, nil
	}
}

func queueOf(g podGroup) string { return cmp.Or(g.Spec.Queue, keys.DefaultQueue) }

func columns(f *cli.Factory) []cli.Column[podGroup] {
	style := render.Style{Enabled: f.Streams.Color()}
	return []cli.Column[podGroup]{
		{Title: "NAME", Text: func(g podGroup) string { return g.Name }},
		{Title: "OWNER", Text: func(g podGroup) string { return ownerText(g) }},
		{Title: "QUEUE", Text: queueOf},
		{Title: "PHASE", Text: func(g podGroup) string { return style.Phase(string(phaseOf(g))) }},
		{Title: "READY", Text: func(g podGroup) string { return fmt.Sprint(g.Status.Running + g.Status.Succeeded) }},
		{Title: "MIN", Text: func(g podGroup) string { return fmt.Sprint(g.Spec.MinMember) }},
		{Title: "SUCCEEDED", Wide: true, Text: func(g podGroup) string { return fmt.Sprint(g.Status.Succeeded) }},
		{Title: "FAILED", Wide: true, Text: func(g podGroup) string { return fmt.Sprint(g.Status.Failed) }},
		{Title: "PRIORITY", Wide: true, Text: func(g podGroup) string { return cmp.Or(g.Spec.PriorityClassName, "-") }},
		{Title: "NEEDS", Wide: true, Text: needsText},
		{Title: "AGE", Volatile: true, Text: func(g podGroup) string { return render.Age(f.Now(), g.CreationTimestamp.Time) },
			Compare: func(a, b podGroup) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
		{Title: "REASON", Text: func(g podGroup) string { return cmp.Or(job.GroupReason(g), "-") }},
	}
}

// needsText formats the total request of the gang.
func needsText(g podGroup) string {
	if g.Spec.MinResources == nil {
		return "-"
	}
	return cmp.Or(job.ResourceText(*g.Spec.MinResources), "-")
}

func ownerOf(g podGroup) *metav1.OwnerReference {
	if owner := metav1.GetControllerOf(g); owner != nil {
		return owner
	}
	if len(g.OwnerReferences) > 0 {
		return &g.OwnerReferences[0]
	}
	return nil
}

func ownerText(g podGroup) string {
	owner := ownerOf(g)
	if owner == nil {
		return "-"
	}
	return strings.ToLower(owner.Kind) + "/" + owner.Name
}

func view(ctx context.Context, f *cli.Factory, c client.Client, g podGroup, events bool) (*cli.Sheet, error) {
	now, style := f.Now(), render.Style{Enabled: f.Streams.Color()}
	sheet := facts(g, style, now)
	found, err := podsOf(ctx, c, g)
	if err != nil {
		return nil, err
	}
	sheet.Add("Pods", podTable(found.pods, style, now))
	if found.more {
		sheet.Fact("Pods", fmt.Sprintf("some may be missing below: of the namespace's pods the first %d were looked at", mostPods))
	}
	sheet.Add("Conditions", conditionTable(g, now))
	if events {
		about := []client.Object{g}
		for _, pod := range found.pods {
			about = append(about, pod)
		}
		happened, err := clusterops.EventsAbout(ctx, c, g.Namespace, about...)
		if err != nil {
			return nil, err
		}
		sheet.Add("Events", cli.EventTable(happened, now, objectOf(g)))
	}
	addWhy(sheet, f, g, style)
	return sheet, nil
}

func facts(g podGroup, style render.Style, now time.Time) *cli.Sheet {
	sheet := &cli.Sheet{}
	sheet.Fact("Name", g.Name)
	sheet.Fact("Namespace", g.Namespace)
	sheet.Fact("Owner", ownerText(g))
	sheet.Fact("Phase", style.Phase(string(phaseOf(g)))+resourcecmd.Leaving(g))
	sheet.Fact("Queue", queueOf(g))
	sheet.Fact("Priority", g.Spec.PriorityClassName)
	sheet.Fact("Members", fmt.Sprintf("%d must start together; %d run, %d succeeded, %d failed", g.Spec.MinMember, g.Status.Running, g.Status.Succeeded, g.Status.Failed))
	var tasks []string
	for task, least := range g.Spec.MinTaskMember {
		tasks = append(tasks, fmt.Sprintf("%s %d", task, least))
	}
	slices.Sort(tasks)
	sheet.Fact("Of each task", strings.Join(tasks, ", "))
	if g.Spec.MinResources != nil {
		sheet.Fact("Needs", needsText(g))
	}
	sheet.Fact("Topology", topologyText(g.Spec.NetworkTopology))
	for _, policy := range g.Spec.SubGroupPolicy {
		sheet.Fact("Sub-groups", subGroupText(&policy))
	}
	sheet.Fact("Created", resourcecmd.Created(g, now))
	return sheet
}

func topologyText(t *schedulingv1beta1.NetworkTopologySpec) string {
	switch {
	case t == nil:
		return ""
	case t.HighestTierName != "":
		return fmt.Sprintf("%s, at most tier %s apart", t.Mode, t.HighestTierName)
	case t.HighestTierAllowed != nil:
		return fmt.Sprintf("%s, at most tier %d apart", t.Mode, *t.HighestTierAllowed)
	}
	return string(t.Mode)
}

func subGroupText(p *schedulingv1beta1.SubGroupPolicySpec) string {
	text := cmp.Or(p.Name, "unnamed")
	if p.SubGroupSize != nil {
		text += fmt.Sprintf(", %s each", jobstatus.Count(int(*p.SubGroupSize), "pod"))
	}
	if p.MinSubGroups != nil {
		text += fmt.Sprintf(", %d must start together", *p.MinSubGroups)
	}
	if t := topologyText(p.NetworkTopology); t != "" {
		text += ", " + t
	}
	return text
}

func conditionTable(g podGroup, now time.Time) render.Table {
	table := render.Table{Header: []string{"TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"}, FreeText: true}
	table.CanSpare("SINCE")
	for _, c := range g.Status.Conditions {
		table.Rows = append(table.Rows, []string{string(c.Type), string(c.Status), render.Age(now, c.LastTransitionTime.Time), cmp.Or(c.Reason, "-"), cmp.Or(c.Message, "-")})
	}
	return table
}

// addWhy adds the reason why the gang waits, if there is one, at the end of the sheet.
func addWhy(sheet *cli.Sheet, f *cli.Factory, g podGroup, style render.Style) {
	reason := job.GroupReason(g)
	if reason == "" {
		return
	}
	sheet.Sections = append(sheet.Sections, cli.Section{Title: "Why it waits", Write: func(out io.Writer, width int) {
		job.WriteSentence(out, reason, width)
		if e := g.Status.Explanation; e != nil {
			job.WriteExplanation(out, e, f.Program, style, f.Now(), width)
			return
		}
		job.WriteSentence(out, "The scheduler gave no explanation of its own; this is what the group's conditions say.", width)
	}})
}
