package processnode

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestPodSeesItsVolumesAndEnvironment(t *testing.T) {
	startNode(t, "vol")
	ns := namespace(t)
	host := t.TempDir()
	_, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "conf"}, Data: map[string]string{"worker.host": "w0\nw1\n", "x": "1"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key"}, Data: map[string][]byte{"id_rsa": []byte("secret\n")}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	create(t, ns, shell("p", "vol", `
		cat /etc/volcano/worker.host /root/.ssh/id_rsa /etc/pod/labels; echo; stat -L -c %a /root/.ssh/id_rsa
		echo from-init: $(cat /work/init) $(cat /single)
		touch /etc/volcano/new 2>/dev/null || echo read-only
		echo host > /host/file; df -T /mem | tail -1 | cut -d' ' -f1
		echo $POD $IP $CM $ALL_x $(pwd) $0 "$1"; id -u; id -G; stat -c %g /work
		ls -d /run/vc-* 2>/dev/null; ls `+base+` 2>/dev/null | wc -l; ps ax | wc -l`, func(pod *corev1.Pod) {
		pod.Labels = map[string]string{"app": "demo"}
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: ptr.To[int64](4242)}
		pod.Spec.Volumes = []corev1.Volume{
			{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}}},
			{Name: "key", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "key", DefaultMode: ptr.To[int32](0o400)}}},
			{Name: "labels", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}}}},
			{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "mem", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
			{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: host}}},
		}
		pod.Spec.InitContainers = []corev1.Container{{
			Name: "init", Image: "none", Command: []string{"sh", "-c", "echo ready > /work/init; echo lost > /tmp-of-init"},
			VolumeMounts: []corev1.VolumeMount{{Name: "work", MountPath: "/work"}},
		}}
		c := &pod.Spec.Containers[0]
		c.VolumeMounts = []corev1.VolumeMount{
			{Name: "conf", MountPath: "/etc/volcano"}, {Name: "key", MountPath: "/root/.ssh"}, {Name: "labels", MountPath: "/etc/pod"}, {Name: "work", MountPath: "/work"},
			{Name: "conf", MountPath: "/single", SubPath: "x"}, {Name: "mem", MountPath: "/mem"}, {Name: "host", MountPath: "/host"},
		}
		c.WorkingDir = "/made/for/me"
		c.Args = []string{"zero", "$(POD)-$(NOPE)"}
		c.EnvFrom = []corev1.EnvFromSource{{Prefix: "ALL_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}}}}
		c.Env = []corev1.EnvVar{
			{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			{Name: "CM", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "conf"}, Key: "x"}}},
		}
	}))
	pod := untilPhase(t, ns, "p", corev1.PodSucceeded)
	text := logs(t, ns, "p", corev1.PodLogOptions{})
	contains(t, text, "w0\nw1\nsecret\napp=\"demo\"\n", "from-init: ready 1\nread-only\n", "tmpfs", "p "+pod.Status.PodIP+" 1 1 /made/for/me zero p-$(NOPE)\n")
	if os.Geteuid() == 0 {
		contains(t, text, "\n440\n", "4242")
	}
}

func TestMissingReferencesAreWaitedFor(t *testing.T) {
	startNode(t, "miss")
	ns := namespace(t)
	create(t, ns, shell("env", "miss", "echo $A", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}, Key: "a"}}}}
	}))
	create(t, ns, shell("vol", "miss", "cat /v/a", func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}}}}}
		pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	}))
	waiting := func(reason string) func(*corev1.Pod) bool {
		return func(pod *corev1.Pod) bool {
			s := pod.Status.ContainerStatuses
			return pod.Status.Phase == corev1.PodPending && len(s) == 1 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == reason
		}
	}
	until(t, ns, "env", "waiting", waiting("CreateContainerConfigError"))
	until(t, ns, "vol", "waiting", waiting("ContainerCreating"))
	_, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Data: map[string]string{"a": "here"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"env", "vol"} {
		untilPhase(t, ns, name, corev1.PodSucceeded)
		contains(t, logs(t, ns, name, corev1.PodLogOptions{}), "here")
	}
}

func TestMemoryLimitKills(t *testing.T) {
	node, _ := startNode(t, "oom")
	if len(node.machine.groups.GroupDirectories()) < 2 {
		t.Skip("limits are not enforced here: ", node.machine.missing)
	}
	ns := namespace(t)
	create(t, ns, shell("eater", "oom", "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi"), corev1.ResourceCPU: resource.MustParse("1")}
	}))
	end := untilPhase(t, ns, "eater", corev1.PodFailed).Status.ContainerStatuses[0].State.Terminated
	if end.Reason != "OOMKilled" {
		t.Errorf("got %+v", end)
	}
	create(t, ns, shell("looker", "oom", "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null; ! touch /sys/fs/cgroup/memory/x 2>/dev/null", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")}
	}))
	untilPhase(t, ns, "looker", corev1.PodSucceeded)
	contains(t, logs(t, ns, "looker", corev1.PodLogOptions{}), "oom_kill 0")
}

func TestClaimOnAHostPathVolume(t *testing.T) {
	startNode(t, "pvc")
	ns := namespace(t)
	quantity := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: corev1.PersistentVolumeSpec{
		Capacity: quantity, AccessModes: modes, StorageClassName: "none", PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: t.TempDir()}},
		ClaimRef: &corev1.ObjectReference{Namespace: ns, Name: "data"},
	}}
	if _, err := client.CoreV1().PersistentVolumes().Create(t.Context(), pv, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: modes, StorageClassName: ptr.To("none"), VolumeName: ns, Resources: corev1.VolumeResourceRequirements{Requests: quantity},
	}}
	if _, err := client.CoreV1().PersistentVolumeClaims(ns).Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	with := func(name, script string) *corev1.Pod {
		return shell(name, "pvc", script, func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
			pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "d", MountPath: "/data"}}
		})
	}
	create(t, ns, with("writes", "echo kept > /data/f"))
	untilPhase(t, ns, "writes", corev1.PodSucceeded)
	create(t, ns, with("reads", "cat /data/f"))
	untilPhase(t, ns, "reads", corev1.PodSucceeded)
	contains(t, logs(t, ns, "reads", corev1.PodLogOptions{}), "kept")
}
