package live

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

// interval is the shortest time between two Snapshots; gather is how long after a change the next ones are waited for.
const (
	interval = 200 * time.Millisecond
	gather   = 20 * time.Millisecond
)

// Options are what a Live needs.
type Options struct {
	Config *rest.Config
	// Cluster is what the user calls the cluster.
	Cluster string
	// Namespace is where to look for what may not be seen in all.
	Namespace string
	// Now is the clock; nil is the wall's.
	Now func() time.Time
}

// Live is a Board that follows the API server.
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
	since    time.Time // when the connection became what it is
	link     snapshot.Link
	policy   string
	dirty    chan struct{}
	handedAt time.Time

	narrow   map[string]bool // kinds of which only the own namespace is watched
	watches  map[*listener]bool
	missing  map[string]int // kinds whose watch ended and has not come back yet, with the number of that end
	calm     *time.Timer    // runs when nothing has changed for a while
	gaveBack time.Time      // when it did last
	memory   *memory
	sharer   *snapshot.Sharer
	stalled  time.Duration  // how long a watch may say nothing
	misses   int            // ends of watches so far
	heard    time.Time      // when the server was last heard
	door     rest.Interface // by which it is asked whether it is there
}

// New prepares the watches; nothing is asked before Run.
func New(o Options) (*Live, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	askOften()
	l := &Live{
		options: o, board: snapshot.NewBoard(), loading: map[string]int{}, hidden: map[string]snapshot.Hidden{}, broken: map[string]error{},
		dirty: make(chan struct{}, 1), link: snapshot.LinkLoading, since: o.Now(), changed: o.Now(),
		narrow: map[string]bool{}, watches: map[*listener]bool{}, missing: map[string]int{}, heard: time.Now(),
		memory: newMemory(), sharer: &snapshot.Sharer{}, stalled: stalled,
	}
	var err error
	if l.sources, err = sources(l); err != nil {
		return nil, err
	}
	for _, s := range l.sources {
		l.loading[s.kind] = 0
	}
	l.board.SetUnknown(snapshot.Pods, true)
	l.board.SetUnknown(snapshot.PodGroups, true)
	l.mark()
	return l, nil
}

// askOften makes a connection that is silent be tried every few seconds, so that a lost one is let go of: client-go
// reads these variables when it makes a connection, and waits for 45 seconds without them. That it is lost is told by pulse.
func askOften() {
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
		running.Go(func() { s.run(ctx) })
	}
	running.Go(func() { l.pulse(ctx) })
	running.Wait()
}

// Next waits until there is something newer than what it handed out last, and hands that out. Who draws slowly gets fewer.
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
	case <-l.dirty: // what came in the meantime is in it
	default:
	}
	l.handedAt = l.options.Now()
	return l.freeze(), nil
}

func (l *Live) freeze() *snapshot.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	facts := snapshot.Facts{Cluster: l.options.Cluster, Policy: l.policy, Connection: l.connection()}
	for _, kind := range slices.Sorted(maps.Keys(l.loading)) {
		facts.Loading = append(facts.Loading, snapshot.Loading{Kind: kind, Count: l.loading[kind]})
	}
	for _, kind := range slices.Sorted(maps.Keys(l.hidden)) {
		facts.Hidden = append(facts.Hidden, l.hidden[kind])
	}
	return l.board.Freeze(l.changed, facts)
}

// mark says that there is something new to hand out.
func (l *Live) mark() {
	select {
	case l.dirty <- struct{}{}:
	default:
	}
}

// change lets do write to the board; do says whether it did.
func (l *Live) change(do func(*snapshot.Board) bool) {
	l.mu.Lock()
	changed := do(l.board)
	if changed {
		l.changed = l.options.Now()
		l.calmDown()
	}
	l.mu.Unlock()
	if changed {
		l.mark()
	}
}

// calmDown gives memory back when nothing has changed for a while: what changes left behind would stay otherwise.
func (l *Live) calmDown() {
	if l.calm != nil {
		l.calm.Reset(settle)
		return
	}
	l.calm = time.AfterFunc(settle, func() {
		l.mu.Lock()
		early := apart - time.Since(l.gaveBack)
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

// arrived lets do put an object of a list on the board, and counts it while the first list of its kind is not complete.
func (l *Live) arrived(kind string, do func(*snapshot.Board) bool) {
	l.mu.Lock()
	if do(l.board) {
		l.changed = l.options.Now()
	}
	if n, still := l.loading[kind]; still {
		l.loading[kind] = n + 1
	}
	l.mu.Unlock()
	l.mark()
}

// listed says that all objects of a kind that may be seen are here; some that any may be.
func (l *Live) listed(kind string, some bool) {
	l.mu.Lock()
	delete(l.loading, kind)
	if some && !l.narrow[kind] {
		delete(l.hidden, kind)
	}
	_, hidden := l.hidden[kind]
	if kind == snapshot.Pods || kind == snapshot.PodGroups {
		l.board.SetUnknown(kind, hidden)
	}
	l.relink()
	complete := len(l.loading) == 0
	l.mu.Unlock()
	l.mark()
	if complete {
		// What the lists took on their way is not needed any more, once the reflectors have let go of it.
		l.once.Do(func() { time.AfterFunc(settle, debug.FreeOSMemory) })
	}
}

// hide says what may not be seen of a kind, until a list of it comes; narrow is that one of the own namespace is no such list.
func (l *Live) hide(h snapshot.Hidden, narrow bool) {
	l.mu.Lock()
	l.hidden[h.Kind], l.narrow[h.Kind] = h, narrow
	l.mu.Unlock()
	l.mark()
}
