package sim

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/vc-batch/vc/internal/daemon/leaderfence"
	"github.com/vc-batch/vc/test/apiserver"
)

// The durations of leader election, as vcd has them by default.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// leaseNamespace is the namespace of the leases.
const leaseNamespace = "vc-system"

// elector follows client-go's algorithm for leader election with a Lease. client-go's own elector cannot be used,
// because it waits for the system's clock in goroutines.
type elector struct {
	process  *process
	link     *link
	lease    string
	identity string

	fence    *leaderfence.Fence
	observed *coordinationv1.Lease
	// changed is when the record was last seen to change, or was last written by this process.
	changed time.Time
}

// mayWrite returns an error if the process may not write.
func (e *elector) mayWrite() error { return e.fence.Check(e.process.world.now) }

// run waits for leadership, calls lead, renews the lease, and calls stop when leadership is lost; then it starts again.
func (e *elector) run(lead, stop func()) {
	w := e.process.world
	for {
		for !e.tryToAcquireOrRenew() {
			w.sleep(retryPeriod + between(e.link.random, 0, retryPeriod))
		}
		w.trace("%s leads", e.identity)
		lead()
		renewed := w.now
		for w.now.Sub(renewed) < renewDeadline {
			w.sleep(retryPeriod)
			if e.tryToAcquireOrRenew() {
				renewed = w.now
			}
		}
		e.fence.Close()
		w.trace("%s no longer leads", e.identity)
		stop()
	}
}

// tryToAcquireOrRenew reports whether this process holds the lease.
func (e *elector) tryToAcquireOrRenew() bool {
	now := e.process.world.now
	lease, err := e.read()
	if apierrors.IsNotFound(err) {
		return e.write(apiserver.Create, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: leaseNamespace, Name: e.lease}})
	}
	if err != nil {
		return false
	}
	if e.observed == nil || !isSameRecord(e.observed, lease) {
		e.observed, e.changed = lease, e.process.world.now
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	if holder != e.identity {
		e.fence.Close()
	}
	if holder != "" && holder != e.identity && e.changed.Add(leaseDuration).After(now) {
		return false
	}
	return e.write(apiserver.Update, lease)
}

func isSameRecord(x, y *coordinationv1.Lease) bool {
	return ptr.Deref(x.Spec.HolderIdentity, "") == ptr.Deref(y.Spec.HolderIdentity, "") && ptr.Equal(x.Spec.RenewTime, y.Spec.RenewTime)
}

func (e *elector) request(verb apiserver.Verb) *apiserver.Request {
	return &apiserver.Request{Verb: verb, Kind: coordinationv1.SchemeGroupVersion.WithKind("Lease"), Namespace: leaseNamespace, Name: e.lease}
}

func (e *elector) read() (*coordinationv1.Lease, error) {
	o, err := e.link.send(nil, e.request(apiserver.Get))
	if err != nil {
		return nil, err
	}
	return o.(*coordinationv1.Lease).DeepCopy(), nil
}

// write writes the lease with this process as its holder.
func (e *elector) write(verb apiserver.Verb, lease *coordinationv1.Lease) bool {
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != e.identity {
		lease.Spec.AcquireTime = &metav1.MicroTime{Time: e.process.wallTime()}
		lease.Spec.LeaseTransitions = ptr.To(ptr.Deref(lease.Spec.LeaseTransitions, 0) + 1)
	}
	lease.Spec.HolderIdentity = &e.identity
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(leaseDuration / time.Second))
	lease.Spec.RenewTime = &metav1.MicroTime{Time: e.process.wallTime()}
	r := e.request(verb)
	r.Object = lease
	sent := e.process.world.now
	o, err := e.link.send(nil, r)
	if err != nil {
		return false
	}
	e.observed, e.changed = o.(*coordinationv1.Lease).DeepCopy(), e.process.world.now
	e.fence.RecordRenewal(sent)
	return true
}
