package explain

// SameLimit reports whether two verdicts name the same limit, and nothing but it, as the reason to wait. Their explanations
// then mean the same, although other amounts may be in use.
func SameLimit(a, b *Verdict) bool {
	if !onlyLimit(a) || !onlyLimit(b) {
		return false
	}
	return a.Code == b.Code && a.Members.Min == b.Members.Min && a.EvictedBy == b.EvictedBy && limitOf(a.Limit) == limitOf(b.Limit)
}

// onlyLimit reports whether a limit that others use up is all that a verdict is about.
func onlyLimit(v *Verdict) bool {
	return v.Limit != nil && len(v.Tally.Counts)+len(v.Spared) == 0 && !v.Never()
}

// limitName is what of a limit an explanation's meaning depends on.
type limitName struct {
	queue, quota, resource string
	asked                  float64
	cluster, node          bool
}

func limitOf(l *Limit) limitName {
	return limitName{l.Queue, l.Quota, l.Resource, l.Asked, l.Cluster, l.Node}
}
