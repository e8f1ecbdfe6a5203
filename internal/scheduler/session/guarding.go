package session

// Guarding says whether a policy guards against an attack: by its switch
// enablePreemptable inside a queue, by enableReclaimable between queues, by either
// of them against a shuffle.
func (a *Attack) Guarding(preemptable, reclaimable bool) bool {
	switch a.Kind {
	case Preempt, GangPreempt:
		return preemptable
	case Reclaim, GangReclaim:
		return reclaimable
	}
	return preemptable || reclaimable
}
