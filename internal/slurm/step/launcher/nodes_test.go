package launcher

import (
	"context"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// arrives connects a node to a roll and returns a channel with the answer that the node receives in the end.
func arrives(t *testing.T, r *roll, host string) <-chan protocol.AttendAnswer {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	go func() { _ = r.keepConnected(protocol.NewConn(theirs), host) }()
	told := make(chan protocol.AttendAnswer, 1)
	go func() {
		var answer protocol.AttendAnswer
		if protocol.NewConn(ours).ReceiveAnswer(&answer, nil) == nil {
			told <- answer
		}
		_, _ = io.Copy(io.Discard, ours)
	}()
	return told
}

func heard(t *testing.T, told <-chan protocol.AttendAnswer) protocol.AttendAnswer {
	t.Helper()
	select {
	case answer := <-told:
		return answer
	case <-time.After(10 * time.Second):
		t.Fatal("the node is told nothing")
	}
	return protocol.AttendAnswer{}
}

func TestNodesAreAwaitedAndSentHome(t *testing.T) {
	t.Parallel()
	hosts := []string{"a-0", "a-1", "a-2"}
	t.Run("all are waited for, in the order of the nodes", func(t *testing.T) {
		t.Parallel()
		r := newRoll()
		second, first := arrives(t, r, "a-2"), arrives(t, r, "a-1")
		if got := r.waitForHosts(context.Background(), hosts, 3, 0); !slices.Equal(got, hosts) {
			t.Errorf("%v", got)
		}
		r.setMembers(hosts)
		r.dismissNodes()
		if heard(t, first).Late || heard(t, second).Late {
			t.Error("a node that came in time is told that it is late")
		}
	})
	t.Run("once there are enough the rest is late and sent home at once", func(t *testing.T) {
		t.Parallel()
		r := newRoll()
		inTime := arrives(t, r, "a-1")
		got := r.waitForHosts(context.Background(), hosts, 2, 0)
		if !slices.Equal(got, hosts[:2]) {
			t.Fatalf("%v", got)
		}
		r.setMembers(got)
		if !heard(t, arrives(t, r, "a-2")).Late {
			t.Error("a node that came too late is not told so")
		}
		select {
		case <-inTime:
			t.Error("a node is sent home before the end")
		default:
		}
		r.dismissNodes()
		heard(t, inTime)
	})
	t.Run("one that has left again is not among those with whom the script runs", func(t *testing.T) {
		t.Parallel()
		r := newRoll()
		ours, theirs := net.Pipe()
		left := make(chan struct{})
		go func() { defer close(left); _ = r.keepConnected(protocol.NewConn(theirs), "a-1") }()
		if got := r.waitForHosts(context.Background(), hosts[:2], 2, 0); len(got) != 2 {
			t.Fatalf("%v", got)
		}
		_ = ours.Close()
		<-left
		second := arrives(t, r, "a-2")
		if got := r.waitForHosts(context.Background(), hosts, 2, 0); !slices.Equal(got, []string{"a-0", "a-2"}) {
			t.Errorf("%v", got)
		}
		again := arrives(t, r, "a-1")
		if got := r.waitForHosts(context.Background(), hosts, 3, 0); !slices.Equal(got, hosts) {
			t.Errorf("when it has come again: %v", got)
		}
		r.waitForAllHosts(context.Background(), hosts)
		r.dismissNodes()
		heard(t, second)
		heard(t, again)
	})
	t.Run("nobody is waited for longer than the job lasts", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if got := newRoll().waitForHosts(ctx, hosts, 3, 0); !slices.Equal(got, hosts[:1]) {
			t.Errorf("%v", got)
		}
	})
}

func TestNodesThatDoNotComeCostNoScriptItsTimeLimit(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		limit int64
		after time.Duration
		want  time.Duration
	}{
		"without a limit":   {0, time.Hour, farewellTime},
		"long before it":    {3600, time.Minute, farewellTime},
		"shortly before it": {3600, 58 * time.Minute, 2*time.Minute - limitMargin},
		"at its end":        {3600, time.Hour - time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &launcher{spec: launchconfig.Spec{TimeLimit: c.limit}, start: start}
			if got := l.dismissalTime(start.Add(c.after)); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestOnlyNodesThatTheControllerDoesNotEndConnectToTheHead(t *testing.T) {
	t.Parallel()
	three := launchconfig.Place{Hosts: []string{"a", "b", "c"}}
	cases := map[string]struct {
		spec  launchconfig.Spec
		place launchconfig.Place
		want  bool
	}{
		"an element of several pods":     {launchconfig.Spec{Array: &launchconfig.Array{}}, three, true},
		"an element of one pod":          {launchconfig.Spec{Array: &launchconfig.Array{}}, launchconfig.Place{Hosts: []string{"a"}}, false},
		"a job that may be smaller":      {launchconfig.Spec{MinNodes: 2}, three, true},
		"a job of a number of nodes":     {launchconfig.Spec{}, three, false},
		"a job that is as large as ever": {launchconfig.Spec{MinNodes: 3}, three, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (&launcher{spec: c.spec, place: c.place}).needsRoll(); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
