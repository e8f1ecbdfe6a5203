package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/document"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// activeRows returns the part to which the table keys apply: the heat map, the pods or the list.
func activeRows(s screenapi.Screen) widget.Rows {
	n, ok := s.(*Nodes)
	switch {
	case !ok:
		return nil
	case n.heat != nil:
		return n.heat
	case n.inPods:
		return &n.pods
	}
	return &n.table
}

// keyBindings returns the keys of the screen.
func keyBindings() []screenapi.Binding {
	name := screenapi.Nodes
	aside := func(dx int) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return screenapi.DoForScreen(func(n *Nodes, _ *screenapi.Context) []screenapi.Effect {
			if n.heat != nil {
				n.heat.moveSideways(dx)
			}
			return nil
		})
	}
	own := []screenapi.Binding{
		{Screen: name, Key: "enter", Name: "pods", Help: "go to the pods on the node; on a pod, open its job", Footer: 10, Do: screenapi.DoForScreen((*Nodes).openSelected)},
		{Screen: name, Key: "C", Name: "cordon", Help: "keep new pods off the node, or allow them again; asks for confirmation", Footer: 20, Writes: true,
			Guard: screenapi.GuardForScreen((*Nodes).actionRefusal), Do: screenapi.DoForScreen((*Nodes).toggleCordon)},
		{Screen: name, Key: "D", Name: "drain", Help: "cordon the marked nodes and evict their pods; to confirm, type the node name or node count", Footer: 21, Writes: true,
			Guard: screenapi.GuardForScreen((*Nodes).actionRefusal), Do: screenapi.DoForScreen((*Nodes).askToDrain)},
		{Screen: name, Key: "H", Name: "heat map", Help: "show a full-screen map with one cell per node; press again for the list", Footer: 22, Guard: noHeatReason, Do: screenapi.DoForScreen((*Nodes).enterHeat)},
		{Screen: name, Key: "g", Name: "group", Help: "group nodes by HyperNode, rack or pool, or do not group", Footer: 23, Do: screenapi.DoForScreen((*Nodes).nextGroup)},
		{Screen: name, Key: "m", Name: "metric", Help: "show the next resource, here and in the queue bars", Footer: 24,
			Do: func(ctx *screenapi.Context, _ screenapi.Screen) []screenapi.Effect {
				return []screenapi.Effect{screenapi.SetResource{Resource: ctx.NextResource()}}
			}},
		{Screen: name, Key: "s", Name: "shell", Help: "open a shell in the pod under the cursor; exit it to return", Footer: 35, Writes: true,
			Guard: screenapi.GuardForScreen((*Nodes).shellRefusal), Do: screenapi.DoForScreen((*Nodes).openShell)},
		{Screen: name, Key: "tab", Name: "pane", Help: "switch between the nodes and the pods on the node under the cursor", Do: screenapi.DoForScreen((*Nodes).nextPane)},
		{Screen: name, Key: "left", Name: "left", Help: "move one cell to the left in the heat map", Do: aside(-1)},
		{Screen: name, Key: "right", Name: "right", Help: "move one cell to the right in the heat map", Do: aside(1)},
	}
	own = append(own, document.OpenBindings(name, describedObject)...)
	own = append(append(own, widget.RowKeys(name, activeRows)...), widget.MarkKeys(name, activeRows)...)
	return append(own, widget.SortKeys(name, activeRows, (&Nodes{}).tableColumns(), own)...)
}

// describedObject returns the pod under the cursor if the cursor is in the list of pods, otherwise the node.
func describedObject(s screenapi.Screen) (kind, namespace, object string) {
	n, _ := s.(*Nodes)
	if n.inPods && n.heat == nil {
		if pod, ok := n.pods.Selected(); ok {
			return "Pod", pod.Namespace, pod.Name
		}
	}
	if row := n.selectedNode(); row != nil {
		return "Node", "", row.Name
	}
	return "", "", ""
}

// shellRefusal returns the reason why no shell can be opened, or "".
func (n *Nodes) shellRefusal(*screenapi.Context) string {
	pod, ok := n.pods.Selected()
	switch {
	case !n.inPods || n.heat != nil || !ok:
		return "no pod is selected; press enter to go to the node's pods"
	case pod.Exited:
		return pod.Name + " has ended"
	case pod.Started.IsZero():
		return pod.Name + " has not started"
	}
	return ""
}

func (n *Nodes) openShell(ctx *screenapi.Context) []screenapi.Effect {
	pod, _ := n.pods.Selected()
	return []screenapi.Effect{widget.OpenShell(ctx.Actions, pod)}
}

func (n *Nodes) openSelected(ctx *screenapi.Context) []screenapi.Effect {
	switch {
	case n.heat != nil:
		n.leaveHeat()
		n.setPods(ctx)
	case n.inPods:
		if pod, ok := n.pods.Selected(); ok && pod.JobUID != "" && ctx.Snap.Job(pod.JobUID) != nil {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Job, Target: string(pod.JobUID)}}
		}
		return []screenapi.Effect{screenapi.Notice{Text: "the pod does not belong to a job"}}
	default:
		return n.nextPane(ctx)
	}
	return nil
}

func (n *Nodes) nextPane(ctx *screenapi.Context) []screenapi.Effect {
	if n.heat != nil {
		return nil
	}
	n.setPods(ctx)
	n.inPods = !n.inPods && len(n.pods.Rows()) > 0
	return nil
}

func (n *Nodes) nextGroup(ctx *screenapi.Context) []screenapi.Effect {
	offered := noderow.OfferedGroupings(n.all)
	at := slices.Index(offered, n.by)
	if n.heat != nil && n.by == "" {
		at = slices.Index(offered, n.heatGrouping())
	}
	n.by = offered[(at+1)%len(offered)]
	if n.heat != nil {
		n.fillHeat()
	}
	if n.by == noderow.Flat {
		n.table.GroupRowsBy(nil, nil)
		return nil
	}
	n.table.GroupRowsBy(func(row *node) string { return naturalSortKey(noderow.GroupNameOf(row, n.by)) }, func(_ string, rows []*node) string { return n.groupHeading(ctx, rows) })
	return nil
}

// naturalSortKey returns a sort key that sorts names in natural order: numbers by value, and the empty name last.
func naturalSortKey(name string) string {
	if name == "" {
		return "\uffff"
	}
	var key, digits strings.Builder
	flush := func() {
		if digits.Len() > 0 {
			fmt.Fprintf(&key, "%012s", digits.String())
			digits.Reset()
		}
	}
	for _, r := range name {
		if r >= '0' && r <= '9' {
			digits.WriteRune(r)
			continue
		}
		flush()
		key.WriteRune(r)
	}
	flush()
	return key.String()
}

// groupHeading returns the line above a group, with its name, the states of its nodes, and its idle resources.
func (n *Nodes) groupHeading(_ *screenapi.Context, rows []*node) string {
	name := noderow.GroupNameOf(rows[0], n.by)
	if name == "" {
		name = "no " + string(n.by)
	}
	counts := noderow.CountByState(rows)
	text := fmt.Sprintf("%s  %s", name, countWithNoun(len(rows), "node"))
	for _, one := range []struct {
		n    int
		word string
	}{{counts.Idle, "idle"}, {counts.Mixed, "mixed"}, {counts.Full, "full"}, {counts.Drain, "drain"}, {counts.Down, "down"}, {counts.Unknown, "?"}} {
		if one.n > 0 {
			text += fmt.Sprintf("  %d %s", one.n, one.word)
		}
	}
	has, idle := noderow.TotalAmount(rows, n.resource)
	left := renderAmount(n.resource, idle)
	if counts.Unknown > 0 {
		left = "?"
	}
	return text + fmt.Sprintf("   idle %s/%s %s", left, renderAmount(n.resource, has), screenapi.ShortResource(string(n.resource)))
}

// actionTargets returns the nodes that an action applies to.
func (n *Nodes) actionTargets() []*node {
	if n.heat == nil {
		return n.table.Targets()
	}
	if row := n.selectedNode(); row != nil {
		return []*node{row}
	}
	return nil
}

func (n *Nodes) actionRefusal(ctx *screenapi.Context) string {
	switch {
	case len(n.actionTargets()) == 0:
		return "no node is selected"
	case ctx.Actions == nil:
		return "not connected to the cluster: changes are not possible"
	}
	return ""
}

// toggleCordon cordons the targets that are not cordoned. If all of them are cordoned, it uncordons them.
func (n *Nodes) toggleCordon(ctx *screenapi.Context) []screenapi.Effect {
	verb, word := screenapi.Uncordon, "Uncordon"
	targets := n.actionTargets()
	if open := slices.DeleteFunc(slices.Clone(targets), func(row *node) bool { return row.Cordoned }); len(open) > 0 {
		verb, word, targets = screenapi.Cordon, "Cordon", open
	}
	names := make([]string, len(targets))
	for i, row := range targets {
		names[i] = row.Name
	}
	hostlist.SortNames(names)
	question := fmt.Sprintf("%s node %s?", word, names[0])
	if len(names) > 1 {
		question = fmt.Sprintf("%s %d nodes: %s?", word, len(names), hostlist.CompressNames(names))
	}
	line := "New pods will be allowed again."
	if verb == screenapi.Cordon {
		line = "No new pods will be scheduled; " + n.describeRemaining(targets)
	}
	undo := screenapi.Cordon
	if verb == screenapi.Cordon {
		undo = screenapi.Uncordon
	}
	run := runOnNodes(ctx.Actions, verb, names)
	run.Undo = func(ctx *screenapi.Context) *screenapi.Run { return runOnNodes(ctx.Actions, undo, names) }
	return []screenapi.Effect{screenapi.Ask{Question: question, Lines: []string{line}, Then: []screenapi.Effect{*run}}}
}

// runOnNodes returns the Run that cordons or uncordons nodes, one after the other.
func runOnNodes(actions screenapi.Actions, verb screenapi.Verb, names []string) *screenapi.Run {
	return &screenapi.Run{Name: string(verb) + " " + hostlist.CompressNames(names), Do: func(ctx context.Context) (string, error) {
		var done []string
		var problems []error
		said := ""
		for _, name := range names {
			one, err := actions.Node(ctx, verb, name)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			done, said = append(done, name), one
		}
		if len(done) > 1 {
			said = fmt.Sprintf("%d nodes %sed: %s", len(done), verb, hostlist.CompressNames(done))
		}
		return said, joinProblems(problems)
	}}
}

// joinProblems returns the first error, with the number of the others, or nil if there are no errors.
func joinProblems(problems []error) error {
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return problems[0]
	}
	return fmt.Errorf("%w (and %d more)", problems[0], len(problems)-1)
}

// describeRemaining describes the pods that remain on cordoned nodes.
func (n *Nodes) describeRemaining(targets []*node) string {
	pods, jobs := countJobPods(targets)
	switch {
	case slices.ContainsFunc(targets, hasUnknownPods):
		return "running pods stay, but they are hidden or not loaded yet."
	case pods == 0:
		return "the nodes have no pods that belong to jobs."
	case pods == 1:
		return "1 pod of 1 job stays."
	}
	return fmt.Sprintf("%d pods of %s stay.", pods, countWithNoun(len(jobs), "job"))
}

// hasUnknownPods reports whether the pods of a node are unknown because they may not be listed or have not been read
// yet.
func hasUnknownPods(row *node) bool { return row.Unknown }

// countJobPods returns the number of pods of jobs on the nodes, and the names of these jobs.
func countJobPods(targets []*node) (pods int, jobs []string) {
	for _, row := range targets {
		for _, p := range row.Pods {
			if p.Job != "" && wouldEvict(p) {
				pods++
			}
		}
		for _, name := range jobsOnNode(row) {
			if !slices.Contains(jobs, name) {
				jobs = append(jobs, name)
			}
		}
	}
	return pods, jobs
}

// wouldEvict reports whether a drain would evict a pod.
func wouldEvict(p *snapshot.Pod) bool { return !p.Stays && !p.Terminating }

func jobName(ctx *screenapi.Context, p *snapshot.Pod) string {
	if job := ctx.Snap.Job(p.JobUID); job != nil {
		return job.Title
	}
	return p.Job
}

// noHeatReason returns the reason why there is no heat map, or "".
func noHeatReason(ctx *screenapi.Context, _ screenapi.Screen) string {
	if ctx.Compact {
		return "no heat map in compact mode; :compact ends it"
	}
	return ""
}
