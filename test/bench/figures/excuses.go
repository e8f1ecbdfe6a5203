package figures

// Excuse permits the value of a line to miss its floor, as long as the excuse is valid.
type Excuse struct {
	// Why is the explanation for readers.
	Why string
	// Bound is the name of the figure for the best possible value, in processor time, because that hardly depends on
	// other load on the machine. The excuse is invalid if this figure reaches the floor. Then the benchmark fails.
	Bound string
	// Instead is the line whose floor is checked in place of this one, so that regressions are still detected.
	Instead string
}

// Excuses maps the names of lines to their excuses. The API server needs about as much time to create a Job as to
// create and bind a pod: see docs/performance.md, "Jobs of one pod".
var Excuses = map[string]Excuse{
	Way + "5000x1": {Why: "the creates of the Jobs alone take more than the floor leaves", Bound: MostAlone + InProcessorTime, Instead: WayOfMost},
	SmallJobs:      {Why: "the creates of the Jobs alone take more than the floor leaves", Bound: SmallAlone + InProcessorTime, Instead: SmallOfMost},
}

// Verdict reports whether a figure fails the benchmark, with an explanation. The explanation is empty if the floor is
// kept.
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
