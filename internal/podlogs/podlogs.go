package podlogs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// MaxPods is the maximum number of pods that are followed at once, and MaxLines is the maximum number of lines in a
// View.
const (
	MaxPods  = 20
	MaxLines = 10000
)

// gather is the time for which new lines are collected before Next returns them.
const gather = 100 * time.Millisecond

// Pod identifies a log to follow. If Container is empty, it is the log of the pod's only or default container.
type Pod struct {
	Namespace, Name string
	UID             types.UID
	Container       string
	// Previous selects the log of the container before its last restart. Such a log has ended.
	Previous bool
}

// Line is a line of a log.
type Line struct {
	Pod  string // name of the pod
	At   time.Time
	Text string
	// Serial is the sequence number of the line, from 1 in order of arrival. Dropped lines, and lines of pods that are
	// no longer followed, leave gaps.
	Serial int
}

// View is a snapshot of the logs.
type View struct {
	// Lines holds the last lines, the newest last.
	Lines []Line
	// Dropped is the number of lines that were dropped because there were more than MaxLines.
	Dropped int
	// Streams maps a pod's name to the state of its stream: "" means that the log is being followed; any other text is
	// the reason why it is not.
	Streams map[string]string
}

// Tail follows pods.
type Tail struct {
	pods kubernetes.Interface

	mu      sync.Mutex
	lines   []Line
	dropped int
	serial  int // of the last line
	states  map[string]string
	running map[Pod]context.CancelFunc
	dirty   chan struct{}
}

// New creates a Tail that follows no pods yet.
func New(client kubernetes.Interface) *Tail {
	return &Tail{pods: client, states: map[string]string{}, running: map[Pod]context.CancelFunc{}, dirty: make(chan struct{}, 1)}
}

// Follow follows these pods instead of the previous ones. The streams of pods that are in both sets continue.
func (t *Tail) Follow(pods []Pod) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wanted := map[Pod]bool{}
	for _, pod := range pods[:min(len(pods), MaxPods)] {
		wanted[pod] = true
	}
	continues := map[string]bool{}
	for pod, stop := range t.running {
		if wanted[pod] {
			continues[pod.Name] = true
			continue
		}
		stop()
		delete(t.running, pod)
	}
	t.lines = slices.DeleteFunc(slices.Clone(t.lines), func(l Line) bool { return !continues[l.Pod] })
	maps.DeleteFunc(t.states, func(name, _ string) bool { return !continues[name] })
	for _, pod := range pods[min(len(pods), MaxPods):] {
		t.states[pod.Name] = fmt.Sprintf("not followed: the limit is %d pods", MaxPods)
	}
	for _, pod := range pods[:min(len(pods), MaxPods)] {
		if t.running[pod] == nil {
			ctx, stop := context.WithCancel(context.Background())
			t.running[pod] = stop
			t.states[pod.Name] = ""
			go t.followPodLog(ctx, pod)
		}
	}
	if len(wanted) == 0 {
		t.dropped = 0
	}
	t.signalChange()
}

// Stop stops following all pods and drops their lines.
func (t *Tail) Stop() { t.Follow(nil) }

// Next waits for new lines or states and returns the current view.
func (t *Tail) Next(ctx context.Context) (*View, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.dirty:
	}
	timer := time.NewTimer(gather)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.dirty: // the view will contain these changes
	default:
	}
	from := max(0, len(t.lines)-MaxLines)
	return &View{Lines: t.lines[from:len(t.lines):len(t.lines)], Dropped: t.dropped + from, Streams: maps.Clone(t.states)}, nil
}

func (t *Tail) signalChange() {
	select {
	case t.dirty <- struct{}{}:
	default:
	}
}

// addStreamLine stores a line of a stream, unless the stream was stopped in the meantime.
func (t *Tail) addStreamLine(ctx context.Context, line Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	if len(t.lines) >= 2*MaxLines {
		t.dropped += len(t.lines) - MaxLines
		t.lines = slices.Clone(t.lines[len(t.lines)-MaxLines:])
	}
	t.serial++
	line.Serial = t.serial
	t.lines = append(t.lines, line)
	t.signalChange()
}

// setStreamState records the state of a stream.
func (t *Tail) setStreamState(ctx context.Context, pod Pod, state string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil || t.states[pod.Name] == state {
		return
	}
	t.states[pod.Name] = state
	t.signalChange()
}
