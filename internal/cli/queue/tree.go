package queue

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
)

// treeOptions holds the inputs of `vcctl queue tree`.
type treeOptions struct {
	f      *cli.Factory
	out    cli.Output
	names  []string
	labels string
}

func newTree(f *cli.Factory, run func(context.Context, *treeOptions) error) *cobra.Command {
	o := &treeOptions{f: f}
	cmd := &cobra.Command{
		Use:   "tree [NAME...]",
		Short: "Show the hierarchy of queues, their usage and borrowed resources",
		Long: cli.FormatHelp(`
			Show the hierarchy of queues, or only the subtrees of the specified queues. RUN and
			PEND are the numbers of running and pending jobs (pod groups) in a queue and its
			descendants. USED shows the resource that is closest to its limit: the queue's
			capability or, if it has none, what the queue deserves. The part to the right of
			the mark | exceeds what the queue deserves. NOTE shows which sibling queue lends
			this part. That queue can reclaim it when needed.

			All values come from the status of the queues, which the scheduler and the queue
			controller update at most once per second.`),
		Example: f.FormatExamples(`
			# All queues
			vcctl queue tree

			# The subtree of a queue, with deserved amounts and limits
			vcctl queue tree research -o wide

			# Watch: show the tree whenever a queue changes
			vcctl queue tree -w`),
		ValidArgsFunction: f.CompleteQueues(),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				o.names = append(o.names, cli.BareName(arg, "queues"))
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "Show the queues that match this label selector")
	o.out.AddListFlags(cmd)
	cli.AcceptAllNamespaces(cmd)
	cli.CompleteColumns(cmd, func() []column { return treeColumns(f, &queueTree{}) })
	return cmd
}

// queueTree holds the known queues, from which the tree is drawn.
type queueTree struct {
	signs  queueusage.Branches
	known  []*schedulingv1beta1.Queue
	forest *queueusage.Forest
	shown  func(name string) bool
	indent map[string]string
	// loose is true if rows are not printed as a tree, because they are sorted or are printed one by one when queues
	// change. The names then include the names of the parent queues.
	loose bool
	drawn bool
	found map[string]bool // queues that match the selector; nil without a selector
}

// addQueues adds queues, replaces older versions of them and redraws the tree.
func (g *queueTree) addQueues(queues ...*schedulingv1beta1.Queue) []queueusage.Branch {
	for _, q := range queues {
		if at := slices.IndexFunc(g.known, func(old *schedulingv1beta1.Queue) bool { return old.Name == q.Name }); at >= 0 {
			g.known[at] = q
			continue
		}
		g.known = append(g.known, q)
	}
	g.forest = queueusage.NewForest(g.known)
	rows := g.forest.Draw(g.shown, g.signs)
	g.indent = map[string]string{}
	for _, row := range rows {
		g.indent[row.Queue.Name] = row.Indent
	}
	return rows
}

func printTree(ctx context.Context, o *treeOptions) error {
	labels, err := cli.ParseSelector(o.labels)
	if err != nil {
		return err
	}
	g := &queueTree{signs: queueusage.BranchCharacters(o.f.Streams.SupportsUnicode()), shown: func(string) bool { return true }, loose: o.out.SortBy != "" || o.out.WatchOnly}
	l := &cli.List[*schedulingv1beta1.Queue]{
		Kind: "queues", Chosen: "tree", New: newQueueList,
		Columns: treeColumns(o.f, g), Selector: labels, FreeText: true, Spare: []string{"STATE", "RUN", "PEND"}, Suggest: o.f.SuggestNames(queueKind(), false),
	}
	if len(o.names) > 0 || labels != nil {
		if err := o.readAllQueues(ctx, g); err != nil {
			return err
		}
	}
	if len(o.names) > 0 {
		below := func(name string) bool { return g.forest.IsInOrBelowAny(name, o.names) }
		g.shown, l.Keep = below, func(q *schedulingv1beta1.Queue) bool {
			g.addQueues(q)
			return below(q.Name)
		}
	}
	if labels != nil {
		below, found := g.shown, map[string]bool{}
		g.shown = func(name string) bool { return found[name] && below(name) }
		g.found = found
	}
	l.Prepare = func(_ context.Context, items []*schedulingv1beta1.Queue) error {
		g.loose, g.drawn = g.loose || g.drawn, true
		g.sortAsTree(items)
		return nil
	}
	return l.Run(ctx, o.f, &o.out)
}

// readAllQueues reads the other queues that are needed to draw the tree. It returns an error if a named queue does not
// exist.
func (o *treeOptions) readAllQueues(ctx context.Context, g *queueTree) error {
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	all, err := (&target{}).listLabelled(ctx, c)
	if err != nil {
		return err
	}
	g.addQueues(all...)
	for _, name := range o.names {
		if g.forest.Queues[name] == nil {
			return queueNotFoundError(ctx, o.f, name)
		}
	}
	return nil
}

// nameText returns a queue's name, indented for its place in the tree or with the names of its parents.
func (g *queueTree) nameText(q *schedulingv1beta1.Queue) string {
	if !g.loose {
		return g.indent[q.Name] + q.Name
	}
	path, seen := q.Name, map[string]bool{q.Name: true}
	for above := g.forest.Queues[q.ParentName()]; above != nil && !seen[above.Name] && above.Name != keys.RootQueue; above = g.forest.Queues[above.ParentName()] {
		path, seen[above.Name] = above.Name+"/"+path, true
	}
	return path
}

// sortAsTree sorts items in tree order. If there is a selector, it also records that the items match it.
func (g *queueTree) sortAsTree(items []*schedulingv1beta1.Queue) {
	for _, q := range items {
		if g.found != nil {
			g.found[q.Name] = true
		}
	}
	place := map[string]int{}
	for i, row := range g.addQueues(items...) {
		place[row.Queue.Name] = i
	}
	slices.SortStableFunc(items, func(a, b *schedulingv1beta1.Queue) int { return place[a.Name] - place[b.Name] })
}

func treeColumns(f *cli.Factory, g *queueTree) []column {
	columns := []column{
		{Title: "NAME", Volatile: true, Text: g.nameText,
			Compare: func(a, b *schedulingv1beta1.Queue) int { return strings.Compare(a.Name, b.Name) }},
		newStateColumn(f),
		newNumberColumn("RUN", func(q *schedulingv1beta1.Queue) int32 { return g.forest.SumOverTree(q, queueusage.RunningGroups) }),
		newNumberColumn("PEND", func(q *schedulingv1beta1.Queue) int32 { return g.forest.SumOverTree(q, queueusage.WaitingGroups) }),
		{Title: "USED", Text: func(q *schedulingv1beta1.Queue) string {
			return queueusage.FormatLongUsageBar(q, f.Streams.SupportsUnicode())
		}, Compare: queueusage.CompareByUsage},
	}
	wide := append([]column{
		newUsageColumn("CPU", corev1.ResourceCPU),
		newUsageColumn("MEMORY", corev1.ResourceMemory),
		{Title: "GPU", Text: queueusage.FormatGPUUsage},
		newNumberColumn("WEIGHT", func(q *schedulingv1beta1.Queue) int32 { return q.Spec.Weight }),
	}, wideColumns()...)
	for i := range wide {
		wide[i].Wide = true
	}
	columns = append(columns, wide...)
	return append(columns, column{Title: "NOTE", Text: func(q *schedulingv1beta1.Queue) string { return g.forest.Note(q) }})
}
