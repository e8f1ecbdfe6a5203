package simnode

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// roster is the set of nodes that the fleet serves. It is the store of the node watch and renews the nodes' leases.
type roster struct {
	client   kubernetes.Interface
	log      logr.Logger
	fallback Spec // provides the capacity of nodes that were created without one
	served   func(node, address string)
	gone     func(node string)

	mu      sync.Mutex
	nodes   map[string]*member
	awaited map[string]bool // nodes that the watch has not delivered yet; see awaitNodes
	shown   chan struct{}   // closed when all awaited nodes have been delivered
}

// awaitNodes returns a channel that is closed when the watch has delivered the given nodes.
func (r *roster) awaitNodes(specs []Spec) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.awaited, r.shown = map[string]bool{}, make(chan struct{})
	for _, spec := range specs {
		if r.nodes[spec.Name] == nil {
			r.awaited[spec.Name] = true
		}
	}
	if len(r.awaited) == 0 {
		close(r.shown)
	}
	return r.shown
}

// markNodeShown removes a node from the awaited nodes. The caller must hold r.mu.
func (r *roster) markNodeShown(name string) {
	if !r.awaited[name] {
		return
	}
	delete(r.awaited, name)
	if len(r.awaited) == 0 {
		close(r.shown)
	}
}

// member is a node of the roster.
type member struct {
	uid     types.UID
	renewAt time.Time
	version string // resource version of the lease; "" if unknown
	sick    bool   // the node's Ready condition is not True
}

// Add, Update, Delete, Replace and Resync make the roster a cache.ReflectorStore.

// Add adds a new node.
func (r *roster) Add(obj any) error { return r.Update(obj) }

// Update stores the current state of a node.
func (r *roster) Update(obj any) error {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return fmt.Errorf("node roster: %T is not a node", obj)
	}
	if node.Labels[KindLabel] != KindSimulated {
		r.dropRosterNode(node.Name)
		return nil
	}
	r.mu.Lock()
	m := r.nodes[node.Name]
	if m == nil || m.uid != node.UID {
		// Spread the renewals evenly over the interval, using a number derived from the name, so that a fleet with
		// 5,000 nodes does not renew all leases at the same time.
		offset := time.Duration(randomFraction(node.Name, "lease", 0) * float64(HeartbeatInterval))
		m = &member{uid: node.UID, renewAt: time.Now().Add(offset)}
		r.nodes[node.Name] = m
	}
	m.sick = !IsReady(node)
	r.markNodeShown(node.Name)
	r.mu.Unlock()
	r.served(node.Name, internalIP(node))
	return nil
}

// Delete removes a node.
func (r *roster) Delete(obj any) error {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return fmt.Errorf("node roster: %T is not a node", obj)
	}
	r.dropRosterNode(node.Name)
	return nil
}

// Replace makes the roster contain exactly the nodes in list.
func (r *roster) Replace(list []any, _ string) error {
	listed := make(map[string]bool, len(list))
	for _, obj := range list {
		if node, ok := obj.(*corev1.Node); ok {
			listed[node.Name] = true
		}
		if err := r.Update(obj); err != nil {
			return err
		}
	}
	for _, name := range r.listNodeNames() {
		if !listed[name] {
			r.dropRosterNode(name)
		}
	}
	return nil
}

// Resync does nothing.
func (r *roster) Resync() error { return nil }

func (r *roster) dropRosterNode(name string) {
	r.mu.Lock()
	_, known := r.nodes[name]
	delete(r.nodes, name)
	r.mu.Unlock()
	if known {
		r.gone(name)
	}
}

func (r *roster) listNodeNames() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.nodes))
}

// sendHeartbeats renews leases that are due, and repairs nodes, once a second until ctx is done.
func (r *roster) sendHeartbeats(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var group errgroup.Group
		group.SetLimit(heartbeatWriters)
		due, sick := r.nodesDueOrSick(time.Now())
		for _, name := range due {
			group.Go(func() error { r.renewLease(ctx, name); return nil })
		}
		for _, name := range sick {
			group.Go(func() error { r.repairNode(ctx, name); return nil })
		}
		_ = group.Wait()
	}
}

// nodesDueOrSick returns the nodes whose lease is due for renewal, and the nodes that are not ready.
func (r *roster) nodesDueOrSick(now time.Time) (renew, sick []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, m := range r.nodes {
		if !m.renewAt.After(now) {
			renew = append(renew, name)
		}
		if m.sick {
			sick = append(sick, name)
		}
	}
	return renew, sick
}

// renewLease renews the lease of a node. If this fails, it is retried after a tenth of the interval, long before the
// lease expires.
func (r *roster) renewLease(ctx context.Context, name string) {
	r.mu.Lock()
	m := r.nodes[name]
	if m == nil {
		r.mu.Unlock()
		return
	}
	uid, version := m.uid, m.version
	r.mu.Unlock()

	version, err := r.writeLease(ctx, name, uid, version)
	wait := HeartbeatInterval
	if err != nil {
		wait = HeartbeatInterval / 10
		if ctx.Err() == nil {
			r.log.Error(err, "simulated node: lease", "node", name)
		}
	}
	r.mu.Lock()
	m.version, m.renewAt = version, time.Now().Add(wait)
	r.mu.Unlock()
}

// writeLease updates the lease based on its last known version. If that is not possible, it reads or creates the
// lease.
func (r *roster) writeLease(ctx context.Context, name string, uid types.UID, version string) (string, error) {
	leases := r.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease := leaseObject(name, uid, time.Now())
	if version != "" {
		lease.ResourceVersion = version
		updated, err := leases.Update(ctx, lease, metav1.UpdateOptions{})
		if err == nil {
			return updated.ResourceVersion, nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return version, err
		}
		lease.ResourceVersion = ""
	}
	created, err := leases.Create(ctx, lease, metav1.CreateOptions{})
	if err == nil {
		return created.ResourceVersion, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return "", err
	}
	present, err := leases.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	lease.ResourceVersion = present.ResourceVersion
	updated, err := leases.Update(ctx, lease, metav1.UpdateOptions{})
	if err != nil {
		return "", err
	}
	return updated.ResourceVersion, nil
}

// leaseObject returns the lease of a node. The node owns the lease, so that they are deleted together.
func leaseObject(name string, uid types.UID, now time.Time) *coordinationv1.Lease {
	seconds := int32(LeaseDuration / time.Second)
	renewed := metav1.NewMicroTime(now)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: corev1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: uid}},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: &seconds, RenewTime: &renewed},
	}
}

// repairNode makes a node ready again. The node lifecycle controller marks nodes as not ready if the machine was
// suspended for longer than the lease, and a node has no status if a user has created it with a bare Node object.
func (r *roster) repairNode(ctx context.Context, name string) {
	if err := r.healNode(ctx, name); err != nil && ctx.Err() == nil {
		r.log.Error(err, "simulated node: status", "node", name)
	}
}

func (r *roster) healNode(ctx context.Context, name string) error {
	node, err := r.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if IsReady(node) {
		return nil
	}
	spec := r.fallback
	spec.Name = name
	if len(node.Status.Capacity) > 0 {
		spec.Capacity = node.Status.Capacity
	}
	r.log.Info("Set a simulated node to Ready again", "node", name)
	return patchNodeStatus(ctx, r.client, name, readyStatus(spec, time.Now()))
}
