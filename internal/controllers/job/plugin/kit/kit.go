// Package kit is what job plugins are made of: the interface they fulfil and the helpers they share.
//
// A plugin is pure: it says how a new pod differs and which API objects the job needs; the controller writes them.
package kit

import (
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// Plugin adds something to the pods of a job, or beside them.
type Plugin interface {
	// Pod changes a pod that is about to be created: the one at index of the task job.Spec.Tasks[task].
	Pod(pod *corev1.Pod, job *batch.Job, task int, index int32)
	// Objects are the API objects that the job needs beside its pods, for its present spec.
	Objects(job *batch.Job) []Object
}

// MaxEnvBytes bounds what is given to a process as one variable: Linux refuses to start it with one of more than 128 KiB.
const MaxEnvBytes = 96 << 10

// maxListedBytes bounds the host lists of a job. Nothing holds more than 1 MiB of them; ListBytes counts a little too much.
const maxListedBytes = 4 << 20

// Object is one API object of a plugin.
type Object struct {
	// Wanted is the object as it should be, as far as the plugin can know without looking.
	Wanted client.Object
	// Merge says what to write. existing is what is there: nil when nothing is. The result is what should be there and whether that differs
	// from existing. random is read only by plugins that make keys.
	Merge func(existing client.Object, random io.Reader) (write client.Object, changed bool, err error)
	// Foreign returns what to tell the user of an object that has the name and was not created for the job; empty when it serves as well. The object is
	// left as it is. Nil: the job cannot do without an object of its own.
	Foreign func(existing client.Object) (warning string)
}

// Create is an Object that never changes once it is there. One of the user's may take its place.
func Create(wanted client.Object) Object {
	return Object{
		Wanted: wanted,
		Merge: func(existing client.Object, _ io.Reader) (client.Object, bool, error) {
			return wanted, existing == nil, nil
		},
		Foreign: func(client.Object) string { return "it is used as it is" },
	}
}

// Meta is the metadata of an object owned by the job.
func Meta(job *batch.Job, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: job.Namespace,
		OwnerReferences: []metav1.OwnerReference{Owner(job)},
	}
}

// Owner is the controller reference to a job.
func Owner(job *batch.Job) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, batch.GroupVersion.WithKind("Job"))
}

// PodName is the name of a job's pod.
func PodName(job *batch.Job, task int, index int32) string {
	return fmt.Sprintf("%s-%s-%d", job.Name, job.Spec.Tasks[task].Name, index)
}

// Host is a pod's name in the network of its job.
type Host struct {
	Name      string // the host name
	Subdomain string // the headless service
}

// FQDN is the name that other pods of the namespace resolve.
func (h Host) FQDN() string { return h.Name + "." + h.Subdomain }

// ListBytes bounds the length of a task's host list from above without making the list, one separator a host included.
func ListBytes(job *batch.Job, task int) int64 {
	spec := &job.Spec.Tasks[task]
	perHost := int64(len(job.Name) + len(spec.Template.Spec.Subdomain) + 2)
	if fixed := spec.Template.Spec.Hostname; fixed != "" {
		return perHost + int64(len(fixed))
	}
	return int64(spec.Replicas) * (perHost + int64(len(PodName(job, task, spec.Replicas))))
}

// Listable reports whether the host lists of all tasks may be made: a job may have more replicas than memory has room for.
func Listable(job *batch.Job) bool {
	var total int64
	for i := range job.Spec.Tasks {
		total += ListBytes(job, i)
	}
	return total <= maxListedBytes
}

// Hosts lists the hosts of a task, one an index; a template that fixes the host name has one host only. The list is empty where the job's lists are
// not Listable.
func Hosts(job *batch.Job, task int) []Host {
	if !Listable(job) {
		return nil
	}
	return FirstHosts(job, task, job.Spec.Tasks[task].Replicas)
}

// FirstHosts lists the first hosts of a task, at most that many.
func FirstHosts(job *batch.Job, task int, most int32) []Host {
	spec := &job.Spec.Tasks[task]
	subdomain := spec.Template.Spec.Subdomain
	if subdomain == "" {
		subdomain = job.Name
	}
	if fixed := spec.Template.Spec.Hostname; fixed != "" && spec.Replicas > 0 {
		return []Host{{Name: fixed, Subdomain: subdomain}}
	}
	replicas := min(spec.Replicas, most)
	hosts := make([]Host, 0, replicas)
	for i := range replicas {
		hosts = append(hosts, Host{Name: PodName(job, task, i), Subdomain: subdomain})
	}
	return hosts
}

// Addresses are the names that a task's pods are reached by, as Hosts lists them.
func Addresses(job *batch.Job, task int) []string {
	hosts := Hosts(job, task)
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.FQDN()
	}
	return names
}

// Address is the name that the first pod of a task is reached by.
func Address(job *batch.Job, task int) string {
	spec := &job.Spec.Tasks[task]
	h := Host{Name: PodName(job, task, 0), Subdomain: job.Name}
	if fixed := spec.Template.Spec.Hostname; fixed != "" {
		h.Name = fixed
	}
	if fixed := spec.Template.Spec.Subdomain; fixed != "" {
		h.Subdomain = fixed
	}
	return h.FQDN()
}

// Task is the index of the task of a name; -1 when there is none.
func Task(job *batch.Job, name string) int {
	return slices.IndexFunc(job.Spec.Tasks, func(t batch.TaskSpec) bool { return t.Name == name })
}

// EachContainer calls f for all containers and init containers of a pod.
func EachContainer(pod *corev1.Pod, f func(*corev1.Container)) {
	for i := range pod.Spec.Containers {
		f(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		f(&pod.Spec.InitContainers[i])
	}
}

// SetEnv gives a variable to a container, after those that it has: when the template has one of that name, this one counts.
func SetEnv(c *corev1.Container, name, value string) {
	c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
}

// OpenPort adds a port to a container, unless it says already that it listens there. The port goes without the name when another port of
// the container has that.
func OpenPort(c *corev1.Container, name string, port int32) {
	for i := range c.Ports {
		if c.Ports[i].ContainerPort == port {
			return
		}
		if c.Ports[i].Name == name {
			name = ""
		}
	}
	c.Ports = append(c.Ports, corev1.ContainerPort{Name: name, ContainerPort: port, Protocol: corev1.ProtocolTCP})
}

// OpenPorts does OpenPort for some containers of a pod: for the first only when the pod is in the network of its node, where two
// containers cannot have one port.
func OpenPorts(pod *corev1.Pod, containers []corev1.Container, name string, port int32) {
	for i := range containers {
		OpenPort(&containers[i], name, port)
		if pod.Spec.HostNetwork {
			return
		}
	}
}
