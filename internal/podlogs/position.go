package podlogs

import (
	"bytes"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Position is the point up to which a log with timestamps has been read. A log that broke off is reopened there. The
// zero value is the start of the log.
type Position struct {
	last  time.Time
	count int // lines with that time
	// passed is the number of lines with that time that were read since the log was reopened.
	passed int
}

// IsStart reports whether no line has been read.
func (p *Position) IsStart() bool { return p.last.IsZero() }

// HasMoved reports whether lines have been read since the position had the value before.
func (p *Position) HasMoved(before Position) bool {
	return p.last != before.last || p.count != before.count
}

// Resume sets the options of a request to continue at the position. At the start of a log, it does not change them.
func (p *Position) Resume(options *corev1.PodLogOptions) {
	if p.IsStart() {
		return
	}
	since := metav1.NewTime(p.last)
	options.SinceTime, options.SinceSeconds, options.TailLines = &since, nil, nil
	p.passed = 0
}

// Advance reads a line and separates its timestamp from its text. isNew is false for a line that was already read
// before the log was reopened. A line without a timestamp is always new.
func (p *Position) Advance(line []byte) (at time.Time, text []byte, isNew bool) {
	stamp, text, found := bytes.Cut(line, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if !found || err != nil {
		return time.Time{}, line, true
	}
	switch {
	case at.Before(p.last):
		return at, text, false
	case at.Equal(p.last):
		if p.passed++; p.passed <= p.count {
			return at, text, false
		}
		p.count = p.passed
	default:
		p.last, p.count, p.passed = at, 1, 1
	}
	return at, text, true
}
