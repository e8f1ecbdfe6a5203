// Package tensorflow implements the job plugin for tf.distribute. It sets TF_CONFIG to the addresses of all roles and
// to the role and index of the pod.
package tensorflow

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// Name is the key in spec.plugins.
const Name = batchv1alpha1.PluginTensorFlow

// Variable is the environment variable that TensorFlow reads.
const Variable = "TF_CONFIG"

// cluster and config define the format of TF_CONFIG, with the fields in a fixed order.
type cluster struct {
	PS        []string `json:"ps,omitempty"`
	Worker    []string `json:"worker,omitempty"`
	Chief     []string `json:"chief,omitempty"`
	Evaluator []string `json:"evaluator,omitempty"`
}

type config struct {
	Cluster cluster `json:"cluster"`
	Task    place   `json:"task"`
}

type place struct {
	Type  string `json:"type"`
	Index int32  `json:"index"`
}

type plugin struct {
	ps, worker, chief, evaluator string
	port                         int32
}

// New returns the plugin.
func New(arguments batchv1alpha1.PluginArguments) pluginapi.Plugin {
	return &plugin{
		ps: arguments.String("ps"), worker: arguments.String("worker"), chief: arguments.String("chief"), evaluator: arguments.String("evaluator"),
		port: arguments.Int("port"),
	}
}

// Pod sets TF_CONFIG in a pod. It does nothing if the job has a single pod, because TensorFlow is not distributed
// then.
func (p *plugin) Pod(pod *corev1.Pod, job *batchv1alpha1.Job, task int, index int32) {
	if len(job.Spec.Tasks) == 1 && job.Spec.Tasks[0].Replicas == 1 {
		return
	}
	text, err := json.Marshal(config{
		Cluster: cluster{PS: p.roleAddresses(job, p.ps), Worker: p.roleAddresses(job, p.worker), Chief: p.roleAddresses(job, p.chief), Evaluator: p.roleAddresses(job, p.evaluator)},
		Task:    place{Type: p.tensorFlowRole(job.Spec.Tasks[task].Name), Index: index},
	})
	if err != nil {
		return // marshaling strings and numbers never fails
	}
	for i := range pod.Spec.Containers {
		pluginapi.SetEnvVariable(&pod.Spec.Containers[i], Variable, string(text))
	}
}

// roleAddresses returns host:port for each pod of a role, or nil if the job has no such task.
func (p *plugin) roleAddresses(job *batchv1alpha1.Job, name string) []string {
	task := pluginapi.TaskIndex(job, name)
	if task < 0 {
		return nil
	}
	addresses := pluginapi.TaskAddresses(job, task)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("%s:%d", addresses[i], p.port)
	}
	return addresses
}

// tensorFlowRole returns the TensorFlow role of a task. A task without a role keeps its name.
func (p *plugin) tensorFlowRole(task string) string {
	switch task {
	case p.ps:
		return "ps"
	case p.worker:
		return "worker"
	case p.chief:
		return "chief"
	case p.evaluator:
		return "evaluator"
	}
	return task
}

func (*plugin) Objects(*batchv1alpha1.Job) []pluginapi.Object { return nil }
