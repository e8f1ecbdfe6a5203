package nodecapacity

// State is the state of a node, in Slurm's terms.
type State string

// The states of nodes.
const (
	StateIdle     State = "idle"  // jobs have no pods on it
	StateMixed    State = "mix"   // jobs have pods on it, and there is free capacity
	StateFull     State = "alloc" // jobs have pods on it, and all of its CPU, or all of a device, is requested
	StateDraining State = "drng"  // cordoned, and jobs still have pods on it
	StateDrained  State = "drain" // cordoned
	StateDown     State = "down"  // not ready
)

// StateOfNode returns the state of a node. busy means that jobs have pods on it.
func StateOfNode(ready, cordoned, busy bool, has, idle Amounts) State {
	switch {
	case !ready:
		return StateDown
	case cordoned && busy:
		return StateDraining
	case cordoned:
		return StateDrained
	case busy && isFullyRequested(has, idle):
		return StateFull
	case busy:
		return StateMixed
	}
	return StateIdle
}

// isFullyRequested reports whether all CPU, or all units of any device, are requested.
func isFullyRequested(has, idle Amounts) bool {
	if has.MilliCPU > 0 && idle.MilliCPU <= 0 {
		return true
	}
	for name, amount := range has.Devices {
		if amount > 0 && idle.Devices[name] <= 0 {
			return true
		}
	}
	return false
}
