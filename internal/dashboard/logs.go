package dashboard

import (
	"context"

	"github.com/vc-batch/vc/internal/podlogs"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// logs passes the lines of a Tail to the screens.
type logs struct{ tail *podlogs.Tail }

// Follow follows these pods instead of the previous ones.
func (l logs) Follow(refs []screenapi.PodRef) {
	pods := make([]podlogs.Pod, len(refs))
	for i, ref := range refs {
		pods[i] = podlogs.Pod(ref)
	}
	l.tail.Follow(pods)
}

// Stop stops following pods.
func (l logs) Stop() { l.tail.Stop() }

// Next waits for new lines or states and returns the current view.
func (l logs) Next(ctx context.Context) (*screenapi.LogView, error) {
	v, err := l.tail.Next(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]screenapi.LogLine, len(v.Lines))
	for i, line := range v.Lines {
		lines[i] = screenapi.LogLine(line)
	}
	return &screenapi.LogView{Lines: lines, Dropped: v.Dropped, Streams: v.Streams}, nil
}
