package sim

import (
	"iter"
	"slices"
	"time"

	"k8s.io/utils/clock"
)

// process is a running program, or a part of a program that ends by itself, such as a term of leadership. Its events
// run only while it and its parent are alive and not paused.
type process struct {
	world    *World
	name     string
	parent   *process
	ended    bool
	paused   bool
	halted   bool    // a failpoint strikes at this moment, so that the process sends no requests
	deferred []event // events that came due during a pause
	fibers   []*fiber
	children []*process
	offset   time.Duration // how far the clock of the program is ahead; set for a program, not for its parts
	tail     time.Time     // when the last deferred event runs, so that the order is kept
}

// newChild returns a process that ends with p.
func (p *process) newChild(name string) *process {
	child := &process{world: p.world, name: name, parent: p}
	p.children = append(p.children, child)
	return child
}

func (p *process) isAlive() bool { return !p.ended && (p.parent == nil || p.parent.isAlive()) }

func (p *process) isPaused() bool { return p.paused || (p.parent != nil && p.parent.isPaused()) }

// root returns the program to which the process belongs.
func (p *process) root() *process {
	for p.parent != nil {
		p = p.parent
	}
	return p
}

// after runs f in the process after a pause.
func (p *process) after(pause time.Duration, f func()) { p.world.add(p.world.now.Add(pause), p, f) }

// end ends the process at once, as SIGKILL does. Requests that have left the process still reach the API server.
func (p *process) end() {
	if p.ended {
		return
	}
	p.ended = true
	for _, child := range p.children {
		child.end()
	}
	for _, f := range slices.Clone(p.fibers) {
		f.abort()
	}
	p.fibers, p.children, p.deferred = nil, nil, nil
}

// deferUntilResumed keeps an event of a paused process.
func (p *process) deferUntilResumed(e event) {
	root := p.root()
	root.deferred = append(root.deferred, e)
}

// resume lets a paused process run the events that came due, in their order.
func (p *process) resume() {
	p.paused = false
	for _, e := range p.deferred {
		p.world.add(p.world.now, e.owner, e.run)
	}
	p.deferred = nil
}

// fiber is a function that runs in a process and waits at certain points, such as requests. At most one fiber runs at a
// time, and the simulation decides when a waiting fiber continues.
type fiber struct {
	process   *process
	coroutine *coroutine // nil after the fiber has ended
}

// coroutine runs one fiber after another. Using it again saves the growth of its stack, which takes longer than most fibers.
type coroutine struct {
	body  func()
	next  func() (waiting, bool)
	stop  func()
	yield func(waiting) bool
}

// waiting starts whatever a fiber waits for. It must call resume once, later. nil means that the fiber has ended.
type waiting func(resume func())

// aborted is the panic value that unwinds a fiber whose process has ended.
type aborted struct{}

// takeCoroutine returns a coroutine that runs no fiber.
func (w *World) takeCoroutine() *coroutine {
	if last := len(w.idle) - 1; last >= 0 {
		c := w.idle[last]
		w.idle = w.idle[:last]
		return c
	}
	c := &coroutine{}
	c.next, c.stop = iter.Pull(func(yield func(waiting) bool) {
		c.yield = yield
		for {
			c.runBody()
			if !yield(nil) {
				return
			}
		}
	})
	return c
}

// runBody runs the current fiber until it has returned or was aborted.
func (c *coroutine) runBody() {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(aborted); !ok {
				panic(r)
			}
		}
	}()
	c.body()
}

// spawn runs body as a fiber, up to its first wait. ended is called after body has returned; it may be nil.
func (p *process) spawn(body func(), ended func()) {
	f := &fiber{process: p, coroutine: p.world.takeCoroutine()}
	f.coroutine.body = body
	p.fibers = append(p.fibers, f)
	f.run(ended)
}

// run continues the fiber until its next wait.
func (f *fiber) run(ended func()) {
	c := f.coroutine
	if c == nil {
		return
	}
	w := f.process.world
	before := w.running
	w.running = f
	wait, _ := c.next()
	w.running = before
	if wait != nil {
		wait(func() { f.run(ended) })
		return
	}
	f.coroutine, c.body = nil, nil
	w.idle = append(w.idle, c)
	if i := slices.Index(f.process.fibers, f); i >= 0 {
		f.process.fibers = slices.Delete(f.process.fibers, i, i+1)
	}
	if ended != nil && f.process.isAlive() {
		ended()
	}
}

// abort unwinds the fiber.
func (f *fiber) abort() {
	if c := f.coroutine; c != nil && f.process.world.running != f {
		f.coroutine = nil
		c.stop()
	}
}

// wait suspends the running fiber until start's callback is called.
func (w *World) wait(start waiting) {
	f := w.running
	if f == nil {
		panic("a request was sent outside of a fiber")
	}
	if f.process.ended || !f.coroutine.yield(start) {
		panic(aborted{})
	}
}

// sleep suspends the running fiber for a time.
func (w *World) sleep(pause time.Duration) {
	owner := w.running.process
	w.wait(func(resume func()) { owner.after(pause, resume) })
}

// fiberGroup runs functions in parallel as fibers of a process.
type fiberGroup struct {
	process *process
	running int
	resume  func() // continues the fiber in Wait; nil if no fiber waits
}

// Go starts a function as a fiber.
func (g *fiberGroup) Go(f func()) {
	g.running++
	g.process.after(0, func() { g.process.spawn(f, g.finish) })
}

// finish continues the fiber in Wait after the last function has returned.
func (g *fiberGroup) finish() {
	g.running--
	if g.running == 0 && g.resume != nil {
		g.process.after(0, g.resume)
	}
}

// Wait suspends the running fiber until all functions have returned.
func (g *fiberGroup) Wait() {
	if g.running > 0 {
		g.process.world.wait(func(resume func()) { g.resume = resume })
	}
}

// processClock is the clock of a process. Functions that it delays run in the process.
type processClock struct {
	clock.Clock // nil: only the methods below are used
	process     *process
	// afterwards is called after each delayed function. It may be nil.
	afterwards func()
}

var _ clock.WithDelayedExecution = (*processClock)(nil)

// Now returns the time that the clock of the process shows.
func (c *processClock) Now() time.Time { return c.process.wallTime() }

// Since returns the time that has passed.
func (c *processClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// AfterFunc runs f in the process after a pause. The result is nil, because no caller uses it.
func (c *processClock) AfterFunc(pause time.Duration, f func()) clock.Timer {
	c.process.after(pause, func() {
		f()
		if c.afterwards != nil {
			c.afterwards()
		}
	})
	return nil
}
