package environ

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/kubernetes/pkg/kubelet/envvars"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// Facts holds values that the pod object does not contain.
type Facts struct {
	HostIP      string
	PodIP       string
	Allocatable corev1.ResourceList // allocatable resources of the node; used for missing limits
}

// Sources holds functions that look up the objects to which a pod refers. For missing objects, they return the API's
// NotFound error.
type Sources struct {
	ConfigMap func(name string) (*corev1.ConfigMap, error)
	Secret    func(name string) (*corev1.Secret, error)
	NotFound  func(error) bool
}

// BuildEnvironment returns the environment of a container. Variables for services come first; the container's own
// definitions override them. Keys of a ConfigMap that are not valid variable names are omitted.
func BuildEnvironment(pod *corev1.Pod, container *corev1.Container, services []corev1.EnvVar, facts Facts, sources Sources) (env []string, err error) {
	b := &builder{pod: pod, container: container, facts: facts, sources: sources, services: map[string]string{}, values: map[string]string{}}
	for _, service := range services {
		b.services[service.Name] = service.Value
	}
	for i := range container.EnvFrom {
		if err := b.addAllFrom(&container.EnvFrom[i]); err != nil {
			return nil, err
		}
	}
	for i := range container.Env {
		if err := b.addVariable(&container.Env[i]); err != nil {
			return nil, err
		}
	}
	for _, service := range services {
		if _, overridden := b.values[service.Name]; !overridden {
			env = append(env, service.Name+"="+service.Value)
		}
	}
	for _, key := range b.order {
		env = append(env, key+"="+b.values[key])
	}
	return env, nil
}

type builder struct {
	pod       *corev1.Pod
	container *corev1.Container
	facts     Facts
	sources   Sources
	services  map[string]string
	values    map[string]string
	order     []string
}

func (b *builder) setVariableOnce(key, value string) {
	if _, known := b.values[key]; !known {
		b.order = append(b.order, key)
	}
	b.values[key] = value
}

func (b *builder) addAllFrom(source *corev1.EnvFromSource) error {
	data := map[string]string{}
	switch {
	case source.ConfigMapRef != nil:
		object, err := b.sources.ConfigMap(source.ConfigMapRef.Name)
		if err != nil {
			return b.ignoreMissing(err, source.ConfigMapRef.Optional)
		}
		data = object.Data
	case source.SecretRef != nil:
		object, err := b.sources.Secret(source.SecretRef.Name)
		if err != nil {
			return b.ignoreMissing(err, source.SecretRef.Optional)
		}
		for key, value := range object.Data {
			data[key] = string(value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if name := source.Prefix + key; len(validation.IsRelaxedEnvVarName(name)) == 0 {
			b.setVariableOnce(name, data[key])
		}
	}
	return nil
}

func (b *builder) addVariable(variable *corev1.EnvVar) error {
	if variable.ValueFrom == nil {
		b.setVariableOnce(variable.Name, expansion.Expand(variable.Value, expansion.MappingFuncFor(b.values, b.services)))
		return nil
	}
	value, found, err := b.resolveSource(variable.ValueFrom)
	if err != nil {
		return fmt.Errorf("env %s: %w", variable.Name, err)
	}
	if found {
		b.setVariableOnce(variable.Name, value)
	}
	return nil
}

func (b *builder) resolveSource(from *corev1.EnvVarSource) (value string, found bool, err error) {
	switch {
	case from.FieldRef != nil:
		value, err = FieldValue(b.pod, from.FieldRef.FieldPath, b.facts)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err = ResourceField(b.pod, b.container.Name, from.ResourceFieldRef, b.facts)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		object, err := b.sources.ConfigMap(ref.Name)
		if err != nil {
			return "", false, b.ignoreMissing(err, ref.Optional)
		}
		if value, ok := object.Data[ref.Key]; ok {
			return value, true, nil
		}
		return "", false, missingKeyError(ref.Key, "ConfigMap", b.pod.Namespace, ref.Name, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		object, err := b.sources.Secret(ref.Name)
		if err != nil {
			return "", false, b.ignoreMissing(err, ref.Optional)
		}
		if value, ok := object.Data[ref.Key]; ok {
			return string(value), true, nil
		}
		return "", false, missingKeyError(ref.Key, "Secret", b.pod.Namespace, ref.Name, ref.Optional)
	}
	return "", false, fmt.Errorf("process nodes do not support this kind of source for environment variables")
}

func (b *builder) ignoreMissing(err error, optional *bool) error {
	if optional != nil && *optional && b.sources.NotFound(err) {
		return nil
	}
	return err
}

func missingKeyError(key, kind, namespace, name string, optional *bool) error {
	if optional != nil && *optional {
		return nil
	}
	return fmt.Errorf("couldn't find key %s in %s %s/%s", key, kind, namespace, name)
}

// ServiceVariables returns the variables for the API server's service and, if the pod enables service links, for the
// services in the pod's namespace.
func ServiceVariables(pod *corev1.Pod, services []*corev1.Service) []corev1.EnvVar {
	links := pod.Spec.EnableServiceLinks == nil || *pod.Spec.EnableServiceLinks
	linked := slices.DeleteFunc(slices.Clone(services), func(service *corev1.Service) bool {
		ofPod := IsAPIServer(service) || (links && service.Namespace == pod.Namespace)
		return !ofPod || len(service.Spec.Ports) == 0 // FromServices requires a port
	})
	return envvars.FromServices(linked)
}

// IsAPIServer reports whether the service represents the API server.
func IsAPIServer(service *corev1.Service) bool {
	return service.Namespace == corev1.NamespaceDefault && service.Name == "kubernetes"
}
