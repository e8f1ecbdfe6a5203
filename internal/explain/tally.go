package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// Count is the number of nodes that were rejected for the same reason.
type Count struct {
	Reason reason.Code
	Detail string // resource, taint, selector
	Nodes  int
	// Short is the amount that is missing on the node that comes closest, in the model's unit. It is 0 if the reason
	// is not about an amount.
	Short int64
}

// Tally counts the reasons why an equivalence class of pods does not fit on nodes, over all live nodes.
type Tally struct {
	Looked int
	Fit    int
	Counts []Count // in descending order of the number of nodes
	// Cordoned is the name of a cordoned node that the pods could otherwise use. If there are several, it is the
	// first by name.
	Cordoned string
}

// Add counts one node.
func (t *Tally) Add(code reason.Code, detail string, short int64) {
	t.Looked++
	if code == "" {
		t.Fit++
		return
	}
	for i := range t.Counts {
		c := &t.Counts[i]
		if c.Reason == code && c.Detail == detail {
			c.Nodes++
			c.Short = min(c.Short, short)
			return
		}
	}
	t.Counts = append(t.Counts, Count{Reason: code, Detail: detail, Nodes: 1, Short: short})
}

// AddCordoned records a cordoned node that the pods could otherwise use.
func (t *Tally) AddCordoned(name string) {
	if t.Cordoned == "" || name < t.Cordoned {
		t.Cordoned = name
	}
}

// MissingLabel returns the label in the node selector that no node has. is is true only if this is the only reason
// why nodes were rejected.
func (t *Tally) MissingLabel() (label string, is bool) {
	if len(t.Counts) != 1 || t.Counts[0].Reason != reason.NodeSelectorMismatch || t.Counts[0].Nodes != t.Looked {
		return "", false
	}
	label = t.Counts[0].Detail
	return label, label != "" && !strings.Contains(label, ",")
}

// Sort sorts the counts by number of nodes, in descending order, and then by name.
func (t *Tally) Sort() {
	slices.SortFunc(t.Counts, func(a, b Count) int {
		return cmp.Or(-cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail))
	})
}
