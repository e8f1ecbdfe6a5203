package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// Count is the number of nodes rejected for one reason.
type Count struct {
	Reason reason.Code
	Detail string // resource, taint, selector
	Nodes  int
	// Short is the missing amount on the closest of them, in the model's unit; 0 if the reason is not an amount.
	Short int64
}

// Tally counts, over all live nodes, why an equivalence class of pods does not fit.
type Tally struct {
	Looked int
	Fit    int
	Counts []Count // by number of nodes, descending
	// Cordoned is the name of a cordoned node that the pods could use otherwise; the first by name.
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

// AddCordoned adds the name of a cordoned node that the pods could use otherwise.
func (t *Tally) AddCordoned(name string) {
	if t.Cordoned == "" || name < t.Cordoned {
		t.Cordoned = name
	}
}

// MissingLabel returns the label of the node selector that no node has, if this alone excludes all nodes.
func (t *Tally) MissingLabel() (label string, is bool) {
	if len(t.Counts) != 1 || t.Counts[0].Reason != reason.NodeSelectorMismatch || t.Counts[0].Nodes != t.Looked {
		return "", false
	}
	label = t.Counts[0].Detail
	return label, label != "" && !strings.Contains(label, ",")
}

// Sort sorts the counts by number of nodes in descending order, then by name.
func (t *Tally) Sort() {
	slices.SortFunc(t.Counts, func(a, b Count) int {
		return cmp.Or(-cmp.Compare(a.Nodes, b.Nodes), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail))
	})
}
