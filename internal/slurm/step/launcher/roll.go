package launcher

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// roll is the head's list of connected nodes. It is needed in two cases. The nodes of an array element would outlive
// their head, because the controller does not end them, and the nodes of an elastic job may arrive too late. In these
// cases, each node connects to the head and remains connected until the head dismisses it.
type roll struct {
	mu      sync.Mutex      // guards the fields below
	there   map[string]int  // number of connections of each connected node
	came    map[string]bool // nodes that have ever connected
	waiting int             // connections to which no response has been sent yet
	changed chan struct{}   // closed and replaced when a node connects or disconnects
	// members lists the nodes with which the script runs. It is nil while all nodes are accepted.
	members []string
	over    chan struct{} // closed when all nodes may leave
}

func newRoll() *roll {
	return &roll{there: map[string]int{}, came: map[string]bool{}, changed: make(chan struct{}), over: make(chan struct{})}
}

// keepConnected keeps a node connected until all nodes are dismissed or the node disconnects. If a node connects after
// the script has started without it, keepConnected dismisses the node at once.
func (r *roll) keepConnected(conn *protocol.Conn, host string) error {
	r.mu.Lock()
	late := r.members != nil && !slices.Contains(r.members, host)
	r.there[host]++
	r.came[host] = true
	r.changeWaiting(1)
	r.mu.Unlock()
	gone := conn.AwaitClose()
	if !late {
		select {
		case <-r.over:
		case <-gone:
		}
	}
	err := conn.SendJSON(protocol.AnswerFrame, 0, protocol.AttendAnswer{Late: late})
	conn.CloseWrite()
	r.mu.Lock()
	r.there[host]--
	r.changeWaiting(-1)
	r.mu.Unlock()
	<-gone // ReceiveFrame must have returned, because the caller also reads from the connection
	return err
}

// changeWaiting changes the number of waiting connections. The caller must hold the lock.
func (r *roll) changeWaiting(by int) {
	r.waiting += by
	close(r.changed)
	r.changed = make(chan struct{})
}

// waitForHosts waits until at least least of the hosts are connected. It then waits for the other hosts, but no longer
// than patience. It returns the connected hosts in the order of hosts. The first host is the head itself, which always
// counts as connected.
func (r *roll) waitForHosts(ctx context.Context, hosts []string, least int, patience time.Duration) []string {
	return r.waitForCondition(ctx, hosts, func(host string) bool { return r.there[host] > 0 }, least, patience)
}

// waitForAllHosts waits until each of the hosts has connected at least once.
func (r *roll) waitForAllHosts(ctx context.Context, hosts []string) {
	r.waitForCondition(ctx, hosts, func(host string) bool { return r.came[host] }, len(hosts), 0)
}

// waitForCondition is like waitForHosts, but waits for hosts that meet a condition. The lock is held while the
// condition is evaluated.
func (r *roll) waitForCondition(ctx context.Context, hosts []string, is func(host string) bool, least int, patience time.Duration) []string {
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

// setMembers sets the nodes with which the script runs.
func (r *roll) setMembers(members []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = members
}

// dismissNodes dismisses all connected nodes. It waits until all dismissals have been sent, but no longer than
// jobclient.DialTime.
func (r *roll) dismissNodes() {
	close(r.over)
	patience := time.After(jobclient.DialTime)
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
