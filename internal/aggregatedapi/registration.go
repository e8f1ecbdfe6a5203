package aggregatedapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

var registrations = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// address is the Service through which the API server reaches a group.
type address struct {
	namespace, name string
	port            int64
}

// ownerReferences returns a reference to the named ClusterRole. Without a name, there is no reference.
func ownerReferences(ctx context.Context, client kubernetes.Interface, clusterRole string) ([]metav1.OwnerReference, error) {
	if clusterRole == "" {
		return nil, nil
	}
	role, err := client.RbacV1().ClusterRoles().Get(ctx, clusterRole, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("owner of the registration: %w", err)
	}
	return []metav1.OwnerReference{{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole", Name: role.Name, UID: role.UID}}, nil
}

// managedByLabel is the label with the program that created a registration.
const managedByLabel = "app.kubernetes.io/managed-by"

// errOtherProgram is returned if the registration was created by another program, which serves the group.
var errOtherProgram = errors.New("another program serves this API group")

// RemoveRegistration removes a registration left by a program that was killed, or that no longer serves the group. This
// is necessary because the API server cannot delete namespaces while the registered service does not respond.
func (g Group) RemoveRegistration(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("API %s: client: %w", g.Name, err)
	}
	return g.deleteOwnRegistration(ctx, client)
}

// deleteOwnRegistration removes the registration if the group's manager created it.
func (g Group) deleteOwnRegistration(ctx context.Context, client dynamic.Interface) error {
	have, err := client.Resource(registrations).Get(ctx, g.RegistrationName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("APIService %s: %w", g.RegistrationName(), err)
	case have.GetLabels()[managedByLabel] != g.Manager:
		return nil
	}
	err = client.Resource(registrations).Delete(ctx, g.RegistrationName(), metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// registerAddress registers the address of the group and the certificate authorities to trust. It replaces the owners
// of the registration, unless owners is empty.
func (g Group) registerAddress(ctx context.Context, client dynamic.Interface, at address, caBundle []byte, owners []metav1.OwnerReference) error {
	spec := map[string]any{
		"group": g.Name, "version": g.Version, "groupPriorityMinimum": int64(100), "versionPriority": int64(10), "caBundle": base64.StdEncoding.EncodeToString(caBundle),
		"service": map[string]any{"namespace": at.namespace, "name": at.name, "port": at.port},
	}
	api := client.Resource(registrations)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		have, err := api.Get(ctx, g.RegistrationName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			want := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "spec": spec}}
			want.SetName(g.RegistrationName())
			want.SetLabels(map[string]string{managedByLabel: g.Manager})
			want.SetOwnerReferences(owners)
			_, err = api.Create(ctx, want, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		if have.GetLabels()[managedByLabel] != g.Manager {
			return errOtherProgram
		}
		hasOwners := len(owners) == 0 || reflect.DeepEqual(have.GetOwnerReferences(), owners)
		if hasOwners && reflect.DeepEqual(have.Object["spec"], any(spec)) {
			return nil
		}
		if !hasOwners {
			have.SetOwnerReferences(owners)
		}
		have.Object["spec"] = spec
		_, err = api.Update(ctx, have, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("APIService %s: %w", g.RegistrationName(), err)
	}
	return nil
}

// ensureLocalService creates or updates the Service that points to this machine.
func ensureLocalService(ctx context.Context, client kubernetes.Interface, at address) error {
	want := corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost", Ports: []corev1.ServicePort{{Name: "https", Port: int32(at.port)}}}
	services := client.CoreV1().Services(at.namespace)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		have, err := services.Get(ctx, at.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = services.Create(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: at.name}, Spec: want}, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		have.Spec = want
		_, err = services.Update(ctx, have, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("service %s/%s: %w", at.namespace, at.name, err)
	}
	return nil
}
