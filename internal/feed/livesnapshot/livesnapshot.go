package livesnapshot

import (
	"context"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/snapshot"
)

// interval is the minimum time between two Snapshots. gather is the time after a change during which further changes
// are collected.
const (
	interval = 200 * time.Millisecond
	gather   = 20 * time.Millisecond
)

// Options configures a Live.
type Options struct {
	Config *rest.Config
	// Cluster is the user's name for the cluster.
	Cluster string
	// Namespace is watched instead of all namespaces for kinds that the user may not see everywhere.
	Namespace string
	// Now returns the current time. Nil means time.Now.
	Now func() time.Time
}

// Live keeps a Board up to date with the API server.
type Live struct {
	options Options
	sources []*source

	once     sync.Once
	mu       sync.Mutex
	board    *snapshot.Board
	changed  time.Time // when the last change arrived
	loading  map[string]int
	hidden   map[string]snapshot.Hidden
	broken   map[string]error
	since    time.Time // when the connection entered its current state
	link     snapshot.Link
	policy   string
	usage    *snapshot.Usage
	dirty    chan struct{}
	loaded   chan struct{} // closed when all lists are complete for the first time
	handedAt time.Time

	narrow   map[string]bool // kinds that are watched only in the user's own namespace
	watches  map[*listener]bool
	missing  map[string]int // kinds whose watch is not re-established yet, with the serial number of its end
	calm     *time.Timer    // fires when nothing has changed for a while
	gaveBack time.Time      // when memory was last returned to the system
	memory   *memory
	sharer   *snapshot.Sharer
	stalled  time.Duration  // longest silence of a watch
	misses   int            // number of watches that have ended so far
	heard    time.Time      // when data last arrived from the server
	door     rest.Interface // client for checking whether the server responds
}

// New prepares the watches. No request is sent until Run is called.
func New(o Options) (*Live, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	enableConnectionChecks()
	l := &Live{
		options: o, board: snapshot.NewBoard(), loading: map[string]int{}, hidden: map[string]snapshot.Hidden{}, broken: map[string]error{},
		dirty: make(chan struct{}, 1), loaded: make(chan struct{}), link: snapshot.LinkLoading, since: o.Now(), changed: o.Now(),
		narrow: map[string]bool{}, watches: map[*listener]bool{}, missing: map[string]int{}, heard: time.Now(),
		memory: newMemory(), sharer: &snapshot.Sharer{}, stalled: stalled,
	}
	var err error
	if l.sources, err = newSources(l); err != nil {
		return nil, err
	}
	for _, s := range l.sources {
		l.loading[s.kind] = 0
	}
	l.board.SetUnknown(snapshot.Pods, true)
	l.board.SetUnknown(snapshot.PodGroups, true)
	l.signalChange()
	return l, nil
}

// enableConnectionChecks makes HTTP/2 check a silent connection every few seconds and drop it if it is lost. client-go
// reads these variables when it opens a connection; its default is 45 seconds. The loss that the user sees is detected
// by probeServer.
func enableConnectionChecks() {
	for name, seconds := range map[string]string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "5", "HTTP2_PING_TIMEOUT_SECONDS": "5"} {
		if os.Getenv(name) == "" {
			_ = os.Setenv(name, seconds)
		}
	}
}

// Run watches until ctx is done.
func (l *Live) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, s := range l.sources {
		running.Go(func() { s.watchUntilDone(ctx) })
	}
	running.Go(func() { l.probeServer(ctx) })
	running.Wait()
}

// Next waits for a change since the last Snapshot that it returned, and returns a new Snapshot. A caller that draws
// slowly gets fewer Snapshots.
func (l *Live) Next(ctx context.Context) (*snapshot.Snapshot, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.dirty:
	}
	pause := max(gather, interval-l.options.Now().Sub(l.handedAt))
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	select {
	case <-l.dirty: // the Snapshot will contain these changes
	default:
	}
	l.handedAt = l.options.Now()
	return l.newSnapshot(), nil
}

func (l *Live) newSnapshot() *snapshot.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	facts := snapshot.Facts{Cluster: l.options.Cluster, Policy: l.policy, Usage: l.usage, Connection: l.connectionState()}
	for _, kind := range slices.Sorted(maps.Keys(l.loading)) {
		facts.Loading = append(facts.Loading, snapshot.Loading{Kind: kind, Count: l.loading[kind]})
	}
	for _, kind := range slices.Sorted(maps.Keys(l.hidden)) {
		facts.Hidden = append(facts.Hidden, l.hidden[kind])
	}
	return l.board.TakeSnapshot(l.changed, facts)
}

// Loaded returns a channel that is closed when all lists are complete for the first time.
func (l *Live) Loaded() <-chan struct{} { return l.loaded }

// SetUsage sets the measured use that the next Snapshots contain.
func (l *Live) SetUsage(usage *snapshot.Usage) {
	l.mu.Lock()
	l.usage = usage
	l.mu.Unlock()
	l.signalChange()
}

// signalChange signals that there are changes for a new Snapshot.
func (l *Live) signalChange() {
	select {
	case l.dirty <- struct{}{}:
	default:
	}
}

// changeBoard calls do, which may write to the board and must report whether it did.
func (l *Live) changeBoard(do func(*snapshot.Board) bool) {
	l.mu.Lock()
	changed := do(l.board)
	if changed {
		l.changed = l.options.Now()
		l.scheduleMemoryReturn()
	}
	l.mu.Unlock()
	if changed {
		l.signalChange()
	}
}

// scheduleMemoryReturn schedules the return of memory to the system at a time when nothing has changed for a while.
// Without it, the memory of garbage from earlier changes would be kept.
func (l *Live) scheduleMemoryReturn() {
	if l.calm != nil {
		l.calm.Reset(returnDelay)
		return
	}
	l.calm = time.AfterFunc(returnDelay, func() {
		l.mu.Lock()
		early := returnInterval - time.Since(l.gaveBack)
		if early > 0 {
			l.calm.Reset(early)
		} else {
			l.gaveBack = time.Now()
		}
		l.mu.Unlock()
		if early <= 0 {
			debug.FreeOSMemory()
		}
	})
}

// putListedObject calls do, which puts an object from a list on the board. While the first list of the kind is
// incomplete, it also counts the object.
func (l *Live) putListedObject(kind string, do func(*snapshot.Board) bool) {
	l.mu.Lock()
	if do(l.board) {
		l.changed = l.options.Now()
	}
	if n, still := l.loading[kind]; still {
		l.loading[kind] = n + 1
	}
	l.mu.Unlock()
	l.signalChange()
}

// finishList records that all visible objects of a kind are on the board. some is false if the user may not see any.
func (l *Live) finishList(kind string, some bool) {
	l.mu.Lock()
	delete(l.loading, kind)
	if some && !l.narrow[kind] {
		delete(l.hidden, kind)
	}
	_, hidden := l.hidden[kind]
	if kind == snapshot.Pods || kind == snapshot.PodGroups {
		l.board.SetUnknown(kind, hidden)
	}
	l.updateLink()
	complete := len(l.loading) == 0
	l.mu.Unlock()
	l.signalChange()
	if complete {
		// Once the reflectors have released the lists, their memory can be freed.
		l.once.Do(func() {
			close(l.loaded)
			time.AfterFunc(returnDelay, debug.FreeOSMemory)
		})
	}
}

// markHidden records that the user may not see all objects of a kind, until a list of the kind succeeds. If narrow is
// true, a list of only the user's own namespace does not count.
func (l *Live) markHidden(h snapshot.Hidden, narrow bool) {
	l.mu.Lock()
	l.hidden[h.Kind], l.narrow[h.Kind] = h, narrow
	l.mu.Unlock()
	l.signalChange()
}
