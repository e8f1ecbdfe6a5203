package sim

import (
	"slices"

	"github.com/vc-batch/vc/test/apiserver"
)

// failpoint is a fault that happens at a certain request of a program, counted from the time at which the failpoint was
// added.
type failpoint struct {
	name  string // for the coverage
	kind  *requestKind
	left  int  // the fault happens at the request with which this becomes 0
	after bool // the fault happens after the API server has carried out the request; otherwise before the request is sent
	do    func(l *link)
}

// addFailpoint adds a failpoint. It is removed when the fault has happened, or when all faults stop.
func (w *World) addFailpoint(p *failpoint) { w.failpoints = append(w.failpoints, p) }

// takeFailpoint counts a request and returns the failpoint that strikes at it, or nil.
func (w *World) takeFailpoint(l *link, r *apiserver.Request, after bool) *failpoint {
	var hit *failpoint
	for _, p := range slices.Clone(w.failpoints) {
		if p.after != after || !p.kind.matches(l, r) {
			continue
		}
		p.left--
		if p.left <= 0 && hit == nil {
			hit = p
			w.failpoints = slices.DeleteFunc(w.failpoints, func(q *failpoint) bool { return q == p })
		}
	}
	if hit != nil {
		moment := "before"
		if after {
			moment = "after"
		}
		w.trace("FAILPOINT %s %s %s", hit.name, moment, r)
		w.cover(hit.name+" "+moment+" a request", stepOf(l, r))
	}
	return hit
}

// strikeBefore lets a failpoint strike before a request is sent. It must be called from a fiber of the link's process. If
// the process ends, it does not return, and the process sends nothing else meanwhile.
func (l *link) strikeBefore(r *apiserver.Request) {
	w, root := l.process.world, l.process.root()
	hit := w.takeFailpoint(l, r, false)
	if hit == nil && !root.halted {
		return
	}
	w.wait(func(resume func()) {
		if hit == nil {
			l.process.after(0, resume) // after the fault of another request of the same process
			return
		}
		root.halted = true
		l.process.after(0, func() {
			hit.do(l)
			root.halted = false
			l.process.after(0, resume)
		})
	})
}

// strikeAfter lets a failpoint strike after the API server has carried out a request.
func (l *link) strikeAfter(r *apiserver.Request) {
	if hit := l.process.world.takeFailpoint(l, r, true); hit != nil {
		hit.do(l)
	}
}
