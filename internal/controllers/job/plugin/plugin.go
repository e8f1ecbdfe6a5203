// Package plugin knows the job plugins by name.
package plugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/env"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/kit"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/ssh"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/svc"
)

var known = map[string]func(args []string) (kit.Plugin, error){
	env.Name: env.New,
	ssh.Name: ssh.New,
	svc.Name: svc.New,
}

// Known says whether there is a plugin of this name.
func Known(name string) bool { return known[name] != nil }

// Names of all plugins, sorted.
func Names() []string { return slices.Sorted(maps.Keys(known)) }

// Set is the plugins of one job, in the order of their names, so that equal jobs make equal pods.
type Set struct {
	names   []string
	plugins []kit.Plugin
}

// For makes the plugins that a job asks for. The error names the unknown ones and bad arguments; the set holds all others and is usable.
func For(job *batch.Job) (Set, error) {
	var set Set
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(job.Spec.Plugins)) {
		build := known[name]
		if build == nil {
			problems = append(problems, fmt.Errorf("plugin %s is not known; there are %v", name, Names()))
			continue
		}
		p, err := build(job.Spec.Plugins[name])
		if err != nil {
			problems = append(problems, err)
		}
		set.names = append(set.names, name)
		set.plugins = append(set.plugins, p)
	}
	return set, errors.Join(problems...)
}

// Names of the plugins in the set.
func (s Set) Names() []string { return s.names }

// Pod lets every plugin change a pod that is about to be created.
func (s Set) Pod(pod *corev1.Pod, job *batch.Job, task int, index int32) {
	for _, p := range s.plugins {
		p.Pod(pod, job, task, index)
	}
}

// Objects are what all plugins need beside the pods.
func (s Set) Objects(job *batch.Job) []kit.Object {
	var objects []kit.Object
	for _, p := range s.plugins {
		objects = append(objects, p.Objects(job)...)
	}
	return objects
}
