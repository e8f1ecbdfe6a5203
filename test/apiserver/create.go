package apiserver

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (s *Server) create(r *Request, t *table) (runtime.Object, error) {
	object, err := s.ownCopy(r, t)
	if err != nil {
		return nil, err
	}
	object.SetCreationTimestamp(metav1.Time{})
	object.SetUID("")
	object.SetDeletionTimestamp(nil)
	object.SetDeletionGracePeriodSeconds(nil)
	object.SetSelfLink("")
	object.SetManagedFields(nil)
	if err := setNamespace(r, t.kind, object); err != nil {
		return nil, err
	}
	return s.createObject(r, t, object)
}

// createObject creates an object that belongs to the server.
func (s *Server) createObject(r *Request, t *table, object client.Object) (client.Object, error) {
	removeDuplicateOwners(object)
	t.kind.rules.setDefaults(object)
	if err := s.checkNamespace(r, t.kind, object); err != nil {
		return nil, err
	}
	if err := s.admitCreate(object); err != nil {
		return nil, err
	}
	object, err := s.mutate(r, t.kind, nil, object)
	if err != nil {
		return nil, err
	}
	removeDuplicateOwners(object)
	object.SetCreationTimestamp(s.clock())
	object.SetUID(s.nextUID())
	if object.GetGenerateName() != "" && object.GetName() == "" {
		object.SetName(s.generateName(t, object))
	}
	ctx := s.context(r, t.kind)
	if err := t.kind.rules.prepareCreate(ctx, object); err != nil {
		return nil, err
	}
	if err := s.validateCustom(ctx, r, t.kind, &draft{object: object, lacksStatus: t.kind.hasStatus}, nil); err != nil {
		return nil, err
	}
	if err := s.validate(r, t.kind, nil, object); err != nil {
		return nil, err
	}
	if err := s.checkQuota(r, object, nil); err != nil {
		return nil, err
	}
	if object.GetResourceVersion() != "" && object.GetResourceVersion() != "0" {
		return nil, statusError(fmt.Errorf("resourceVersion should not be set on objects to be created"))
	}
	if e := t.find(object.GetNamespace(), object.GetName()); e != nil {
		return nil, errExists(t.kind, e)
	}
	s.setTimes(object)
	return s.put(r, t, &entry{kind: t.kind, lacksStatus: t.kind.hasStatus && (t.kind.custom || t.kind.gvk == volumeClaimKind)}, object), nil
}

// setTimes replaces the times of the computer's clock in a new object.
func (s *Server) setTimes(object client.Object) {
	switch o := object.(type) {
	case *corev1.Pod:
		for i := range o.Status.Conditions {
			o.Status.Conditions[i].LastTransitionTime = s.clock()
		}
	case *corev1.PersistentVolume:
		if o.Status.LastPhaseTransitionTime != nil {
			now := s.clock()
			o.Status.LastPhaseTransitionTime = &now
		}
	}
}

func errExists(k *kind, e *entry) error {
	err := apierrors.NewAlreadyExists(k.resource, e.object.GetName())
	if e.object.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// generateName returns an unused name that begins with the prefix of the object.
func (s *Server) generateName(t *table, object client.Object) string {
	const longestPrefix = 63 - 5
	prefix := object.GetGenerateName()
	prefix = prefix[:min(len(prefix), longestPrefix)]
	for n := s.created; ; n += 7919 {
		suffix := strconv.FormatUint(n*2654435761%60466176+60466176, 36) // 36^5 possible suffixes
		name := prefix + suffix[len(suffix)-5:]
		if t.find(object.GetNamespace(), name) == nil {
			return name
		}
	}
}

// checkNamespace rejects a new object in a namespace that does not exist or is being deleted.
func (s *Server) checkNamespace(r *Request, k *kind, object client.Object) error {
	if !k.namespaced {
		return nil
	}
	e := s.spaces.find("", r.Namespace)
	if e == nil {
		return apierrors.NewNotFound(s.spaces.kind.resource, r.Namespace)
	}
	namespace, ok := e.object.(*corev1.Namespace)
	if !ok || namespace.Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	name := object.GetName()
	if name == "" {
		name = object.GetGenerateName()
	}
	err := apierrors.NewForbidden(k.resource, name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", r.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", r.Namespace),
		Field:   "metadata.namespace",
	})
	return err
}

// admitCreate does what the API server's own admission does for new objects.
func (s *Server) admitCreate(object client.Object) error {
	switch o := object.(type) {
	case *corev1.Pod:
		addDefaultTolerations(o)
		if o.Spec.ServiceAccountName == "" {
			o.Spec.ServiceAccountName = "default"
		}
		o.Spec.DeprecatedServiceAccount = o.Spec.ServiceAccountName
		return s.setPriority(o)
	case *corev1.PersistentVolumeClaim:
		addFinalizer(object, claimProtection)
	case *corev1.PersistentVolume:
		addFinalizer(object, volumeProtection)
	case *corev1.Service:
		allocateAddress(o)
	}
	return nil
}

// allocateAddress sets what the API server allocates for a service without a cluster IP. Other services are not
// supported.
func allocateAddress(service *corev1.Service) {
	if service.Spec.ClusterIP == corev1.ClusterIPNone {
		policy := corev1.IPFamilyPolicySingleStack
		service.Spec.ClusterIPs = []string{corev1.ClusterIPNone}
		service.Spec.IPFamilies, service.Spec.IPFamilyPolicy = []corev1.IPFamily{corev1.IPv4Protocol}, &policy
	}
}

func addFinalizer(object client.Object, finalizer string) {
	if !slices.Contains(object.GetFinalizers(), finalizer) {
		object.SetFinalizers(append(object.GetFinalizers(), finalizer))
	}
}

// tolerationSeconds is how long a pod stays on a node that is not ready or unreachable.
var tolerationSeconds int64 = 300

// addDefaultTolerations adds the tolerations that the admission plugin DefaultTolerationSeconds adds.
func addDefaultTolerations(pod *corev1.Pod) {
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerates := slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			matchesKey := t.Key == taint || t.Key == ""
			matchesEffect := t.Effect == corev1.TaintEffectNoExecute || t.Effect == ""
			return matchesKey && matchesEffect
		})
		if !tolerates {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &tolerationSeconds,
			})
		}
	}
}

// setPriority sets the priority of a pod from its PriorityClass, as the admission plugin Priority does.
func (s *Server) setPriority(pod *corev1.Pod) error {
	class, err := s.priorityClassOf(pod)
	if err != nil {
		return err
	}
	priority, policy := int32(0), corev1.PreemptLowerPriority
	if class != nil {
		pod.Spec.PriorityClassName, priority = class.Name, class.Value
		if class.PreemptionPolicy != nil {
			policy = *class.PreemptionPolicy
		}
	}
	if pod.Spec.Priority != nil && *pod.Spec.Priority != priority {
		return apierrors.NewForbidden(s.pods.kind.resource, pod.Name,
			fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *pod.Spec.Priority, priority))
	}
	if pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy != policy {
		return apierrors.NewForbidden(s.pods.kind.resource, pod.Name,
			fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *pod.Spec.PreemptionPolicy, policy))
	}
	pod.Spec.Priority, pod.Spec.PreemptionPolicy = &priority, &policy
	return nil
}

// priorityClassOf returns the class of a pod, the default class, or nil.
func (s *Server) priorityClassOf(pod *corev1.Pod) (*schedulingv1.PriorityClass, error) {
	if name := pod.Spec.PriorityClassName; name != "" {
		e := s.classes.find("", name)
		if e == nil {
			return nil, apierrors.NewForbidden(s.pods.kind.resource, pod.Name, fmt.Errorf("no PriorityClass with name %v was found", name))
		}
		class, _ := e.object.(*schedulingv1.PriorityClass)
		return class, nil
	}
	var lowest *schedulingv1.PriorityClass
	s.classes.all("", func(e *entry) bool {
		class, ok := e.object.(*schedulingv1.PriorityClass)
		isDefault := ok && class.GlobalDefault
		if isDefault && (lowest == nil || class.Value < lowest.Value) {
			lowest = class
		}
		return true
	})
	return lowest, nil
}
