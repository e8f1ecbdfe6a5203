package v1alpha1

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxHostsBytes is the maximum total size of a job's host lists. They are stored in a single ConfigMap, for which
	// the API server accepts at most 1 MiB including keys.
	maxHostsBytes = 900 << 10
	// maxVariableBytes is the maximum size of an environment variable on Linux, minus some reserve.
	maxVariableBytes = 127 << 10
)

// RayHeadSuffix is appended to a job's name to get the name of the Service of its Ray head.
const RayHeadSuffix = "-head-svc"

// validatePlugins checks that the plugins exist, that they accept their arguments, and that the job has the tasks
// that they need.
func validatePlugins(job *Job, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedKeys(job.Spec.Plugins) {
		at := path.Key(name)
		arguments, wrong := ParsePlugin(name, job.Spec.Plugins[name], at)
		errs = append(errs, wrong...)
		switch name {
		case PluginMPI:
			if master := arguments.String("master"); !job.hasTask(master) {
				errs = append(errs, field.Invalid(at, master, fmt.Sprintf(
					"The specified mpi master task was not found: no task is named %q; specify the master task with --master", master)))
			}
		case PluginRay:
			errs = append(errs, validateRay(job, arguments, at)...)
		}
	}
	return append(errs, validatePluginSizes(job, path)...)
}

func validateRay(job *Job, arguments PluginArguments, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if head := arguments.String("head"); !job.hasTask(head) {
		errs = append(errs, field.Invalid(at, head, fmt.Sprintf("no task is named %q, so no task runs Ray's head node: specify the head task with --head", head)))
	}
	if service := job.Name + RayHeadSuffix; len(service) > validation.DNS1035LabelMaxLength {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), job.Name, fmt.Sprintf(
			"the Service for Ray's head node would be named %s, which has %d characters; the maximum is %d", service, len(service), validation.DNS1035LabelMaxLength)))
	}
	return errs
}

// validatePluginSizes checks that the host lists fit into a ConfigMap or an environment variable.
func validatePluginSizes(job *Job, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if _, ok := job.Spec.Plugins[PluginService]; ok {
		if size := hostsBytes(job, 0, nil); size > maxHostsBytes {
			errs = append(errs, field.Invalid(path.Key(PluginService), size, fmt.Sprintf(
				"the names of the job's %d hosts need %d bytes, but a ConfigMap can hold only %d: use shorter names for the job and its tasks, or create several jobs",
				totalReplicas(job), size, maxHostsBytes)))
		}
	}
	if words, ok := job.Spec.Plugins[PluginTensorFlow]; ok {
		arguments, _ := ParsePlugin(PluginTensorFlow, words, nil)
		roles := []string{arguments.String("ps"), arguments.String("worker"), arguments.String("chief"), arguments.String("evaluator")}
		if size := hostsBytes(job, len(`"",:65535`), roles); size > maxVariableBytes {
			errs = append(errs, field.Invalid(path.Key(PluginTensorFlow), size, fmt.Sprintf(
				"TF_CONFIG would need %d bytes, but Linux limits each environment variable to 128 KiB: use fewer replicas, or shorter names for the job and its tasks", size)))
		}
	}
	return errs
}

// hostsBytes returns an upper bound for the total length of the host names of the named tasks, or of all tasks if
// names is nil. around is the number of additional bytes for each host name.
func hostsBytes(job *Job, around int, names []string) int64 {
	var size int64
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		if names != nil && !slices.Contains(names, task.Name) {
			continue
		}
		subdomain := task.Template.Spec.Subdomain
		subdomain = cmp.Or(subdomain, job.Name)
		host := len(job.Name) + len(task.Name) + len(strconv.Itoa(int(task.Replicas))) + len("--.\n") + len(subdomain)
		hosts := int64(task.Replicas)
		if task.Template.Spec.Hostname != "" {
			hosts = min(hosts, 1)
		}
		size += hosts * int64(host+around)
	}
	return size
}

func (j *Job) hasTask(name string) bool {
	return slices.ContainsFunc(j.Spec.Tasks, func(t TaskSpec) bool { return t.Name == name })
}

// pluginWarnings returns warnings about plugins that have no effect, or probably not the intended one.
func pluginWarnings(job *Job) []string {
	var warnings []string
	for _, name := range sortedKeys(job.Spec.Plugins) {
		at := fmt.Sprintf("spec.plugins[%s]", name)
		a, _ := ParsePlugin(name, job.Spec.Plugins[name], field.NewPath("spec", "plugins").Key(name))
		warnings = append(warnings, a.Unknown...)
		for _, takes := range pluginArguments[name] {
			index, given := a.given[takes.name]
			if value := a.String(takes.name); given && takes.wants == aTask && !job.hasTask(value) {
				warnings = append(warnings, fmt.Sprintf("%s[%d]: --%s: no task is named %q", at, index, takes.name, value))
			}
		}
		warnings = append(warnings, idlePlugin(job, name, a, at)...)
	}
	return warnings
}

// idlePlugin describes what a plugin does not do because a task, a container or a part of a key pair is missing.
func idlePlugin(job *Job, name string, a PluginArguments, at string) []string {
	lacks := func(argument string) bool {
		_, given := a.given[argument]
		return !given && !job.hasTask(a.String(argument))
	}
	switch {
	case name == PluginMPI && lacks("worker"):
		return []string{at + ": no task is named worker, so pods do not get MPI_HOST; specify the worker task with --worker=TASK"}
	case name == PluginPyTorch && lacks("master"):
		return []string{at + ": no task is named master, so pods do not get MASTER_ADDR and RANK; specify the master task with --master=TASK"}
	case name == PluginRay:
		return rayWarnings(job, a, at)
	case name == PluginSSH && (a.String("ssh-private-key") == "") != (a.String("ssh-public-key") == ""):
		return []string{at + ": only one of --ssh-private-key and --ssh-public-key is set, so a new key pair is generated"}
	case name == PluginSSH && (a.Int("ssh-port") < 1 || a.Int("ssh-port") > 65535):
		return []string{fmt.Sprintf("%s: --ssh-port: %d is not a valid port, so 22 is used", at, a.Int("ssh-port"))}
	}
	return nil
}

func rayWarnings(job *Job, a PluginArguments, at string) []string {
	var warnings []string
	for _, role := range []string{"head", "worker"} {
		container := a.String(role + "Container")
		for i := range job.Spec.Tasks {
			task := &job.Spec.Tasks[i]
			has := slices.ContainsFunc(task.Template.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })
			if task.Name == a.String(role) && !has {
				warnings = append(warnings, fmt.Sprintf("%s: task %s has no container named %q, so Ray is not started in this task; specify the container with --%sContainer=NAME",
					at, task.Name, container, role))
			}
		}
	}
	return warnings
}
