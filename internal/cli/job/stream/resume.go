package stream

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/podlogs"
)

// reopensAfter is the first delay before reopening a log that ended although its container is still running. The delay
// doubles with each attempt, up to reopensAtLeast.
const (
	reopensAfter   = time.Second
	reopensAtLeast = 30 * time.Second
)

// copyWithRetry follows one container's log until the container ends. If the log breaks off, for example during an
// outage of the API server, copyWithRetry reopens it at the same point.
func (s *streamer) copyWithRetry(ctx context.Context, c client.Client, from source) error {
	at := &podlogs.Position{}
	unprinted := func(line []byte) []byte {
		switch _, text, isNew := at.Advance(line); {
		case !isNew:
			return nil
		case s.o.timestamps:
			return line
		default:
			return text
		}
	}
	for pause := reopensAfter; ; pause = min(2*pause, reopensAtLeast) {
		before := *at
		options := s.logRequestOptions(from)
		options.Follow, options.Timestamps = true, true
		at.Resume(options)
		_, err := s.readLog(ctx, from, options, unprinted)
		isBroken := cli.IsOutage(err)
		if ctx.Err() != nil || (err != nil && !isBroken) {
			return err
		}
		if !isBroken && at.IsStart() {
			return nil
		}
		pod := &corev1.Pod{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(from.pod), pod); err != nil {
			return client.IgnoreNotFound(err)
		}
		if !isBroken && !isStillRunning(pod, from) {
			return nil
		}
		if at.HasMoved(before) {
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

// isStillRunning reports whether the container of a source is still running and has not been restarted.
func isStillRunning(pod *corev1.Pod, from source) bool {
	for _, status := range append(pod.Status.InitContainerStatuses[:len(pod.Status.InitContainerStatuses):len(pod.Status.InitContainerStatuses)], pod.Status.ContainerStatuses...) {
		if status.Name == from.container {
			return pod.UID == from.pod.UID && status.State.Running != nil && status.RestartCount == from.restarts
		}
	}
	return false
}
