package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The resources in the errors of bindings.
var (
	podResource     = schema.GroupResource{Resource: "pods"}
	bindingResource = schema.GroupResource{Resource: "pods/binding"}
)

// bind assigns a pod to a node.
func (s *Server) bind(r *Request) (runtime.Object, error) {
	binding, ok := r.Object.(*corev1.Binding)
	switch {
	case !ok:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Binding object: %T", r.Object))
	case binding.Namespace != "" && binding.Namespace != r.Namespace:
		return nil, apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case binding.Name != r.Name:
		return nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if err := s.checkNamespace(r, s.pods.kind, binding); err != nil {
		return nil, err
	}
	if err := validateTarget(binding); err != nil {
		return nil, err
	}
	e := s.pods.find(r.Namespace, r.Name)
	if e == nil {
		return nil, apierrors.NewNotFound(s.pods.kind.resource, r.Name)
	}
	old, _ := e.object.(*corev1.Pod)
	if err := checkBinding(r, binding, old); err != nil {
		return nil, err
	}
	s.put(r, s.pods, e, s.boundPod(binding, old))
	return &metav1.Status{Status: metav1.StatusSuccess, Code: 201}, nil
}

func validateTarget(binding *corev1.Binding) error {
	switch {
	case binding.Target.Kind != "" && binding.Target.Kind != "Node":
		return statusError(fmt.Errorf(`target.kind: Unsupported value: %q: supported values: "Node", "<empty>"`, binding.Target.Kind))
	case binding.Target.Name == "":
		return statusError(fmt.Errorf("target.name: Required value"))
	}
	return nil
}

// checkBinding returns the conflict if the pod cannot be bound.
func checkBinding(r *Request, binding *corev1.Binding, pod *corev1.Pod) error {
	if uid := binding.UID; uid != "" && uid != pod.UID {
		return errPrecondition(r, podResource, "UID", string(uid), string(pod.UID))
	}
	if version := binding.ResourceVersion; version != "" && version != pod.ResourceVersion {
		return errPrecondition(r, podResource, "ResourceVersion", version, pod.ResourceVersion)
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return apierrors.NewConflict(bindingResource, r.Name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name))
	case pod.Spec.NodeName != "":
		return apierrors.NewConflict(bindingResource, r.Name, fmt.Errorf("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName))
	case len(pod.Spec.SchedulingGates) > 0:
		return apierrors.NewConflict(bindingResource, r.Name, fmt.Errorf("pod %v has non-empty .spec.schedulingGates", pod.Name))
	}
	return nil
}

func errPrecondition(r *Request, resource schema.GroupResource, what, wanted, has string) error {
	return apierrors.NewConflict(resource, r.Name,
		fmt.Errorf("Precondition failed: %s in precondition: %v, %s in object meta: %v", what, wanted, what, has)) //nolint:staticcheck // the real message
}

// boundPod returns a copy of the pod that is bound to the node of the binding.
func (s *Server) boundPod(binding *corev1.Binding, old *corev1.Pod) client.Object {
	pod := *old
	pod.Spec.NodeName = binding.Target.Name
	pod.Status.NominatedNodeName = ""
	pod.Annotations = mergeMaps(old.Annotations, binding.Annotations)
	pod.Labels = mergeMaps(old.Labels, binding.Labels)
	pod.Status.Conditions = s.withScheduledCondition(old.Status.Conditions)
	return &pod
}

// mergeMaps returns a map with the entries of both maps. It does not change them.
func mergeMaps(base, over map[string]string) map[string]string {
	if len(over) == 0 {
		return base
	}
	merged := make(map[string]string, len(base)+len(over))
	for k, v := range base {
		merged[k] = v
	}
	for k, v := range over {
		merged[k] = v
	}
	return merged
}

func (s *Server) withScheduledCondition(old []corev1.PodCondition) []corev1.PodCondition {
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: s.clock()}
	conditions := make([]corev1.PodCondition, len(old), len(old)+1)
	copy(conditions, old)
	for i := range conditions {
		if conditions[i].Type != corev1.PodScheduled {
			continue
		}
		if conditions[i].Status == corev1.ConditionTrue {
			scheduled.LastTransitionTime = conditions[i].LastTransitionTime
		}
		conditions[i] = scheduled
		return conditions
	}
	return append(conditions, scheduled)
}

// uidOf is short for a pointer to the UID of an object.
func uidOf(object client.Object) *types.UID {
	uid := object.GetUID()
	return &uid
}
