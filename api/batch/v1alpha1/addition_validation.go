package v1alpha1

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// ServiceMountPath is the directory in containers where the the svc plugin mounts the list of hosts.
	ServiceMountPath = "/etc/volcano"
	// maxNameWithVolumes is the maximum length of the name of a job with volumes. The names of the pods' volumes
	// consist of the job's name, a dash and twelve letters.
	maxNameWithVolumes = validation.DNS1123LabelMaxLength - 13
)

// validateAdditions checks the fields that the controller adds to the pods of a job. If Kubernetes rejected them, the
// pods could never be created.
func validateAdditions(job *Job, spec *field.Path) field.ErrorList {
	return append(validateNamesOfVolumes(job), validateMounts(job, spec)...)
}

// validateNamesOfVolumes checks that the job's name can be part of the names of its pods' volumes.
func validateNamesOfVolumes(job *Job) field.ErrorList {
	path := field.NewPath("metadata", "name")
	var errs field.ErrorList
	if len(job.Spec.Volumes) > 0 && len(job.Name) > maxNameWithVolumes {
		errs = append(errs, field.Invalid(path, job.Name, fmt.Sprintf(
			"must be no more than %d characters, because the names of the pods' volumes contain the job name: the job name has %d characters", maxNameWithVolumes, len(job.Name))))
	}
	_, ssh := job.Spec.Plugins[PluginSSH]
	if strings.Contains(job.Name, ".") && (ssh || len(job.Spec.Volumes) > 0) {
		what := "its volumes"
		if ssh {
			what = "the volume of the ssh plugin"
		}
		errs = append(errs, field.Invalid(path, job.Name, what+" would be named after the job, and volume names must not contain dots: use - instead of dots"))
	}
	return errs
}

// addedMount is a volume that is mounted into the containers of every pod of a job in addition to the mounts of its
// template.
//
// +kubebuilder:object:generate=false
type addedMount struct {
	path  string
	asked *field.Path // field of the job that requires the mount
	what  string
	inits bool // mounted into init containers, too
}

// addedMounts returns the added mounts: first the mounts of plugins, then the job's volumes.
func addedMounts(job *Job, spec *field.Path) []addedMount {
	var added []addedMount
	plugins := spec.Child("plugins")
	if _, ok := job.Spec.Plugins[PluginService]; ok {
		added = append(added, addedMount{ServiceMountPath, plugins.Key(PluginService), "the svc plugin mounts the host list", true})
	}
	if words, ok := job.Spec.Plugins[PluginSSH]; ok {
		arguments, _ := ParsePlugin(PluginSSH, words, nil)
		added = append(added, addedMount{arguments.String("ssh-key-file-path"), plugins.Key(PluginSSH), "the ssh plugin mounts its keys", true})
	}
	claims := map[string]bool{}
	for i, volume := range job.Spec.Volumes {
		if claim := volume.VolumeClaimName; claim != "" {
			if claims[claim] {
				continue // each claim is mounted once
			}
			claims[claim] = true
		}
		at := spec.Child("volumes").Index(i)
		added = append(added, addedMount{volume.MountPath, at.Child("mountPath"), at.String() + " is mounted", false})
	}
	return added
}

// validateMounts checks that all mounts of a container have different paths.
func validateMounts(job *Job, spec *field.Path) field.ErrorList {
	added := addedMounts(job, spec)
	var errs field.ErrorList
	first := map[string]*addedMount{}
	for i := range added {
		mount := &added[i]
		switch earlier, taken := first[mount.path]; {
		case mount.path == "":
		case !taken:
			first[mount.path] = mount
		case earlier.inits: // validateVolumes reports a conflict of two volumes
			errs = append(errs, field.Invalid(mount.asked, mount.path, earlier.what+" at this path: choose another path"))
		}
	}
	for i := range job.Spec.Tasks {
		pod, at := &job.Spec.Tasks[i].Template.Spec, spec.Child("tasks").Index(i).Child("template", "spec")
		errs = append(errs, validateTaken(pod.InitContainers, first, true, at.Child("initContainers"))...)
		errs = append(errs, validateTaken(pod.Containers, first, false, at.Child("containers"))...)
	}
	return errs
}

// validateTaken returns an error for each mount of a container whose path is also the path of an added mount.
func validateTaken(containers []corev1.Container, added map[string]*addedMount, inits bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range containers {
		for j := range containers[i].VolumeMounts {
			place := containers[i].VolumeMounts[j].MountPath
			if mount, taken := added[place]; taken && (mount.inits || !inits) {
				errs = append(errs, field.Invalid(path.Index(i).Child("volumeMounts").Index(j).Child("mountPath"), place,
					mount.what+" at this path in every container: remove this mount, or choose another path"))
			}
		}
	}
	return errs
}
