package daemon

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/vc-batch/vc/internal/daemon/leaderfence"
)

// term is the work of a component while it is the leader. It must end soon after ctx is done. fence returns an error
// once writing is no longer allowed. If the process was suspended for a while, this may happen before ctx is done.
type term func(ctx context.Context, fence func() error) error

// election elects the leader of a component.
type election struct {
	client    kubernetes.Interface
	lease     string
	namespace string
	identity  string
	duration  time.Duration
	renew     time.Duration
	retry     time.Duration
	log       logr.Logger
}

func newElection(o *Options, lease string, log logr.Logger) (*election, error) {
	config := rest.CopyConfig(o.Config)
	config.Timeout = o.RenewDeadline / 2 // so that leadership is not lost if a call hangs
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for leases: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &election{
		client: client, lease: lease, namespace: o.LeaseNamespace,
		identity: host + "_" + string(uuid.NewUUID()),
		duration: o.LeaseDuration, renew: o.RenewDeadline, retry: o.RetryPeriod,
		log: log.WithValues("lease", o.LeaseNamespace+"/"+lease),
	}, nil
}

// leadOneTerm waits for leadership, runs one term, and then releases the lease. It returns nil if ctx was done first or
// leadership was lost.
func (e *election) leadOneTerm(ctx context.Context, run term) error {
	electing, stopElecting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopElecting()
	elected := make(chan struct{})
	lock := &fencedLock{fence: leaderfence.New(e.renew), Interface: &resourcelock.LeaseLock{
		LeaseMeta:  newObjectMeta(e.namespace, e.lease),
		Client:     e.client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.identity},
	}}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: e.duration, RenewDeadline: e.renew, RetryPeriod: e.retry,
		ReleaseOnCancel: true, Name: e.lease,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(elected) },
			OnStoppedLeading: func() {},
			OnNewLeader:      func(who string) { e.log.V(1).Info("Leader seen", "leader", who, "self", who == e.identity) },
		},
	})
	if err != nil {
		return fmt.Errorf("election of %s: %w", e.lease, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(electing)
	}()

	select {
	case <-ctx.Done():
		stopElecting()
		<-ended
		return nil
	case <-ended:
		return nil
	case <-elected:
	}
	e.log.Info("Leadership won", "identity", e.identity)
	leading, stopLeading := context.WithCancel(ctx)
	defer stopLeading()
	go func() {
		<-ended
		stopLeading()
	}()
	err = run(leading, func() error { return lock.fence.Check(time.Now()) })
	stopElecting() // release the lease after the last write, so that the next leader finds no write in flight
	<-ended
	e.log.Info("Leadership ended")
	return err
}

// fencedLock records in a fence when the lease was renewed.
type fencedLock struct {
	resourcelock.Interface
	fence *leaderfence.Fence
}

// Get reads the lease. If another process holds it, the fence is closed.
func (l *fencedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() {
		l.fence.Close()
	}
	return record, raw, err
}

// Create creates the lease with this process as its holder.
func (l *fencedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	sent := time.Now()
	err := l.Interface.Create(ctx, record)
	if err == nil {
		l.fence.RecordRenewal(sent)
	}
	return err
}

// Update renews or releases the lease. The fence is closed before the lease is released.
func (l *fencedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity != l.Identity() {
		l.fence.Close()
		return l.Interface.Update(ctx, record)
	}
	sent := time.Now()
	err := l.Interface.Update(ctx, record)
	if err == nil {
		l.fence.RecordRenewal(sent)
	}
	return err
}
