// Package pluginapi defines the interface of job plugins and the helpers that they share.
//
// A plugin is pure. It only changes a new pod in memory and returns the API objects that the job needs. The controller
// writes these objects.
package pluginapi

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// Plugin extends the pods of a job and defines additional objects.
type Plugin interface {
	// Pod changes a pod that is about to be created with the given index in job.Spec.Tasks[task].
	Pod(pod *corev1.Pod, job *batchv1alpha1.Job, task int, index int32)
	// Objects returns the API objects, other than pods, that the job needs for its current spec.
	Objects(job *batchv1alpha1.Job) []Object
}

// MaxEnvBytes is the maximum size of one environment variable. Linux does not start a process with a variable of more
// than 128 KiB.
const MaxEnvBytes = 96 << 10

// maxListedBytes is the maximum total size of the host lists of a job. Each object holds at most 1 MiB of these lists,
// and MaxListBytes slightly overestimates their size.
const maxListedBytes = 4 << 20

// Object is an API object that a plugin needs.
type Object struct {
	// Wanted is the desired object, as far as the plugin can build it without the existing object.
	Wanted client.Object
	// Merge returns the object to write and whether it differs from existing, which is nil if the object does not
	// exist. Only plugins that generate keys read random.
	Merge func(existing client.Object, random io.Reader) (write client.Object, changed bool, err error)
	// Foreign returns a warning for the user if there is an object with the same name that was not created for the job.
	// It returns "" if that object serves the same purpose. The existing object is not changed. A nil Foreign means
	// that the job cannot run without its own object.
	Foreign func(existing client.Object) (warning string)
}

// CreateOnce returns an Object that is created once and never changes. A user's object with the same name may replace
// it.
func CreateOnce(wanted client.Object) Object {
	return Object{
		Wanted: wanted,
		Merge: func(existing client.Object, _ io.Reader) (client.Object, bool, error) {
			return wanted, existing == nil, nil
		},
		Foreign: func(client.Object) string { return "the job uses this object unchanged" },
	}
}

// ObjectMeta returns the metadata for an object that the job owns.
func ObjectMeta(job *batchv1alpha1.Job, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: job.Namespace,
		OwnerReferences: []metav1.OwnerReference{JobOwnerReference(job)},
	}
}

// JobOwnerReference returns the controller reference to a job.
func JobOwnerReference(job *batchv1alpha1.Job) metav1.OwnerReference {
	return *metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))
}

// PodNameFor returns the name of a job's pod.
func PodNameFor(job *batchv1alpha1.Job, task int, index int32) string {
	return fmt.Sprintf("%s-%s-%d", job.Name, job.Spec.Tasks[task].Name, index)
}

// Host holds the network name of a pod within its job.
type Host struct {
	Name      string // host name
	Subdomain string // name of the headless service
}

// FQDN returns the name that other pods of the namespace can resolve.
func (h Host) FQDN() string { return h.Name + "." + h.Subdomain }

// MaxListBytes returns an upper bound for the length of a task's host list, including one separator per host, without
// building the list.
func MaxListBytes(job *batchv1alpha1.Job, task int) int64 {
	spec := &job.Spec.Tasks[task]
	perHost := int64(len(job.Name) + len(spec.Template.Spec.Subdomain) + 2)
	if fixed := spec.Template.Spec.Hostname; fixed != "" {
		return perHost + int64(len(fixed))
	}
	return int64(spec.Replicas) * (perHost + int64(len(PodNameFor(job, task, spec.Replicas))))
}

// IsListable reports whether the host lists of all tasks are small enough to be built. A job may have more replicas
// than fit into memory.
func IsListable(job *batchv1alpha1.Job) bool {
	var total int64
	for i := range job.Spec.Tasks {
		total += MaxListBytes(job, i)
	}
	return total <= maxListedBytes
}

// HostsOfTask returns the hosts of a task, one per index. If the template has a fixed host name, there is only one
// host. The result is empty if the job is not listable.
func HostsOfTask(job *batchv1alpha1.Job, task int) []Host {
	if !IsListable(job) {
		return nil
	}
	return FirstHosts(job, task, job.Spec.Tasks[task].Replicas)
}

// FirstHosts returns the first hosts of a task, up to the given number.
func FirstHosts(job *batchv1alpha1.Job, task int, most int32) []Host {
	spec := &job.Spec.Tasks[task]
	subdomain := spec.Template.Spec.Subdomain
	subdomain = cmp.Or(subdomain, job.Name)
	if fixed := spec.Template.Spec.Hostname; fixed != "" && spec.Replicas > 0 {
		return []Host{{Name: fixed, Subdomain: subdomain}}
	}
	replicas := min(spec.Replicas, most)
	hosts := make([]Host, 0, replicas)
	for i := range replicas {
		hosts = append(hosts, Host{Name: PodNameFor(job, task, i), Subdomain: subdomain})
	}
	return hosts
}

// TaskAddresses returns the fully qualified names of a task's hosts.
func TaskAddresses(job *batchv1alpha1.Job, task int) []string {
	hosts := HostsOfTask(job, task)
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.FQDN()
	}
	return names
}

// FirstAddress returns the fully qualified name of the first pod of a task.
func FirstAddress(job *batchv1alpha1.Job, task int) string {
	spec := &job.Spec.Tasks[task]
	h := Host{Name: PodNameFor(job, task, 0), Subdomain: job.Name}
	if fixed := spec.Template.Spec.Hostname; fixed != "" {
		h.Name = fixed
	}
	if fixed := spec.Template.Spec.Subdomain; fixed != "" {
		h.Subdomain = fixed
	}
	return h.FQDN()
}

// TaskIndex returns the index of the task with the given name, or -1 if none exists.
func TaskIndex(job *batchv1alpha1.Job, name string) int {
	return slices.IndexFunc(job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool { return t.Name == name })
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

// SetEnvVariable appends a variable to a container. It overrides a variable with the same name in the template.
func SetEnvVariable(c *corev1.Container, name, value string) {
	c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
}

// OpenContainerPort adds a port to a container unless the container already lists it. The port gets no name if another
// port of the container has the same name.
func OpenContainerPort(c *corev1.Container, name string, port int32) {
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

// OpenPortOfPod calls OpenContainerPort for the containers of a pod. If the pod uses the host network, only the first
// container gets the port, because two containers cannot share it.
func OpenPortOfPod(pod *corev1.Pod, containers []corev1.Container, name string, port int32) {
	for i := range containers {
		OpenContainerPort(&containers[i], name, port)
		if pod.Spec.HostNetwork {
			return
		}
	}
}
