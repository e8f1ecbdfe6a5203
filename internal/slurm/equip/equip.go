// Package equip makes a pod one of a batch job: the helper of package launch, the files it reads, and what it has to know of its pod.
//
//	In:   the PodSpec of a task, with its first container's image and resources
//	Out:  the same, with init container, volumes, command and variables
//
// # Invariants
//
//   - Pure, and the same for head, nodes and elements of an array: each pod finds out at its start which it is.
//   - The pod gets no right that it did not have: what a script asks of its own job goes through the exit code of its container.
package equip

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

// Options of Pod.
type Options struct {
	// Object is the name of the job's ConfigMap and of its Secret.
	Object string
	// ToolsImage has the helper as /usr/local/bin/vc-step. A process node has it there without any image.
	ToolsImage string
	// Secret is false when the job has none: a single pod with nothing exported.
	Secret bool
}

// toolsInit is the init container that brings the helper.
const toolsInit = "vc-slurm-tools"

// Pod equips a pod, once.
func Pod(pod *corev1.PodSpec, o Options) {
	main := &pod.Containers[0]
	main.Command, main.Args = []string{launch.Program, "launch"}, nil
	main.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	main.Env = append(variables(), main.Env...)

	tools := corev1.VolumeMount{Name: launch.ToolsVolume, MountPath: launch.ToolsDir}
	pod.InitContainers = append(pod.InitContainers, corev1.Container{
		Name: toolsInit, Image: o.ToolsImage, Command: []string{"vc-step", "install", launch.ToolsDir + "/bin"}, VolumeMounts: []corev1.VolumeMount{tools},
	})
	main.VolumeMounts = append(main.VolumeMounts, tools, corev1.VolumeMount{Name: launch.JobVolume, MountPath: launch.SpecDir, ReadOnly: true})
	pod.Volumes = append(pod.Volumes,
		corev1.Volume{Name: launch.ToolsVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		corev1.Volume{Name: launch.JobVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: o.Object}, DefaultMode: new(int32(0o555)),
		}}})
	if !o.Secret {
		return
	}
	main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: launch.SecretVolume, MountPath: launch.SecretDir, ReadOnly: true})
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: launch.SecretVolume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: o.Object, DefaultMode: new(int32(0o444))},
	}})
}

// variables are what the launcher asks of the pod; those of the job controller (VC_ARRAY_INDEX) come by themselves.
func variables() []corev1.EnvVar {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
	}
	label := func(key string) string { return "metadata.labels['" + key + "']" }
	annotation := func(key string) string { return "metadata.annotations['" + key + "']" }
	return []corev1.EnvVar{
		field(launch.EnvPod, "metadata.name"),
		field(launch.EnvJob, label(keys.JobName)),
		field(launch.EnvTask, label(keys.TaskSpec)),
		field(launch.EnvJobID, label(keys.JobID)),
		field(launch.EnvElement, annotation(keys.ElementID)),
		field(launch.EnvRestarts, annotation(keys.Restarts)),
		field(launch.EnvRetries, annotation(keys.JobRetryCount)),
		field(launch.EnvNode, "spec.nodeName"),
		field(launch.EnvAddress, "status.podIP"),
	}
}
