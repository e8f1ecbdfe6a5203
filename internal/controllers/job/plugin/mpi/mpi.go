// Package mpi is the job plugin for MPI: the master learns the hosts of the workers in MPI_HOST, and every pod says that sshd listens in it.
// Keys and names come from the plugins ssh and svc, which defaulting adds.
package mpi

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/kit"
)

// Name in spec.plugins.
const Name = batch.PluginMPI

const (
	// Hosts is the variable with the workers' hosts, between commas.
	Hosts = "MPI_HOST"
	// PortName is the name of the port of sshd.
	PortName = "mpijob-port"
)

type plugin struct {
	master, worker string
	port           int32
}

// New makes the plugin.
func New(arguments batch.PluginArguments) kit.Plugin {
	return &plugin{master: arguments.String("master"), worker: arguments.String("worker"), port: arguments.Int("port")}
}

// Pod changes nothing in a job without workers.
func (p *plugin) Pod(pod *corev1.Pod, job *batch.Job, task int, _ int32) {
	workers := kit.Task(job, p.worker)
	if workers < 0 {
		return
	}
	if job.Spec.Tasks[task].Name == p.master {
		p.tellHosts(pod, strings.Join(kit.Addresses(job, workers), ","))
	}
	kit.OpenPorts(pod, pod.Spec.Containers, PortName, p.port)
	kit.OpenPorts(pod, pod.Spec.InitContainers, PortName, p.port)
}

// tellHosts leaves a list that is too long for a process's environment to the file of plugin svc.
func (p *plugin) tellHosts(pod *corev1.Pod, hosts string) {
	if hosts == "" || len(hosts) > kit.MaxEnvBytes {
		return
	}
	kit.EachContainer(pod, func(c *corev1.Container) { kit.SetEnv(c, Hosts, hosts) })
}

func (*plugin) Objects(*batch.Job) []kit.Object { return nil }
