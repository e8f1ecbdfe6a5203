// Package hcclrank implements the job plugin for collective communication on Ascend cards. It annotates each pod with
// its rank, which the device plugin reads.
package hcclrank

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// Name is the key in spec.plugins.
const Name = batchv1alpha1.PluginHCCLRank

// rankVariable is the environment variable that overrides the computed rank.
const rankVariable = "RANK"

type plugin struct{ master, worker string }

// New returns the plugin.
func New(arguments batchv1alpha1.PluginArguments) pluginapi.Plugin {
	return &plugin{master: arguments.String("master"), worker: arguments.String("worker")}
}

// Pod annotates a pod with its rank, unless the template already sets one.
func (p *plugin) Pod(pod *corev1.Pod, job *batchv1alpha1.Job, task int, index int32) {
	if _, given := pod.Annotations[keys.HCCLRank]; given {
		return
	}
	rank := rankFromEnvironment(pod)
	if rank == "" {
		rank = p.rankInJob(job, task, index)
	}
	if rank == "" {
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[keys.HCCLRank] = rank
}

// rankFromEnvironment returns the value of the last RANK variable of a container, because that value takes effect.
func rankFromEnvironment(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		env := pod.Spec.Containers[i].Env
		for k := len(env) - 1; k >= 0; k-- {
			if env[k].Name == rankVariable && env[k].Value != "" {
				return env[k].Value
			}
		}
	}
	return ""
}

// rankInJob returns the rank of a pod. Masters come first, then workers. It returns "" for pods of other tasks.
func (p *plugin) rankInJob(job *batchv1alpha1.Job, task int, index int32) string {
	switch job.Spec.Tasks[task].Name {
	case p.master:
	case p.worker:
		if master := pluginapi.TaskIndex(job, p.master); master >= 0 {
			index += job.Spec.Tasks[master].Replicas
		}
	default:
		return ""
	}
	return strconv.Itoa(int(index))
}

func (*plugin) Objects(*batchv1alpha1.Job) []pluginapi.Object { return nil }
