package explain

// SameLimit reports whether two verdicts have the same limit as their only reason. Their explanations then have the
// same meaning, although the usage may differ.
func SameLimit(a, b *Verdict) bool {
	if !onlyLimit(a) || !onlyLimit(b) {
		return false
	}
	return a.Code == b.Code && a.Members.Min == b.Members.Min && a.EvictedBy == b.EvictedBy && limitOf(a.Limit) == limitOf(b.Limit)
}

// onlyLimit reports whether a limit that other gangs use up is the only subject of a verdict.
func onlyLimit(v *Verdict) bool {
	return v.Limit != nil && len(v.Tally.Counts)+len(v.Spared) == 0 && !v.Never()
}

// limitName holds the fields of a limit that the meaning of an explanation depends on.
type limitName struct {
	queue, quota, resource string
	asked                  float64
	cluster, node          bool
}

func limitOf(l *Limit) limitName {
	return limitName{l.Queue, l.Quota, l.Resource, l.Asked, l.Cluster, l.Node}
}
