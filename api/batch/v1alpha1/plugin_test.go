package v1alpha1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func pluginsOf(name string, words ...string) func(*Job) {
	return func(j *Job) { j.Spec.Plugins = map[string][]string{name: words} }
}

func TestArgumentsOfPluginsThatAreWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change      func(*Job)
		where, what string
	}{
		"a port that is no number":     {pluginsOf("tensorflow", "--port=http"), "spec.plugins[tensorflow][0]", "argument --port must be a port number from 1 to 65535"},
		"a port too large":             {pluginsOf("pytorch", "--port", "70000"), "spec.plugins[pytorch][0]", "argument --port must be a port number from 1 to 65535"},
		"ssh's port that is no number": {pluginsOf("ssh", "--ssh-port=http"), "spec.plugins[ssh][0]", "must be a port"},
		"a switch that is neither":     {pluginsOf("svc", "--inject-hosts-env=perhaps"), "spec.plugins[svc][0]", "must be true or false"},
		"a time that is none":          {pluginsOf("pytorch", "--wait-master-timeout=5m"), "spec.plugins[pytorch][0]", "must be a whole number of seconds"},
		"no value":                     {pluginsOf("hcclrank", "--master"), "spec.plugins[hcclrank][0]", "argument --master needs a value: --master=VALUE"},
		"an empty name":                {pluginsOf("hcclrank", "--master="), "spec.plugins[hcclrank][0]", "must be a name without leading or trailing spaces"},
		"a path that is none":          {pluginsOf("ssh", "--ssh-key-file-path=.ssh"), "spec.plugins[ssh][0]", "must be an absolute path in the container"},
		"ray without its head":         {pluginsOf("ray"), "spec.plugins[ray]", `no task is named "head", so no task runs Ray's head node: specify the head task with --head`},
		"mpi without its master":       {pluginsOf("mpi", "--master=boss"), "spec.plugins[mpi]", `The specified mpi master task was not found: no task is named "boss"`},
		"ray's Service with too long a name": {func(j *Job) {
			j.Name, j.Spec.Tasks[0].Name, j.Spec.Tasks[1].Name = strings.Repeat("x", 55), "m", "w"
			pluginsOf("ray", "--head=m")(j)
		}, "metadata.name", "the Service for Ray's head node would be named xxx"},
		"more hosts than a ConfigMap can hold only": {func(j *Job) { j.Spec.Tasks[1].Replicas = 60_000; pluginsOf("svc")(j) }, "spec.plugins[svc]", "a ConfigMap can hold only"},
		"more hosts than a TF_CONFIG can hold":      {func(j *Job) { j.Spec.Tasks[1].Replicas = 5_000; pluginsOf("tensorflow")(j) }, "spec.plugins[tensorflow]", "Linux limits each environment variable to 128 KiB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := jobOf(test.change, "master", "worker")
			errs := ValidateJob(job, nil)
			if len(errs) != 1 || errs[0].Field != test.where || !strings.Contains(errs[0].Detail, test.what) {
				t.Errorf("want %s: %s, got %v", test.where, test.what, errs)
			}
		})
	}
}

func TestArgumentsThatAPluginDoesNotHaveAreToldAndIgnored(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Job)
		says   string
	}{
		"an argument that there is not":    {pluginsOf("mpi", "--master=master", "--workers=worker"), "spec.plugins[mpi][1] is ignored because plugin mpi has no argument --workers; there are --master, --worker, --port"},
		"one for a plugin that takes none": {pluginsOf("env", "--index"), "spec.plugins[env][0] is ignored because plugin env has no argument --index; it takes none"},
		"one that Volcano had":             {pluginsOf("ssh", "--no-root", "--ssh-port=2222"), "spec.plugins[ssh][0] is ignored because plugin ssh has no argument --no-root"},
		"a word that is no argument":       {pluginsOf("svc", "no-policy"), "spec.plugins[svc][0] is ignored because arguments of plugin svc must have the form --name=value"},
		"a misspelt key":                   {pluginsOf("ssh", "--ssh-private-kez=hunter2"), "spec.plugins[ssh][0] is ignored because plugin ssh has no argument --ssh-private-kez"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := jobOf(test.change, "master", "worker")
			if errs := ValidateJob(job, nil); len(errs) > 0 {
				t.Errorf("rejected: %v", errs)
			}
			told := strings.Join(JobWarnings(job), "\n")
			if !strings.Contains(told, test.says) || strings.Contains(told, "hunter2") {
				t.Errorf("warnings:\n%s\nwant %q", told, test.says)
			}
		})
	}
	arguments, _ := ParsePlugin("ssh", []string{"--no-root", "--ssh-port=2222"}, nil)
	if port := arguments.Int("ssh-port"); port != 2222 {
		t.Errorf("the argument after the unknown one: port %d", port)
	}
}

func TestPluginsAsVolcanosManifestsHaveThem(t *testing.T) {
	t.Parallel()
	for name, words := range map[string][]string{
		"svc":        {"--publish-not-ready-addresses=true", "-disable-network-policy", "--inject-hosts-env=F"},
		"ssh":        {"--ssh-key-file-path=/home/user/.ssh", "--ssh-port=0", ""},
		"env":        nil,
		"tensorflow": {"--ps=ps", "--worker=worker", "--chief=chief", "--port=2222"},
		"mpi":        {"--master=master", "--worker=worker", "--port=22"},
		"pytorch":    {"--master", "master", "--worker", "worker", "--port", "23456", "--wait-master-enabled=true"},
		"ray":        {"--head=master", "--headContainer=c"},
		"hcclrank":   {},
	} {
		job := jobOf(pluginsOf(name, words...), "master", "worker")
		DefaultJob(job, "")
		if errs := ValidateJob(job, nil); len(errs) > 0 {
			t.Errorf("%s %q: %v", name, words, errs)
		}
	}
}

// TestNoMessageRepeatsAKey matters because rejections are logged and shown to others.
func TestNoMessageRepeatsAKey(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{
		{"--ssh-private-key KEY"}, {"KEY"}, {"--ssh-private-key", "KEY", "KEY"}, {"--ssh-privatekey=KEY"}, {"--ssh-private-key=KEY", "--x"}, {"-----BEGIN KEY"},
	} {
		a, errs := ParsePlugin("ssh", words, field.NewPath("x"))
		if told := fmt.Sprint(a.Unknown, errs); len(a.Unknown)+len(errs) == 0 || strings.Contains(told, "KEY") {
			t.Errorf("%q: %s", words, told)
		}
	}
}

func TestWhatAPluginWillNotDoIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Job)
		want   string
	}{
		"a role that no task has":       {pluginsOf("tensorflow", "--ps=server"), `spec.plugins[tensorflow][0]: --ps: no task is named "server"`},
		"mpi without workers":           {func(j *Job) { pluginsOf("mpi")(j); j.Spec.Tasks[1].Name = "w" }, "spec.plugins[mpi]: no task is named worker, so pods do not get MPI_HOST; specify the worker task with --worker=TASK"},
		"pytorch without a master":      {func(j *Job) { pluginsOf("pytorch")(j); j.Spec.Tasks[0].Name = "m" }, "spec.plugins[pytorch]: no task is named master, so pods do not get MASTER_ADDR and RANK; specify the master task with --master=TASK"},
		"half of a key":                 {pluginsOf("ssh", "--ssh-public-key=k"), "spec.plugins[ssh]: only one of --ssh-private-key and --ssh-public-key is set, so a new key pair is generated"},
		"ssh's port that is none":       {pluginsOf("ssh", "--ssh-port=0"), "spec.plugins[ssh]: --ssh-port: 0 is not a valid port, so 22 is used"},
		"ray and another's container":   {pluginsOf("ray", "--head=master", "--headContainer=ray", "--workerContainer=c"), `spec.plugins[ray]: task master has no container named "ray", so Ray is not started in this task; specify the container with --headContainer=NAME`},
		"nothing, when all is in order": {pluginsOf("pytorch"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := jobOf(test.change, "master", "worker")
			for i := range job.Spec.Tasks {
				job.Spec.Tasks[i].Template.Spec.Containers[0].Name = "c"
				job.Spec.Tasks[i].Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			}
			if got := strings.Join(pluginWarnings(job), "\n"); got != test.want {
				t.Errorf("(-want +got):\n%s", cmp.Diff(test.want, got))
			}
		})
	}
}

// TestArgumentsOfAnyShape verifies that an error refers to the invalid argument, and that missing arguments have their
// defaults.
func TestArgumentsOfAnyShape(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 2000, func(t *rapid.T) {
		name := rapid.SampledFrom(PluginNames).Draw(t, "plugin")
		words := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"--port=1", "--port", "1", "--master", "-worker=x", "--", "-", "=", "--=", "--ssh-port=-1"}))).Draw(t, "words")
		a, errs := ParsePlugin(name, words, nil)
		if len(errs) > len(words) {
			t.Fatalf("%d errors for %d words", len(errs), len(words))
		}
		for _, takes := range pluginArguments[name] {
			if text := takes.wants.judge(a.String(takes.name)); text != "" {
				t.Fatalf("--%s is %q, which %s", takes.name, a.String(takes.name), text)
			}
		}
	})
}
