package joblist

import (
	"context"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// ServiceName is the Service for the lists if Options does not name one. It points to this machine.
const ServiceName = "vc-listing"

// Registration is the name of the APIService that registers the lists with the API server.
const Registration = jobsummary.Version + "." + jobsummary.GroupName

var registrations = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// place is the address at which the API server reaches the lists.
type place struct {
	namespace, name string
	port            int64
}

// managedBy is the label of registrations created by this package. Registrations without it are not removed.
const (
	managedBy = "app.kubernetes.io/managed-by"
	manager   = "vcd"
)

// RemoveRegistration removes a registration left by a daemon that was killed, or that now runs without lists. This is
// necessary because the API server cannot delete namespaces while the registered service does not respond.
func RemoveRegistration(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("lists: client: %w", err)
	}
	return deleteOwnRegistration(ctx, client)
}

// deleteOwnRegistration removes a registration created by a daemon.
func deleteOwnRegistration(ctx context.Context, client dynamic.Interface) error {
	have, err := client.Resource(registrations).Get(ctx, Registration, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("APIService %s: %w", Registration, err)
	case have.GetLabels()[managedBy] != manager:
		return nil
	}
	return deleteRegistration(ctx, client)
}

// registerAddress registers the address of the lists and the certificate authorities to trust.
func registerAddress(ctx context.Context, client dynamic.Interface, at place, caBundle []byte) error {
	spec := map[string]any{
		"group": jobsummary.GroupName, "version": jobsummary.Version, "groupPriorityMinimum": int64(100), "versionPriority": int64(10), "caBundle": encodeBase64(caBundle),
		"service": map[string]any{"namespace": at.namespace, "name": at.name, "port": at.port},
	}
	api := client.Resource(registrations)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		have, err := api.Get(ctx, Registration, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			want := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "spec": spec}}
			want.SetName(Registration)
			want.SetLabels(map[string]string{managedBy: manager})
			_, err = api.Create(ctx, want, metav1.CreateOptions{})
			return err
		}
		if err != nil || reflect.DeepEqual(have.Object["spec"], any(spec)) {
			return err
		}
		have.Object["spec"] = spec
		_, err = api.Update(ctx, have, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("APIService %s: %w", Registration, err)
	}
	return nil
}

// ensureLocalService creates or updates the Service that points to this machine.
func ensureLocalService(ctx context.Context, client kubernetes.Interface, at place) error {
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

// deleteRegistration deletes the registration, because API discovery would return an error without a responding server.
func deleteRegistration(ctx context.Context, client dynamic.Interface) error {
	err := client.Resource(registrations).Delete(ctx, Registration, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
