package step

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// partTime is how long an allocation that may be smaller waits for the rest of its nodes once there are enough.
	partTime = 5 * time.Second
	// farewellTime is how long a head that has ended waits for nodes that have not come yet, to send them home.
	farewellTime = 5 * time.Minute
	// limitMargin is how long before its time limit a head stops waiting for them.
	limitMargin = 10 * time.Second
	// meetingTime is how long a node waits for a head that may still be starting.
	meetingTime = 30 * time.Minute
	// reunionTime is how long a node looks for a head that it has lost before it takes it for ended.
	reunionTime = 30 * time.Second
)

// roll is the head's list of the nodes that came. Where the controller does not end nodes when the head ends, because they are of an element of an
// array, or where some may come too late, each node reports to the head and stays until it is sent home.
type roll struct {
	mu      sync.Mutex      // guards what follows
	there   map[string]int  // connections of each node that is there now
	came    map[string]bool // who ever was
	waiting int             // how many have not been told that they may go
	changed chan struct{}   // closed and made anew when somebody comes or goes
	// members are those with whom the script runs; nil as long as all are welcome.
	members []string
	over    chan struct{} // closed when all may go
}

func newRoll() *roll {
	return &roll{there: map[string]int{}, came: map[string]bool{}, changed: make(chan struct{}), over: make(chan struct{})}
}

// attend keeps a node until all is over, or it is gone. One that comes when the script runs without it is sent home at once.
func (r *roll) attend(w *wire, host string) error {
	r.mu.Lock()
	late := r.members != nil && !slices.Contains(r.members, host)
	r.there[host]++
	r.came[host] = true
	r.count(1)
	r.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = w.receive() // a node says nothing more: it can only leave
	}()
	if !late {
		select {
		case <-r.over:
		case <-gone:
		}
	}
	err := w.sendJSON(answerFrame, 0, attendAnswer{Late: late})
	w.closeWrite()
	r.mu.Lock()
	r.there[host]--
	r.count(-1)
	r.mu.Unlock()
	<-gone // the caller reads from the connection, too
	return err
}

// count changes how many wait; the caller holds the lock.
func (r *roll) count(by int) {
	r.waiting += by
	close(r.changed)
	r.changed = make(chan struct{})
}

// await waits until that many of the hosts are there, and then for the others no longer than patience. It gives them in the order of hosts; the first is
// the head's own and is always there.
func (r *roll) await(ctx context.Context, hosts []string, least int, patience time.Duration) []string {
	return r.until(ctx, hosts, func(host string) bool { return r.there[host] > 0 }, least, patience)
}

// awaitAll waits until each of the hosts has been there once.
func (r *roll) awaitAll(ctx context.Context, hosts []string) {
	r.until(ctx, hosts, func(host string) bool { return r.came[host] }, len(hosts), 0)
}

// until is await for hosts of which something is true, which is asked with the lock held.
func (r *roll) until(ctx context.Context, hosts []string, is func(host string) bool, least int, patience time.Duration) []string {
	var enough <-chan time.Time
	for {
		r.mu.Lock()
		var present []string
		for i, host := range hosts {
			if i == 0 || is(host) {
				present = append(present, host)
			}
		}
		changed := r.changed
		r.mu.Unlock()
		if len(present) == len(hosts) {
			return present
		}
		if len(present) >= least && enough == nil {
			enough = time.After(patience)
		}
		select {
		case <-changed:
			continue
		case <-enough:
		case <-ctx.Done():
		}
		return present
	}
}

// begin says with whom the script runs.
func (r *roll) begin(members []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = members
}

// dismiss sends all nodes home that are there, and waits until they know.
func (r *roll) dismiss() {
	close(r.over)
	patience := time.After(dialTime)
	for {
		r.mu.Lock()
		waiting, changed := r.waiting, r.changed
		r.mu.Unlock()
		if waiting == 0 {
			return
		}
		select {
		case <-changed:
		case <-patience:
			return
		}
	}
}

// keepsRoll says whether nodes have to report to the head.
func (l *launcher) keepsRoll() bool {
	return len(l.place.Hosts) > 1 && (l.spec.Array != nil || l.isElastic())
}

// isElastic says whether the script may begin with fewer nodes than there may be.
func (l *launcher) isElastic() bool {
	return l.spec.MinNodes > 0 && l.spec.MinNodes < len(l.place.Hosts)
}

// present are the nodes that there are: all, or, of a job that may be smaller, those that have come once there are enough.
func (l *launcher) present(ctx context.Context) []string {
	hosts := l.place.Hosts
	if l.isElastic() {
		hosts = l.roll.await(ctx, hosts, l.spec.MinNodes, partTime)
		l.roll.begin(hosts)
	}
	return hosts
}

// sendHome ends the nodes that wait for the head. Those of an element of an array that are still starting are waited for: nobody else would ever tell
// them.
func (l *launcher) sendHome(ctx context.Context) {
	if !l.keepsRoll() {
		return
	}
	if l.spec.Array != nil && !l.isStopped() {
		patience, cancel := context.WithTimeout(ctx, l.farewell(time.Now()))
		l.roll.awaitAll(patience, l.place.Hosts)
		cancel()
	}
	l.roll.dismiss()
}

// farewell is how long nodes that have not come are waited for: a script that has ended is not to be over its time limit for that.
func (l *launcher) farewell(now time.Time) time.Duration {
	limit := time.Duration(l.spec.TimeLimit) * time.Second
	if l.head != nil {
		limit = l.head.limit() // it may have changed
	}
	if limit == 0 {
		return farewellTime
	}
	left := l.start.Add(limit).Sub(now)
	return max(0, min(farewellTime, left-limitMargin))
}

// attendSteps is all that a pod that is not the head does.
func (l *launcher) attendSteps(ctx context.Context) int {
	code := 0
	if !l.keepsRoll() {
		<-ctx.Done()
	} else if err := l.untilSentHome(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "slurmstepd: error:", err)
		code = 1
	}
	l.agent.signal(int(syscall.SIGCONT))
	l.agent.signal(int(syscall.SIGTERM))
	patience, cancel := context.WithTimeout(context.Background(), killWait)
	defer cancel()
	l.agent.idle(patience)
	return code
}

// untilSentHome reports to the head, and returns when it sends its nodes home, or is gone for good.
func (l *launcher) untilSentHome(ctx context.Context) error {
	h := &here{dirs: l.dirs, pod: l.pod, place: l.place}
	patience, met := meetingTime, false
	for ctx.Err() == nil {
		trying, cancel := context.WithTimeout(ctx, patience)
		w, err := h.askHeadFor(trying, request{Attend: l.place.Host()})
		cancel()
		if err != nil {
			if met || ctx.Err() != nil {
				err = nil // the head has ended without a word
			}
			return err
		}
		patience, met = reunionTime, true
		if l.waitAt(ctx, w) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// waitAt waits for the head's answer.
func (l *launcher) waitAt(ctx context.Context, w *wire) error {
	defer w.Close()
	defer context.AfterFunc(ctx, func() { _ = w.Close() })()
	var answer attendAnswer
	err := w.answer(&answer, nil)
	if err == nil && answer.Late {
		fmt.Fprintln(os.Stderr, "slurmstepd: the script runs without this node, which came too late")
	}
	return err
}
