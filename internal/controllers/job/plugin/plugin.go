// Package plugin selects and runs the plugins of a job.
package plugin

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/env"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/hcclrank"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/mpi"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pytorch"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/ray"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/ssh"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/svc"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/tensorflow"
)

// known lists the plugins in the order in which they change a pod. The plugins that set up the network come first, so
// that plugins for frameworks can refer to their variables. hcclrank reads values that other plugins set.
var known = []struct {
	name string
	make func(batchv1alpha1.PluginArguments) pluginapi.Plugin
}{
	{env.Name, env.New},
	{ssh.Name, ssh.New},
	{svc.Name, svc.New},
	{mpi.Name, mpi.New},
	{pytorch.Name, pytorch.New},
	{ray.Name, ray.New},
	{tensorflow.Name, tensorflow.New},
	{hcclrank.Name, hcclrank.New},
}

// Set holds the plugins of a job, always in the same order, so that equal jobs produce equal pods.
type Set struct {
	names   []string
	plugins []pluginapi.Plugin
}

// For returns the plugins of a job. The error names unknown plugins and invalid arguments. Even if there is an error,
// the set is usable and contains all other plugins.
func For(job *batchv1alpha1.Job) (Set, error) {
	var set Set
	var wrong field.ErrorList
	at := field.NewPath("spec", "plugins")
	for _, plugin := range known {
		words, asked := job.Spec.Plugins[plugin.name]
		if !asked {
			continue
		}
		arguments, errs := batchv1alpha1.ParsePlugin(plugin.name, words, at.Key(plugin.name))
		wrong = append(wrong, errs...)
		set.names = append(set.names, plugin.name)
		set.plugins = append(set.plugins, plugin.make(arguments))
	}
	for _, name := range slices.Sorted(maps.Keys(job.Spec.Plugins)) {
		if !slices.Contains(set.names, name) {
			_, errs := batchv1alpha1.ParsePlugin(name, nil, at.Key(name))
			wrong = append(wrong, errs...)
		}
	}
	return set, toAggregateError(append(wrong, rejectUnlistable(job, at)...))
}

// rejectUnlistable returns an error for each plugin that passes the names of all pods to every pod, if the job has too
// many pods for that.
func rejectUnlistable(job *batchv1alpha1.Job, at *field.Path) field.ErrorList {
	if pluginapi.IsListable(job) {
		return nil
	}
	var wrong field.ErrorList
	for _, name := range []string{svc.Name, tensorflow.Name} {
		if _, asked := job.Spec.Plugins[name]; asked {
			wrong = append(wrong, field.Forbidden(at.Key(name),
				"the job has too many pods for this plugin, which lists the pod names: lower the replicas, or remove the plugin"))
		}
	}
	return wrong
}

func toAggregateError(wrong field.ErrorList) error {
	if len(wrong) == 0 {
		return nil
	}
	return wrong.ToAggregate()
}

// Names returns the names of the plugins in the set.
func (s Set) Names() []string { return s.names }

// RecordedNames returns the names of the plugins to list in the job's status. As in Volcano, these are all plugins
// except hcclrank.
func (s Set) RecordedNames() []string {
	return slices.DeleteFunc(slices.Clone(s.names), func(name string) bool { return name == hcclrank.Name })
}

// Pod applies every plugin to a pod before it is created.
func (s Set) Pod(pod *corev1.Pod, job *batchv1alpha1.Job, task int, index int32) {
	for _, p := range s.plugins {
		p.Pod(pod, job, task, index)
	}
}

// Objects returns the API objects, other than pods, that the plugins need.
func (s Set) Objects(job *batchv1alpha1.Job) []pluginapi.Object {
	var objects []pluginapi.Object
	for _, p := range s.plugins {
		objects = append(objects, p.Objects(job)...)
	}
	return objects
}
