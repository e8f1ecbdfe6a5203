// Package pytorch implements the job plugin for torch.distributed. It sets the address of the master, the number of
// processes and the rank of each process. It ignores pods of other tasks.
package pytorch

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// Name is the key in spec.plugins.
const Name = batchv1alpha1.PluginPyTorch

// Environment variables that torch.distributed reads, and the name of the master's port.
const (
	MasterAddress = "MASTER_ADDR"
	MasterPort    = "MASTER_PORT"
	WorldSize     = "WORLD_SIZE"
	Rank          = "RANK"
	PortName      = "pytorchjob-port"
)

type plugin struct {
	master, worker string
	port           int32
	wait           bool
	waitSeconds    int32
	waitImage      string
}

// New returns the plugin.
func New(arguments batchv1alpha1.PluginArguments) pluginapi.Plugin {
	return &plugin{
		master: arguments.String("master"), worker: arguments.String("worker"), port: arguments.Int("port"),
		wait: arguments.Bool("wait-master-enabled"), waitSeconds: arguments.Int("wait-master-timeout"), waitImage: arguments.String("wait-master-image"),
	}
}

// Pod sets the variables in a pod. It does nothing if the job has no master.
func (p *plugin) Pod(pod *corev1.Pod, job *batchv1alpha1.Job, task int, index int32) {
	master := pluginapi.TaskIndex(job, p.master)
	if master < 0 {
		return
	}
	world, rank := p.worldSizeAndRank(job, task, index)
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		pluginapi.SetEnvVariable(c, MasterAddress, pluginapi.FirstAddress(job, master))
		pluginapi.SetEnvVariable(c, MasterPort, strconv.Itoa(int(p.port)))
		pluginapi.SetEnvVariable(c, WorldSize, strconv.Itoa(int(world)))
		if rank >= 0 {
			pluginapi.SetEnvVariable(c, Rank, strconv.Itoa(int(rank)))
		}
	}
	pluginapi.OpenPortOfPod(pod, pod.Spec.Containers, PortName, p.port)
	if p.wait && task != master && job.Spec.Tasks[task].Name == p.worker {
		waitForMaster(pod, pluginapi.FirstAddress(job, master), p.port, p.waitSeconds, p.waitImage)
	}
}

// worldSizeAndRank returns the number of processes and the rank of a pod. Masters come first, then workers. The rank of
// a pod in another task is -1.
func (p *plugin) worldSizeAndRank(job *batchv1alpha1.Job, task int, index int32) (world, rank int32) {
	master, worker := pluginapi.TaskIndex(job, p.master), pluginapi.TaskIndex(job, p.worker)
	world, rank = job.Spec.Tasks[master].Replicas, -1
	switch {
	case task == master:
		rank = index
	case task == worker:
		rank = world + index
	}
	if worker >= 0 && worker != master {
		world += job.Spec.Tasks[worker].Replicas
	}
	return world, rank
}

func (*plugin) Objects(*batchv1alpha1.Job) []pluginapi.Object { return nil }
