package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	storageClassName = "standard"
	provisionerName  = "vc-batch.dev/host-path"
	provisionedBy    = "pv.kubernetes.io/provisioned-by"
	defaultClass     = "storageclass.kubernetes.io/is-default-class"
)

// volumes provisions a directory on this machine for every claim of the class `standard`, and removes it when the
// claim is deleted.
type volumes struct {
	client kubernetes.Interface
	dir    string
	cancel context.CancelFunc
	parts  sync.WaitGroup
	claims cache.Store
	queue  workqueue.TypedRateLimitingInterface[volumeKey]
}

// volumeKey identifies a claim, or a volume if Namespace is empty.
type volumeKey struct{ Namespace, Name string }

// startVolumes creates the storage class and serves claims until stop is called.
func startVolumes(ctx context.Context, client kubernetes.Interface, dir string) (*volumes, error) {
	if err := ensureStorageClass(ctx, client); err != nil {
		return nil, err
	}
	v := &volumes{client: client, dir: dir}
	v.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[volumeKey]())
	ctx, v.cancel = context.WithCancel(context.WithoutCancel(ctx))
	factory := informers.NewSharedInformerFactory(client, 0)
	claims := factory.Core().V1().PersistentVolumeClaims().Informer()
	persistent := factory.Core().V1().PersistentVolumes().Informer()
	v.claims = claims.GetStore()
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    v.enqueueObject,
		UpdateFunc: func(_, now any) { v.enqueueObject(now) },
	}
	for _, informer := range []cache.SharedIndexInformer{claims, persistent} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, err
		}
	}
	factory.Start(ctx.Done())
	v.parts.Go(func() { v.processQueue(ctx) })
	v.parts.Go(func() {
		<-ctx.Done()
		v.queue.ShutDown()
		factory.Shutdown()
	})
	return v, nil
}

func ensureStorageClass(ctx context.Context, client kubernetes.Interface) error {
	reclaim, mode := corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate
	class := &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{Name: storageClassName, Annotations: map[string]string{defaultClass: "true"}},
		Provisioner:       provisionerName,
		ReclaimPolicy:     &reclaim,
		VolumeBindingMode: &mode,
	}
	_, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("storage class %s: %w", storageClassName, err)
	}
	return nil
}

// needsVolume reports whether a claim belongs to the cluster's storage class, is pending, and has no volume yet.
func needsVolume(claim *corev1.PersistentVolumeClaim) bool {
	if class := claim.Spec.StorageClassName; class == nil || *class != storageClassName {
		return false
	}
	return claim.Status.Phase == corev1.ClaimPending && claim.Spec.VolumeName == ""
}

func (v *volumes) enqueueObject(object any) {
	switch o := object.(type) {
	case *corev1.PersistentVolumeClaim:
		if needsVolume(o) {
			v.queue.Add(volumeKey{o.Namespace, o.Name})
		}
	case *corev1.PersistentVolume:
		if o.Status.Phase == corev1.VolumeReleased && o.Annotations[provisionedBy] == provisionerName && o.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
			v.queue.Add(volumeKey{Name: o.Name})
		}
	}
}

func (v *volumes) processQueue(ctx context.Context) {
	for {
		key, shutdown := v.queue.Get()
		if shutdown {
			return
		}
		var err error
		if key.Namespace == "" {
			err = v.reclaimVolume(ctx, key.Name)
		} else {
			err = v.provisionVolume(ctx, key)
		}
		if err != nil && ctx.Err() == nil {
			klog.Background().Error(err, "Retrying a volume", "namespace", key.Namespace, "name", key.Name)
			v.queue.AddRateLimited(key)
		} else {
			v.queue.Forget(key)
		}
		v.queue.Done(key)
	}
}

// provisionVolume creates a directory and a volume for a claim. Their names are derived from the claim's identity, so
// repeating the call is harmless.
func (v *volumes) provisionVolume(ctx context.Context, key volumeKey) error {
	object, found, err := v.claims.GetByKey(key.Namespace + "/" + key.Name)
	if err != nil || !found {
		return err
	}
	claim := object.(*corev1.PersistentVolumeClaim)
	volume := newVolumeFor(claim, v.dir)
	path := volume.Spec.HostPath.Path
	// Any user in a container may write to the volume, as on a shared disk in a real cluster. The parent directories
	// are accessible only to the current user.
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return err
	}
	_, err = v.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func newVolumeFor(claim *corev1.PersistentVolumeClaim, dir string) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	kind := corev1.HostPathDirectory
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: provisionerName}},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              storageClassName,
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef: &corev1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: filepath.Join(dir, name), Type: &kind},
			},
		},
	}
}

// reclaimVolume removes a volume whose claim was deleted, together with its directory.
func (v *volumes) reclaimVolume(ctx context.Context, name string) error {
	if err := os.RemoveAll(filepath.Join(v.dir, filepath.Base(name))); err != nil {
		return err
	}
	err := v.client.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (v *volumes) stopVolumes() {
	if v == nil {
		return
	}
	v.cancel()
	done := make(chan struct{})
	go func() { v.parts.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
	}
}
