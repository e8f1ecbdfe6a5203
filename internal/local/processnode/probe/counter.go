package probe

import corev1 "k8s.io/api/core/v1"

// Result is the result of a probe.
type Result int

// The results of a probe.
const (
	Unknown Result = iota
	Success
	Failure
)

// Counter converts the outcomes of single probes to results. The result changes when the number of equal outcomes in a
// row reaches the threshold.
type Counter struct {
	successes, failures int // thresholds
	last                bool
	row                 int
	result              Result
}

// NewCounter returns a counter that uses the thresholds of a probe.
func NewCounter(p *corev1.Probe) *Counter {
	return &Counter{successes: max(int(p.SuccessThreshold), 1), failures: max(int(p.FailureThreshold), 1)}
}

// CountOutcome counts an outcome. It returns the result and whether to report it. A result is reported when it has
// changed. If a container stays unhealthy, the failure is reported again each time the failure threshold is reached
// once more.
func (c *Counter) CountOutcome(ok bool) (Result, bool) {
	if ok != c.last {
		c.row = 0
	}
	c.last = ok
	c.row++
	result, threshold := Failure, c.failures
	if ok {
		result, threshold = Success, c.successes
	}
	if c.row < threshold {
		return c.result, false
	}
	changed := c.result != result || (!ok && c.row%threshold == 0)
	c.result = result
	return result, changed
}
