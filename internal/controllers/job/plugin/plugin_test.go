package plugin

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

func testJob(plugins map[string][]string) *batchv1alpha1.Job {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c"}}, InitContainers: []corev1.Container{{Name: "i"}},
	}}
	return &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "u"}, Spec: batchv1alpha1.JobSpec{
		Plugins: plugins,
		Tasks:   []batchv1alpha1.TaskSpec{{Name: "ps", Replicas: 1, Template: template}, {Name: "big-worker", Replicas: 2, Template: template}},
	}}
}

// podOf returns the pod of a place with the job's plugins applied.
func podOf(t *testing.T, job *batchv1alpha1.Job, task int, index int32) *corev1.Pod {
	t.Helper()
	set, err := For(job)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pluginapi.PodNameFor(job, task, index)}, Spec: *job.Spec.Tasks[task].Template.Spec.DeepCopy()}
	set.Pod(pod, job, task, index)
	return pod
}

func object[T client.Object](t *testing.T, job *batchv1alpha1.Job) T {
	t.Helper()
	set, err := For(job)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range set.Objects(job) {
		if _, ok := o.Wanted.(T); !ok {
			continue
		}
		write, changed, err := o.Merge(nil, nil)
		if err != nil || !changed {
			t.Fatalf("changed %v, %v", changed, err)
		}
		if !metav1.IsControlledBy(write, job) {
			t.Errorf("%s is not the job's", write.GetName())
		}
		return write.(T)
	}
	var none T
	return none
}

func TestEnvTellsTheIndex(t *testing.T) {
	t.Parallel()
	pod := podOf(t, testJob(map[string][]string{"env": {}}), 1, 1)
	want := []corev1.EnvVar{{Name: "VK_TASK_INDEX", Value: "1"}, {Name: "VC_TASK_INDEX", Value: "1"}}
	if diff := cmp.Diff(want, pod.Spec.Containers[0].Env); diff != "" {
		t.Errorf("container (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, pod.Spec.InitContainers[0].Env); diff != "" {
		t.Errorf("init container (-want +got):\n%s", diff)
	}
}

func TestSvcListsTheHosts(t *testing.T) {
	t.Parallel()
	job := testJob(map[string][]string{"svc": {}})
	want := map[string]string{
		"ps.host": "j-ps-0.j", "VC_PS_HOSTS": "j-ps-0.j", "VC_PS_NUM": "1",
		"big_worker.host": "j-big-worker-0.j\nj-big-worker-1.j", "VC_BIG_WORKER_HOSTS": "j-big-worker-0.j,j-big-worker-1.j", "VC_BIG_WORKER_NUM": "2",
	}
	hosts := object[*corev1.ConfigMap](t, job)
	if diff := cmp.Diff(want, hosts.Data); diff != "" || hosts.Name != "j-svc" {
		t.Errorf("%s (-want +got):\n%s", hosts.Name, diff)
	}
	job.Spec.Tasks[0].Template.Spec.Hostname, job.Spec.Tasks[0].Template.Spec.Subdomain = "fixed", "sub"
	if got := object[*corev1.ConfigMap](t, job).Data["ps.host"]; got != "fixed.sub" {
		t.Errorf("a fixed host name gives %q", got)
	}
}

func TestSvcChangesThePod(t *testing.T) {
	t.Parallel()
	pod := podOf(t, testJob(map[string][]string{"svc": {}}), 1, 0)
	if pod.Spec.Hostname != "j-big-worker-0" || pod.Spec.Subdomain != "j" {
		t.Errorf("host %s.%s", pod.Spec.Hostname, pod.Spec.Subdomain)
	}
	for _, c := range []corev1.Container{pod.Spec.Containers[0], pod.Spec.InitContainers[0]} {
		if diff := cmp.Diff([]corev1.VolumeMount{{Name: "j-svc", MountPath: "/etc/volcano"}}, c.VolumeMounts); diff != "" {
			t.Errorf("mounts of %s (-want +got):\n%s", c.Name, diff)
		}
		var variables []string
		for _, v := range c.Env {
			if v.ValueFrom.ConfigMapKeyRef.Name != "j-svc" || v.ValueFrom.ConfigMapKeyRef.Key != v.Name {
				t.Errorf("variable %s is %v", v.Name, v.ValueFrom)
			}
			variables = append(variables, v.Name)
		}
		if diff := cmp.Diff([]string{"VC_PS_HOSTS", "VC_PS_NUM", "VC_BIG_WORKER_HOSTS", "VC_BIG_WORKER_NUM"}, variables); diff != "" {
			t.Errorf("variables of %s (-want +got):\n%s", c.Name, diff)
		}
	}
	if got := podOf(t, testJob(map[string][]string{"svc": {"--inject-hosts-env=false"}}), 0, 0).Spec.Containers[0].Env; len(got) != 0 {
		t.Errorf("variables although switched off: %v", got)
	}
}

func TestSvcKeepsHostListsThatAProcessCannotTakeOutOfItsEnvironment(t *testing.T) {
	t.Parallel()
	job := testJob(map[string][]string{"svc": {}})
	job.Spec.Tasks[1].Replicas = 10000
	pod := podOf(t, job, 0, 0)
	var variables []string
	for _, v := range pod.Spec.Containers[0].Env {
		variables = append(variables, v.Name)
	}
	if diff := cmp.Diff([]string{"VC_PS_HOSTS", "VC_PS_NUM", "VC_BIG_WORKER_NUM"}, variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	size := 0
	data := object[*corev1.ConfigMap](t, job).Data
	for key, value := range data {
		size += len(key) + len(value)
	}
	if size > 1<<20 || strings.Count(data["big_worker.host"], "\n") != 9999 {
		t.Errorf("%d bytes, %d hosts", size, strings.Count(data["big_worker.host"], "\n")+1)
	}
}

func TestSvcMakesServiceAndPolicy(t *testing.T) {
	t.Parallel()
	job := testJob(map[string][]string{"svc": {"--publish-not-ready-addresses=true"}})
	own := map[string]string{"volcano.sh/job-name": "j", "volcano.sh/job-namespace": "ns"}
	service := object[*corev1.Service](t, job)
	want := corev1.ServiceSpec{ClusterIP: "None", Selector: own, PublishNotReadyAddresses: true}
	if diff := cmp.Diff(want, service.Spec); diff != "" || service.Name != "j" {
		t.Errorf("service %s (-want +got):\n%s", service.Name, diff)
	}
	policy := object[*networkingv1.NetworkPolicy](t, job)
	ofJob := metav1.LabelSelector{MatchLabels: own}
	alone := networkingv1.NetworkPolicySpec{PodSelector: ofJob, PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &ofJob}}}}}
	if diff := cmp.Diff(alone, policy.Spec); diff != "" || policy.Name != "j" {
		t.Errorf("policy %s (-want +got):\n%s", policy.Name, diff)
	}
	if object[*networkingv1.NetworkPolicy](t, testJob(map[string][]string{"svc": {"--disable-network-policy"}})) != nil {
		t.Error("a policy although switched off")
	}
}

func TestSshLetsEveryPodInEverywhere(t *testing.T) {
	t.Parallel()
	secret := object[*corev1.Secret](t, testJob(map[string][]string{"ssh": {"--ssh-port=2222"}}))
	key, err := ssh.ParsePrivateKey(secret.Data["id_rsa"])
	if err != nil {
		t.Fatal(err)
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey(secret.Data["authorized_keys"])
	if err != nil || string(public.Marshal()) != string(key.PublicKey().Marshal()) {
		t.Errorf("the keys do not belong together: %v", err)
	}
	if string(secret.Data["id_rsa.pub"]) != string(secret.Data["authorized_keys"]) {
		t.Error("id_rsa.pub is another key than authorized_keys")
	}
	want := "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n" +
		"Host *.j\n  HostName %h\n  Port 2222\n" +
		"Host j-ps-0\n  HostName j-ps-0.j\n  Port 2222\n" +
		"Host j-big-worker-0\n  HostName j-big-worker-0.j\n  Port 2222\n" +
		"Host j-big-worker-1\n  HostName j-big-worker-1.j\n  Port 2222\n"
	if diff := cmp.Diff(want, string(secret.Data["config"])); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestSshMountsTheKeys(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		path string
		mode int32
	}{
		"root's home":               {nil, "/root/.ssh", 0o600},
		"another's":                 {[]string{"--ssh-key-file-path=/home/u/.ssh"}, "/home/u/.ssh", 0o644},
		"a port that is none is 22": {[]string{"--ssh-port=0"}, "/root/.ssh", 0o600},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podOf(t, testJob(map[string][]string{"ssh": test.args}), 0, 0)
			volume := pod.Spec.Volumes[0]
			if volume.Name != "j-ssh" || volume.Secret.SecretName != "j-ssh" || *volume.Secret.DefaultMode != test.mode || len(volume.Secret.Items) != 4 {
				t.Errorf("volume %+v", volume)
			}
			mount := []corev1.VolumeMount{{Name: "j-ssh", MountPath: test.path, SubPath: ".ssh"}}
			if diff := cmp.Diff(mount, pod.Spec.InitContainers[0].VolumeMounts); diff != "" {
				t.Errorf("mounts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSshTakesTheUsersKeys(t *testing.T) {
	t.Parallel()
	secret := object[*corev1.Secret](t, testJob(map[string][]string{"ssh": {"--ssh-private-key=PRIVATE", "--ssh-public-key=PUBLIC"}}))
	if string(secret.Data["id_rsa"]) != "PRIVATE" || string(secret.Data["authorized_keys"]) != "PUBLIC" || string(secret.Data["id_rsa.pub"]) != "PUBLIC" {
		t.Errorf("data %v", secret.Data)
	}
}

func TestAnUnknownPluginIsNamed(t *testing.T) {
	t.Parallel()
	set, err := For(testJob(map[string][]string{"env": {}, "magic": {}}))
	if err == nil || !strings.Contains(err.Error(), "spec.plugins[magic]: Invalid value: \"magic\": unable to find job plugin: magic") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"env"}, set.Names()); diff != "" {
		t.Errorf("the others should work (-want +got):\n%s", diff)
	}
}

func TestInvalidPluginArgumentsAreReported(t *testing.T) {
	t.Parallel()
	set, err := For(testJob(map[string][]string{"ssh": {"--ssh-private-key=SECRET", "--ssh-port=none"}}))
	if err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("error %v; it must not repeat keys", err)
	}
	if len(set.Names()) != 1 {
		t.Error("the plugin should work with what it understood")
	}
}

// TestPluginsOfAHugeJobNeedLittleMemory verifies that host lists, which every pod of a job gets, do not use too much
// memory. It must not run in parallel.
func TestPluginsOfAHugeJobNeedLittleMemory(t *testing.T) { //nolint:paralleltest // it measures memory
	for _, name := range []string{"svc", "ssh", "mpi", "tensorflow", "pytorch", "ray", "env", "hcclrank"} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // it measures memory
			job := jobOf(map[string][]string{name: {}}, math.MaxInt32-1, "worker")
			job.Spec.Tasks = append(job.Spec.Tasks, jobOf(nil, 1, "master").Spec.Tasks...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			set, err := For(job)
			pod := &corev1.Pod{Spec: *job.Spec.Tasks[1].Template.Spec.DeepCopy()}
			set.Pod(pod, job, 1, 0)
			set.Objects(job)
			runtime.ReadMemStats(&after)
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 16<<20 {
				t.Errorf("%d MiB", bytes>>20)
			}
			if lists := name == "svc" || name == "tensorflow"; lists != (err != nil) {
				t.Errorf("plugin %s: %v", name, err)
			}
		})
	}
}
