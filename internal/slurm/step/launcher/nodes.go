package launcher

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

const (
	// partTime is the time for which an elastic allocation waits for its remaining nodes after the minimum number of
	// nodes have connected.
	partTime = 5 * time.Second
	// farewellTime is the time for which a head waits, after the script has ended, for nodes that have not connected
	// yet, in order to end them as well.
	farewellTime = 5 * time.Minute
	// limitMargin is the time before the job's time limit at which a head stops waiting for nodes.
	limitMargin = 10 * time.Second
	// meetingTime is the time for which a node waits for a head that may still be starting.
	meetingTime = 30 * time.Minute
	// reunionTime is the time for which a node that has lost its connection tries to reach the head. After that, it
	// assumes that the head has ended.
	reunionTime = 30 * time.Second
)

// needsRoll reports whether the other nodes must connect to the head.
func (l *launcher) needsRoll() bool {
	return len(l.place.Hosts) > 1 && (l.spec.Array != nil || l.isElastic())
}

// isElastic reports whether the script may start with fewer nodes than the job's maximum.
func (l *launcher) isElastic() bool {
	return l.spec.MinNodes > 0 && l.spec.MinNodes < len(l.place.Hosts)
}

// presentNodes returns the nodes with which the script runs. These are all nodes or, for an elastic job, the nodes that
// are connected soon after the minimum number of nodes have connected.
func (l *launcher) presentNodes(ctx context.Context) []string {
	hosts := l.place.Hosts
	if l.isElastic() {
		hosts = l.roll.waitForHosts(ctx, hosts, l.spec.MinNodes, partTime)
		l.roll.setMembers(hosts)
	}
	return hosts
}

// endWaitingNodes ends the nodes that are waiting for the head. For an array element, it also waits for nodes that are
// still starting and then ends them, because no other component would end them.
func (l *launcher) endWaitingNodes(ctx context.Context) {
	if !l.needsRoll() {
		return
	}
	if l.spec.Array != nil && !l.isStopped() {
		patience, cancel := context.WithTimeout(ctx, l.dismissalTime(time.Now()))
		l.roll.waitForAllHosts(patience, l.place.Hosts)
		cancel()
	}
	l.roll.dismissNodes()
}

// dismissalTime returns how long to wait for nodes that have not connected yet. It is limited because the head must not
// exceed the job's time limit while it waits.
func (l *launcher) dismissalTime(now time.Time) time.Duration {
	limit := time.Duration(l.spec.TimeLimit) * time.Second
	if l.steps != nil {
		limit = l.steps.TimeLimit() // the limit may have changed
	}
	if limit == 0 {
		return farewellTime
	}
	left := l.start.Add(limit).Sub(now)
	return max(0, min(farewellTime, left-limitMargin))
}

// runNode is the main function of the pods other than the head. It returns the exit code.
func (l *launcher) runNode(ctx context.Context) int {
	code := 0
	if !l.needsRoll() {
		<-ctx.Done()
	} else if err := l.waitForDismissal(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "slurmstepd: error:", err)
		code = 1
	}
	l.agent.SignalProcesses(int(syscall.SIGCONT))
	l.agent.SignalProcesses(int(syscall.SIGTERM))
	patience, cancel := context.WithTimeout(context.Background(), process.KillDelay)
	defer cancel()
	l.agent.WaitUntilIdle(patience)
	return code
}

// waitForDismissal connects to the head and returns when the head dismisses the node or can no longer be reached.
func (l *launcher) waitForDismissal(ctx context.Context) error {
	client := &jobclient.Client{Dirs: l.dirs, Pod: l.pod, Place: l.place}
	patience, met := meetingTime, false
	for ctx.Err() == nil {
		trying, cancel := context.WithTimeout(ctx, patience)
		conn, err := client.RetryRequest(trying, l.place.Hosts[0], protocol.Request{Attend: l.place.OwnHost()})
		cancel()
		if err != nil {
			if met || ctx.Err() != nil {
				err = nil // the head has ended without dismissing its nodes
			}
			return err
		}
		patience, met = reunionTime, true
		if l.waitForHead(ctx, conn) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// waitForHead waits until the head dismisses the node, and returns an error if the connection ends first.
func (l *launcher) waitForHead(ctx context.Context, conn *protocol.Conn) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var answer protocol.AttendAnswer
	err := conn.ReceiveAnswer(&answer, nil)
	if err == nil && answer.Late {
		fmt.Fprintln(os.Stderr, "slurmstepd: the script runs without this node, which became ready too late")
	}
	return err
}
