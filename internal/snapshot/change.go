package snapshot

// ChangedJobs compares the jobs of two Snapshots, each in the order of its Snapshot. It returns the rows that are only
// in the earlier one and the rows that are only in the later one. A job that changed is in both results. Rows are
// compared by pointer, because a row never changes.
func ChangedJobs(before, after []*Job) (gone, fresh []*Job) {
	for len(before) > 0 && len(after) > 0 {
		old, now := before[0], after[0]
		if old == now {
			before, after = before[1:], after[1:]
			continue
		}
		order := compareByNamespace(old, now)
		if order <= 0 {
			gone, before = append(gone, old), before[1:]
		}
		if order >= 0 {
			fresh, after = append(fresh, now), after[1:]
		}
	}
	return append(gone, before...), append(fresh, after...)
}
