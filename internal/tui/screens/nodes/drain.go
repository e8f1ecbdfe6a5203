package nodes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// drainsAtOnce is the maximum number of nodes that are drained at the same time.
const drainsAtOnce = 8

// askToDrain asks the user to type the node's name, or the number of nodes if several are marked, because a drain stops
// all work on them.
func (n *Nodes) askToDrain(ctx *screenapi.Context) []screenapi.Effect {
	targets := n.actionTargets()
	names := make([]string, len(targets))
	for i, row := range targets {
		names[i] = row.Name
	}
	hostlist.SortNames(names)
	question, expect := "Drain node "+names[0]+"?", names[0]
	if len(names) > 1 {
		question, expect = fmt.Sprintf("Drain %d nodes: %s?", len(names), hostlist.CompressNames(names)), strconv.Itoa(len(names))
	}
	return []screenapi.Effect{screenapi.Ask{
		Question: question, Lines: describeDrain(ctx, targets), Expect: expect, Then: []screenapi.Effect{*runDrain(ctx.Actions, names)},
	}}
}

// runDrain returns the Run that drains nodes. It cordons all of them first, so that no evicted pod starts on one that
// will be drained next.
func runDrain(actions screenapi.Actions, names []string) *screenapi.Run {
	label := "drain " + hostlist.CompressNames(names)
	if len(names) == 1 {
		return &screenapi.Run{Name: label, Do: func(ctx context.Context) (string, error) { return actions.Node(ctx, screenapi.Drain, names[0]) }}
	}
	return &screenapi.Run{Name: label, Do: func(ctx context.Context) (string, error) {
		var problems []error
		for _, name := range names {
			if _, err := actions.Node(ctx, screenapi.Cordon, name); err != nil {
				problems = append(problems, err)
			}
		}
		if len(problems) > 0 {
			return "", joinProblems(problems)
		}
		var drained []string
		var mu sync.Mutex
		var drains errgroup.Group
		drains.SetLimit(drainsAtOnce)
		for _, name := range names {
			drains.Go(func() error {
				_, err := actions.Node(ctx, screenapi.Drain, name)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					problems = append(problems, err)
				} else {
					drained = append(drained, name)
				}
				return nil
			})
		}
		_ = drains.Wait() // the errors are in problems
		if len(drained) == 0 {
			return "", joinProblems(problems)
		}
		hostlist.SortNames(drained)
		return countWithNoun(len(drained), "node") + " drained: " + hostlist.CompressNames(drained), joinProblems(problems)
	}}
}

// describeDrain describes the effects of a drain.
func describeDrain(ctx *screenapi.Context, rows []*node) []string {
	if slices.ContainsFunc(rows, hasUnknownPods) {
		return []string{"No new pods will be scheduled, and all pods except DaemonSet pods will be evicted.", "The pods are hidden or not loaded yet."}
	}
	where := "the node has"
	if len(rows) > 1 {
		where = "the nodes have"
	}
	lines := []string{"No new pods will be scheduled, and " + where + " no pods that belong to jobs."}
	if pods, jobs := countJobPods(rows); pods > 0 {
		lines = []string{
			fmt.Sprintf("No new pods will be scheduled, and %s of %s will be evicted:", countWithNoun(pods, "pod"), countWithNoun(len(jobs), "job")),
			strings.Join(titlesOfJobsOn(ctx, rows), ", "),
			"The jobs will continue according to their policies for evicted pods.",
		}
		if pods == 1 {
			lines[0] = "No new pods will be scheduled, and 1 pod of 1 job will be evicted:"
		}
	}
	return append(lines, describeOtherPods(rows)...)
}

// describeOtherPods describes how a drain affects the pods on the nodes that do not belong to a job.
func describeOtherPods(rows []*node) (lines []string) {
	going, alone, staying := 0, 0, 0
	for _, p := range podsOn(rows) {
		switch {
		case p.Terminating, p.Exited, p.Job != "" && !p.Stays:
		case p.Stays:
			staying++
		default:
			going++
			if p.Alone {
				alone++
			}
		}
	}
	if going > 0 {
		line := countWithNoun(going, "other pod") + " will be evicted, too"
		if alone > 0 {
			line += fmt.Sprintf("; no controller will re-create %d of them", alone)
		}
		lines = append(lines, line+".")
	}
	if data := countDataLoss(rows); data > 0 {
		lines = append(lines, countWithNoun(data, "pod")+" with emptyDir volumes will be evicted; the data in these volumes will be lost.")
	}
	if staying > 0 {
		lines = append(lines, countWithNoun(staying, "pod")+" of DaemonSets or of the node itself will not be evicted.")
	}
	return lines
}

// podsOn returns the pods on nodes.
func podsOn(rows []*node) []*snapshot.Pod {
	var pods []*snapshot.Pod
	for _, row := range rows {
		pods = append(pods, row.Pods...)
	}
	return pods
}

// countDataLoss returns the number of pods on nodes that lose data when they are evicted.
func countDataLoss(rows []*node) int {
	pods := 0
	for _, p := range podsOn(rows) {
		if wouldEvict(p) && p.KeepsData {
			pods++
		}
	}
	return pods
}

// titlesOfJobsOn returns the number and name of each job on nodes; if there are many, only of some.
func titlesOfJobsOn(ctx *screenapi.Context, rows []*node) []string {
	var all []string
	for _, p := range podsOn(rows) {
		if p.Job == "" {
			continue
		}
		title := strings.TrimSpace(p.JobID + " " + jobName(ctx, p))
		if !slices.Contains(all, title) {
			all = append(all, title)
		}
	}
	if len(all) > 5 {
		all = append(all[:5], fmt.Sprintf("and %d more", len(all)-5))
	}
	return all
}
