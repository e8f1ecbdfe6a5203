package differential

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// aTime is a time with a fraction of a second, as components send it.
var aTime = metav1.NewTime(time.Date(2025, 3, 4, 5, 6, 7, 890123456, time.UTC))

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

func (w *world) resources(names ...corev1.ResourceName) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range names {
		if !w.chance(3) {
			list[name] = quantity(pick(w, "1", "2", "500m", "1000m", "1Gi", "1024Mi", "0"))
		}
	}
	return list
}

func (w *world) podSpec() corev1.PodSpec {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox", Resources: corev1.ResourceRequirements{Requests: w.resources("cpu", "memory")}}}}
	switch w.IntN(12) {
	case 0:
		spec.SchedulerName, spec.RestartPolicy = "volcano", corev1.RestartPolicyOnFailure
		spec.TerminationGracePeriodSeconds = new(int64(5))
	case 1:
		spec.PriorityClassName = pick(w, "system-node-critical", "missing")
	case 2:
		spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		spec.NodeSelector = map[string]string{"zone": "a"}
	case 3:
		spec.Containers[0].Resources.Limits = w.resources("cpu", "memory", "nvidia.com/gpu")
		spec.Containers[0].Resources.Requests = nil
		spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "N", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	case 4:
		spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, {Name: "c", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}}}
		spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		spec.InitContainers = []corev1.Container{{Name: "init", Image: "busybox:1"}}
	case 5:
		spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}}}
	case 6:
		spec.HostNetwork = true
		spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(int64(1000))}
	}
	return spec
}

func drawPod(w *world) client.Object {
	pod := &corev1.Pod{Spec: w.podSpec()}
	pod.Labels = pick(w, nil, map[string]string{"app": "x"}, map[string]string{"app": "y", keys.JobName: "a"})
	pod.Annotations = pick(w, nil, map[string]string{"note": "p"}, map[string]string{keys.GroupName: "g", "note": "q"})
	switch w.IntN(14) {
	case 0, 1:
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: keys.QueueAllocationGate}}
	case 2:
		pod.Spec.Containers = nil
	case 3:
		pod.Status.Phase = corev1.PodRunning
	case 4:
		pod.Spec.NodeName = "node-1"
	case 5:
		pod.Spec.Priority = new(int32(7))
	case 6:
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": quantity("-1")}
	}
	return pod
}

func changePod(w *world, status bool) func(client.Object) {
	if status {
		phase := pick(w, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending)
		return oneOf(w,
			func(p *corev1.Pod) {
				p.Status.Phase = phase
				p.Status.StartTime = &aTime
				p.Status.PodIP, p.Status.PodIPs = "10.0.0.1", []corev1.PodIP{{IP: "10.0.0.1"}}
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: aTime}}
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: aTime}}}}
			},
			func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = phase, "Reason" },
			func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: phase} },
			func(p *corev1.Pod) { p.Status.Phase, p.Spec.NodeName = phase, "stolen" },
			func(p *corev1.Pod) {
				p.Status.Phase = phase
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: aTime}}}}
			},
		)
	}
	return oneOf(w,
		func(p *corev1.Pod) {
			if len(p.Spec.Containers) > 0 {
				p.Spec.Containers[0].Image = "busybox:2"
			}
		},
		func(p *corev1.Pod) { p.Spec.NodeName = "elsewhere" },
		func(p *corev1.Pod) { p.Spec.SchedulingGates = nil },
		func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}} },
		func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(60)) },
		func(p *corev1.Pod) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "k", Operator: corev1.TolerationOpExists})
		},
		func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"zone": "b"} },
		func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning },
		func(p *corev1.Pod) { p.Spec.Priority, p.Spec.PreemptionPolicy = nil, nil },
	)
}

func patchesOfPod(w *world, k key) []patch {
	uid := fieldsOf{"uid": w.drawReference("uid", k)}
	condition := func(kind, status, reason string) any {
		return fieldsOf{"type": kind, "status": status, "reason": reason, "message": pick(w, "m", "n"), "lastTransitionTime": "2025-03-04T05:06:07Z"}
	}
	return []patch{
		{"status", types.StrategicMergePatchType, fieldsOf{"metadata": uid, "status": fieldsOf{"conditions": []any{condition("PodScheduled", "False", pick(w, "Unschedulable", "Waiting"))}}}},
		{"status", types.StrategicMergePatchType, fieldsOf{"metadata": uid, "status": fieldsOf{"conditions": []any{condition("DisruptionTarget", "True", "PreemptionByScheduler"), condition("Ready", "False", "Evict")}}}},
		{"status", types.StrategicMergePatchType, fieldsOf{"metadata": uid, "status": fieldsOf{"nominatedNodeName": pick[any](w, "node-1", nil)}}},
		{"", types.StrategicMergePatchType, fieldsOf{"metadata": uid, "spec": fieldsOf{"schedulingGates": []any{fieldsOf{"$patch": "delete", "name": keys.QueueAllocationGate}}}}},
		{"", types.MergePatchType, fieldsOf{"metadata": fieldsOf{"uid": w.drawReference("uid", k), "annotations": fieldsOf{keys.OutOfSync: "true"}}}},
		{"", types.StrategicMergePatchType, fieldsOf{"metadata": fieldsOf{"uid": w.drawReference("uid", k), "annotations": fieldsOf{keys.GroupName: pick(w, "g", "h")}}}},
		{"", types.MergePatchType, fieldsOf{"spec": fieldsOf{"nodeName": "elsewhere"}}},
		{"", types.StrategicMergePatchType, fieldsOf{"status": fieldsOf{"phase": "Running"}}},
		{"status", types.MergePatchType, fieldsOf{"status": fieldsOf{"phase": pick(w, "Running", "Failed")}, "metadata": fieldsOf{"labels": fieldsOf{"by": "status"}}}},
	}
}

func drawNode(w *world) client.Object {
	node := &corev1.Node{}
	node.Labels = pick(w, nil, map[string]string{"app": "x"})
	node.Spec.Unschedulable = w.chance(4)
	node.Status.Allocatable = w.resources("cpu", "memory", "pods")
	return node
}

func changeNode(w *world, status bool) func(client.Object) {
	capacity := w.resources("cpu", "memory", "pods")
	if status {
		return oneOf(w, func(n *corev1.Node) {
			n.Status.Capacity, n.Status.Allocatable = capacity, capacity
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: aTime, LastTransitionTime: aTime}}
			n.Spec.Unschedulable = true
		})
	}
	return oneOf(w,
		func(n *corev1.Node) { n.Spec.Unschedulable = !n.Spec.Unschedulable },
		func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoExecute}, {Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		},
		func(n *corev1.Node) { n.Status.Allocatable = capacity },
		func(n *corev1.Node) { n.Spec.PodCIDR = "10.1.0.0/24" },
	)
}

func patchesOfNode(w *world, _ key) []patch {
	return []patch{
		{"", pick(w, types.MergePatchType, types.StrategicMergePatchType), fieldsOf{"spec": fieldsOf{"unschedulable": pick[any](w, true, nil)}}},
		{"status", types.StrategicMergePatchType, fieldsOf{"status": fieldsOf{"conditions": []any{fieldsOf{"type": "Ready", "status": pick(w, "True", "False")}}}}},
		{"", types.StrategicMergePatchType, fieldsOf{"spec": fieldsOf{"taints": []any{fieldsOf{"key": "t", "effect": "NoSchedule"}}}}},
	}
}

func drawConfigMap(w *world) client.Object {
	return &corev1.ConfigMap{Data: pick(w, nil, map[string]string{"highest": "1"}), Immutable: pick(w, nil, nil, nil, new(true))}
}

func changeConfigMap(w *world, _ bool) func(client.Object) {
	value := pick(w, "1", "2", "3")
	return oneOf(w, func(c *corev1.ConfigMap) { c.Data = map[string]string{"highest": value} }, func(c *corev1.ConfigMap) { c.Data = map[string]string{} })
}

func drawSecret(w *world) client.Object {
	return &corev1.Secret{Data: map[string][]byte{"k": []byte(pick(w, "1", "2"))}, StringData: pick(w, nil, map[string]string{"s": "t"})}
}

func changeSecret(w *world, _ bool) func(client.Object) {
	return oneOf(w, func(s *corev1.Secret) { s.Data = map[string][]byte{"k": []byte("3")} }, func(s *corev1.Secret) { s.Type = "example.com/other" })
}

func drawService(w *world) client.Object {
	return &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": pick(w, "x", "y")}, PublishNotReadyAddresses: true, Ports: pick(w, nil, []corev1.ServicePort{{Name: "p", Port: 1}})}}
}

func changeService(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(s *corev1.Service) {
			s.Status.Conditions = []metav1.Condition{{Type: "T", Status: "True", Reason: "R", LastTransitionTime: aTime}}
		})
	}
	return oneOf(w, func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "z"} }, func(s *corev1.Service) { s.Spec.Ports = []corev1.ServicePort{{Name: "q", Port: 2}} })
}

func drawEvent(w *world) client.Object {
	return &corev1.Event{
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: w.namespace(pick(w, 0, 0, 1)), Name: "a", UID: "u"},
		Type:           corev1.EventTypeNormal, Reason: "Scheduled", Message: "m", FirstTimestamp: aTime, LastTimestamp: aTime, Count: 1,
		Source: corev1.EventSource{Component: "volcano"}, ReportingController: "volcano",
	}
}

func changeEvent(w *world, _ bool) func(client.Object) {
	return oneOf(w, func(e *corev1.Event) { e.Count++ }, func(e *corev1.Event) { e.Message = "other" })
}

func patchesOfEvent(w *world, _ key) []patch {
	return []patch{
		{"", types.MergePatchType, fieldsOf{"count": pick(w, 2, 3), "lastTimestamp": aTime}},
		{"", types.StrategicMergePatchType, fieldsOf{"count": pick(w, 2, 3), "message": "m"}},
	}
}

func drawClaim(w *world) client.Object {
	return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: new("standard"),
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": quantity("1Gi")}}, VolumeName: pick(w, "", "v"),
	}}
}

func changeClaim(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimBound }, func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimPending })
	}
	return oneOf(w, func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "v" }, func(c *corev1.PersistentVolumeClaim) {
		c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "node-1"}
	})
}

func drawVolume(w *world) client.Object {
	return &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{"storage": quantity("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/v"}}, StorageClassName: pick(w, "", "standard"),
	}}
}

func changeVolume(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeAvailable }, func(v *corev1.PersistentVolume) { v.Status.Message = "m" })
	}
	return oneOf(w, func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "n", Name: "c", UID: "u"}
	})
}

func patchesOfVolume(w *world, k key) []patch {
	return []patch{{"", types.MergePatchType, fieldsOf{
		"metadata": fieldsOf{"resourceVersion": w.drawReference("version", k), "annotations": fieldsOf{"pv.kubernetes.io/bound-by-controller": "yes"}},
		"spec":     fieldsOf{"claimRef": pick[any](w, fieldsOf{"kind": "PersistentVolumeClaim", "namespace": "n", "name": "c", "uid": "u"}, nil)},
	}}}
}

func drawPriorityClass(w *world) client.Object {
	return &schedulingv1.PriorityClass{Value: pick(w, int32(5), 10), Description: "d"}
}

func changePriorityClass(w *world, _ bool) func(client.Object) {
	return oneOf(w, func(c *schedulingv1.PriorityClass) { c.Description = "e" }, func(c *schedulingv1.PriorityClass) { c.Value = 11 })
}

func drawBudget(w *world) client.Object {
	return &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(pick(w, int32(1), 2))), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}
}

func changeBudget(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(b *policyv1.PodDisruptionBudget) { b.Status.DisruptionsAllowed, b.Status.ObservedGeneration = 1, 1 })
	}
	return oneOf(w, func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable = new(intstr.FromInt32(3)) })
}

func drawLease(w *world) client.Object {
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: new(pick(w, "me", "you")), LeaseDurationSeconds: new(int32(15)), RenewTime: new(metav1.NewMicroTime(aTime.Time))}}
}

func changeLease(w *world, _ bool) func(client.Object) {
	holder := pick(w, "me", "you")
	return oneOf(w, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &holder }, func(l *coordinationv1.Lease) { l.Spec.LeaseTransitions = new(int32(1)) })
}

func drawNetworkPolicy(*world) client.Object {
	return &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}
}

func changeNetworkPolicy(w *world, _ bool) func(client.Object) {
	return oneOf(w, func(p *networkingv1.NetworkPolicy) { p.Spec.PodSelector.MatchLabels = map[string]string{"app": "y"} })
}

func (w *world) template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}}
}

func drawReplicaSet(w *world) client.Object {
	return &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: pick(w, nil, new(int32(2))), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, Template: w.template()}}
}

func changeReplicaSet(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(r *appsv1.ReplicaSet) { r.Status.Replicas, r.Status.ObservedGeneration = 1, 1 })
	}
	return oneOf(w, func(r *appsv1.ReplicaSet) { r.Spec.Replicas = new(int32(3)) })
}

func drawStatefulSet(w *world) client.Object {
	return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: pick(w, nil, new(int32(2))), ServiceName: "s", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, Template: w.template()}}
}

func changeStatefulSet(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(s *appsv1.StatefulSet) { s.Status.Replicas = 1 })
	}
	return oneOf(w, func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(3)) }, func(s *appsv1.StatefulSet) { s.Spec.ServiceName = "t" })
}

func drawDeviceClaim(*world) client.Object {
	return &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}}}}
}

func changeDeviceClaim(w *world, status bool) func(client.Object) {
	if !status {
		return oneOf(w, func(c *resourcev1.ResourceClaim) { c.Finalizers = append(c.Finalizers, resourcev1.Finalizer) })
	}
	pod := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "a", UID: "u"}
	return oneOf(w,
		func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "example.com", Pool: "p", Device: "d"}}}}
			c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{pod}
		},
		func(c *resourcev1.ResourceClaim) { c.Status.ReservedFor = nil },
	)
}

func (w *world) jobSpec() batchv1alpha1.JobSpec {
	spec := batchv1alpha1.JobSpec{Queue: pick(w, "", "q"), MinAvailable: pick(w, int32(0), 1), Tasks: []batchv1alpha1.TaskSpec{{Name: "t", Replicas: 2, Template: w.template()}}}
	switch w.IntN(5) {
	case 0:
		spec.Plugins = map[string][]string{"svc": {}, "env": nil}
		spec.NetworkTopology = &batchv1alpha1.NetworkTopologySpec{}
	case 1:
		spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/d", VolumeClaim: &corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}}}}
		spec.TTLSecondsAfterFinished = new(int32(0))
	case 2:
		spec.Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.RestartJobAction, Timeout: &metav1.Duration{Duration: time.Minute}}}
		spec.Tasks[0].Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 5}}
	}
	return spec
}

func drawJob(w *world) client.Object {
	job := &batchv1alpha1.Job{Spec: w.jobSpec()}
	job.Labels = pick(w, nil, map[string]string{"app": "x"})
	job.Status.Running = pick(w, int32(0), 3)
	if w.chance(10) {
		job.Spec.Tasks = nil
	}
	return job
}

func changeJob(w *world, status bool) func(client.Object) {
	if status {
		phase := pick(w, batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Completed)
		return oneOf(w,
			func(j *batchv1alpha1.Job) {
				j.Status.State = batchv1alpha1.JobState{Phase: phase, LastTransitionTime: aTime}
				j.Status.Running, j.Status.MinAvailable = 2, 1
				j.Status.TaskStatusCount = map[string]batchv1alpha1.TaskState{"t": {Phase: map[corev1.PodPhase]int32{"Running": 2}}}
				j.Status.ControlledResources = map[string]string{}
				j.Status.Conditions = append(j.Status.Conditions, batchv1alpha1.JobCondition{Status: phase, LastTransitionTime: &aTime})
			},
			func(j *batchv1alpha1.Job) {
				j.Status.State = batchv1alpha1.JobState{Phase: phase, LastTransitionTime: aTime}
				j.Status.Running, j.Spec.MinAvailable = 0, 2
			},
			func(j *batchv1alpha1.Job) {
				j.Status.State = batchv1alpha1.JobState{Phase: phase, LastTransitionTime: aTime}
				j.Annotations = map[string]string{"by": "status"}
				j.Status.RunningDuration = &metav1.Duration{Duration: 1500 * time.Millisecond}
			},
		)
	}
	return oneOf(w,
		func(j *batchv1alpha1.Job) { j.Spec.MinAvailable = 2 },
		func(j *batchv1alpha1.Job) { j.Spec.Tasks = append(j.Spec.Tasks, j.Spec.Tasks...) },
		func(j *batchv1alpha1.Job) { j.Status.Running = 9 },
		func(j *batchv1alpha1.Job) { j.Spec.MaxRetry, j.Spec.Queue = 0, "" },
	)
}

func patchesOfJob(w *world, k key) []patch {
	metadata := fieldsOf{"resourceVersion": w.drawReference("version", k)}
	return []patch{
		{"", types.MergePatchType, fieldsOf{"metadata": metadata, "spec": fieldsOf{"volumes": []any{fieldsOf{"mountPath": "/d", "volumeClaimName": pick(w, "c", "d")}}}}},
		{"", types.MergePatchType, fieldsOf{"metadata": fieldsOf{"resourceVersion": w.drawReference("version", k), "annotations": fieldsOf{keys.JobForwarding: "true"}}}},
		{"", types.MergePatchType, fieldsOf{"spec": fieldsOf{"priorityClassName": pick[any](w, "high", nil)}}},
		{"", types.MergePatchType, fieldsOf{"spec": fieldsOf{"tasks": nil}}},
	}
}

func drawCronJob(w *world) client.Object {
	return &batchv1alpha1.CronJob{Spec: batchv1alpha1.CronJobSpec{Schedule: "* * * * *", Suspend: pick(w, nil, new(true)), JobTemplate: batchv1alpha1.JobTemplateSpec{Spec: w.jobSpec()}}}
}

func changeCronJob(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(c *batchv1alpha1.CronJob) { c.Status.LastScheduleTime = &aTime }, func(c *batchv1alpha1.CronJob) {
			c.Status.Active = []corev1.ObjectReference{{Kind: "Job", Name: "j", UID: "u"}}
		})
	}
	return oneOf(w, func(c *batchv1alpha1.CronJob) { c.Spec.Suspend = new(true) }, func(c *batchv1alpha1.CronJob) { c.Spec.Suspend, c.Spec.Schedule = nil, "1 * * * *" })
}

func drawCommand(w *world) client.Object {
	kind, group := pick(w, "Job", "Queue"), ""
	if group = batchv1alpha1.GroupVersion.String(); kind == "Queue" {
		group = schedulingv1beta1.GroupVersion.String()
	}
	return &busv1alpha1.Command{Action: "AbortJob", Reason: "r", TargetObject: &metav1.OwnerReference{APIVersion: group, Kind: kind, Name: "a", UID: "u", Controller: pick(w, nil, new(true))}}
}

func changeCommand(w *world, _ bool) func(client.Object) {
	return oneOf(w, func(c *busv1alpha1.Command) { c.Message = "m" }, func(c *busv1alpha1.Command) { c.Action = "ResumeJob" })
}

func drawPodGroup(w *world) client.Object {
	group := &schedulingv1beta1.PodGroup{Spec: schedulingv1beta1.PodGroupSpec{MinMember: pick(w, int32(0), 1, 2), Queue: pick(w, "", "q"), MinResources: pick(w, nil, new(w.resources("cpu", "memory")))}}
	switch w.IntN(5) {
	case 0:
		group.Spec.NetworkTopology = &schedulingv1beta1.NetworkTopologySpec{HighestTierAllowed: new(1)}
	case 1:
		group.Spec.SubGroupPolicy = []schedulingv1beta1.SubGroupPolicySpec{{Name: "s", MatchLabelKeys: []string{"k"}}}
	case 2:
		group.Spec.MinTaskMember = map[string]int32{"t": 1}
		group.Annotations = map[string]string{"note": "p"}
	}
	group.Status.Phase = pick(w, schedulingv1beta1.PodGroupPhase(""), schedulingv1beta1.PodGroupPending)
	return group
}

func changePodGroup(w *world, _ bool) func(client.Object) {
	return oneOf(w,
		func(g *schedulingv1beta1.PodGroup) { g.Spec.MinMember = 3 },
		func(g *schedulingv1beta1.PodGroup) { g.Status.Phase = schedulingv1beta1.PodGroupRunning },
		func(g *schedulingv1beta1.PodGroup) { g.Spec.Queue = "" },
		func(g *schedulingv1beta1.PodGroup) {
			g.Status.Conditions = []schedulingv1beta1.PodGroupCondition{{Type: "Scheduled", Status: "True", LastTransitionTime: aTime}}
		},
	)
}

func patchesOfPodGroup(w *world, k key) []patch {
	status := schedulingv1beta1.PodGroupStatus{
		Phase: pick(w, schedulingv1beta1.PodGroupPending, schedulingv1beta1.PodGroupInqueue, schedulingv1beta1.PodGroupRunning), Running: pick(w, int32(0), 2),
		Conditions: []schedulingv1beta1.PodGroupCondition{{Type: "Unschedulable", Status: "True", TransitionID: "t", LastTransitionTime: aTime, Reason: "r"}},
	}
	if w.chance(2) {
		status.Explanation = &schedulingv1beta1.Explanation{Reason: "InsufficientResources", Message: "m", Since: &aTime}
	}
	test := fieldsOf{"op": "test", "path": "/metadata/uid", "value": w.drawReference("uid", k)}
	write := fieldsOf{"op": "add", "path": "/status", "value": &status}
	return []patch{
		{"", types.JSONPatchType, []any{test, write}},
		{"", types.JSONPatchType, []any{test, write}},
		{"", types.JSONPatchType, []any{test, write, fieldsOf{"op": "add", "path": "/metadata/annotations/" + "volcano.sh~1allocated-hypernode", "value": "h"}}},
		{"", types.JSONPatchType, []any{test, write, fieldsOf{"op": "test", "path": "/metadata/annotations", "value": nil}, fieldsOf{"op": "add", "path": "/metadata/annotations", "value": fieldsOf{"volcano.sh/allocated-hypernode": "h"}}}},
		{"", types.MergePatchType, fieldsOf{"spec": fieldsOf{"minMember": pick(w, 1, 4), "minResources": pick[any](w, fieldsOf{"cpu": "3"}, nil)}}},
	}
}

func drawQueue(w *world) client.Object {
	q := &schedulingv1beta1.Queue{Spec: schedulingv1beta1.QueueSpec{Weight: pick(w, int32(0), 1, 2), Parent: pick(w, "", "root"), Reclaimable: pick(w, nil, new(true), new(false))}}
	if w.chance(2) {
		q.Spec.Capability = w.resources("cpu", "memory")
	}
	q.Status.State = schedulingv1beta1.QueueStateOpen
	return q
}

func changeQueue(w *world, status bool) func(client.Object) {
	if status {
		amounts := w.resources("cpu", "memory")
		return oneOf(w,
			func(q *schedulingv1beta1.Queue) {
				q.Status.State, q.Status.Allocated = schedulingv1beta1.QueueStateOpen, amounts
			},
			func(q *schedulingv1beta1.Queue) { q.Status.Waiting, q.Spec.Weight, q.Status.Allocated = 3, 9, amounts },
		)
	}
	return oneOf(w,
		func(q *schedulingv1beta1.Queue) { q.Spec.Weight = 5 },
		func(q *schedulingv1beta1.Queue) { q.Spec.Parent, q.Spec.Weight = "", 0 },
		func(q *schedulingv1beta1.Queue) { q.Status.State = schedulingv1beta1.QueueStateClosed },
	)
}

func patchesOfQueue(w *world, k key) []patch {
	status := fieldsOf{"allocated": w.resources("cpu", "memory", "pods"), "deserved": w.resources("cpu"), "sharePercent": pick(w, 0, 1), "waiting": pick(w, 0, 1)}
	if w.chance(2) {
		status["terminating"] = w.resources("cpu", "memory")
	}
	if w.chance(2) {
		status["conditions"] = []metav1.Condition{{Type: pick(w, "Invalid", "Other"), Status: "True", Reason: "R", Message: pick(w, "m", "n"), LastTransitionTime: aTime}}
	}
	config := fieldsOf{"apiVersion": schedulingv1beta1.GroupVersion.String(), "kind": "Queue", "metadata": fieldsOf{"name": k.name}, "status": status}
	counts := fieldsOf{pick(w, "pending", "running", "inqueue"): pick(w, 0, 1, 2)}
	if w.chance(3) {
		counts["state"] = pick(w, "Open", "Closed", "Closing")
	}
	patches := []patch{
		{"status", types.ApplyPatchType, config},
		{"status", types.MergePatchType, fieldsOf{"status": counts}},
		{"status", types.MergePatchType, fieldsOf{"metadata": fieldsOf{"resourceVersion": w.drawReference("version", k)}, "status": counts}},
		{"", types.MergePatchType, fieldsOf{"spec": fieldsOf{"parent": pick(w, "root", "q")}}},
		{"", types.MergePatchType, fieldsOf{"metadata": fieldsOf{"annotations": fieldsOf{keys.ClosedByParent: pick[any](w, "true", nil)}}}},
		{"status", types.MergePatchType, fieldsOf{"status": fieldsOf{"allocated": fieldsOf{"cpu": pick[any](w, "7", nil)}}}},
		{"status", types.MergePatchType, fieldsOf{"status": fieldsOf{"waiting": pick[any](w, 1, 0, nil), "terminating": pick[any](w, nil, fieldsOf{})}}},
	}
	return append(patches, patches[0], patches[0], patches[0])
}

func drawJobFlow(w *world) client.Object {
	return &flowv1alpha1.JobFlow{Spec: flowv1alpha1.JobFlowSpec{Flows: []flowv1alpha1.Flow{{Name: "a"}, {Name: "b", DependsOn: &flowv1alpha1.DependsOn{Targets: []string{"a"}}}}, JobRetainPolicy: pick(w, flowv1alpha1.Retain, flowv1alpha1.Delete)}}
}

func changeJobFlow(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(f *flowv1alpha1.JobFlow) {
			f.Status.State.Phase, f.Status.RunningJobs, f.Status.PendingJobs = flowv1alpha1.Running, []string{"a"}, []string{}
			f.Status.JobStatusList = []flowv1alpha1.JobStatus{{Name: "a", State: batchv1alpha1.Running, StartTimestamp: aTime}}
			f.Status.Conditions = map[string]flowv1alpha1.Condition{"a": {Phase: batchv1alpha1.Running, CreateTimestamp: aTime}}
		})
	}
	return oneOf(w, func(f *flowv1alpha1.JobFlow) { f.Spec.Flows = f.Spec.Flows[:1] })
}

func drawJobTemplate(w *world) client.Object {
	return &flowv1alpha1.JobTemplate{Spec: w.jobSpec()}
}

func changeJobTemplate(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(t *flowv1alpha1.JobTemplate) { t.Status.JobDependsOnList = []string{"j"} }, func(t *flowv1alpha1.JobTemplate) { t.Status.JobDependsOnList = []string{} })
	}
	return oneOf(w, func(t *flowv1alpha1.JobTemplate) { t.Spec.MinAvailable = 1 })
}

func drawHyperNode(w *world) client.Object {
	return &topologyv1alpha1.HyperNode{Spec: topologyv1alpha1.HyperNodeSpec{Tier: pick(w, 1, 2), Members: []topologyv1alpha1.MemberSpec{{Type: topologyv1alpha1.MemberTypeNode, Selector: topologyv1alpha1.MemberSelector{ExactMatch: &topologyv1alpha1.ExactMatch{Name: "n"}}}}}}
}

func changeHyperNode(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(h *topologyv1alpha1.HyperNode) { h.Status.NodeCount = 4 })
	}
	return oneOf(w, func(h *topologyv1alpha1.HyperNode) { h.Spec.Tier = 3 })
}

func patchesOfHyperNode(w *world, k key) []patch {
	config := func(name string) fieldsOf {
		return fieldsOf{"apiVersion": topologyv1alpha1.GroupVersion.String(), "kind": "HyperNode", "metadata": fieldsOf{"name": name}, "status": topologyv1alpha1.HyperNodeStatus{
			NodeCount: pick(w, int64(0), 1), Conditions: []metav1.Condition{{Type: "Ready", Status: pick(w, metav1.ConditionTrue, metav1.ConditionFalse), Reason: "R", LastTransitionTime: aTime}},
		}}
	}
	return []patch{{"status", types.ApplyPatchType, config(k.name)}, {"status", types.MergePatchType, fieldsOf{"status": fieldsOf{"nodeCount": pick(w, 0, 2)}}}}
}

func drawNumatopology(w *world) client.Object {
	return &nodeinfov1alpha1.Numatopology{Spec: nodeinfov1alpha1.NumatopoSpec{ResReserved: map[string]string{"cpu": pick(w, "1", "2")}}}
}

func changeNumatopology(w *world, _ bool) func(client.Object) {
	return oneOf(w, func(n *nodeinfov1alpha1.Numatopology) { n.Spec.ResReserved = map[string]string{"cpu": "3"} })
}

func drawPlan(*world) client.Object {
	return &insightv1alpha1.Plan{Spec: insightv1alpha1.PlanSpec{Objects: []runtime.RawExtension{{Raw: []byte(`{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j"}}`)}}}}
}

func changePlan(w *world, status bool) func(client.Object) {
	if status {
		return oneOf(w, func(p *insightv1alpha1.Plan) { p.Status.TakenUpAt = &aTime }, func(p *insightv1alpha1.Plan) {
			p.Status.AnsweredAt, p.Status.Verdict = &aTime, insightv1alpha1.VerdictWaits
		})
	}
	return oneOf(w, func(p *insightv1alpha1.Plan) {
		p.Spec.Objects = append(p.Spec.Objects, runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`)})
	})
}

func drawQuota(w *world) client.Object {
	return &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: pick(w,
		corev1.ResourceList{"pods": quantity(pick(w, "2", "5"))},
		corev1.ResourceList{"pods": quantity("4"), "requests.cpu": quantity("3"), "limits.memory": quantity("1Gi")},
	)}}
}

func changeQuota(w *world, status bool) func(client.Object) {
	if status {
		return func(client.Object) {}
	}
	return oneOf(w, func(q *corev1.ResourceQuota) { q.Spec.Hard = corev1.ResourceList{"pods": quantity("3")} })
}
