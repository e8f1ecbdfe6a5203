package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/queueusage"
	"github.com/vc-batch/vc/internal/render"
)

// mostWaiting is the maximum number of waiting jobs in a view.
const mostWaiting = 10

// newView returns `vcctl queue view`.
func newView(f *cli.Factory) *cobra.Command {
	queues := &resourcecmd.Kind[*schedulingv1beta1.Queue]{
		Noun: "queue", Called: "queue", GVK: queueKind(), ClusterScoped: true,
		New: func() *schedulingv1beta1.Queue { return &schedulingv1beta1.Queue{} }, NewList: newQueueList,
		View: buildSheet,
		ViewHelp: resourcecmd.Help{
			Short: "Show a queue: its usage and limits, and its waiting jobs",
			Long: `
				Show a queue: its state and its position in the hierarchy, its usage and limit for
				each resource, its jobs by phase, its waiting jobs in order, each with its
				reason, and the latest events. To see the waiting jobs, you need permission to
				list PodGroups in all namespaces.`,
			Examples: `
				# One queue
				vcctl queue view research

				# Watch: show the queue again whenever it changes
				vcctl queue view research -w`,
		},
	}
	return queues.NewViewCommand(f)
}

// buildSheet returns the details of one queue.
func buildSheet(ctx context.Context, f *cli.Factory, c client.Client, q *schedulingv1beta1.Queue, events bool) (*cli.Sheet, error) {
	now := f.Now()
	sheet := newFactSheet(ctx, f, q, now)
	sheet.AddTable("Resources", newAmountsTable(q))
	groups, err := listWaiting(ctx, c, q.Name)
	switch {
	case apierrors.IsForbidden(err):
		sheet.AddFact("Waiting", "not shown: you are not allowed to list PodGroups in all namespaces")
	case err != nil:
		return nil, err
	}
	sheet.AddTable("Waiting", newWaitingTable(groups, now))
	if more := len(groups) - mostWaiting; more > 0 {
		sheet.AddFact("Waiting", fmt.Sprintf("showing the first %d of %d; to see all: %s podgroup list -A --queue %s --phase Pending,Inqueue", mostWaiting, len(groups), f.Program, q.Name))
	}
	if !events {
		return sheet, nil
	}
	// Events about cluster-scoped objects are stored in this namespace.
	happened, err := clusterops.EventsAboutObjects(ctx, c, metav1.NamespaceDefault, q)
	switch {
	case apierrors.IsForbidden(err):
		sheet.AddFact("Events", "not shown: you are not allowed to list events in namespace "+metav1.NamespaceDefault)
	case err != nil:
		return nil, err
	}
	sheet.AddTable("Events", cli.NewEventTable(happened, now, func(*corev1.Event) string { return "queue/" + q.Name }))
	return sheet, nil
}

// newFactSheet returns the facts about a queue that fit on one line each.
func newFactSheet(ctx context.Context, f *cli.Factory, q *schedulingv1beta1.Queue, now time.Time) *cli.Sheet {
	style := render.Style{Enabled: f.Streams.IsColored()}
	queues := f.ReadQueues(ctx)
	forest := queueusage.NewForest(queues)
	var children []string
	for _, child := range forest.Children(q.Name) {
		children = append(children, child.Name)
	}
	sheet := &cli.Sheet{}
	sheet.AddFact("Name", q.Name)
	sheet.AddFact("State", style.PaintPhase(string(effectiveState(q)))+resourcecmd.DeletionSuffix(q))
	sheet.AddFact("Parent", q.Spec.Parent)
	sheet.AddFact("Children", strings.Join(children, ", "))
	sheet.AddFact("Weight", strconv.Itoa(int(q.Spec.Weight)))
	sheet.AddFact("Priority", strconv.Itoa(int(q.Spec.Priority)))
	sheet.AddFact("Reclaimable", strconv.FormatBool(q.Spec.Reclaimable == nil || *q.Spec.Reclaimable))
	sheet.AddFact("Job limits", effectiveLimitsText(q.Name, schedulingv1beta1.EffectiveJobLimitsOf(q.Name, schedulingv1beta1.NewQueueLookup(append(queues, q)...))))
	sheet.AddFact("Created", resourcecmd.CreatedText(q, now))
	sheet.AddFact("Jobs", jobsText(&q.Status))
	sheet.AddFact("Note", forest.Note(q))
	return sheet
}

// jobsText counts the jobs of a queue by phase and omits phases without jobs.
func jobsText(s *schedulingv1beta1.QueueStatus) string {
	var parts []string
	for _, part := range []struct {
		n     int32
		phase string
	}{{s.Running, "running"}, {s.Inqueue, "inqueue"}, {s.Pending, "pending"}, {s.Unknown, "unknown"}, {s.Completed, "completed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.phase))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// newAmountsTable returns a table with a row for each resource that a queue uses or limits.
func newAmountsTable(q *schedulingv1beta1.Queue) render.Table {
	columns := []struct {
		title string
		list  corev1.ResourceList
	}{
		{"ALLOCATED", q.Status.Allocated}, {"TERMINATING", q.Status.Terminating}, {"DESERVED", queueusage.DeservedResources(q)},
		{"GUARANTEE", q.Spec.Guarantee.Resource}, {"CAPABILITY", q.Spec.Capability},
	}
	table := render.Table{Header: []string{"RESOURCE"}}
	var names []string
	for _, column := range columns {
		table.Header = append(table.Header, column.title)
		for name := range column.list {
			if !slices.Contains(names, string(name)) {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		row := []string{name}
		for _, column := range columns {
			text := "-"
			if amount, has := column.list[corev1.ResourceName(name)]; has {
				text = amount.String()
			}
			row = append(row, text)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// listWaiting returns the PodGroups that are waiting in a queue, sorted by their positions in the queue.
func listWaiting(ctx context.Context, c client.Client, queue string) ([]*schedulingv1beta1.PodGroup, error) {
	var waiting []*schedulingv1beta1.PodGroup
	page := &schedulingv1beta1.PodGroupList{}
	err := cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			if g := &page.Items[i]; cmp.Or(g.Spec.Queue, keys.DefaultQueue) == queue && isWaiting(g) {
				waiting = append(waiting, g.DeepCopy())
			}
		}
		return nil
	})
	slices.SortFunc(waiting, func(a, b *schedulingv1beta1.PodGroup) int {
		return cmp.Or(cmp.Compare(queuePosition(a), queuePosition(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
	})
	return waiting, err
}

// isWaiting reports whether a PodGroup is waiting to be started.
func isWaiting(g *schedulingv1beta1.PodGroup) bool {
	switch g.Status.Phase {
	case "", schedulingv1beta1.PodGroupPending, schedulingv1beta1.PodGroupInqueue:
		return true
	}
	return false
}

// unplaced sorts after every position in a queue.
const unplaced = 1 << 30

// queuePosition returns the position of a PodGroup in its queue, as written by the scheduler.
func queuePosition(g *schedulingv1beta1.PodGroup) int32 {
	if e := g.Status.Explanation; e != nil && e.Queue != nil && e.Queue.Position > 0 {
		return e.Queue.Position
	}
	return unplaced
}

func newWaitingTable(groups []*schedulingv1beta1.PodGroup, now time.Time) render.Table {
	table := render.Table{Header: []string{"POSITION", "JOB", "MIN", "AGE", "REASON"}, FreeText: true}
	table.SetSpareColumns("MIN", "AGE", "POSITION")
	for _, g := range groups[:min(len(groups), mostWaiting)] {
		position := "-"
		if at := queuePosition(g); at != unplaced {
			position = strconv.Itoa(int(at))
		}
		table.Rows = append(table.Rows, []string{position, g.Namespace + "/" + ownerName(g), strconv.Itoa(int(g.Spec.MinMember)),
			render.FormatAgeSince(now, g.CreationTimestamp.Time), cmp.Or(jobstatus.GroupReason(g), "-")})
	}
	return table
}

// ownerName returns the name of the job that owns a PodGroup. Without an owner, it returns the PodGroup's own name.
func ownerName(g *schedulingv1beta1.PodGroup) string {
	if owner := metav1.GetControllerOf(g); owner != nil {
		return owner.Name
	}
	return g.Name
}
