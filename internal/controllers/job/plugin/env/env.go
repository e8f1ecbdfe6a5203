// Package env implements the job plugin that passes the index of a pod within its task in an environment variable.
package env

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// Name is the key in spec.plugins.
const Name = batchv1alpha1.PluginEnv

// Environment variables with the index. Older images read the first.
const (
	OldTaskIndex = "VK_TASK_INDEX"
	TaskIndex    = "VC_TASK_INDEX"
)

type plugin struct{}

// New returns the plugin. It takes no arguments.
func New(batchv1alpha1.PluginArguments) pluginapi.Plugin { return plugin{} }

func (plugin) Pod(pod *corev1.Pod, _ *batchv1alpha1.Job, _ int, index int32) {
	value := strconv.Itoa(int(index))
	pluginapi.EachContainer(pod, func(c *corev1.Container) {
		c.Env = append(c.Env, corev1.EnvVar{Name: OldTaskIndex, Value: value}, corev1.EnvVar{Name: TaskIndex, Value: value})
	})
}

func (plugin) Objects(*batchv1alpha1.Job) []pluginapi.Object { return nil }
