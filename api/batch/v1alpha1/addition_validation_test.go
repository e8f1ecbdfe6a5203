package v1alpha1

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestJobsOfWhichNoPodCouldBeMade covers jobs whose pods Kubernetes would reject because of fields that the controller
// adds.
func TestJobsOfWhichNoPodCouldBeMade(t *testing.T) {
	t.Parallel()
	plugin := func(name string, words ...string) func(*Job) {
		return func(j *Job) {
			if j.Spec.Plugins == nil {
				j.Spec.Plugins = map[string][]string{}
			}
			j.Spec.Plugins[name] = words
		}
	}
	named := func(name string) func(*Job) { return func(j *Job) { j.Name = name } }
	volume := func(place, claim string) func(*Job) {
		return func(j *Job) {
			j.Spec.Volumes = append(j.Spec.Volumes, VolumeSpec{MountPath: place, VolumeClaimName: claim})
		}
	}
	mount := func(place string) func(*Job) {
		return func(j *Job) { container(j).VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: place}} }
	}
	inInit := func(place string) func(*Job) {
		return func(j *Job) {
			j.Spec.Tasks[0].Template.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: place}}}}
		}
	}
	const mounted = "spec.tasks[0].template.spec.containers[0].volumeMounts[0].mountPath"
	for name, test := range map[string]struct {
		changes     []func(*Job)
		where, what string // "" for a valid job
	}{
		"a dot in a name with ssh":                     {[]func(*Job){named("v1.2"), plugin(PluginSSH)}, "metadata.name", "the volume of the ssh plugin would be named after the job"},
		"a dot in a name with volumes":                 {[]func(*Job){named("v1.2"), volume("/data", "c")}, "metadata.name", "its volumes would be named after the job"},
		"a dot in a name with neither":                 {[]func(*Job){named("v1.2")}, "", ""},
		"51 characters with volumes":                   {[]func(*Job){named(strings.Repeat("x", 51)), volume("/data", "c")}, "metadata.name", "must be no more than 50 characters, because the names of the pods' volumes"},
		"50 characters with volumes":                   {[]func(*Job){named(strings.Repeat("x", 50)), volume("/data", "c")}, "", ""},
		"51 characters without":                        {[]func(*Job){named(strings.Repeat("x", 51))}, "", ""},
		"a volume where svc puts its files":            {[]func(*Job){plugin(PluginService), volume("/etc/volcano", "c")}, "spec.volumes[0].mountPath", "the svc plugin mounts the host list at this path"},
		"a volume there without svc":                   {[]func(*Job){volume("/etc/volcano", "c")}, "", ""},
		"a volume where ssh puts its keys":             {[]func(*Job){plugin(PluginSSH, "--ssh-key-file-path=/home/a/.ssh"), volume("/home/a/.ssh", "c")}, "spec.volumes[0].mountPath", "the ssh plugin mounts its keys at this path"},
		"keys of ssh where svc puts its files":         {[]func(*Job){plugin(PluginService), plugin(PluginSSH, "--ssh-key-file-path=/etc/volcano")}, "spec.plugins[ssh]", "the svc plugin mounts the host list at this path"},
		"a volume where a container mounts":            {[]func(*Job){volume("/data", "c"), mount("/data")}, mounted, "spec.volumes[0] is mounted at this path"},
		"a volume where an init container mounts":      {[]func(*Job){volume("/data", "c"), inInit("/data")}, "", ""},
		"a second place of one claim, which is none":   {[]func(*Job){volume("/a", "c"), volume("/b", "c"), mount("/b")}, "", ""},
		"a container mounts where svc does":            {[]func(*Job){plugin(PluginService), mount("/etc/volcano")}, mounted, "remove this mount, or choose another path"},
		"an init container mounts where ssh does":      {[]func(*Job){plugin(PluginSSH), inInit("/root/.ssh")}, "spec.tasks[0].template.spec.initContainers[0].volumeMounts[0].mountPath", "the ssh plugin mounts its keys at this path"},
		"a container mounts below a volume, as it may": {[]func(*Job){volume("/data", "c"), mount("/data/more")}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := ValidateJob(jobOf(func(j *Job) {
				for _, change := range test.changes {
					change(j)
				}
			}, "w"), nil)
			if test.where == "" && len(errs) > 0 || test.where != "" && len(errs) != 1 {
				t.Fatal(errs)
			}
			if test.where != "" {
				requireError(t, errs, test.where, test.what)
			}
		})
	}
}

// TestANameThatOlderServersTakeForNoServiceIsTold covers names that start with a digit and become the name of a
// Service.
func TestANameThatOlderServersTakeForNoServiceIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job, plugin string
		told        bool
	}{
		"with svc": {"1st", PluginService, true}, "with ray": {"1st", PluginRay, true}, "without": {"1st", PluginEnv, false}, "a letter first": {"a1", PluginService, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			warnings := strings.Join(JobWarnings(jobOf(func(j *Job) { j.Name, j.Spec.Plugins = test.job, map[string][]string{test.plugin: nil} }, "w")), "\n")
			if told := strings.Contains(warnings, "metadata.name: 1st begins with a digit"); told != test.told {
				t.Errorf("want %v: %q", test.told, warnings)
			}
		})
	}
}
