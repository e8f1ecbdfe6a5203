package listing

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

	"github.com/vc-batch/vc/internal/listing/facts"
)

// ServiceName is the Service in front of the lists where Options name none: it leads to this machine.
const ServiceName = "vc-listing"

// Registration is the name of the APIService that tells the API server of the lists.
const Registration = facts.Version + "." + facts.GroupName

var registrations = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// place is where the API server finds the lists.
type place struct {
	namespace, name string
	port            int64
}

// managedBy is the label of registrations that are made here; others are not taken back.
const (
	managedBy = "app.kubernetes.io/managed-by"
	manager   = "vcd"
)

// Withdraw takes back a registration that was left behind, by a daemon that was killed or that is now run without lists: while nobody answers at it, the API
// server deletes no namespace.
func Withdraw(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("lists: client: %w", err)
	}
	return takeBack(ctx, client)
}

// takeBack withdraws a registration that a daemon made.
func takeBack(ctx context.Context, client dynamic.Interface) error {
	have, err := client.Resource(registrations).Get(ctx, Registration, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("APIService %s: %w", Registration, err)
	case have.GetLabels()[managedBy] != manager:
		return nil
	}
	return withdraw(ctx, client)
}

// register tells the API server where the lists are and whose certificates to trust there.
func register(ctx context.Context, client dynamic.Interface, at place, caBundle []byte) error {
	spec := map[string]any{
		"group": facts.GroupName, "version": facts.Version, "groupPriorityMinimum": int64(100), "versionPriority": int64(10), "caBundle": encoded(caBundle),
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

// leadHere makes the Service that leads to this machine.
func leadHere(ctx context.Context, client kubernetes.Interface, at place) error {
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

// withdraw takes the registration back: while nobody answers, whoever asks what kinds there are would be told of an error.
func withdraw(ctx context.Context, client dynamic.Interface) error {
	err := client.Resource(registrations).Delete(ctx, Registration, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
