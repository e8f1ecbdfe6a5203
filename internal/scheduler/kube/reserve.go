package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	fwk "k8s.io/kube-scheduler/framework"
	kubeframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// reservation holds the volumes and devices reserved for a task that was placed in this cycle.
type reservation struct {
	task    *model.Task
	node    model.NodeID
	pod     *corev1.Pod
	volumes fwk.CycleState // state of VolumeBinding, or nil if no volume must be bound
	claims  []string       // the task's device claims
	attach  decision.Attach
	problem string // an unexpected error
}

// followPlaced updates the reservations when a task is placed (sign 1) or its placement is undone (-1).
func (a *Adapter) followPlaced(t *model.Task, id model.NodeID, sign int) {
	if t.Shape.Attached == nil {
		return
	}
	if sign > 0 {
		a.reserveForTask(t, id)
		return
	}
	if r := a.taken[t]; r != nil && r.node == id {
		a.releaseReservation(r)
	}
}

func (a *Adapter) followEvicted(t *model.Task, sign int) {
	if t.Shape.Attached == nil {
		return
	}
	a.version++
	if sign > 0 {
		a.evicted[t] = true
	} else {
		delete(a.evicted, t)
	}
}

// reserveForTask reserves the volumes and devices that a task will use on a node.
func (a *Adapter) reserveForTask(t *model.Task, id model.NodeID) {
	r := &reservation{task: t, node: id, pod: podOf(t)}
	c := a.loadCase(t.Shape)
	p := a.preparedCase(c, false)
	if p.verdict.code != "" {
		p = a.preparedCase(c, true)
	}
	r.problem = p.verdict.detail
	if r.problem == "" && (p.unbound || p.device) {
		a.runReserve(r, c, p)
	}
	a.taken[t] = r
	a.placed[id] = append(a.placed[id], t)
	for _, claim := range t.Shape.VolumeClaims() {
		a.claimsOf[claim]++
	}
	a.version++
}

// runReserve runs the plugins again to find the volumes and devices for the pod on the node, and reserves them.
func (a *Adapter) runReserve(r *reservation, c *shapeCase, p *podCase) {
	state, node := kubeframework.NewCycleState(), &nodeInfo{a: a, id: r.node}
	a.focusOnNode(c.shape, node.Node(), false)
	defer a.clearFocus()
	if v := a.findAttachments(c, p, r.pod, node, state); v.code != "" {
		r.problem = string(v.code) + " " + v.detail
		return
	}
	if p.unbound {
		if status := a.plugins.binding.Reserve(a.ctx, state, r.pod, node.Node().Name); !status.IsSuccess() {
			r.problem = shortenMessage(status.Message())
			return
		}
		r.volumes = state
		a.recordVolumeEffects(r)
	}
	if p.device {
		if status := a.plugins.devices.Reserve(a.ctx, state, r.pod, node.Node().Name); !status.IsSuccess() {
			r.problem = shortenMessage(status.Message())
		}
		r.claims = deviceClaimKeys(r.pod)
		for _, key := range r.claims {
			a.handle.devices.useClaim(key)
		}
	}
}

// releaseReservation releases everything that reserveForTask reserved.
func (a *Adapter) releaseReservation(r *reservation) {
	if r.volumes != nil {
		a.plugins.binding.Unreserve(a.ctx, r.volumes, r.pod, a.view.Nodes.Name[r.node])
	}
	for _, v := range r.attach.Volumes {
		delete(a.given, v.Volume)
	}
	for _, key := range r.claims {
		a.handle.devices.releaseClaim(key)
	}
	for _, claim := range r.task.Shape.VolumeClaims() {
		if a.claimsOf[claim]--; a.claimsOf[claim] == 0 {
			delete(a.claimsOf, claim)
		}
	}
	list := a.placed[r.node]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == r.task {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	a.placed[r.node] = list
	delete(a.taken, r.task)
	a.version++
}

// dropReservations drops the reservations of the last cycle.
func (a *Adapter) dropReservations() {
	for _, r := range a.taken {
		if r.volumes != nil {
			a.plugins.binding.Unreserve(a.ctx, r.volumes, r.pod, "")
		}
	}
	if len(a.taken)+len(a.evicted) > 0 {
		a.version++
	}
	clear(a.taken)
	clear(a.placed)
	clear(a.evicted)
	clear(a.claimsOf)
	clear(a.given)
	a.handle.devices.reset()
}

// podOf returns a pod with the task's name and UID and the fields that the plugins read.
func podOf(t *model.Task) *corev1.Pod {
	pod := *t.Shape.Attached
	pod.Name, pod.UID = t.Name, t.UID
	return &pod
}

// deviceClaimKeys returns the keys of a pod's device claims.
func deviceClaimKeys(pod *corev1.Pod) []string {
	var keys []string
	for i := range pod.Spec.ResourceClaims {
		if name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i]); err == nil && name != nil {
			keys = append(keys, pod.Namespace+"/"+*name)
		}
	}
	return keys
}

// attachDecision converts a reservation into data for the decision. It returns nil if nothing must be written.
func (a *Adapter) attachDecision(r *reservation) *decision.Attach {
	out := &r.attach
	out.Timeout, out.Problem, out.Devices = a.conf.BindTimeout, r.problem, nil
	for _, key := range r.claims {
		claim, ok := a.handle.devices.getClaim(key)
		if !ok || isReservedFor(claim, r.task.UID) {
			continue
		}
		out.Devices = append(out.Devices, decision.DeviceClaim{
			Claim: decision.Object{Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}, Allocation: claim.Status.Allocation,
		})
	}
	if out.Problem == "" && len(out.Volumes)+len(out.Provision)+len(out.Devices) == 0 {
		return nil
	}
	return out
}

// recordVolumeEffects runs VolumeBinding's PreBind with a client that only records writes. The context is already
// cancelled, so that PreBind does not wait for the writes to take effect.
func (a *Adapter) recordVolumeEffects(r *reservation) {
	out := &r.attach
	ctx, cancel := context.WithCancel(a.ctx)
	cancel()
	client := a.handle.client
	client.clearWrites()
	a.plugins.binding.PreBind(ctx, r.volumes, r.pod, a.view.Nodes.Name[r.node]) // always returns the context error
	for _, pv := range client.volumes {
		a.given[pv.Name] = pv.Spec.ClaimRef.Namespace + "/" + pv.Spec.ClaimRef.Name
		out.Volumes = append(out.Volumes, decision.VolumeBinding{
			Volume: pv.Name, ResourceVersion: pv.ResourceVersion, Claim: *pv.Spec.ClaimRef,
			ByController: metav1.HasAnnotation(pv.ObjectMeta, storagehelpers.AnnBoundByController),
		})
	}
	for _, pvc := range client.claims {
		out.Provision = append(out.Provision, decision.Provision{
			Claim:           decision.Object{Namespace: pvc.Namespace, Name: pvc.Name, UID: pvc.UID},
			ResourceVersion: pvc.ResourceVersion, Node: pvc.Annotations[storagehelpers.AnnSelectedNode],
		})
	}
	client.clearWrites()
}
