package podmeasure

import "time"

// Sample is a measurement of a running container.
type Sample struct {
	// Container is the name of the container. StartedAt distinguishes its runs.
	Container string
	StartedAt time.Time
	// At is the time of the measurement. CPU is the CPU time since StartedAt.
	At          time.Time
	CPU         time.Duration
	MemoryBytes int64
}

// container holds the measured use of a container.
type container struct {
	// cpuBefore is the CPU time of runs before the current one.
	cpuBefore time.Duration
	latest    Sample
	// cores is the number of CPUs in use between the last two samples or, with one sample, since the start.
	cores     float64
	hasEnded  bool
	peakBytes int64
}

// addSample adds a sample. A sample that is not newer than the latest one changes nothing.
func (c *container) addSample(s Sample) {
	isNewRun := !s.StartedAt.Equal(c.latest.StartedAt)
	switch {
	case !s.At.After(c.latest.At):
		return
	case isNewRun || s.CPU < c.latest.CPU:
		c.cpuBefore += c.latest.CPU
		c.cores, c.hasEnded = coresBetween(Sample{At: s.StartedAt}, s), false
	default:
		c.cores = coresBetween(c.latest, s)
	}
	c.latest = s
	c.peakBytes = max(c.peakBytes, s.MemoryBytes)
}

// coresBetween returns the number of CPUs in use between two samples.
func coresBetween(before, after Sample) float64 {
	elapsed := after.At.Sub(before.At)
	if elapsed <= 0 || before.At.IsZero() {
		return 0
	}
	return float64(after.CPU-before.CPU) / float64(elapsed)
}

// end adds the CPU time between the latest sample and the end of the container. It assumes that the container used as many
// CPUs as before, for at most maxGap.
func (c *container) end(at time.Time, maxGap time.Duration) {
	gap := at.Sub(c.latest.At)
	if c.hasEnded || gap <= 0 {
		return
	}
	c.hasEnded = true
	c.latest.CPU += time.Duration(c.cores * float64(min(gap, maxGap)))
}
