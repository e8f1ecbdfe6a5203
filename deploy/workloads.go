package deploy

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/vc-batch/vc/internal/build"
)

// Image is the image of the Deployments, which `make images` builds.
const Image = build.Image

// AdmissionService is the Service in front of the webhooks, under the same name as in Volcano.
const AdmissionService = "volcano-admission-service"

// The ConfigMap with the scheduler's configuration, under the same names as in Volcano. It is optional: without it, the
// scheduler uses its built-in configuration.
const (
	SchedulerConfigMap = "volcano-scheduler-configmap"
	SchedulerConfigKey = "volcano-scheduler.conf"
)

const (
	configDir   = "/etc/volcano"
	webhookPort = 8443
	MetricsPort = 8080
	healthPort  = 11251
	NameLabel   = "app.kubernetes.io/name"
)

// workload describes the pods of one component.
type workload struct {
	account string
	args    []string
	ports   []corev1.ContainerPort
	config  bool
}

// deployments returns the components that run as Deployments.
func deployments() []workload {
	return []workload{
		{
			account: AdmissionAccount,
			args:    []string{"admission", "--webhook-service=" + Namespace + "/" + AdmissionService, "--webhook-owner=" + AdmissionAccount},
			ports:   []corev1.ContainerPort{{Name: "webhook", ContainerPort: webhookPort}},
		},
		{account: ControllersAccount, args: []string{"controllers"}},
		{
			account: SchedulerAccount, config: true,
			args: []string{"scheduler", "--scheduler-conf=" + configDir + "/" + SchedulerConfigKey, "--scheduler-conf-optional"},
		},
	}
}

// workloads returns the Deployments with their budgets and network policies, and the Service of the webhooks. The scheduler's
// ConfigMap is not among them, because it belongs to the administrator: an update must not overwrite it.
func workloads() []runtime.Object {
	objects := []runtime.Object{httpsService(AdmissionService, AdmissionAccount, "webhook")}
	for _, w := range deployments() {
		objects = append(objects, w.deployment(), w.budget(), w.networkPolicy())
	}
	return objects
}

// httpsService returns a Service that forwards port 443 to a named port of a component.
func httpsService(name, account, port string) *corev1.Service {
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: ownMeta(name),
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{NameLabel: account},
			Ports:    []corev1.ServicePort{{Name: "https", Port: 443, TargetPort: intstr.FromString(port)}},
		},
	}
}

func (w workload) labels() map[string]string {
	return map[string]string{NameLabel: w.account, "app.kubernetes.io/part-of": "vc"}
}

func (w workload) deployment() *appsv1.Deployment {
	meta := ownMeta(w.account)
	meta.Labels = w.labels()
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			// One replica is active and the other is on standby, except that both replicas of admission are active.
			Replicas: new(int32(2)),
			Selector: w.selector(),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: w.labels()},
				Spec:       w.pod(),
			},
		},
	}
}

// selector selects the pods of the component.
func (w workload) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{NameLabel: w.account}}
}

func (w workload) pod() corev1.PodSpec {
	size := Sizes[DefaultSize][w.account]
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("health")}}}
	}
	spec := corev1.PodSpec{
		ServiceAccountName: w.account,
		PriorityClassName:  "system-cluster-critical",
		// The components must not depend on the scheduler that they implement.
		SchedulerName: corev1.DefaultSchedulerName,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: w.selector()},
			{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: w.selector()},
		},
		Containers: []corev1.Container{{
			Name: "vcd", Image: Image, Args: w.args, Ports: w.containerPorts(),
			LivenessProbe: probe("/healthz"), ReadinessProbe: probe("/readyz"),
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(size.CPU), corev1.ResourceMemory: size.memory()},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: size.memory()},
			},
			// The garbage collector should run before the kernel kills the process.
			Env: []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: fmt.Sprintf("%dMiB", size.MemoryMiB*GoMemoryPercent/100)}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
	if w.config {
		spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: SchedulerConfigMap}, Optional: new(true),
		}}}}
		spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: configDir, ReadOnly: true}}
	}
	return spec
}

// budget returns a disruption budget that permits evicting one replica at a time while nodes are drained.
func (w workload) budget() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}, ObjectMeta: ownMeta(w.account),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)),
			Selector:       w.selector(),
		},
	}
}

// networkPolicy returns a policy that permits connections only to the ports of the component. The second rule is for metrics.
// The policy does not restrict senders, because the API server and the kubelet are often outside of the pod network.
func (w workload) networkPolicy() *networkingv1.NetworkPolicy {
	rule := func(ports ...corev1.ContainerPort) networkingv1.NetworkPolicyIngressRule {
		var rule networkingv1.NetworkPolicyIngressRule
		for _, port := range ports {
			rule.Ports = append(rule.Ports, networkingv1.NetworkPolicyPort{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromString(port.Name))})
		}
		return rule
	}
	return &networkingv1.NetworkPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}, ObjectMeta: ownMeta(w.account),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: *w.selector(),
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{rule(append(w.ports, health)...), rule(metrics)},
		},
	}
}

// The ports that every component has.
var (
	metrics = corev1.ContainerPort{Name: "metrics", ContainerPort: MetricsPort}
	health  = corev1.ContainerPort{Name: "health", ContainerPort: healthPort}
)

// containerPorts returns the ports on which the component listens.
func (w workload) containerPorts() []corev1.ContainerPort {
	return append(w.ports, metrics, health)
}
