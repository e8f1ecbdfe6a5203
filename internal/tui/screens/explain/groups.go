package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// group is a set of nodes that reject the job's pods for the same reason, or the set of nodes that accept them.
type group struct {
	count  int32
	code   string
	detail string // part of the reason, as the scheduler reports it
	reason string
	hint   string
	// nodes lists the nodes that currently fail for this reason, judging by the snapshot. The list may be empty,
	// because the scheduler reports only their number.
	nodes []string
}

// newGroupTable returns the table of nodes, grouped by the first reason for which each node rejects the job.
func newGroupTable() widget.Table[group] {
	text := func(of func(group) string) func(*screenapi.Context, group) (string, canvas.Style) {
		return func(_ *screenapi.Context, g group) (string, canvas.Style) { return of(g), theme.Plain }
	}
	return widget.Table[group]{
		ID: func(g group) string { return g.reason },
		Columns: []widget.Column[group]{
			{Key: "nodes", Title: "NODES", Width: 6, Right: true, Cell: func(_ *screenapi.Context, g group) (string, canvas.Style) {
				if g.code == "" {
					return widget.FormatCount(int(g.count)), theme.Good
				}
				return widget.FormatCount(int(g.count)), theme.Pending
			}},
			{Key: "reason", Title: "REASON", Width: 30, Flex: true, Least: 76, Cell: text(func(g group) string { return g.reason })},
			{Key: "examples", Title: "EXAMPLES", Width: 18, From: 80, Cell: text(func(g group) string { return hostlist.CompressNames(g.nodes[:min(len(g.nodes), 4)]) })},
			{Key: "help", Title: "WOULD HELP", Width: 30, Most: 42, From: 100, Cell: text(func(g group) string { return g.hint })},
		},
	}
}

// groupsFromExplanation returns the groups of an explanation and the nodes that, judging by the snapshot, belong to
// them.
func groupsFromExplanation(snap *snapshot.Snapshot, job *snapshot.Job, e *schedulingv1beta1.Explanation) []group {
	if e == nil {
		return nil
	}
	var all []group
	codes := map[string]bool{}
	rest := e.NodeCount
	for _, n := range e.Nodes {
		entry := reason.Get(reason.Code(n.Reason))
		text := entry.Sentence
		text = cmp.Or(text, n.Reason)
		if n.Detail != "" {
			text += ": " + n.Detail
		}
		if n.ShortBy != "" {
			text += " (short by " + n.ShortBy + ")"
		}
		all = append(all, group{count: n.Count, code: n.Reason, detail: n.Detail, reason: text, hint: entry.Hint})
		codes[n.Reason] = true
		rest -= n.Count
	}
	if rest > 0 && len(all) > 0 {
		fit := "have enough free resources for one more pod"
		if rest == 1 {
			fit = "has enough free resources for one more pod"
		}
		all = append(all, group{count: rest, reason: fit})
	}
	for _, node := range snap.Nodes {
		code, detail := firstRejection(node, job, codes)
		for i := range all {
			if all[i].code == code && (detail == "" || all[i].detail == detail) {
				all[i].nodes = append(all[i].nodes, node.Name)
				all[i].hint = strings.ReplaceAll(all[i].hint, "NODE", node.Name)
				break
			}
		}
	}
	return all
}

// firstRejection returns the first of the reported reasons for which, judging by the snapshot, a node rejects the job's
// pods. It returns "" if there is no such reason.
func firstRejection(node *snapshot.Node, job *snapshot.Job, reported map[string]bool) (code, detail string) {
	switch {
	case !node.Ready:
		return string(reason.NodeNotReady), ""
	case node.Cordoned:
		return string(reason.NodeUnschedulable), ""
	}
	tasks := job.Object.Spec.Tasks
	for i := range tasks {
		if missing := missingLabels(node, &tasks[i].Template.Spec); missing != "" {
			return string(reason.NodeSelectorMismatch), missing
		}
	}
	if reported[string(reason.UntoleratedTaint)] {
		for i := range tasks {
			if taint := untoleratedTaint(node, &tasks[i].Template.Spec); taint != "" {
				return string(reason.UntoleratedTaint), taint
			}
		}
	}
	if node.Unknown {
		return "?", ""
	}
	if hasUnseenReasons(reported) {
		return "?", ""
	}
	if lacks := lackingResource(node, job); lacks != "" {
		return string(reason.InsufficientResource), lacks
	}
	return "", ""
}

// missingLabels returns the labels that a pod requires and a node does not have, in the scheduler's format, or "".
func missingLabels(node *snapshot.Node, pod *corev1.PodSpec) string {
	var missing []string
	for key, value := range pod.NodeSelector {
		if node.Labels[key] != value {
			missing = append(missing, key+"="+value)
		}
	}
	slices.Sort(missing)
	return strings.Join(missing, ",")
}

// untoleratedTaint returns the first taint that prevents a pod from running on a node, in the form key=value:effect, or
// "". It ignores PreferNoSchedule taints.
func untoleratedTaint(node *snapshot.Node, pod *corev1.PodSpec) string {
	for _, text := range node.Taints {
		at := max(strings.LastIndex(text, ":"), 0)
		key, value, _ := strings.Cut(text[:at], "=")
		taint := corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(text[at+1:])}
		tolerated := slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Logger{}, &taint, false) })
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated {
			return text
		}
	}
	return ""
}

// hasUnseenReasons reports whether nodes may fail for reasons that cannot be verified in the snapshot.
func hasUnseenReasons(reported map[string]bool) bool {
	seen := []string{string(reason.NodeNotReady), string(reason.NodeUnschedulable), string(reason.UntoleratedTaint), string(reason.NodeSelectorMismatch), string(reason.InsufficientResource)}
	for code := range reported {
		if !slices.Contains(seen, code) {
			return true
		}
	}
	return false
}

// lackingResource returns a resource of which less is idle on the node than the job's largest pod requests, or "".
func lackingResource(node *snapshot.Node, job *snapshot.Job) string {
	for i := range job.Object.Spec.Tasks {
		asks := map[corev1.ResourceName]int64{}
		for _, container := range job.Object.Spec.Tasks[i].Template.Spec.Containers {
			for name, amount := range container.Resources.Requests {
				if name == corev1.ResourceCPU {
					asks[name] += amount.MilliValue()
					continue
				}
				asks[name] += amount.Value()
			}
		}
		if asks[corev1.ResourceCPU] > node.Idle.MilliCPU {
			return "cpu"
		}
		if asks[corev1.ResourceMemory] > node.Idle.MemoryBytes {
			return "memory"
		}
		for name, n := range asks {
			if name != corev1.ResourceCPU && name != corev1.ResourceMemory && n > node.Idle.Devices[name] {
				return string(name)
			}
		}
	}
	return ""
}

// describeCount describes the number of nodes.
func describeCount(e *schedulingv1beta1.Explanation) string {
	if e == nil || e.NodeCount == 0 {
		return ""
	}
	return fmt.Sprintf("%d nodes", e.NodeCount)
}
