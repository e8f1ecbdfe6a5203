package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/vc-batch/vc/internal/daemon/leaderfence"
)

// replica is one of the programs that a site runs, such as the second scheduler. It is restarted after a crash.
type replica struct {
	world   *World
	name    string // such as scheduler-1
	program string // scheduler, controllers or admission
	lease   string // empty if all replicas of the program work at the same time
	lead    func(p *process, user string, fence func() error)
	process *process
	lives   int
	elector *elector
	weather weather
	// lags holds additional watch lags by kind.
	lags map[string]time.Duration
	// expireWatches is the probability that a delivery of changes ends in the middle with 410 Gone.
	expireWatches float64
	// lists holds the faults of later lists.
	lists listFaults
	// stale is the maximum number of changes that the first lists of a new process may lag behind.
	stale int
}

// Restart pauses of a crashed program.
const (
	shortestRestart = 500 * time.Millisecond
	longestRestart  = 10 * time.Second
)

// start starts a new process.
func (r *replica) start() {
	r.lives++
	identity := fmt.Sprintf("%s/%d", r.name, r.lives)
	p := &process{world: r.world, name: identity}
	r.process = p
	r.world.trace("%s starts", identity)
	if r.lease == "" {
		r.lead(p, identity, nil)
		return
	}
	e := &elector{process: p, lease: r.lease, identity: identity, fence: leaderfence.New(renewDeadline)}
	e.link = r.world.newLink(p, identity+"/lease", renewDeadline/2, nil)
	r.elector = e
	var term *process
	p.spawn(func() {
		e.run(
			func() {
				term = p.newChild(identity)
				r.lead(term, identity, e.mayWrite)
			},
			func() { term.end() },
		)
	}, nil)
}

// leads reports whether the process of the replica holds the lease.
func (r *replica) leads() bool {
	if r.process == nil || r.process.ended {
		return false
	}
	lease := r.world.state.leases[r.lease]
	return lease != nil && ptr.Deref(lease.Spec.HolderIdentity, "") == r.process.name
}

// crash ends the process and starts a new one after a pause.
func (r *replica) crash(pause time.Duration) {
	if r.process == nil || r.process.ended {
		return
	}
	r.world.trace("%s crashes", r.process.name)
	r.world.cover("crash", r.program+": "+r.role())
	r.process.end()
	r.world.add(r.world.now.Add(pause), nil, r.start)
}

// pause stops the process as SIGSTOP does, and continues it later.
func (r *replica) pause(length time.Duration) {
	p := r.process
	if p == nil || p.ended || p.paused {
		return
	}
	r.world.trace("%s is paused for %s", p.name, length)
	r.world.cover("pause", r.program+": "+r.role())
	p.paused = true
	r.world.add(r.world.now.Add(length), nil, func() {
		if !p.ended {
			r.world.trace("%s continues", p.name)
			p.resume()
		}
	})
}

// replicaOf returns the replica to which a process belongs, or nil.
func (w *World) replicaOf(p *process) *replica {
	root := p.root()
	for _, r := range w.replicas {
		if r.process == root {
			return r
		}
	}
	return nil
}

// replica returns the replica that sends the requests.
func (l *link) replica() *replica { return l.process.world.replicaOf(l.process) }

func (w *World) weatherOf(p *process) *weather {
	if r := w.replicaOf(p); r != nil {
		return &r.weather
	}
	return &weather{}
}

// isUnreachable reports whether a process cannot reach the API server.
func (w *World) isUnreachable(p *process) bool { return w.serverDown || w.weatherOf(p).cut }

// staleness returns by how many changes the first list of a process lags behind.
func (w *World) staleness(p *process, kind schema.GroupVersionKind, random *rand.Rand) int {
	if r := w.replicaOf(p); r != nil && r.stale > 0 {
		w.cover("outdated first list", r.program+": "+kind.Kind)
		return random.IntN(r.stale + 1)
	}
	return 0
}

// relistStaleness returns by how many changes a later list of a process lags behind.
func (w *World) relistStaleness(p *process, kind schema.GroupVersionKind, random *rand.Rand) int {
	lag := w.listFaultsOf(p).lag
	if lag == 0 {
		return 0
	}
	w.coverWatch("outdated new list", p, kind)
	return random.IntN(lag + 1)
}

// listFaultsOf returns the faults of the lists of a process.
func (w *World) listFaultsOf(p *process) listFaults {
	if r := w.replicaOf(p); r != nil {
		return r.lists
	}
	return listFaults{}
}

// watchLag returns the maximum additional lag of a watch.
func (w *World) watchLag(p *process, kind schema.GroupVersionKind) time.Duration {
	if r := w.replicaOf(p); r != nil {
		return r.lags[kind.Kind]
	}
	return 0
}
