package job

import (
	"bytes"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
)

// reopensAfter is the first delay before reopening a log that ended although its container still runs. The delay
// doubles with each attempt, up to reopensAtLeast.
const (
	reopensAfter   = time.Second
	reopensAtLeast = 30 * time.Second
)

// position is the point up to which a log has been printed: the time of the last line and the number of lines with
// that time. A log that broke off is reopened there.
type position struct {
	last  time.Time
	count int
	// passed is the number of lines with that time that were read since the log was reopened.
	passed int
	// stamped is true if the output includes the lines' timestamps.
	stamped bool
}

// copyWithRetry follows one container's log until the container ends. If the log breaks off, for example during an
// outage of the API server, copyWithRetry reopens it at the same point.
func (s *streamer) copyWithRetry(ctx context.Context, c client.Client, from source) error {
	at := &position{stamped: s.o.timestamps}
	for pause := reopensAfter; ; pause = min(2*pause, reopensAtLeast) {
		before := *at
		options := s.logRequestOptions(from)
		options.Follow, options.Timestamps = true, true
		if !at.last.IsZero() {
			since := metav1.NewTime(at.last)
			options.SinceTime, options.SinceSeconds, options.TailLines = &since, nil, nil
			at.passed = 0
		}
		_, err := s.readLog(ctx, from, options, at.skipPrinted)
		isBroken := cli.IsOutage(err)
		if ctx.Err() != nil || err != nil && !isBroken {
			return err
		}
		if !isBroken && at.last.IsZero() {
			return nil
		}
		pod := &corev1.Pod{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(from.pod), pod); err != nil {
			return client.IgnoreNotFound(err)
		}
		if !isBroken && !isStillRunning(pod, from) {
			return nil
		}
		if before.last != at.last || before.count != at.count {
			pause = reopensAfter // the log continues, so start with short pauses again
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.over:
			if !isBroken {
				return nil
			}
		case <-time.After(pause):
		}
	}
}

// isStillRunning reports whether the container of a source still runs and has not been restarted.
func isStillRunning(pod *corev1.Pod, from source) bool {
	for _, status := range append(pod.Status.InitContainerStatuses[:len(pod.Status.InitContainerStatuses):len(pod.Status.InitContainerStatuses)], pod.Status.ContainerStatuses...) {
		if status.Name == from.container {
			return pod.UID == from.pod.UID && status.State.Running != nil && status.RestartCount == from.restarts
		}
	}
	return false
}

// skipPrinted returns the line to print, or nil if the line was already printed before the log was reopened.
func (p *position) skipPrinted(line []byte) []byte {
	stamp, text, found := bytes.Cut(line, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if !found || err != nil {
		return line // the server sent no timestamp
	}
	switch {
	case at.Before(p.last):
		return nil
	case at.Equal(p.last):
		if p.passed++; p.passed <= p.count {
			return nil
		}
		p.count = p.passed
	default:
		p.last, p.count, p.passed = at, 1, 1
	}
	if p.stamped {
		return line
	}
	return text
}
