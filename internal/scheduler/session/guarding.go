package session

// Guarding reports whether a policy guards against an attack: inside a queue if enablePreemptable is on, between
// queues if enableReclaimable is on, and against a shuffle if either is on.
func (a *Attack) Guarding(preemptable, reclaimable bool) bool {
	switch a.Kind {
	case Preempt, GangPreempt:
		return preemptable
	case Reclaim, GangReclaim:
		return reclaimable
	}
	return preemptable || reclaimable
}
