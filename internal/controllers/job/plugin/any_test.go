package plugin

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
	"github.com/vc-batch/vc/test/propertytest"
)

// anyJob draws a job with any combination of tasks, containers and plugins, with names that plugins look for and
// others.
func anyJob(t *rapid.T) *batchv1alpha1.Job {
	names := []string{"master", "worker", "head", "ps", "chief", "evaluator", "odd-one"}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: rapid.SampledFrom([]string{"j", "a-long-name-of-a-job"}).Draw(t, "name"), Namespace: "ns", UID: "u"}}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 5, rapid.ID).Draw(t, "tasks") {
		task := batchv1alpha1.TaskSpec{Name: name, Replicas: rapid.SampledFrom([]int32{0, 1, 3, 900, 4000}).Draw(t, "replicas")}
		pod := &task.Template.Spec
		for _, container := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, "containers") {
			pod.Containers = append(pod.Containers, corev1.Container{Name: container})
		}
		pod.Hostname = rapid.SampledFrom([]string{"", "", "fixed"}).Draw(t, "hostname")
		pod.Subdomain = rapid.SampledFrom([]string{"", "", "elsewhere"}).Draw(t, "subdomain")
		pod.HostNetwork = rapid.Bool().Draw(t, "hostNetwork")
		job.Spec.Tasks = append(job.Spec.Tasks, task)
	}
	job.Spec.Plugins = map[string][]string{}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(batchv1alpha1.PluginNames), rapid.ID).Draw(t, "plugins") {
		job.Spec.Plugins[name] = rapid.SliceOfN(rapid.SampledFrom([]string{"--master=odd-one", "--worker=master", "--port=7", "--x", "--ssh-port=99999"}), 0, 3).Draw(t, "words")
	}
	return job
}

// TestPluginsTakeAnyJob verifies that no combination of plugins, tasks and arguments causes a panic, and that the
// result is consistent: a variable refers to an existing key of the ConfigMap, and the ConfigMap, the Secret and each
// variable have a permitted size.
func TestPluginsTakeAnyJob(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 300, func(t *rapid.T) {
		job := anyJob(t)
		set, _ := For(job)
		data := map[string]string{}
		for _, o := range set.Objects(job) {
			if m, ok := o.Wanted.(*corev1.ConfigMap); ok {
				data = m.Data
			}
		}
		size := 0
		for key, value := range data {
			size += len(key) + len(value)
		}
		if size > 1<<20 {
			t.Fatalf("a ConfigMap of %d bytes", size)
		}
		for task := range job.Spec.Tasks {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pluginapi.PodNameFor(job, task, 0)}, Spec: *job.Spec.Tasks[task].Template.Spec.DeepCopy()}
			set.Pod(pod, job, task, 0)
			pluginapi.EachContainer(pod, func(c *corev1.Container) { checkContainer(t, c, data) })
		}
	})
}

func checkContainer(t *rapid.T, c *corev1.Container, data map[string]string) {
	for _, v := range c.Env {
		value := v.Value
		if v.ValueFrom != nil {
			ref := v.ValueFrom.ConfigMapKeyRef
			there := false
			if value, there = data[ref.Key]; !there {
				t.Fatalf("%s of %s: the ConfigMap has no %s", v.Name, c.Name, ref.Key)
			}
		}
		if v.Name != "TF_CONFIG" && len(value) > 128<<10 { // admission rejects a job with a longer TF_CONFIG
			t.Fatalf("%s of %s is %d bytes long", v.Name, c.Name, len(value))
		}
	}
	names := map[string]bool{}
	for _, p := range c.Ports {
		if names[p.Name] && p.Name != "" {
			t.Fatalf("two ports of %s are named %s", c.Name, p.Name)
		}
		names[p.Name] = true
	}
}

func TestManyListsThatFitAloneDoNotFitTogether(t *testing.T) {
	t.Parallel()
	job := jobOf(map[string][]string{"svc": {}}, 4500, "a", "b", "c", "d", "e", "f", "g", "h", "i", "k", "l", "m", "n")
	data := object[*corev1.ConfigMap](t, job).Data
	size, variables := 0, 0
	for key, value := range data {
		size += len(key) + len(value)
		if key == "VC_A_HOSTS" || key == "VC_N_HOSTS" {
			variables++
		}
	}
	if size > 1<<20 || variables != 1 || data["n.host"] == "" {
		t.Errorf("%d bytes, %d of the variables of the first and last task", size, variables)
	}
}
