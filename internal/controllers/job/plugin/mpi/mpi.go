// Package mpi implements the job plugin for MPI. In the master, it sets MPI_HOST to the hosts of the workers; in
// every pod, it declares the port of sshd. Keys and host names come from the plugins ssh and svc, which defaulting
// adds.
package mpi

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// Name is the key in spec.plugins.
const Name = batchv1alpha1.PluginMPI

const (
	// Hosts is the environment variable that contains the comma-separated hosts of the workers.
	Hosts = "MPI_HOST"
	// PortName is the name of the sshd port.
	PortName = "mpijob-port"
)

type plugin struct {
	master, worker string
	port           int32
}

// New returns the plugin.
func New(arguments batchv1alpha1.PluginArguments) pluginapi.Plugin {
	return &plugin{master: arguments.String("master"), worker: arguments.String("worker"), port: arguments.Int("port")}
}

// Pod adds the hosts and the port to a pod. It does nothing if the job has no workers.
func (p *plugin) Pod(pod *corev1.Pod, job *batchv1alpha1.Job, task int, _ int32) {
	workers := pluginapi.TaskIndex(job, p.worker)
	if workers < 0 {
		return
	}
	if job.Spec.Tasks[task].Name == p.master {
		p.setHostVariables(pod, strings.Join(pluginapi.TaskAddresses(job, workers), ","))
	}
	pluginapi.OpenPortOfPod(pod, pod.Spec.Containers, PortName, p.port)
	pluginapi.OpenPortOfPod(pod, pod.Spec.InitContainers, PortName, p.port)
}

// setHostVariables sets the variable with the host list, unless the list is too long for an environment variable. In
// that case, a file of the svc plugin provides the list.
func (p *plugin) setHostVariables(pod *corev1.Pod, hosts string) {
	if hosts == "" || len(hosts) > pluginapi.MaxEnvBytes {
		return
	}
	pluginapi.EachContainer(pod, func(c *corev1.Container) { pluginapi.SetEnvVariable(c, Hosts, hosts) })
}

func (*plugin) Objects(*batchv1alpha1.Job) []pluginapi.Object { return nil }
