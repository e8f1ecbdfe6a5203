package processnode

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vc-batch/vc/internal/local/processnode/environ"
	"github.com/vc-batch/vc/internal/local/processnode/volume"
)

// lookupTimeout is the timeout for a request to the API server.
const lookupTimeout = 10 * time.Second

// lookups reads the objects to which a pod refers from the API server. It uses no cache, because a pod that is
// created right after its ConfigMap must see the new version.
type lookups struct {
	client kubernetes.Interface
}

func (l *lookups) getConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	return l.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (l *lookups) getPodSecret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	return l.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}

// listServices returns the services of a namespace and the service of the API server.
func (l *lookups) listServices(ctx context.Context, namespace string) ([]*corev1.Service, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	list, err := l.client.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var all []*corev1.Service
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	if namespace != corev1.NamespaceDefault {
		api, err := l.client.CoreV1().Services(corev1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		if err == nil {
			all = append(all, api)
		}
	}
	return all, nil
}

func (l *lookups) requestToken(ctx context.Context, pod *corev1.Pod, audience string, seconds int64) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	made, err := l.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.Status.Token, nil
}

func (l *lookups) findVolume(ctx context.Context, namespace, name string) (*corev1.PersistentVolume, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	claim, err := l.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if claim.Spec.VolumeName == "" || claim.Status.Phase != corev1.ClaimBound {
		return nil, fmt.Errorf("persistent volume claim %s is not bound yet", name)
	}
	return l.client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
}

func (l *lookups) environSources(ctx context.Context, namespace string) environ.Sources {
	return environ.Sources{
		ConfigMap: func(name string) (*corev1.ConfigMap, error) { return l.getConfigMap(ctx, namespace, name) },
		Secret:    func(name string) (*corev1.Secret, error) { return l.getPodSecret(ctx, namespace, name) },
		NotFound:  apierrors.IsNotFound,
	}
}

// volumeSources returns the sources for volumes, except Token, which is part of the pod's environment.
func (l *lookups) volumeSources(ctx context.Context, namespace string) volume.Sources {
	return volume.Sources{
		ConfigMap: func(name string) (*corev1.ConfigMap, error) { return l.getConfigMap(ctx, namespace, name) },
		Secret:    func(name string) (*corev1.Secret, error) { return l.getPodSecret(ctx, namespace, name) },
		Claim:     func(name string) (*corev1.PersistentVolume, error) { return l.findVolume(ctx, namespace, name) },
		NotFound:  apierrors.IsNotFound,
	}
}
