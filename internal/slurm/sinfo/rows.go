package sinfo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// Filter selects nodes and partitions. An empty list selects all of them.
type Filter struct {
	Partitions, Nodes []string
	// States are states of nodes, with short or long names in any case.
	States []string
	// Dead selects only nodes that do not respond, Responding selects only nodes that respond, and Reasoned selects
	// only nodes with a reason.
	Dead, Responding, Reasoned bool
}

// flags maps the names of states, as users specify them, to the states of nodes.
var flags = map[string][]string{
	"down": {"down*"}, "drain": {"drain", "drng"}, "mixed": {"mix", "mix-"}, "allocated": {"alloc", "alloc-"}, "alloc": {"alloc", "alloc-"}, "drained": {"drain"}, "draining": {"drng"}, "fail": {}, "idle": {"idle", "plnd"}, "mix": {"mix", "mix-"},
	"drng": {"drng"}, "maint": {"maint"}, "unk": {"unk"}, "unknown": {"unk"}, "comp": {}, "completing": {}, "resv": {}, "reserved": {}, "plnd": {"plnd", "mix-", "alloc-"}, "planned": {"plnd", "mix-", "alloc-"}, "no_respond": {"down*"}, "down*": {"down*"},
	// Nodes never have these states here, so selecting the states is valid but finds nothing.
	"blank": {}, "boot": {}, "booting": {}, "cloud": {}, "failing": {}, "future": {}, "inval": {}, "perfctrs": {}, "power_down": {}, "power_off": {}, "power_up": {}, "powered_down": {},
	"powering_down": {}, "powering_up": {}, "reboot": {}, "reboot^": {}, "reboot_issued": {}, "reboot_requested": {},
}

// allStates selects every state.
const allStates = "all"

// CheckStates returns an error for the first unknown state.
func CheckStates(words []string) error {
	for _, word := range words {
		if _, known := flags[strings.ToLower(word)]; !known && !strings.EqualFold(word, allStates) {
			return usererror.Errorf("", "Bad state string: %q", word)
		}
	}
	return nil
}

// selectsAllNodes reports whether the filter does not restrict the nodes.
func (f *Filter) selectsAllNodes() bool {
	hasFlag := f.Dead || f.Responding || f.Reasoned
	return !hasFlag && len(f.Nodes)+len(f.States) == 0
}

func (f *Filter) selectsNode(n *Node) bool {
	isDead := n.State == "down*"
	switch {
	case len(f.Nodes) > 0 && !slices.Contains(f.Nodes, n.Name):
		return false
	case f.Dead && !isDead, f.Responding && isDead:
		return false
	case f.Reasoned && n.Reason == "":
		return false
	}
	return len(f.States) == 0 || slices.ContainsFunc(f.States, func(word string) bool {
		return strings.EqualFold(word, allStates) || slices.Contains(flags[strings.ToLower(word)], n.State)
	})
}

// together lists the letters of the columns by which nodes are grouped into lines. exactly lists the letters of the
// columns that are also used for grouping if the user requests exact lines.
const together, exactly = "abtTEuUHGfovP", "cmdeYz"

// GroupRows groups the nodes of partitions into lines. If each is true, every node has a line of its own.
func GroupRows(partitions []*Partition, columns tableformat.Columns[*Row], f Filter, each, exact bool, cluster string) []*Row {
	letters := ""
	for _, c := range columns {
		if strings.IndexByte(together, c.Field.Letter) >= 0 || (exact && strings.IndexByte(exactly, c.Field.Letter) >= 0) {
			letters += string(rune(c.Field.Letter))
		}
		each = each || c.Field.Letter == 'n' || c.Field.Letter == 'o'
	}
	partitions = slices.DeleteFunc(slices.Clone(partitions), func(p *Partition) bool { return len(f.Partitions) > 0 && !slices.Contains(f.Partitions, p.Name) })
	if !slices.ContainsFunc(columns, func(c tableformat.Column[*Row]) bool { return strings.IndexByte(ofPartitions, c.Field.Letter) >= 0 }) {
		partitions = mergePartitions(partitions)
	}
	var rows []*Row
	for _, p := range partitions {
		groups := map[string]*Row{}
		found := false
		for _, n := range p.Nodes {
			if !f.selectsNode(n) {
				continue
			}
			found = true
			one := &Row{Partition: p, Nodes: []*Node{n}, Exact: exact, Cluster: cluster}
			key := one.groupKey(columns, letters)
			if each {
				key = n.Name
			}
			if group := groups[key]; group != nil {
				group.Nodes = append(group.Nodes, n)
				continue
			}
			groups[key] = one
			rows = append(rows, one)
		}
		if !found && !each && f.selectsAllNodes() {
			rows = append(rows, &Row{Partition: p, Exact: exact, Cluster: cluster})
		}
	}
	return rows
}

// ofPartitions lists the letters of columns that describe partitions.
const ofPartitions = "aBghIlLMpPrRsS"

// mergePartitions returns a single partition that contains the nodes of all partitions. It is used if no column
// describes partitions.
func mergePartitions(partitions []*Partition) []*Partition {
	if len(partitions) == 0 {
		return nil
	}
	one := *partitions[0]
	one.Nodes = nil
	for _, p := range partitions {
		one.Nodes = append(one.Nodes, p.Nodes...)
	}
	slices.SortFunc(one.Nodes, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	one.Nodes = slices.Compact(one.Nodes)
	return []*Partition{&one}
}

func (r *Row) groupKey(columns tableformat.Columns[*Row], letters string) string {
	var b strings.Builder
	for _, c := range columns {
		if strings.IndexByte(letters, c.Field.Letter) >= 0 {
			b.WriteString(c.Field.Value(r) + "\x00")
		}
	}
	return b.String()
}

// The default orders of sinfo.
const (
	DefaultOrder = "P,-t"
	NodeOrder    = "N"
)

// ParseOrder parses the value of -S: comma-separated letters of columns, each optionally preceded by +, - or #.
func ParseOrder(text string) (func(a, b *Row) int, error) {
	var all []func(a, b *Row) int
	for word := range strings.SplitSeq(text, ",") {
		letter := strings.TrimLeft(strings.TrimSpace(word), "+-#")
		i := slices.IndexFunc(ColumnFields(), func(f field) bool { return f.Letter != 0 && letter == string(rune(f.Letter)) })
		if i < 0 {
			return nil, fmt.Errorf("Invalid sort specification: %s", word) //nolint:staticcheck // the text of Slurm
		}
		value := ColumnFields()[i].Value
		by := func(a, b *Row) int { return strings.Compare(value(a), value(b)) }
		switch letter {
		case "t", "T":
			by = func(a, b *Row) int { return stateRank(b) - stateRank(a) }
		case "P", "R":
			by = func(a, b *Row) int { return strings.Compare(a.Partition.Name, b.Partition.Name) }
		case "D":
			by = func(a, b *Row) int { return len(a.Nodes) - len(b.Nodes) }
		}
		if strings.HasPrefix(strings.TrimSpace(word), "-") {
			up := by
			by = func(a, b *Row) int { return up(b, a) }
		}
		all = append(all, by)
	}
	return func(a, b *Row) int {
		for _, by := range all {
			if n := by(a, b); n != 0 {
				return n
			}
		}
		return cmp.Compare(a.nodeList(), b.nodeList())
	}, nil
}

func stateRank(r *Row) int {
	if len(r.Nodes) == 0 {
		return len(order)
	}
	return slices.Index(order, r.Nodes[0].State)
}
