package outbox

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	resourcev1client "k8s.io/client-go/kubernetes/typed/resource/v1"
	"k8s.io/client-go/rest"
)

// attachClients implements AttachAPI with client-go.
type attachClients struct {
	core    corev1client.CoreV1Interface
	devices resourcev1client.ResourceV1Interface
}

// NewAttachAPI creates the clients, without client-side rate limits.
func NewAttachAPI(config *rest.Config) (AttachAPI, error) {
	core, err := corev1client.NewForConfig(ownConnection(config))
	if err != nil {
		return nil, fmt.Errorf("client for core/v1: %w", err)
	}
	devices, err := resourcev1client.NewForConfig(ownConnection(config))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", resourcev1.SchemeGroupVersion, err)
	}
	return &attachClients{core, devices}, nil
}

func (c *attachClients) Volume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	return c.core.PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
}

func (c *attachClients) PatchVolume(ctx context.Context, name string, patch []byte) error {
	_, err := c.core.PersistentVolumes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	return err
}

func (c *attachClients) VolumeClaim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	return c.core.PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (c *attachClients) PatchVolumeClaim(ctx context.Context, namespace, name string, patch []byte) error {
	_, err := c.core.PersistentVolumeClaims(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	return err
}

func (c *attachClients) DeviceClaim(ctx context.Context, namespace, name string) (*resourcev1.ResourceClaim, error) {
	return c.devices.ResourceClaims(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (c *attachClients) UpdateDeviceClaim(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return c.devices.ResourceClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{FieldManager: FieldManager})
}

func (c *attachClients) UpdateDeviceClaimStatus(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return c.devices.ResourceClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{FieldManager: FieldManager})
}
