package watchserver

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// Cluster is a generated cluster of any size. Each job has Pods pods. Every second job runs, with its pods distributed
// over the nodes, and the others wait.
type Cluster struct {
	Nodes, Jobs, Pods int // Pods of each job
	// Events is the number of events. One third are warnings about pods, one third other events about pods, and one
	// third events about jobs.
	Events int
	// Now is the time of the snapshot.
	Now time.Time
}

// queues is the number of queues of a Cluster besides root.
const queues = 20

// Kinds returns all kinds of the cluster, to pass to New.
func (c Cluster) Kinds() map[string]*Kind {
	core := func(kind string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(kind) }
	return map[string]*Kind{
		"nodes":           {Sample: &corev1.Node{}, GVK: core("Node"), Count: c.Nodes, Make: func(i int) client.Object { return c.Node(i) }},
		"pods":            {Sample: &corev1.Pod{}, GVK: core("Pod"), Count: c.Jobs * c.Pods, Make: func(i int) client.Object { return c.Pod(i) }},
		"configmaps":      {Sample: &corev1.ConfigMap{}, GVK: core("ConfigMap")},
		"events":          {Sample: &corev1.Event{}, GVK: core("Event"), Count: c.Events, Make: func(i int) client.Object { return c.Event(i) }},
		"jobs":            {Sample: &batchv1alpha1.Job{}, GVK: batchv1alpha1.GroupVersion.WithKind("Job"), Count: c.Jobs, Make: func(i int) client.Object { return c.Job(i) }},
		"podgroups":       {Sample: &schedulingv1beta1.PodGroup{}, GVK: schedulingv1beta1.GroupVersion.WithKind("PodGroup"), Count: c.Jobs, Make: func(i int) client.Object { return c.Group(i) }},
		"queues":          {Sample: &schedulingv1beta1.Queue{}, GVK: schedulingv1beta1.GroupVersion.WithKind("Queue"), Count: queues + 1, Make: func(i int) client.Object { return c.Queue(i) }},
		"hypernodes":      {Sample: &topologyv1alpha1.HyperNode{}, GVK: topologyv1alpha1.GroupVersion.WithKind("HyperNode")},
		"priorityclasses": {Sample: &schedulingv1.PriorityClass{}, GVK: schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")},
	}
}

func uid(kind, i int) types.UID {
	return types.UID(fmt.Sprintf("%08d-0000-4000-8000-%012d", kind, i))
}

func amounts(cpu, memory, gpu string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), "nvidia.com/gpu": resource.MustParse(gpu)}
}

func nodeName(i int) string { return fmt.Sprintf("r%03dn%02d", i/40, i%40) }

// Node returns the i-th node.
func (c Cluster) Node(i int) *corev1.Node {
	name, created := nodeName(i), metav1.NewTime(c.Now.Add(-41*24*time.Hour))
	list := amounts("128", "1Ti", "8")
	list[corev1.ResourcePods] = resource.MustParse("110")
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid(1, i), CreationTimestamp: created, Labels: map[string]string{
			"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "topology.kubernetes.io/rack": name[:4], "gpu": "a100", "net": "ib",
		}},
		Status: corev1.NodeStatus{
			Capacity: list, Allocatable: list, Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.%d.%d.%d", i/65536, i/256%256, i%256)}},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: created}},
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v1.37.2", KernelVersion: "6.18", OSImage: "Debian", ContainerRuntimeVersion: "containerd://2.1"},
		},
	}
}

// Queue returns the i-th queue. The first one is root.
func (c Cluster) Queue(i int) *schedulingv1beta1.Queue {
	q := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: keys.RootQueue, UID: uid(2, i)}, Status: schedulingv1beta1.QueueStatus{State: schedulingv1beta1.QueueStateOpen}}
	if i > 0 {
		q.Name = fmt.Sprintf("team-%02d", i)
		q.Spec = schedulingv1beta1.QueueSpec{Weight: 1, Parent: keys.RootQueue, Deserved: amounts("32000", "250Ti", "2000"), Capability: amounts("64000", "500Ti", "4000")}
		q.Status.Running, q.Status.Pending, q.Status.Allocated = int32(c.Jobs/queues/2), int32(c.Jobs/queues/2), amounts("20000", "100Ti", "1500") //nolint:gosec // small
	}
	return q
}

func runs(job int) bool { return job%2 == 0 }

func (c Cluster) meta(kind, i int, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%02d", i%queues+1), Name: name, UID: uid(kind, i), CreationTimestamp: metav1.NewTime(c.Now.Add(-time.Hour - time.Duration(i)*time.Second))}
}

func jobName(i int) string { return fmt.Sprintf("train-%05d", i) }

// Job returns the i-th job.
func (c Cluster) Job(i int) *batchv1alpha1.Job {
	since := metav1.NewTime(c.Now.Add(-30 * time.Minute))
	job := &batchv1alpha1.Job{ObjectMeta: c.meta(3, i, jobName(i))}
	job.Labels = map[string]string{keys.JobID: fmt.Sprint(i + 1)}
	job.Annotations = map[string]string{keys.User: fmt.Sprintf("user%02d", i%50)}
	pods := int32(c.Pods) //nolint:gosec // small
	job.Spec = batchv1alpha1.JobSpec{SchedulerName: "volcano", Queue: job.Namespace, MinAvailable: pods, MaxRetry: 3, Tasks: []batchv1alpha1.TaskSpec{{
		Name: "worker", Replicas: pods, Template: corev1.PodTemplateSpec{Spec: c.podSpec()},
	}}}
	job.Status = batchv1alpha1.JobStatus{MinAvailable: pods, Pending: pods, State: batchv1alpha1.JobState{Phase: batchv1alpha1.Pending, LastTransitionTime: since},
		Conditions: []batchv1alpha1.JobCondition{{Status: batchv1alpha1.Pending, LastTransitionTime: &since}}}
	if runs(i) {
		job.Status.Pending, job.Status.Running, job.Status.State.Phase = 0, pods, batchv1alpha1.Running
		job.Status.Conditions = append(job.Status.Conditions, batchv1alpha1.JobCondition{Status: batchv1alpha1.Running, LastTransitionTime: &since})
	}
	return job
}

// Group returns the PodGroup of the i-th job.
func (c Cluster) Group(i int) *schedulingv1beta1.PodGroup {
	job := c.Job(i)
	g := &schedulingv1beta1.PodGroup{ObjectMeta: c.meta(4, i, job.Name+"-"+string(job.UID))}
	g.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
	all := amounts("80", "640Gi", "10")
	g.Spec = schedulingv1beta1.PodGroupSpec{MinMember: int32(c.Pods), Queue: job.Spec.Queue, MinResources: &all} //nolint:gosec // small
	g.Status.Phase = schedulingv1beta1.PodGroupRunning
	if !runs(i) {
		g.Status = schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupInqueue, Explanation: &schedulingv1beta1.Explanation{
			Reason: "GangDoesNotFit", Message: fmt.Sprintf("not all pods of the gang fit at the same time: 0 of %d fit; %d nodes are short of nvidia.com/gpu", c.Pods, c.Nodes),
			NodeCount: int32(c.Nodes), Members: &schedulingv1beta1.ExplainedMembers{Min: int32(c.Pods), Exist: int32(c.Pods)}, //nolint:gosec // small
			Nodes: []schedulingv1beta1.ExplainedNodes{{Reason: "InsufficientResource", Detail: "nvidia.com/gpu", Count: int32(c.Nodes), ShortBy: "1"}}, //nolint:gosec // small
			Queue: &schedulingv1beta1.ExplainedQueue{Name: job.Spec.Queue, Position: int32(i/queues + 1), Waiting: int32(c.Jobs / queues / 2)},         //nolint:gosec // small
		}}
	}
	return g
}

func (c Cluster) podSpec() corev1.PodSpec {
	asks := amounts("8", "64Gi", "1")
	return corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, SchedulerName: "volcano", NodeSelector: map[string]string{"gpu": "a100"},
		Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.com/nlp/train:latest", Command: []string{"python", "train.py", "--config", "/etc/train.yaml"},
			Resources:    corev1.ResourceRequirements{Requests: asks, Limits: asks},
			Env:          []corev1.EnvVar{{Name: "MODE", Value: "fast"}, {Name: "VC_TASK_INDEX", Value: "0"}, {Name: "MASTER_ADDR", Value: "train-master-0.train"}},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}, {Name: "kube-api-access", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
		}},
		Volumes:     []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
	}
}

// Pod returns the i-th pod of the cluster.
func (c Cluster) Pod(i int) *corev1.Pod {
	at, index := i/c.Pods, i%c.Pods
	job := c.Job(at)
	pod := &corev1.Pod{ObjectMeta: c.meta(5, i, fmt.Sprintf("%s-worker-%d", job.Name, index)), Spec: c.podSpec()}
	pod.Namespace = job.Namespace
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
	pod.Labels = map[string]string{
		keys.JobName: job.Name, keys.JobNamespace: job.Namespace, keys.TaskSpec: "worker", keys.TaskIndex: fmt.Sprint(index), keys.QueueName: job.Spec.Queue, keys.JobID: job.Labels[keys.JobID],
	}
	pod.Annotations = map[string]string{keys.GroupName: job.Name + "-" + string(job.UID), keys.TaskSpec: "worker", keys.JobVersion: "0", keys.TemplateUID: job.Name + "-worker"}
	pod.Status.Phase = corev1.PodPending
	if !runs(at) {
		return pod
	}
	since := metav1.NewTime(c.Now.Add(-30 * time.Minute))
	pod.Spec.NodeName = nodeName((at/2*c.Pods + index) % c.Nodes)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", StartTime: &since,
		Conditions:        []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: since}, {Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: since}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Ready: true, Image: "registry.example.com/nlp/train:latest", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}}}},
	}
	return pod
}

// Event returns the i-th event.
func (c Cluster) Event(i int) *corev1.Event {
	job, at := c.Job(i%c.Jobs), metav1.NewTime(c.Now.Add(-time.Duration(i%3600)*time.Second))
	e := &corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Job", APIVersion: batchv1alpha1.GroupVersion.String(), Namespace: job.Namespace, Name: job.Name, UID: job.UID},
		Type:           corev1.EventTypeNormal, Reason: "PodGroupCreated", Message: "made a PodGroup for a gang of " + fmt.Sprint(c.Pods), Count: 1, FirstTimestamp: at, LastTimestamp: at,
		Source: corev1.EventSource{Component: "vc-controllers"},
	}
	if i%3 < 2 {
		pod := c.Pod(i * 7 % (c.Jobs * c.Pods))
		e.InvolvedObject = corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		e.Reason, e.Message = "Pulled", "Container image \"registry.example.com/nlp/train:latest\" already present on machine"
	}
	if i%3 == 1 {
		e.Type, e.Reason, e.Message = corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container main"
	}
	e.ObjectMeta = metav1.ObjectMeta{Namespace: e.InvolvedObject.Namespace, Name: fmt.Sprintf("%s.%016x", e.InvolvedObject.Name, i), UID: uid(6, i), CreationTimestamp: at}
	return e
}

// Of returns the kinds of these objects, to pass to New. Kinds without objects are empty.
func Of(objects ...client.Object) map[string]*Kind {
	kinds := Cluster{}.Kinds()
	kinds["queues"].Count, kinds["events"].Count = 0, 0
	byKind := map[*Kind][]client.Object{}
	for _, object := range objects {
		for _, k := range kinds {
			if reflect.TypeOf(k.Sample) == reflect.TypeOf(object) {
				byKind[k] = append(byKind[k], object)
			}
		}
	}
	for k, list := range byKind {
		k.Count, k.Make = len(list), func(i int) client.Object { return list[i].DeepCopyObject().(client.Object) }
	}
	return kinds
}
