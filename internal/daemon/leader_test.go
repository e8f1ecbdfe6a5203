package daemon

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func electionOf(client *fake.Clientset, identity string) *election {
	return &election{
		client: client, lease: "l", namespace: "n", identity: identity,
		duration: 15 * time.Second, renew: 10 * time.Second, retry: 2 * time.Second, log: logr.Discard(),
	}
}

func TestOnlyOneLeadsAndTheNextBeginsAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		began := time.Now()
		var leading, most int32
		var starts []time.Duration
		minute := func(ctx context.Context, fence func() error) error {
			most = max(most, atomic.AddInt32(&leading, 1))
			defer atomic.AddInt32(&leading, -1)
			starts = append(starts, time.Since(began).Round(time.Second))
			if err := fence(); err != nil {
				t.Errorf("fence of a new leader: %v", err)
			}
			time.Sleep(time.Minute)
			return nil
		}
		var both sync.WaitGroup
		for _, who := range []string{"a", "b"} {
			both.Go(func() {
				if err := electionOf(client, who).leadOneTerm(t.Context(), minute); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		if most != 1 || len(starts) != 2 || starts[1] < time.Minute || starts[1] > time.Minute+5*time.Second {
			t.Errorf("%d led at once; terms began at %v, want one at the start and one soon after a minute", most, starts)
		}
	})
}

func TestALeaderThatCannotRenewStopsBeforeItsLeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		var cut atomic.Bool
		client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			if cut.Load() {
				return true, nil, errors.New("no route to host")
			}
			return false, nil, nil
		})
		var lastWrite, cancelledAt time.Time
		err := electionOf(client, "a").leadOneTerm(t.Context(), func(ctx context.Context, fence func() error) error {
			time.Sleep(5 * time.Second)
			cut.Store(true)
			for ctx.Err() == nil {
				if fence() == nil {
					lastWrite = time.Now()
				}
				time.Sleep(100 * time.Millisecond)
			}
			cancelledAt = time.Now()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		lease, err := client.CoordinationV1().Leases("n").Get(t.Context(), "l", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		left := func(at time.Time) time.Duration { return endOf(lease).Sub(at) }
		if left(lastWrite) < 2*time.Second || left(cancelledAt) < 2*time.Second {
			t.Errorf("wrote until %s before the end of the lease and ended %s before it, want some seconds", left(lastWrite), left(cancelledAt))
		}
	})
}

func TestAFenceIsClosedForAProcessThatWasStoppedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		stopped := make(chan struct{})
		client.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			<-stopped // as if the process had been frozen in this call
			return false, nil, nil
		})
		ctx, stop := context.WithCancel(t.Context())
		err := electionOf(client, "a").leadOneTerm(ctx, func(ctx context.Context, fence func() error) error {
			time.Sleep(30 * time.Second)
			if fence() == nil {
				t.Error("the fence is open though the lease was not renewed for half a minute")
			}
			close(stopped)
			stop()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func endOf(l *coordinationv1.Lease) time.Time {
	return l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
}

func TestTheLeaseIsGivenBackOnlyAfterTheTerm(t *testing.T) {
	client := fake.NewClientset()
	ctx, stop := context.WithCancel(t.Context())
	var holderDuring string
	err := electionOf(client, "a").leadOneTerm(ctx, func(ctx context.Context, _ func() error) error {
		stop()
		<-ctx.Done()
		lease, err := client.CoordinationV1().Leases("n").Get(t.Context(), "l", metav1.GetOptions{})
		if err != nil {
			return err
		}
		holderDuring = *lease.Spec.HolderIdentity
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := client.CoordinationV1().Leases("n").Get(t.Context(), "l", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if holderDuring != "a" || *lease.Spec.HolderIdentity != "" {
		t.Errorf("holder while the last write was under way %q (want a), after it %q (want none)", holderDuring, *lease.Spec.HolderIdentity)
	}
}
