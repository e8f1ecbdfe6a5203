// Package sshare is what sshare prints: the tree of queues with their shares and what they use.
//
//	In:   queues
//	Out:  lines, the root first and children below their parents
package sshare

import (
	"math"
	"slices"
	"strconv"
	"strings"

	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/layout"
)

// The columns that sshare has when it is told none.
const (
	Default = "Account,User,RawShares,NormShares,RawUsage,EffectvUsage,FairShare"
	Verbose = "Account,User,RawShares,NormShares,RawUsage,NormUsage,EffectvUsage,FairShare,LevelFS"
)

// Line is a queue, or the account of a user.
type Line struct {
	Name string
	// User is whose account it is; empty for a queue.
	User  string
	Depth int
	// Weight is the queue's; Norm its part of the cluster, from 0 to 1.
	Weight int32
	Norm   float64
	// Usage is the cpus that it holds, Effective its part of what all hold.
	Usage, Effective float64
	Cluster          string
}

// FairShare is 1 for a queue that uses nothing, 0.5 for one that uses its part, and nears 0 for one that uses more.
func (l *Line) FairShare() float64 {
	if l.Norm == 0 {
		return 0
	}
	return math.Pow(2, -l.Effective/l.Norm)
}

// Lines are those of a tree of queues. A queue without a parent that is there stands under root.
func Lines(queues []*scheduling.Queue, cluster string) []*Line {
	lookup := scheduling.NewQueueLookup(queues...)
	total := 0.0
	for _, q := range queues {
		if q.ParentName() == "root" {
			total += q.Status.Allocated.Cpu().AsApproximateFloat64()
		}
	}
	root := &Line{Name: "root", Norm: 1, Usage: total, Cluster: cluster}
	if total > 0 {
		root.Effective = 1
	}
	lines := []*Line{root}
	var below func(parent *Line)
	below = func(parent *Line) {
		children := lookup.Children(parent.Name)
		slices.Sort(children)
		weights := 0.0
		for _, name := range children {
			q, _ := lookup.Queue(name)
			weights += float64(max(q.Spec.Weight, 1))
		}
		for _, name := range children {
			q, _ := lookup.Queue(name)
			l := &Line{Name: name, Depth: parent.Depth + 1, Weight: max(q.Spec.Weight, 1), Usage: q.Status.Allocated.Cpu().AsApproximateFloat64(), Cluster: cluster}
			l.Norm = parent.Norm * float64(l.Weight) / weights
			if total > 0 {
				l.Effective = l.Usage / total
			}
			lines = append(lines, l)
			if l.Depth < 64 { // deeper there are only circles
				below(l)
			}
		}
	}
	below(root)
	return lines
}

// UserLines are the accounts of users. Users have no shares of their own: queues have.
func UserLines(users, accounts []string, cluster string) []*Line {
	var lines []*Line
	for _, user := range users {
		for _, account := range accounts {
			lines = append(lines, &Line{Name: account, User: user, Weight: 1, Cluster: cluster})
		}
	}
	return lines
}

// Fields are all columns.
func Fields() []layout.Field[*Line] {
	column := func(name string, width int, value func(*Line) string) layout.Field[*Line] {
		return layout.New(0, name, name, width, value)
	}
	part := func(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
	notRoot := func(value func(*Line) string) func(*Line) string {
		return func(l *Line) string {
			if l.Depth == 0 && l.User == "" {
				return ""
			}
			return value(l)
		}
	}
	return []layout.Field[*Line]{
		column("Account", -20, func(l *Line) string { return strings.Repeat(" ", l.Depth) + l.Name }),
		column("User", 10, func(l *Line) string { return l.User }),
		column("RawShares", 10, notRoot(func(l *Line) string { return strconv.Itoa(int(l.Weight)) })),
		column("NormShares", 11, func(l *Line) string { return part(l.Norm) }),
		column("RawUsage", 11, func(l *Line) string { return strconv.FormatFloat(l.Usage, 'f', -1, 64) }),
		column("NormUsage", 11, func(l *Line) string { return part(l.Effective) }),
		column("EffectvUsage", 13, func(l *Line) string { return part(l.Effective) }),
		column("FairShare", 10, notRoot(func(l *Line) string { return part(l.FairShare()) })),
		column("LevelFS", 10, notRoot(func(l *Line) string {
			if l.Effective == 0 {
				return "inf"
			}
			return part(l.Norm / l.Effective)
		})),
		column("Cluster", 10, func(l *Line) string { return l.Cluster }),
	}
}
