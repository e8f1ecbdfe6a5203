package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// AttachAPI holds the calls that the outbox makes to the API server for pods that attach volumes or devices. Patches
// are JSON merge patches.
type AttachAPI interface {
	Volume(ctx context.Context, name string) (*corev1.PersistentVolume, error)
	PatchVolume(ctx context.Context, name string, patch []byte) error
	VolumeClaim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error)
	PatchVolumeClaim(ctx context.Context, namespace, name string, patch []byte) error
	DeviceClaim(ctx context.Context, namespace, name string) (*resourcev1.ResourceClaim, error)
	UpdateDeviceClaim(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error)
	UpdateDeviceClaimStatus(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error)
}

// The pause between two checks of the volumes starts at firstLook and doubles up to lastLook.
const (
	firstLook = 50 * time.Millisecond
	lastLook  = 2 * time.Second
)

// attached handles the bind of a pod that must first attach volumes or devices. The outbox writes the requests for
// the volumes and devices, checks until they are ready, and then binds the pod.
type attached struct {
	o        *Outbox
	bind     decision.Bind
	deadline time.Time
	pause    time.Duration
	// The result of the last check.
	ready  bool
	failed error
}

// attachWrite returns the first write of the sequence that binds a pod with volumes or devices.
func (o *Outbox) attachWrite(b *decision.Bind, now time.Time) *write {
	a := &attached{o: o, bind: *b, deadline: now.Add(b.Attach.Timeout), pause: firstLook}
	o.attaching.Add(1)
	return a.newStepWrite(a.requestBindings, func(err error) {
		if err != nil {
			a.failAndRelease(err)
			return
		}
		a.checkLaterOrBind(a.mustAwaitVolumes())
	})
}

// newStepWrite returns one step of the work as a write with the lane and key of the bind.
func (a *attached) newStepWrite(send func(context.Context) error, settled func(error)) *write {
	w := a.o.newBindWrite(&a.bind)
	w.send, w.settled = send, settled
	return w
}

// mustAwaitVolumes reports whether the bind must wait for volumes. Devices are ready as soon as they are reserved.
func (a *attached) mustAwaitVolumes() bool {
	return len(a.bind.Attach.Volumes)+len(a.bind.Attach.Provision) > 0
}

// checkLaterOrBind schedules another check after a pause or, if there is nothing to wait for, binds the pod.
func (a *attached) checkLaterOrBind(wait bool) {
	if !wait {
		a.o.attaching.Add(-1)
		a.o.engine.queueWrites(a.o.newBindWrite(&a.bind))
		return
	}
	pause := a.pause
	a.pause = min(2*a.pause, lastLook)
	a.o.o.Clock.AfterFunc(pause, func() { a.o.engine.queueWrites(a.newStepWrite(a.checkVolumes, a.handleCheck)) })
}

func (a *attached) handleCheck(err error) {
	switch {
	case err != nil:
		a.failAndRelease(err)
	case a.failed != nil:
		a.failAndRelease(a.failed)
	case !a.ready && a.o.o.Clock.Now().After(a.deadline):
		a.failAndRelease(fmt.Errorf("volumes were not bound within %s", a.bind.Attach.Timeout))
	default:
		a.checkLaterOrBind(!a.ready)
	}
}

// failAndRelease reports the failed bind and releases the pod's devices.
func (a *attached) failAndRelease(err error) {
	a.o.attaching.Add(-1)
	if len(a.bind.Attach.Devices) > 0 && a.o.o.Attach != nil && !errors.Is(err, ErrFenced) {
		a.o.engine.queueWrites(&write{lane: idleLane, key: "devices/" + a.bind.Pod.Key(), send: a.releaseDevices})
	}
	a.o.reportAfterPause(err, model.BindFailed{UID: a.bind.Pod.UID, Err: err.Error()})
}

// requestBindings writes the bindings of volumes and devices. It is safe to call it repeatedly.
func (a *attached) requestBindings(ctx context.Context) error {
	api, at := a.o.o.Attach, a.bind.Attach
	if at.Problem != "" {
		return conflictError(a.bind.Pod, at.Problem)
	}
	if api == nil {
		return conflictError(a.bind.Pod, "this scheduler is not configured to bind volumes or device claims")
	}
	for i := range at.Volumes {
		if err := a.writeVolumeClaim(ctx, &at.Volumes[i]); err != nil {
			return fmt.Errorf("volume %s for claim %s/%s: %w", at.Volumes[i].Volume, at.Volumes[i].Claim.Namespace, at.Volumes[i].Claim.Name, err)
		}
	}
	for i := range at.Provision {
		if err := a.selectNode(ctx, &at.Provision[i]); err != nil {
			return fmt.Errorf("claim %s: %w", at.Provision[i].Claim.Key(), err)
		}
	}
	for i := range at.Devices {
		if err := a.allocateDevices(ctx, &at.Devices[i]); err != nil {
			return fmt.Errorf("device claim %s: %w", at.Devices[i].Claim.Key(), err)
		}
	}
	return nil
}

// conflictError turns the error from a bind that cannot succeed into a conflict, so that the pod is scheduled again.
func conflictError(pod decision.Object, why string) error {
	return apierrors.NewConflict(corev1.Resource("pods"), pod.Name, errors.New(why))
}

// writeVolumeClaim writes the claim into the volume, provided that the volume has not changed since the scheduler chose
// it.
func (a *attached) writeVolumeClaim(ctx context.Context, v *decision.VolumeBinding) error {
	meta := map[string]any{"resourceVersion": v.ResourceVersion}
	if v.ByController {
		meta["annotations"] = map[string]string{storagehelpers.AnnBoundByController: "yes"}
	}
	err := a.o.o.Attach.PatchVolume(ctx, v.Volume, encodeJSON(map[string]any{"metadata": meta, "spec": map[string]any{"claimRef": v.Claim}}))
	if !apierrors.IsConflict(err) {
		return err
	}
	pv, getErr := a.o.o.Attach.Volume(ctx, v.Volume)
	if getErr != nil {
		return getErr
	}
	if ref := pv.Spec.ClaimRef; ref != nil && ref.UID == v.Claim.UID {
		return nil // an earlier attempt succeeded, but its response was lost
	}
	return err
}

// selectNode requests that a volume be provisioned near the node.
func (a *attached) selectNode(ctx context.Context, p *decision.Provision) error {
	err := a.o.o.Attach.PatchVolumeClaim(ctx, p.Claim.Namespace, p.Claim.Name, encodeJSON(map[string]any{"metadata": map[string]any{
		"resourceVersion": p.ResourceVersion, "annotations": map[string]string{storagehelpers.AnnSelectedNode: p.Node},
	}}))
	if !apierrors.IsConflict(err) {
		return err
	}
	claim, getErr := a.o.o.Attach.VolumeClaim(ctx, p.Claim.Namespace, p.Claim.Name)
	if getErr != nil {
		return getErr
	}
	if claim.UID == p.Claim.UID && claim.Annotations[storagehelpers.AnnSelectedNode] == p.Node {
		return nil
	}
	return err
}

// allocateDevices writes the allocation and the pod's reservation into a device claim.
func (a *attached) allocateDevices(ctx context.Context, d *decision.DeviceClaim) error {
	var no error // a final error, although its type is a conflict
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		claim, err := a.o.o.Attach.DeviceClaim(ctx, d.Claim.Namespace, d.Claim.Name)
		if err != nil {
			return err
		}
		if no = a.checkDevicesFree(claim, d); no == nil {
			err = a.reserveDevices(ctx, claim, d.Allocation)
		}
		return err
	})
	if err == nil {
		err = no
	}
	return err
}

// checkDevicesFree returns an error if the claim can no longer get the devices that the scheduler chose.
func (a *attached) checkDevicesFree(claim *resourcev1.ResourceClaim, d *decision.DeviceClaim) error {
	has := claim.Status.Allocation
	switch {
	case claim.UID != d.Claim.UID || claim.DeletionTimestamp != nil:
		return conflictError(a.bind.Pod, "the claim is being deleted, or was replaced by a claim with the same name")
	case has == nil && d.Allocation == nil:
		return conflictError(a.bind.Pod, "the claim no longer has its devices")
	case has != nil && d.Allocation != nil && !equality.Semantic.DeepEqual(has.Devices.Results, d.Allocation.Devices.Results):
		return conflictError(a.bind.Pod, "other devices have been allocated to the claim in the meantime")
	}
	return nil
}

// reserveDevices writes the missing parts of the allocation and of the reservation. It adds the finalizer first,
// because only the finalizer prevents the deletion of a claim whose devices are in use.
func (a *attached) reserveDevices(ctx context.Context, claim *resourcev1.ResourceClaim, allocation *resourcev1.AllocationResult) (err error) {
	consumer := decision.ConsumerReference(a.bind.Pod)
	if claim.Status.Allocation != nil && slices.Contains(claim.Status.ReservedFor, consumer) {
		return nil
	}
	if claim.Status.Allocation == nil && !slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
		claim.Finalizers = append(claim.Finalizers, resourcev1.Finalizer)
		if claim, err = a.o.o.Attach.UpdateDeviceClaim(ctx, claim); err != nil {
			return err
		}
	}
	if claim.Status.Allocation == nil {
		claim.Status.Allocation = allocation
	}
	claim.Status.ReservedFor = append(claim.Status.ReservedFor, consumer)
	_, err = a.o.o.Attach.UpdateDeviceClaimStatus(ctx, claim)
	return err
}

// releaseDevices removes the pod's reservations. Kubernetes' controller frees devices without reservations.
func (a *attached) releaseDevices(ctx context.Context) error {
	for _, d := range a.bind.Attach.Devices {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			claim, err := a.o.o.Attach.DeviceClaim(ctx, d.Claim.Namespace, d.Claim.Name)
			if err != nil || claim.UID != d.Claim.UID {
				return ignoreMissing(err)
			}
			kept := slices.DeleteFunc(slices.Clone(claim.Status.ReservedFor), func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == a.bind.Pod.UID })
			if len(kept) == len(claim.Status.ReservedFor) {
				return nil
			}
			claim.Status.ReservedFor = kept
			_, err = a.o.o.Attach.UpdateDeviceClaimStatus(ctx, claim)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkVolumes checks whether all volumes are bound, and whether the unbound ones can still become bound.
func (a *attached) checkVolumes(ctx context.Context) error {
	a.ready, a.failed = false, nil
	uid, node, err := a.o.o.API.PodNode(ctx, a.bind.Pod.Namespace, a.bind.Pod.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && (uid != a.bind.Pod.UID || node != ""):
		a.failed = conflictError(a.bind.Pod, "the pod no longer exists, or another scheduler bound it")
		return nil
	case err != nil:
		return err
	}
	ready := true
	for i := range a.bind.Attach.Volumes {
		v := &a.bind.Attach.Volumes[i]
		bound, err := a.isVolumeBound(ctx, v)
		if err != nil {
			return err
		}
		ready = ready && bound
	}
	for i := range a.bind.Attach.Provision {
		made, err := a.isVolumeProvisioned(ctx, &a.bind.Attach.Provision[i])
		if err != nil {
			return err
		}
		ready = ready && made
	}
	a.ready = ready
	return nil
}

// boundVolumeName returns the volume to which a claim is bound, or "" if it is not bound.
func boundVolumeName(claim *corev1.PersistentVolumeClaim) string {
	if !metav1.HasAnnotation(claim.ObjectMeta, storagehelpers.AnnBindCompleted) {
		return ""
	}
	return claim.Spec.VolumeName
}

func (a *attached) isVolumeBound(ctx context.Context, v *decision.VolumeBinding) (bool, error) {
	claim, err := a.o.o.Attach.VolumeClaim(ctx, v.Claim.Namespace, v.Claim.Name)
	if err != nil {
		return false, a.stopIfMissing(err)
	}
	switch volume := boundVolumeName(claim); volume {
	case v.Volume:
		return true, nil
	case "":
	default:
		a.failed = conflictError(a.bind.Pod, fmt.Sprintf("claim %s was bound to volume %s, not %s", v.Claim.Name, volume, v.Volume))
		return false, nil
	}
	pv, err := a.o.o.Attach.Volume(ctx, v.Volume)
	if err != nil {
		return false, a.stopIfMissing(err)
	}
	if ref := pv.Spec.ClaimRef; ref == nil || ref.UID != v.Claim.UID {
		a.failed = conflictError(a.bind.Pod, fmt.Sprintf("volume %s no longer belongs to claim %s", v.Volume, v.Claim.Name))
	}
	return false, nil
}

func (a *attached) isVolumeProvisioned(ctx context.Context, p *decision.Provision) (bool, error) {
	claim, err := a.o.o.Attach.VolumeClaim(ctx, p.Claim.Namespace, p.Claim.Name)
	if err != nil {
		return false, a.stopIfMissing(err)
	}
	if boundVolumeName(claim) != "" {
		return true, nil
	}
	// A provisioner removes the annotation if it cannot create a volume.
	if claim.Annotations[storagehelpers.AnnSelectedNode] != p.Node {
		a.failed = conflictError(a.bind.Pod, fmt.Sprintf("no volume could be provisioned for claim %s on node %s", p.Claim.Name, p.Node))
	}
	return false, nil
}

// stopIfMissing ends the wait if err means that an object is missing.
func (a *attached) stopIfMissing(err error) error {
	if apierrors.IsNotFound(err) {
		a.failed = err
		return nil
	}
	return err
}
