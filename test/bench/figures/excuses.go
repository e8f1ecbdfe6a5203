package figures

// Excuse lets the floor of a line be missed, as long as it is true.
type Excuse struct {
	// Why is for people.
	Why string
	// Bound is the figure of the best that could be reached, in processor time, as that hardly depends on who else uses the machine. The excuse ends
	// where it reaches the floor: then the benchmark fails.
	Bound string
	// Instead is the line whose floor is held in place of this one, so that what gets worse is still seen.
	Instead string
}

// Excuses are by the name of the line whose floor may be missed. A create of a Job costs the API server about as much as create and bind of a pod,
// see docs/performance.md, "Jobs of one pod".
var Excuses = map[string]Excuse{
	Way + "5000x1": {Why: "the creates of the Jobs alone take more than the floor leaves", Bound: MostAlone + InProcessorTime, Instead: WayOfMost},
	SmallJobs:      {Why: "the creates of the Jobs alone take more than the floor leaves", Bound: SmallAlone + InProcessorTime, Instead: SmallOfMost},
}

// Verdict says of a figure whether the benchmark fails, and what there is to say about it; empty: the floor is kept.
func Verdict(f Figure) (fails bool, text string) {
	for name, e := range Excuses {
		if line := LineOf(name); e.Bound == f.Name && !line.Missed(f.Value) {
			return true, "the floor of \"" + name + "\" could be reached: its excuse is no longer true"
		}
	}
	if !LineOf(f.Name).Missed(f.Value) {
		return false, ""
	}
	if e, ok := Excuses[f.Name]; ok {
		return false, "misses the floor, excused: " + e.Why + "; held instead: " + e.Instead
	}
	return true, "misses the floor"
}
