// Package podsetup prepares the pods of a batch job. It adds the program vc-step, the files that the program reads,
// and variables that describe the pod.
//
//	In:   the PodSpec of a task, with its first container's image and resources
//	Out:  the same PodSpec with an init container, volumes, a command and variables
//
// # Invariants
//
//   - All functions are pure and treat head, nodes and array elements alike, because each pod determines its role when
//     it starts.
//   - The pod gets no additional permissions. It needs none, because commands in a script that affect the script's own
//     job use the exit code of the container.
package podsetup

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// Options configures PreparePod.
type Options struct {
	// Object is the name of the job's ConfigMap and of its Secret.
	Object string
	// ToolsImage is the image that contains vc-step in /usr/local/bin. On a process node, that file exists without an
	// image.
	ToolsImage string
	// Secret is true if the job has a Secret. A job with a single pod and without exported variables does not need a
	// Secret.
	Secret bool
}

// toolsInit is the name of the init container that installs vc-step.
const toolsInit = "vc-slurm-tools"

// PreparePod prepares a pod. It must not be called twice for the same pod.
func PreparePod(pod *corev1.PodSpec, o Options) {
	main := &pod.Containers[0]
	main.Command, main.Args = []string{launchconfig.Program, "launch"}, nil
	main.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	main.Env = append(launcherVariables(), main.Env...)

	tools := corev1.VolumeMount{Name: launchconfig.ToolsVolume, MountPath: launchconfig.ToolsDir}
	pod.InitContainers = append(pod.InitContainers, corev1.Container{
		Name: toolsInit, Image: o.ToolsImage, Command: []string{"vc-step", "install", launchconfig.ToolsDir + "/bin"}, VolumeMounts: []corev1.VolumeMount{tools},
	})
	main.VolumeMounts = append(main.VolumeMounts, tools, corev1.VolumeMount{Name: launchconfig.JobVolume, MountPath: launchconfig.SpecDir, ReadOnly: true})
	pod.Volumes = append(pod.Volumes,
		corev1.Volume{Name: launchconfig.ToolsVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		corev1.Volume{Name: launchconfig.JobVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: o.Object}, DefaultMode: new(int32(0o555)),
		}}})
	if !o.Secret {
		return
	}
	main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: launchconfig.SecretVolume, MountPath: launchconfig.SecretDir, ReadOnly: true})
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: launchconfig.SecretVolume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: o.Object, DefaultMode: new(int32(0o444))},
	}})
}

// launcherVariables returns the launcher's variables that are set through the downward API. The job controller adds
// other variables, such as VC_ARRAY_INDEX.
func launcherVariables() []corev1.EnvVar {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
	}
	label := func(key string) string { return "metadata.labels['" + key + "']" }
	annotation := func(key string) string { return "metadata.annotations['" + key + "']" }
	return []corev1.EnvVar{
		field(launchconfig.EnvPod, "metadata.name"),
		field(launchconfig.EnvJob, label(keys.JobName)),
		field(launchconfig.EnvTask, label(keys.TaskSpec)),
		field(launchconfig.EnvJobID, label(keys.JobID)),
		field(launchconfig.EnvElement, annotation(keys.ElementID)),
		field(launchconfig.EnvRestarts, annotation(keys.Restarts)),
		field(launchconfig.EnvRetries, annotation(keys.JobRetryCount)),
		field(launchconfig.EnvNode, "spec.nodeName"),
		field(launchconfig.EnvAddress, "status.podIP"),
	}
}
