// Package sshare implements the output of sshare: the tree of accounts or queues with their shares and usage.
//
//	In:   queues, or the associations of Fair Tree
//	Out:  lines, starting with root; children follow their parents
package sshare

import (
	"math"
	"slices"
	"strconv"
	"strings"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/fairtree"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
)

// The default columns of sshare.
const (
	Default = "Account,User,RawShares,NormShares,RawUsage,EffectvUsage,FairShare"
	Verbose = "Account,User,RawShares,NormShares,RawUsage,NormUsage,EffectvUsage,FairShare,LevelFS,GrpTRESMins,TRESRunMins"
)

// Line is an association of Fair Tree, a queue, or an account of a user.
type Line struct {
	Name string
	// User is the user of the account. It is empty for a queue.
	User  string
	Depth int
	// Weight is the weight of the queue. Norm is the queue's fraction of the cluster, from 0 to 1.
	Weight int32
	Norm   float64
	// Usage is the number of CPUs that the queue uses. Effective is the queue's fraction of the total usage.
	Usage, Effective float64
	Cluster          string
	// Budget is the budget of the account. Reserved is the part of it that running jobs have reserved. Both are resources times
	// minutes, as Slurm prints them.
	Budget, Reserved string
	// FairTree holds the values of an association. It is nil for other lines.
	FairTree *fairtree.Association
}

// FairShare returns 1 for a queue that uses nothing, 0.5 for a queue that uses exactly its fraction of the cluster, and
// values that approach 0 for higher usage.
func (l *Line) FairShare() float64 {
	if l.Norm == 0 {
		return 0
	}
	return math.Pow(2, -l.Effective/l.Norm)
}

// LinesOf returns the lines for a tree of queues. A queue without a parent is a child of root. A queue whose parent
// does not exist is omitted.
func LinesOf(queues []*schedulingv1beta1.Queue, cluster string) []*Line {
	lookup := schedulingv1beta1.NewQueueLookup(queues...)
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
			if l.Depth < 64 { // deeper levels exist only if the queues form a cycle
				below(l)
			}
		}
	}
	below(root)
	return lines
}

// LinesOfAssociations returns the lines for the associations of Fair Tree.
func LinesOfAssociations(associations []fairtree.Association, cluster string) []*Line {
	lines := make([]*Line, len(associations))
	for i := range associations {
		a := &associations[i]
		lines[i] = &Line{
			Name: a.Account, User: a.User, Depth: a.Depth, Weight: int32(a.RawShares), Norm: a.NormShares, Usage: math.Round(a.RawUsage),
			Effective: a.EffectiveUsage, Cluster: cluster, FairTree: a,
		}
	}
	return lines
}

// LinesOfUsers returns the lines for the accounts of users in a cluster without Fair Tree. These lines contain no
// shares, because only queues have shares there.
func LinesOfUsers(users, accounts []string, cluster string) []*Line {
	var lines []*Line
	for _, user := range users {
		for _, account := range accounts {
			lines = append(lines, &Line{Name: account, User: user, Weight: 1, Cluster: cluster})
		}
	}
	return lines
}

// ColumnFields returns all columns.
func ColumnFields() []tableformat.Field[*Line] {
	column := func(name string, width int, value func(*Line) string) tableformat.Field[*Line] {
		return tableformat.NewField(0, name, name, width, value)
	}
	notRoot := func(value func(*Line) string) func(*Line) string {
		return func(l *Line) string {
			if l.Depth == 0 && l.User == "" {
				return ""
			}
			return value(l)
		}
	}
	return []tableformat.Field[*Line]{
		column("Account", -20, func(l *Line) string { return strings.Repeat(" ", l.Depth) + l.Name }),
		column("User", 10, func(l *Line) string { return l.User }),
		column("RawShares", 10, notRoot(func(l *Line) string { return strconv.Itoa(int(l.Weight)) })),
		column("NormShares", 11, func(l *Line) string { return formatFraction(l.Norm) }),
		column("RawUsage", 11, func(l *Line) string { return strconv.FormatFloat(l.Usage, 'f', -1, 64) }),
		column("NormUsage", 11, (*Line).normUsageText),
		column("EffectvUsage", 13, func(l *Line) string { return formatFraction(l.Effective) }),
		column("FairShare", 10, notRoot((*Line).fairShareText)),
		column("LevelFS", 10, notRoot((*Line).levelText)),
		column("GrpTRESMins", 30, func(l *Line) string { return l.Budget }),
		column("TRESRunMins", 30, func(l *Line) string { return l.Reserved }),
		column("Cluster", 10, func(l *Line) string { return l.Cluster }),
	}
}

func formatFraction(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }

// normUsageText returns the fraction of all usage. Slurm leaves it empty for root.
func (l *Line) normUsageText() string {
	switch {
	case l.FairTree == nil:
		return formatFraction(l.Effective)
	case l.Depth == 0:
		return ""
	default:
		return formatFraction(l.FairTree.NormUsage)
	}
}

// fairShareText returns the FairShare. In Fair Tree, only users have one.
func (l *Line) fairShareText() string {
	switch {
	case l.FairTree == nil:
		return formatFraction(l.FairShare())
	case l.User == "":
		return ""
	default:
		return formatFraction(l.FairTree.FairShare)
	}
}

func (l *Line) levelText() string {
	switch {
	case l.FairTree != nil && math.IsInf(l.FairTree.LevelFS, 1):
		return "inf"
	case l.FairTree != nil:
		return formatFraction(l.FairTree.LevelFS)
	case l.Effective == 0:
		return "inf"
	default:
		return formatFraction(l.Norm / l.Effective)
	}
}
