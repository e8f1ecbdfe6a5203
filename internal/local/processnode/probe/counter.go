package probe

import corev1 "k8s.io/api/core/v1"

// Result is what a probe says.
type Result int

// Results of a probe.
const (
	Unknown Result = iota
	Success
	Failure
)

// Counter turns single answers into results: a result changes after as many equal answers in a row as its threshold.
type Counter struct {
	successes, failures int // thresholds
	last                bool
	row                 int
	result              Result
}

// NewCounter takes the thresholds of a probe.
func NewCounter(p *corev1.Probe) *Counter {
	return &Counter{successes: max(int(p.SuccessThreshold), 1), failures: max(int(p.FailureThreshold), 1)}
}

// Answer counts one answer and returns the result, and whether it is to be told: when it changed, and at every further run of
// failures, so that a container that stays unhealthy is noticed again.
func (c *Counter) Answer(ok bool) (Result, bool) {
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
