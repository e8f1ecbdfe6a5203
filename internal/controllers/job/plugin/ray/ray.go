// Package ray implements the job plugin for Ray. It starts the head, starts workers that join the head, and creates a
// Service for clients and the dashboard.
package ray

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// Name is the key in spec.plugins.
const Name = batchv1alpha1.PluginRay

// Names of the head's ports.
const (
	GCS       = "gcs"
	Dashboard = "dashboard"
	Client    = "client-server"
)

type plugin struct {
	head, headContainer, worker, workerContainer string
	port, dashboardPort, clientPort              int32
}

// New returns the plugin.
func New(arguments batchv1alpha1.PluginArguments) pluginapi.Plugin {
	return &plugin{
		head: arguments.String("head"), headContainer: arguments.String("headContainer"),
		worker: arguments.String("worker"), workerContainer: arguments.String("workerContainer"),
		port: arguments.Int("port"), dashboardPort: arguments.Int("dashboardPort"), clientPort: arguments.Int("clientPort"),
	}
}

type port struct {
	name   string
	number int32
}

func (p *plugin) namedPorts() []port {
	return []port{{GCS, p.port}, {Dashboard, p.dashboardPort}, {Client, p.clientPort}}
}

// Pod sets up a pod of the head or a worker. It does nothing if the job has no head; admission rejects such a job.
func (p *plugin) Pod(pod *corev1.Pod, job *batchv1alpha1.Job, task int, _ int32) {
	head := pluginapi.TaskIndex(job, p.head)
	if head < 0 {
		return
	}
	for i := range pod.Spec.Containers {
		switch c := &pod.Spec.Containers[i]; {
		case task == head && c.Name == p.headContainer:
			setCommand(c, fmt.Sprintf("ray start --head --block --dashboard-host=0.0.0.0 --port=%d --dashboard-port=%d --ray-client-server-port=%d",
				p.port, p.dashboardPort, p.clientPort))
			for _, port := range p.namedPorts() {
				pluginapi.OpenContainerPort(c, port.name, port.number)
			}
		case job.Spec.Tasks[task].Name == p.worker && c.Name == p.workerContainer:
			setCommand(c, fmt.Sprintf("ray start --block --address=%s:%d", pluginapi.FirstAddress(job, head), p.port))
		}
	}
}

// setCommand replaces the command of a container. The container's arguments are kept, but the shell ignores them.
func setCommand(c *corev1.Container, line string) { c.Command = []string{"sh", "-c", line} }

// ServiceName returns the name of the Service that clients of the job's Ray cluster connect to.
func ServiceName(job *batchv1alpha1.Job) string { return job.Name + batchv1alpha1.RayHeadSuffix }

func (p *plugin) Objects(job *batchv1alpha1.Job) []pluginapi.Object {
	service := &corev1.Service{ObjectMeta: pluginapi.ObjectMeta(job, ServiceName(job)), Spec: corev1.ServiceSpec{
		Type:     corev1.ServiceTypeClusterIP,
		Selector: map[string]string{keys.JobName: job.Name, keys.JobNamespace: job.Namespace, keys.TaskSpec: p.head},
	}}
	for _, port := range p.namedPorts() {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{
			Name: port.name, Port: port.number, TargetPort: intstr.FromInt32(port.number), Protocol: corev1.ProtocolTCP,
		})
	}
	return []pluginapi.Object{pluginapi.CreateOnce(service)}
}
