package outbox

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
)

// checkFence returns ErrFenced if this process may no longer write. The engine checks the fence before each write. A write
// that consists of several requests must check it again before each further request, because the process may have been
// suspended while it waited for a response.
func (o *Outbox) checkFence() error {
	if o.o.Fence() != nil {
		return ErrFenced
	}
	return nil
}

// fencedAttachAPI checks the fence before each request that changes an object.
type fencedAttachAPI struct {
	AttachAPI
	checkFence func() error
}

func (a *fencedAttachAPI) PatchVolume(ctx context.Context, name string, patch []byte) error {
	if err := a.checkFence(); err != nil {
		return err
	}
	return a.AttachAPI.PatchVolume(ctx, name, patch)
}

func (a *fencedAttachAPI) PatchVolumeClaim(ctx context.Context, namespace, name string, patch []byte) error {
	if err := a.checkFence(); err != nil {
		return err
	}
	return a.AttachAPI.PatchVolumeClaim(ctx, namespace, name, patch)
}

func (a *fencedAttachAPI) UpdateDeviceClaim(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	if err := a.checkFence(); err != nil {
		return nil, err
	}
	return a.AttachAPI.UpdateDeviceClaim(ctx, claim)
}

func (a *fencedAttachAPI) UpdateDeviceClaimStatus(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	if err := a.checkFence(); err != nil {
		return nil, err
	}
	return a.AttachAPI.UpdateDeviceClaimStatus(ctx, claim)
}
