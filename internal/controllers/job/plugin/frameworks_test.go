package plugin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// jobOf returns a job with a task for each name, each with the given replicas and a template with an init container and
// a container named like its task.
func jobOf(plugins map[string][]string, replicas int32, names ...string) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "u"}, Spec: batchv1alpha1.JobSpec{Plugins: plugins}}
	for _, name := range names {
		job.Spec.Tasks = append(job.Spec.Tasks, batchv1alpha1.TaskSpec{Name: name, Replicas: replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: name}}, InitContainers: []corev1.Container{{Name: "i"}},
		}}})
	}
	return job
}

// variables returns the variables of a container by name.
func variables(c corev1.Container) map[string]string {
	m := map[string]string{}
	for _, v := range c.Env {
		m[v.Name] = v.Value
	}
	return m
}

func ports(c corev1.Container) map[string]int32 {
	m := map[string]int32{}
	for _, p := range c.Ports {
		m[p.Name] = p.ContainerPort
	}
	return m
}

func TestTensorFlowTellsEveryRole(t *testing.T) {
	t.Parallel()
	const hosts = `{"cluster":{"ps":["j-ps-0.j:2222"],"worker":["j-worker-0.j:2222"],"chief":["j-chief-0.j:2222"],"evaluator":["j-evaluator-0.j:2222"]},`
	tests := map[string]struct {
		args  []string
		tasks []string
		task  int
		want  string
	}{
		"a server":                         {nil, []string{"ps", "worker", "chief", "evaluator"}, 0, hosts + `"task":{"type":"ps","index":0}}`},
		"a worker":                         {nil, []string{"ps", "worker", "chief", "evaluator"}, 1, hosts + `"task":{"type":"worker","index":0}}`},
		"the chief":                        {nil, []string{"ps", "worker", "chief", "evaluator"}, 2, hosts + `"task":{"type":"chief","index":0}}`},
		"the evaluator":                    {nil, []string{"ps", "worker", "chief", "evaluator"}, 3, hosts + `"task":{"type":"evaluator","index":0}}`},
		"a role that is not there":         {nil, []string{"ps", "worker"}, 1, `{"cluster":{"ps":["j-ps-0.j:2222"],"worker":["j-worker-0.j:2222"]},"task":{"type":"worker","index":0}}`},
		"a task of no role keeps its name": {nil, []string{"ps", "board"}, 1, `{"cluster":{"ps":["j-ps-0.j:2222"]},"task":{"type":"board","index":0}}`},
		"names and a port of one's own": {[]string{"--worker=w", "--ps=p", "--port", "3333"}, []string{"p", "w"}, 1,
			`{"cluster":{"ps":["j-p-0.j:3333"],"worker":["j-w-0.j:3333"]},"task":{"type":"worker","index":0}}`},
		"one task of one pod runs alone": {nil, []string{"worker"}, 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podOf(t, jobOf(map[string][]string{"tensorflow": test.args}, 1, test.tasks...), test.task, 0)
			if diff := cmp.Diff(test.want, variables(pod.Spec.Containers[0])["TF_CONFIG"]); diff != "" {
				t.Errorf("TF_CONFIG (-want +got):\n%s", diff)
			}
			if len(pod.Spec.InitContainers[0].Env) > 0 {
				t.Error("init containers take no part in the training")
			}
		})
	}
}

func TestMPITellsTheMasterTheHosts(t *testing.T) {
	t.Parallel()
	job := jobOf(map[string][]string{"mpi": {}}, 2, "master", "worker", "board")
	master := podOf(t, job, 0, 0).Spec
	for _, c := range []corev1.Container{master.Containers[0], master.InitContainers[0]} {
		if diff := cmp.Diff(map[string]string{"MPI_HOST": "j-worker-0.j,j-worker-1.j"}, variables(c)); diff != "" {
			t.Errorf("variables of %s (-want +got):\n%s", c.Name, diff)
		}
	}
	for task := range job.Spec.Tasks {
		pod := podOf(t, job, task, 1).Spec
		for _, c := range []corev1.Container{pod.Containers[0], pod.InitContainers[0]} {
			if diff := cmp.Diff([]corev1.ContainerPort{{Name: "mpijob-port", ContainerPort: 22, Protocol: "TCP"}}, c.Ports); diff != "" {
				t.Errorf("ports of %s in task %d (-want +got):\n%s", c.Name, task, diff)
			}
			if task > 0 && len(c.Env) > 0 {
				t.Errorf("task %d has variables: %v", task, c.Env)
			}
		}
	}
}

func TestMPIWithoutWorkersChangesNothing(t *testing.T) {
	t.Parallel()
	pod := podOf(t, jobOf(map[string][]string{"mpi": {}}, 2, "master"), 0, 0)
	if c := pod.Spec.Containers[0]; len(c.Env) > 0 || len(c.Ports) > 0 {
		t.Errorf("changed: %+v", c)
	}
}

func TestMPILeavesHostsThatNoProcessCanTakeToTheFile(t *testing.T) {
	t.Parallel()
	job := jobOf(map[string][]string{"mpi": {}}, 1, "master", "worker")
	job.Spec.Tasks[1].Replicas = 20_000
	if v, set := variables(podOf(t, job, 0, 0).Spec.Containers[0])["MPI_HOST"]; set {
		t.Errorf("MPI_HOST of %d bytes", len(v))
	}
}

func TestAPortThatIsThereIsNotOpenedTwice(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		there []corev1.ContainerPort
		want  []corev1.ContainerPort
	}{
		"the same port under another name": {
			[]corev1.ContainerPort{{Name: "ssh", ContainerPort: 22}}, []corev1.ContainerPort{{Name: "ssh", ContainerPort: 22}}},
		"another port under the same name": {
			[]corev1.ContainerPort{{Name: "mpijob-port", ContainerPort: 2222}},
			[]corev1.ContainerPort{{Name: "mpijob-port", ContainerPort: 2222}, {ContainerPort: 22, Protocol: "TCP"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := jobOf(map[string][]string{"mpi": {}}, 1, "master", "worker")
			job.Spec.Tasks[0].Template.Spec.Containers[0].Ports = test.there
			if diff := cmp.Diff(test.want, podOf(t, job, 0, 0).Spec.Containers[0].Ports); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInTheNetworkOfTheNodeOneContainerHasThePort(t *testing.T) {
	t.Parallel()
	job := jobOf(map[string][]string{"pytorch": {}}, 1, "master", "worker")
	pod := &job.Spec.Tasks[1].Template.Spec
	pod.HostNetwork, pod.Containers = true, append(pod.Containers, corev1.Container{Name: "second"})
	got := podOf(t, job, 1, 0).Spec.Containers
	if len(got[0].Ports) != 1 || len(got[1].Ports) != 0 {
		t.Errorf("ports %v and %v", got[0].Ports, got[1].Ports)
	}
}

func TestPyTorchTellsEachProcessWhichItIs(t *testing.T) {
	t.Parallel()
	common := func(world, rank string) map[string]string {
		m := map[string]string{"MASTER_ADDR": "j-master-0.j", "MASTER_PORT": "23456", "WORLD_SIZE": world}
		if rank != "" {
			m["RANK"] = rank
		}
		return m
	}
	tests := map[string]struct {
		job   *batchv1alpha1.Job
		task  int
		index int32
		want  map[string]string
	}{
		"the master":                    {jobOf(map[string][]string{"pytorch": {}}, 1, "master", "worker", "board"), 0, 0, common("2", "0")},
		"a worker":                      {jobOf(map[string][]string{"pytorch": {}}, 1, "master", "worker", "board"), 1, 0, common("2", "1")},
		"another task is not counted":   {jobOf(map[string][]string{"pytorch": {}}, 1, "master", "worker", "board"), 2, 0, common("2", "")},
		"a second master":               {jobOf(map[string][]string{"pytorch": {}}, 2, "master", "worker"), 0, 1, common("4", "1")},
		"a worker after two masters":    {jobOf(map[string][]string{"pytorch": {}}, 2, "master", "worker"), 1, 1, common("4", "3")},
		"masters only":                  {jobOf(map[string][]string{"pytorch": {}}, 2, "master"), 0, 1, common("2", "1")},
		"one task in both roles":        {jobOf(map[string][]string{"pytorch": {"--worker=master"}}, 3, "master"), 0, 2, common("3", "2")},
		"no master: nothing is changed": {jobOf(map[string][]string{"pytorch": {}}, 1, "boss", "worker"), 1, 0, map[string]string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podOf(t, test.job, test.task, test.index).Spec
			if diff := cmp.Diff(test.want, variables(pod.Containers[0])); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
			if len(test.want) > 0 && ports(pod.Containers[0])["pytorchjob-port"] != 23456 {
				t.Errorf("ports %v", pod.Containers[0].Ports)
			}
			if len(pod.InitContainers) != 1 || len(pod.InitContainers[0].Env) > 0 {
				t.Errorf("init containers %+v", pod.InitContainers)
			}
		})
	}
}

func TestPyTorchWorkersWaitForTheMaster(t *testing.T) {
	t.Parallel()
	plugins := map[string][]string{"pytorch": {"--wait-master-enabled", "--wait-master-timeout=60", "--wait-master-image=mirror/busybox", "--port=99"}}
	job := jobOf(plugins, 1, "master", "worker", "board")
	runAsNonRoot := true
	job.Spec.Tasks[1].Template.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsNonRoot: &runAsNonRoot}
	wait := podOf(t, job, 1, 0).Spec.InitContainers[1]
	if wait.Name != "wait-for-master" || wait.Image != "mirror/busybox" || wait.Command[0] != "sh" || wait.Command[1] != "-c" {
		t.Errorf("init container %+v", wait)
	}
	if diff := cmp.Diff([]string{"j-master-0.j", "99", "60"}, wait.Command[4:]); diff != "" {
		t.Errorf("what it waits for (-want +got):\n%s", diff)
	}
	if wait.SecurityContext == nil || !*wait.SecurityContext.RunAsNonRoot {
		t.Error("it may do more than the container that it goes before")
	}
	for _, task := range []int{0, 2} {
		if n := len(podOf(t, job, task, 0).Spec.InitContainers); n != 1 {
			t.Errorf("task %d has %d init containers", task, n)
		}
	}
	job.Spec.Tasks[1].Template.Spec.InitContainers = []corev1.Container{{Name: "wait-for-master", Image: "mine"}}
	if got := podOf(t, job, 1, 0).Spec.InitContainers; len(got) != 1 || got[0].Image != "mine" {
		t.Errorf("one of that name is there already: %+v", got)
	}
}

func TestRayStartsHeadAndWorkers(t *testing.T) {
	t.Parallel()
	job := jobOf(map[string][]string{"ray": {}}, 2, "head", "worker", "driver")
	head := podOf(t, job, 0, 0).Spec.Containers[0]
	line := "ray start --head --block --dashboard-host=0.0.0.0 --port=6379 --dashboard-port=8265 --ray-client-server-port=10001"
	if diff := cmp.Diff([]string{"sh", "-c", line}, head.Command); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int32{"gcs": 6379, "dashboard": 8265, "client-server": 10001}, ports(head)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	worker := podOf(t, job, 1, 1).Spec.Containers[0]
	if diff := cmp.Diff([]string{"sh", "-c", "ray start --block --address=j-head-0.j:6379"}, worker.Command); diff != "" || len(worker.Ports) > 0 {
		t.Errorf("worker (-want +got):\n%s%v", diff, worker.Ports)
	}
	if other := podOf(t, job, 2, 0).Spec.Containers[0]; other.Command != nil {
		t.Errorf("another task is started as Ray: %v", other.Command)
	}
}

func TestRayUsesOnlyTheConfiguredContainers(t *testing.T) {
	t.Parallel()
	plugins := map[string][]string{"ray": {"--head=h", "--headContainer=main", "--worker=w", "--workerContainer=main", "--port=1", "--dashboardPort=2", "--clientPort=3"}}
	job := jobOf(plugins, 1, "h", "w")
	for i := range job.Spec.Tasks {
		c := &job.Spec.Tasks[i].Template.Spec.Containers
		*c = append(*c, corev1.Container{Name: "main", Ports: []corev1.ContainerPort{{Name: "gcs", ContainerPort: 1}}})
	}
	for task, want := range []string{"ray start --head --block --dashboard-host=0.0.0.0 --port=1 --dashboard-port=2 --ray-client-server-port=3", "ray start --block --address=j-h-0.j:1"} {
		c := podOf(t, job, task, 0).Spec.Containers
		if c[0].Command != nil || c[1].Command[2] != want {
			t.Errorf("task %d: %v and %v", task, c[0].Command, c[1].Command)
		}
	}
}

func TestRayPutsAServiceBeforeTheHead(t *testing.T) {
	t.Parallel()
	service := object[*corev1.Service](t, jobOf(map[string][]string{"ray": {}}, 1, "head", "worker"))
	port := func(name string, n int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: n, TargetPort: intstr.FromInt32(n), Protocol: "TCP"}
	}
	want := corev1.ServiceSpec{
		Type: "ClusterIP", Ports: []corev1.ServicePort{port("gcs", 6379), port("dashboard", 8265), port("client-server", 10001)},
		Selector: map[string]string{keys.JobName: "j", keys.JobNamespace: "ns", keys.TaskSpec: "head"},
	}
	if diff := cmp.Diff(want, service.Spec); diff != "" || service.Name != "j-head-svc" {
		t.Errorf("service %s (-want +got):\n%s", service.Name, diff)
	}
}

func TestHCCLRankCountsMastersFirst(t *testing.T) {
	t.Parallel()
	given := jobOf(map[string][]string{"hcclrank": {}}, 2, "master", "worker", "board")
	named := jobOf(map[string][]string{"hcclrank": {"--master=m", "--worker", "w"}}, 2, "m", "w")
	torch := jobOf(map[string][]string{"hcclrank": {}, "pytorch": {}}, 2, "master", "worker")
	own := jobOf(map[string][]string{"hcclrank": {}}, 2, "master", "worker")
	own.Spec.Tasks[1].Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "RANK", Value: "17"}}
	tests := map[string]struct {
		job   *batchv1alpha1.Job
		task  int
		index int32
		want  string
	}{
		"a master":                         {given, 0, 1, "1"},
		"a worker":                         {given, 1, 1, "3"},
		"another task has none":            {given, 2, 0, ""},
		"names of one's own":               {named, 1, 0, "2"},
		"the rank that pytorch gives":      {torch, 1, 1, "3"},
		"the rank that the template gives": {own, 1, 0, "17"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := podOf(t, test.job, test.task, test.index).Annotations["hccl/rankIndex"]; got != test.want {
				t.Errorf("rank %q, want %q", got, test.want)
			}
		})
	}
}

func TestHCCLRankKeepsAnAnnotation(t *testing.T) {
	t.Parallel()
	job := jobOf(map[string][]string{"hcclrank": {}}, 1, "master")
	set, err := For(job)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"hccl/rankIndex": "9"}}, Spec: job.Spec.Tasks[0].Template.Spec}
	set.Pod(pod, job, 0, 0)
	if got := pod.Annotations["hccl/rankIndex"]; got != "9" {
		t.Errorf("rank %s", got)
	}
}

func TestNamesOfWhatMeetsAtItsStartResolveBeforeAnybodyIsReady(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		plugins map[string][]string
		want    bool
	}{
		"svc alone":                 {map[string][]string{"svc": {}}, false},
		"mpi":                       {map[string][]string{"svc": {}, "ssh": {}, "mpi": {}}, true},
		"pytorch":                   {map[string][]string{"svc": {}, "pytorch": {}}, true},
		"tensorflow":                {map[string][]string{"svc": {}, "tensorflow": {}}, true},
		"ray":                       {map[string][]string{"svc": {}, "ray": {}}, true},
		"ray, and somebody said no": {map[string][]string{"svc": {"--publish-not-ready-addresses=false"}, "ray": {}}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := jobOf(test.plugins, 1, "master", "head", "worker")
			set, err := For(job)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range set.Objects(job) {
				if s, ok := o.Wanted.(*corev1.Service); ok && s.Name == "j" && s.Spec.PublishNotReadyAddresses != test.want {
					t.Errorf("publishes: %v", s.Spec.PublishNotReadyAddresses)
				}
			}
		})
	}
}

// TestEqualJobsMakeEqualPods guards against Volcano's behavior: it iterates over a map of plugins, so that variables
// change their order.
func TestEqualJobsMakeEqualPods(t *testing.T) {
	t.Parallel()
	all := map[string][]string{}
	for _, name := range batchv1alpha1.PluginNames {
		all[name] = nil
	}
	job := jobOf(all, 2, "master", "worker", "head", "ps")
	first := podOf(t, job, 1, 1)
	for range 20 {
		if diff := cmp.Diff(first, podOf(t, job.DeepCopy(), 1, 1)); diff != "" {
			t.Fatalf("another pod (-first +now):\n%s", diff)
		}
	}
}

func TestEveryPluginThatIsAllowedIsThere(t *testing.T) {
	t.Parallel()
	for _, name := range batchv1alpha1.PluginNames {
		set, err := For(jobOf(map[string][]string{name: nil}, 1, "master", "worker", "head"))
		if err != nil || strings.Join(set.Names(), " ") != name {
			t.Errorf("%s: %v, %v", name, set.Names(), err)
		}
	}
	if len(known) != len(batchv1alpha1.PluginNames) {
		t.Errorf("%d are made, %v are allowed", len(known), batchv1alpha1.PluginNames)
	}
}
