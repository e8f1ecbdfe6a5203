package sim

import (
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/test/apiserver"
)

// receiver receives the objects of one kind from a reflector.
type receiver interface {
	// replace receives a complete list. A list after the first one may be outdated, but it is never older than what was
	// received before.
	replace(objects []client.Object)
	// apply receives one change. No change is received twice, and no older change is received after a newer one.
	apply(c apiserver.Change)
}

// reflector delivers the objects of one kind to a receiver: a list, and then the changes after it, with a lag. It plays
// the part of client-go's reflector and of the API server's watch cache.
//
// When a watch has ended, client-go resumes it at the version of the last change or bookmark. The API server sends only
// newer changes, even if another API server sent the earlier ones (k8s.io/apiserver, cacheWatcher.process). So a receiver
// gets an object that it knows again only with a new list, which is why informers report all listed objects as updated.
type reflector struct {
	process  *process
	kind     schema.GroupVersionKind
	receiver receiver
	random   *rand.Rand
	synced   func() // called after the first list

	listed    bool
	position  int    // number of changes of the kind that have been delivered
	version   uint64 // version of the last list, change or bookmark, at which the watch is resumed
	current   int    // number of changes of the kind at the time of the first list
	scheduled bool   // a delivery is scheduled, or a list has begun
	expired   bool   // the next attempt to continue the watch fails with 410 Gone
}

// Lags of watches.
const (
	shortestLag = 500 * time.Microsecond
	longestLag  = 15 * time.Millisecond
	relistPause = 800 * time.Millisecond
)

// watchKind starts a reflector in a process.
func (w *World) watchKind(p *process, user string, kind schema.GroupVersionKind, r receiver, synced func()) *reflector {
	f := &reflector{process: p, kind: kind, receiver: r, random: w.randomFor("watch of " + kind.Kind + " by " + user), synced: synced}
	w.reflectors = append(w.reflectors, f)
	p.after(between(f.random, shortestTrip, longestTrip), f.list)
	return f
}

// list reads all objects and delivers them. The first list may come from a watch cache that lags behind. Later lists may lag
// behind, too, but are at least as new as the last change or bookmark.
func (f *reflector) list() {
	w := f.process.world
	if w.isUnreachable(f.process) {
		f.listAgain()
		return
	}
	f.scheduled = true
	all := len(w.changes[f.kind])
	at := all
	if !f.listed {
		at = max(0, at-w.staleness(f.process, f.kind, f.random))
		f.current = all
	} else {
		at = max(f.position, at-w.relistStaleness(f.process, f.kind, f.random))
		f.current = at
	}
	version := w.server.Version()
	if at < all {
		version = w.changes[f.kind][at].Version - 1
	}
	if faults := w.listFaultsOf(f.process); faults.parts > 0 {
		newPartialList(f, faults, at, version).receiveNext()
		return
	}
	f.completeList(at, version)
}

// listAgain tries again after a pause to read all objects.
func (f *reflector) listAgain() {
	f.process.after(between(f.random, relistPause/4, relistPause), f.list)
}

// completeList delivers the objects as of a number of changes, and continues with the changes after them.
func (f *reflector) completeList(at int, version uint64) {
	f.position, f.version, f.expired, f.scheduled = at, version, false, false
	f.recordOutdatedList()
	f.receiver.replace(f.process.world.objectsAt(f.kind, at))
	if !f.listed {
		f.listed = true
		f.synced()
	}
	f.schedule()
}

// recordOutdatedList records that the process has not received all changes from before its first list. Then a scheduler
// may bind pods to resources that its predecessor has already given to others. The real scheduler of Kubernetes does this
// as well, and kubelets reject such pods. Recent API servers do not return outdated lists to reflectors.
func (f *reflector) recordOutdatedList() {
	w := f.process.world
	if r := w.replicaOf(f.process); r != nil && r.program == "scheduler" && f.position < f.current {
		w.checks.outdatedUntil = w.now.Add(longestBind)
	}
}

// notify is called after each change of the kind.
func (f *reflector) notify() {
	if f.listed {
		f.schedule()
	}
}

// schedule schedules the delivery of the remaining changes.
func (f *reflector) schedule() {
	if f.scheduled || f.position >= len(f.process.world.changes[f.kind]) {
		return
	}
	f.scheduled = true
	lag := between(f.random, shortestLag, longestLag)
	if slow := f.process.world.watchLag(f.process, f.kind); slow > 0 {
		lag += between(f.random, 0, slow)
		f.process.world.coverWatch("late watch", f.process, f.kind)
	}
	f.process.after(lag, f.deliver)
}

// deliver delivers some of the remaining changes, usually all.
func (f *reflector) deliver() {
	f.scheduled = false
	w := f.process.world
	switch {
	case w.isUnreachable(f.process):
		f.scheduled = true
		if !f.expired && f.random.IntN(40) == 0 {
			f.expired = true // many changes are made before the connection is there again
			w.coverWatch("new list after a lost connection", f.process, f.kind)
		}
		f.process.after(between(f.random, relistPause/4, relistPause), f.deliver)
		return
	case f.expired:
		f.list()
		return
	case f.position == len(w.changes[f.kind]):
		return // the watch was resumed, and nothing has changed
	}
	f.recordOutdatedList()
	changes := w.changes[f.kind]
	end := len(changes)
	if f.random.IntN(4) == 0 {
		end = f.position + f.random.IntN(end-f.position) + 1
	}
	if r := w.replicaOf(f.process); r != nil && r.expireWatches > 0 && f.random.Float64() < r.expireWatches {
		end, f.expired = f.position+f.random.IntN(end-f.position), true
		w.coverWatch("watch ends in the middle", f.process, f.kind)
	}
	for f.position < end {
		f.position++
		f.version = changes[f.position-1].Version
		f.receiver.apply(changes[f.position-1])
	}
	f.schedule()
}
