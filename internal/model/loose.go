package model

// HasLoose reports whether Loose may be more than nothing.
func (c *Cluster) HasLoose() bool { return len(c.loose)+len(c.orphans) > 0 }

// Loose are the pods of ours that nobody will place as things are: they name no
// PodGroup, or one that does not exist. In no order: there may be thousands, for
// a moment, and few of them of interest.
func (c *Cluster) Loose() []*Task {
	var out []*Task
	for t := range c.loose {
		out = append(out, t)
	}
	for _, g := range c.orphaned() {
		for _, t := range g.Tasks {
			if t.Status == Pending {
				out = append(out, t)
			}
		}
	}
	return out
}

// orphaned are the gangs that pods name and that do not exist.
func (c *Cluster) orphaned() []*Gang {
	var out []*Gang
	for g := range c.orphans {
		if g.Known || len(g.Tasks) == 0 {
			delete(c.orphans, g)
			continue
		}
		out = append(out, g)
	}
	return out
}
