package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Logs supplies made-up logs: each followed pod writes a line per second.
type Logs struct {
	now func() time.Time

	mu    sync.Mutex
	pods  []screenapi.PodRef
	lines []screenapi.LogLine
	step  int
}

// NewLogs returns logs with the times of a clock.
func NewLogs(now func() time.Time) *Logs { return &Logs{now: now} }

// pastLines is the number of lines that a pod has written before it is followed, and maxLines the number of lines that
// are kept.
const (
	pastLines = 60
	maxLines  = 5000
)

// Follow starts following these pods and stops following the previous ones.
func (l *Logs) Follow(pods []screenapi.PodRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pods, l.lines, l.step = pods, nil, 0
	for range pastLines {
		l.appendLines(l.now().Add(time.Duration(l.step-pastLines) * time.Second))
	}
}

// Stop stops following pods.
func (l *Logs) Stop() { l.Follow(nil) }

// Next waits for a second and returns the current view.
func (l *Logs) Next(ctx context.Context) (*screenapi.LogView, error) {
	l.mu.Lock()
	isFirst := l.step == pastLines
	l.mu.Unlock()
	wait := time.Second
	if isFirst {
		wait = 0
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.appendLines(l.now())
	dropped := max(len(l.lines)-maxLines, 0)
	return &screenapi.LogView{Lines: l.lines[dropped:len(l.lines):len(l.lines)], Dropped: dropped, Streams: map[string]string{}}, nil
}

// appendLines appends one line of each pod.
func (l *Logs) appendLines(at time.Time) {
	l.step++
	for _, pod := range l.pods {
		text := fmt.Sprintf("step %d  loss %.4f  %d samples/s", l.step, 0.3+20/float64(l.step+20), 1180+len(pod.Name)+l.step%7)
		if l.step%20 == 0 {
			text = fmt.Sprintf("checkpoint saved after step %d", l.step)
		}
		l.lines = append(l.lines, screenapi.LogLine{Pod: pod.Name, At: at, Text: text, Serial: len(l.lines) + 1})
	}
}
