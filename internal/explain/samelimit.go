package explain

// HaveSameLimit reports whether the only reason in both verdicts is the same limit, for the same numbers of pods. Their
// explanations then have the same meaning, even if the usage differs.
func HaveSameLimit(a, b *Verdict) bool {
	if !isOnlyLimit(a) || !isOnlyLimit(b) {
		return false
	}
	if a.Code != b.Code || limitNameOf(a.Limit) != limitNameOf(b.Limit) {
		return false
	}
	if a.Members.Exist != b.Members.Exist || a.Members.Held != b.Members.Held {
		return false
	}
	return a.Members.Min == b.Members.Min && a.EvictedBy == b.EvictedBy
}

// isOnlyLimit reports whether the only reason in a verdict is a limit that other gangs use up.
func isOnlyLimit(v *Verdict) bool {
	return v.Limit != nil && len(v.Tally.Counts)+len(v.Spared) == 0 && !v.IsNeverPossible()
}

// limitName holds those fields of a limit on which the meaning of an explanation depends.
type limitName struct {
	queue, quota, qos, account, user, resource string
	asked                                      float64
	cluster, node                              bool
}

func limitNameOf(l *Limit) limitName {
	return limitName{l.Queue, l.Quota, l.QOS, l.Account, l.User, l.Resource, l.Asked, l.Cluster, l.Node}
}
