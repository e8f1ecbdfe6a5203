package explain

// SameLimit reports whether the only reason in both verdicts is the same limit. Their explanations then have the same
// meaning, even if the usage differs.
func SameLimit(a, b *Verdict) bool {
	if !onlyLimit(a) || !onlyLimit(b) {
		return false
	}
	return a.Code == b.Code && a.Members.Min == b.Members.Min && a.EvictedBy == b.EvictedBy && limitOf(a.Limit) == limitOf(b.Limit)
}

// onlyLimit reports whether the only reason in a verdict is a limit that other gangs use up.
func onlyLimit(v *Verdict) bool {
	return v.Limit != nil && len(v.Tally.Counts)+len(v.Spared) == 0 && !v.Never()
}

// limitName holds those fields of a limit on which the meaning of an explanation depends.
type limitName struct {
	queue, quota, resource string
	asked                  float64
	cluster, node          bool
}

func limitOf(l *Limit) limitName {
	return limitName{l.Queue, l.Quota, l.Resource, l.Asked, l.Cluster, l.Node}
}
