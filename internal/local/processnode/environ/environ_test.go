package environ

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var errAbsent = errors.New("absent")

func testSources() Sources {
	return Sources{
		ConfigMap: func(name string) (*corev1.ConfigMap, error) {
			if name != "cm" {
				return nil, errAbsent
			}
			return &corev1.ConfigMap{Data: map[string]string{"a": "1", "b": "2", "no=var": "3"}}, nil
		},
		Secret: func(name string) (*corev1.Secret, error) {
			if name != "s" {
				return nil, errAbsent
			}
			return &corev1.Secret{Data: map[string][]byte{"pw": []byte("x")}}, nil
		},
		NotFound: func(err error) bool { return errors.Is(err, errAbsent) },
	}
}

func TestBuildEnvironment(t *testing.T) {
	requests := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", UID: "u", Labels: map[string]string{"app": "x", "a/b": "y \"z\""}},
		Spec:       corev1.PodSpec{NodeName: "node", InitContainers: []corev1.Container{{Name: "first", Resources: requests}}},
	}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	cases := map[string]struct {
		container corev1.Container
		services  []corev1.EnvVar
		want      []string
		err       string
	}{
		"a value refers to an earlier one and to a service": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)-$(S)-$(C)-$$(A)"}, {Name: "C", Value: "3"}}},
			services:  []corev1.EnvVar{{Name: "S", Value: "svc"}}, want: []string{"S=svc", "A=1", "B=1-svc-$(C)-$(A)", "C=3"},
		},
		"fields of the pod": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "N", ValueFrom: field("metadata.name")}, {Name: "L", ValueFrom: field("metadata.labels['app']")}, {Name: "I", ValueFrom: field("status.podIP")}}},
			want:      []string{"N=p", "L=x", "I=10.0.0.2"},
		},
		"all labels of the pod": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "L", ValueFrom: field("metadata.labels")}, {Name: "B", ValueFrom: field("metadata.labels['a/b']")}, {Name: "U", ValueFrom: field("metadata.uid")}, {Name: "NODE", ValueFrom: field("spec.nodeName")}}},
			want:      []string{"L=a/b=\"y \\\"z\\\"\"\napp=\"x\"", "B=y \"z\"", "U=u", "NODE=node"},
		},
		"all of a ConfigMap with a prefix, and the container's own value wins": {
			container: corev1.Container{
				EnvFrom: []corev1.EnvFromSource{{Prefix: "X_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}},
				Env:     []corev1.EnvVar{{Name: "X_b", Value: "mine"}},
			},
			want: []string{"X_a=1", "X_b=mine"},
		},
		"an optional Secret that is missing": {
			container: corev1.Container{EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Optional: ptr.To(true)}}}},
		},
		"a ConfigMap that is missing": {
			container: corev1.Container{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}}}}},
			err:       "absent",
		},
		"a key that is missing": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "K", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "zz"}}}}},
			err:       "env K: couldn't find key zz in Secret n/s",
		},
		"a field that is not in the downward API": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "F", ValueFrom: field("spec.priority")}}},
			err:       "env F: unsupported fieldPath: spec.priority",
		},
		"a container that is missing": {
			container: corev1.Container{Env: []corev1.EnvVar{{Name: "R", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "none", Resource: "limits.cpu"}}}}},
			err:       "env R: container none not found",
		},
		"limits in units, and the node's where none is set": {
			container: corev1.Container{
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}},
				Env: []corev1.EnvVar{
					{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
					{Name: "FIRST", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "first", Resource: "requests.cpu", Divisor: resource.MustParse("1m")}}},
					{Name: "MEM", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("1Mi")}}},
				},
			},
			want: []string{"CPU=2", "FIRST=250", "MEM=1024"},
		},
	}
	facts := Facts{PodIP: "10.0.0.2", Allocatable: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.container.Name = "main"
			pod := pod.DeepCopy()
			pod.Spec.Containers = append(pod.Spec.Containers, c.container)
			got, err := BuildEnvironment(pod, &c.container, c.services, facts, testSources())
			if (err == nil) != (c.err == "") || (err != nil && err.Error() != c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestServicesBecomeVariables(t *testing.T) {
	kubernetes := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.1", Ports: []corev1.ServicePort{{Name: "https", Port: 443}}}}
	headless := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "job"}, Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: []corev1.ServicePort{{Port: 1}}}}
	database := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "my-db"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.2", Ports: []corev1.ServicePort{{Port: 53, Protocol: corev1.ProtocolUDP}}}}
	withoutPorts := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "bare"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.3"}}
	elsewhere := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "x"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.4", Ports: []corev1.ServicePort{{Port: 1}}}}
	services := []*corev1.Service{kubernetes, headless, database, withoutPorts, elsewhere}
	ofAPIServer := []string{
		"KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443", "KUBERNETES_SERVICE_PORT_HTTPS=443", "KUBERNETES_PORT=tcp://10.96.0.1:443",
		"KUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443", "KUBERNETES_PORT_443_TCP_PROTO=tcp", "KUBERNETES_PORT_443_TCP_PORT=443", "KUBERNETES_PORT_443_TCP_ADDR=10.96.0.1",
	}
	ofDatabase := []string{
		"MY_DB_SERVICE_HOST=10.96.0.2", "MY_DB_SERVICE_PORT=53", "MY_DB_PORT=udp://10.96.0.2:53",
		"MY_DB_PORT_53_UDP=udp://10.96.0.2:53", "MY_DB_PORT_53_UDP_PROTO=udp", "MY_DB_PORT_53_UDP_PORT=53", "MY_DB_PORT_53_UDP_ADDR=10.96.0.2",
	}
	cases := map[string]struct {
		links *bool
		want  []string
	}{
		"without service links": {ptr.To(false), ofAPIServer},
		"with service links":    {nil, slices.Concat(ofAPIServer, ofDatabase)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n"}, Spec: corev1.PodSpec{EnableServiceLinks: c.links}}
			got, err := BuildEnvironment(pod, &corev1.Container{}, ServiceVariables(pod, services), Facts{}, testSources())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestArgumentsReferToTheEnvironment(t *testing.T) {
	env := []string{"A=1", "EMPTY=", "EQ=a=b"}
	args := []string{"plain", "$(A)$(EMPTY)$(EQ)", "$(NONE)", "$$(A) $$$(A)", "$(A", "50% $x $"}
	want := []string{"plain", "1a=b", "$(NONE)", "$(A) $1", "$(A", "50% $x $"}
	if diff := cmp.Diff(want, ExpandArguments(args, env)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
