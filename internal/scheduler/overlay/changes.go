package overlay

import "github.com/vc-batch/vc/internal/model"

// Changes is a log of the nodes whose rows changed. Each reader remembers the position up to which it has read, and
// replays the rest. An entry is skipped if there is a newer entry for the same node, so a replay visits each node at
// most once.
type Changes struct {
	entries []model.NodeID
	last    []int64 // by node: position of its newest entry, to detect outdated entries
	base    int64   // position of entries[0]
}

func (c *Changes) reset(nodes int) {
	c.base += int64(len(c.entries)) + 1
	c.entries = c.entries[:0]
	c.last = make([]int64, nodes)
	for i := range c.last {
		c.last[i] = -1
	}
}

func (c *Changes) add(id model.NodeID) {
	if limit := 4*len(c.last) + 1024; len(c.entries) >= limit {
		half := len(c.entries) / 2
		c.base += int64(half)
		c.entries = append(c.entries[:0], c.entries[half:]...)
	}
	c.last[id] = c.base + int64(len(c.entries))
	c.entries = append(c.entries, id)
}

// EndPosition returns the position just after the newest entry.
func (c *Changes) EndPosition() int64 { return c.base + int64(len(c.entries)) }

// EachChangedSince calls visit once for every node that changed at or after a position. It returns false, without
// calling visit, if the log does not reach back that far.
func (c *Changes) EachChangedSince(position int64, visit func(model.NodeID)) bool {
	if position < c.base {
		return false
	}
	for i := position - c.base; i < int64(len(c.entries)); i++ {
		if id := c.entries[i]; c.last[id] == c.base+i {
			visit(id)
		}
	}
	return true
}
