package model

// MayHaveLooseTasks reports whether LooseTasks may return any pods.
func (c *Cluster) MayHaveLooseTasks() bool { return len(c.loose)+len(c.orphans) > 0 }

// LooseTasks returns the pods of this scheduler that cannot be placed because they name no PodGroup, or a PodGroup that
// does not exist. The order is undefined: there may briefly be thousands of such pods, of which few matter.
func (c *Cluster) LooseTasks() []*Task {
	var out []*Task
	for t := range c.loose {
		out = append(out, t)
	}
	for _, g := range c.orphanedGangs() {
		for _, t := range g.Tasks {
			if t.Status == Pending {
				out = append(out, t)
			}
		}
	}
	return out
}

// orphanedGangs returns the gangs that pods name but whose PodGroup does not exist.
func (c *Cluster) orphanedGangs() []*Gang {
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
