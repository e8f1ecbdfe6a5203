package apiserver

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"sigs.k8s.io/controller-runtime/pkg/client"

	// The packages register the kinds, their conversions and their defaults.
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
)

// fieldErrors is short for the type of validation errors.
type fieldErrors = field.ErrorList

// builtinRules applies the strategies of the real API server. These work on Kubernetes' internal types, so each object
// is converted and converted back.
type builtinRules struct {
	strategy rest.RESTUpdateStrategy
	create   rest.RESTCreateStrategy
	status   rest.RESTUpdateStrategy
	finalize rest.RESTUpdateStrategy // for namespaces
}

func newBuiltinRules(k *kind, b *builtinKind) (*builtinRules, error) {
	create, ok := b.strategy.(rest.RESTCreateStrategy)
	if !ok {
		return nil, fmt.Errorf("the strategy of %s cannot create objects", b.resource)
	}
	rules := &builtinRules{strategy: b.strategy, create: create, status: b.status}
	if k.gvk == namespaceKind {
		rules.finalize = namespace.FinalizeStrategy
	}
	return rules, nil
}

func (b *builtinRules) setDefaults(object client.Object) { legacyscheme.Scheme.Default(object) }

// toInternal converts an object to its internal type. The result may share data with the object.
func (b *builtinRules) toInternal(object client.Object) (runtime.Object, error) {
	return legacyscheme.Scheme.UnsafeConvertToVersion(object, runtime.InternalGroupVersioner)
}

// fromInternal replaces the content of object with that of an internal object.
func (b *builtinRules) fromInternal(internal runtime.Object, object client.Object) error {
	value := reflect.ValueOf(object).Elem()
	value.SetZero() // some fields, such as stringData of secrets, exist in requests only
	if err := legacyscheme.Scheme.Convert(internal, object, nil); err != nil {
		return err
	}
	object.GetObjectKind().SetGroupVersionKind(noKind)
	b.setDefaults(object) // as for an object that is read from etcd
	return nil
}

func (b *builtinRules) prepareCreate(ctx context.Context, object client.Object) error {
	internal, err := b.toInternal(object)
	if err != nil {
		return err
	}
	if err := rest.BeforeCreate(b.create, ctx, internal); err != nil {
		return err
	}
	return b.fromInternal(internal, object)
}

func (b *builtinRules) prepareUpdate(ctx context.Context, subresource string, object, old client.Object) error {
	strategy := b.strategy
	switch subresource {
	case "status":
		strategy = b.status
	case "finalize":
		strategy = b.finalize
	}
	if subresource == "" && (b.keepSystemFields(object, old) || isRenewal(object, old)) {
		return nil
	}
	internal, err := b.toInternal(object)
	if err != nil {
		return err
	}
	internalOld, err := b.toInternal(old.DeepCopyObject().(client.Object))
	if err != nil {
		return err
	}
	if err := rest.BeforeUpdate(strategy, ctx, internal, internalOld); err != nil {
		return err
	}
	return b.fromInternal(internal, object)
}

// keepSystemFields handles the frequent updates of pods that change nothing but labels and annotations, for which the
// strategy is slow. It reports whether the update is one of these.
func (b *builtinRules) keepSystemFields(object, old client.Object) bool {
	pod, ok := object.(*corev1.Pod)
	if !ok || !hasPlainMaps(pod) {
		return false
	}
	oldPod := old.(*corev1.Pod)
	if pod.UID != oldPod.UID || hasSpecialAnnotations(pod) || hasSpecialAnnotations(oldPod) {
		return false
	}
	same := *pod
	same.Labels, same.Annotations = oldPod.Labels, oldPod.Annotations
	return equality.Semantic.DeepEqual(&same, oldPod)
}

// isRenewal reports whether an update only changes the time at which a lease was renewed, which is always valid. Most
// updates are renewals.
func isRenewal(object, old client.Object) bool {
	lease, ok := object.(*coordinationv1.Lease)
	if !ok {
		return false
	}
	oldLease := old.(*coordinationv1.Lease)
	same := *lease
	same.Spec.RenewTime = oldLease.Spec.RenewTime
	return equality.Semantic.DeepEqual(&same, oldLease)
}

// hasSpecialAnnotations reports whether a pod has annotations that the API server may not allow to change.
func hasSpecialAnnotations(pod *corev1.Pod) bool {
	for name := range pod.Annotations {
		if strings.Contains(name, "kubernetes.io/") && !strings.HasPrefix(name, "scheduling.k") {
			return true
		}
	}
	return false
}

// secondsOf removes the part of a time that its JSON form does not contain.
func secondsOf(t metav1.Time) metav1.Time {
	if t.IsZero() {
		return metav1.Time{}
	}
	return metav1.Unix(t.Unix(), 0)
}
