package chart

import (
	"fmt"

	"github.com/vc-batch/vc/deploy"
)

// Values holds the values of chart vc. Each field has a description for values.yaml, the schema and the README. The other
// tags are limits for the schema: enum, pattern, min.
type Values struct {
	Size             string       `json:"size" enum:"small,medium,large" doc:"Size of the cluster. It decides what the components request, see the table of sizes."`
	Image            Image        `json:"image"`
	Scheduler        Scheduler    `json:"scheduler"`
	Controllers      Component    `json:"controllers"`
	Admission        Component    `json:"admission"`
	Accounting       Accounting   `json:"accounting"`
	Certificates     Certificates `json:"certificates"`
	DisruptionBudget Budget       `json:"podDisruptionBudget"`
	TopologySpread   Spread       `json:"topologySpread"`
	NetworkPolicy    Network      `json:"networkPolicy"`
	QueueUse         QueueUse     `json:"queueUse"`
	Accounts         Accounts     `json:"accounts"`
	Monitoring       Monitoring   `json:"monitoring"`
	Doctor           Doctor       `json:"doctor"`
}

// Image holds the values for the image of the components.
type Image struct {
	Repository  string           `json:"repository" pattern:"^[^:@ ]+(:[0-9]+/[^:@ ]+)?$" doc:"Image of the components, without tag and digest."`
	Tag         string           `json:"tag" pattern:"^[A-Za-z0-9_.-]*$" doc:"Tag of the image. Empty means the version of the chart's application."`
	Digest      string           `json:"digest" pattern:"^(sha256:[a-f0-9]{64})?$" doc:"Digest of the image with its algorithm, for example sha256:0123… It replaces the tag."`
	PullPolicy  string           `json:"pullPolicy" enum:",Always,IfNotPresent,Never" doc:"When the kubelet pulls images. Empty means the default of Kubernetes."`
	PullSecrets []map[string]any `json:"pullSecrets" doc:"Secrets with the credentials of the registry, for example [{name: registry}]."`
}

// Component holds the values for one component.
type Component struct {
	Replicas int `json:"replicas" min:"1" doc:"Number of pods. With two or more, the failure of one does not stop the component."`
	Pods
}

// Pods holds the values for the pods of one component.
type Pods struct {
	CPU               string            `json:"cpu" pattern:"^([0-9]+m?|[0-9]+\\.[0-9]+)?$" doc:"CPU request. Empty means the one of the size."`
	MemoryMiB         int               `json:"memoryMiB" min:"0" doc:"Memory request and limit in MiB. 0 means the one of the size."`
	ExtraArgs         []string          `json:"extraArgs" doc:"More arguments for vcd, for example [--v=2]."`
	PriorityClassName string            `json:"priorityClassName" doc:"Priority class of the pods."`
	NodeSelector      map[string]string `json:"nodeSelector" doc:"Labels of the nodes on which the pods may run."`
	Tolerations       []map[string]any  `json:"tolerations" doc:"Taints that the pods tolerate."`
	Affinity          map[string]any    `json:"affinity" doc:"Node and pod affinity of the pods."`
	PodAnnotations    map[string]string `json:"podAnnotations" doc:"Annotations of the pods."`
}

// Scheduler holds the values for the scheduler.
type Scheduler struct {
	Component
	Config string `json:"config" doc:"Content of volcano-scheduler.conf. If it is set, the chart writes it to the ConfigMap volcano-scheduler-configmap. If it is empty, the chart does not touch that ConfigMap, and without one, the built-in configuration is used."`
}

// Accounting holds the values for the component that records jobs in a database.
type Accounting struct {
	Enabled     bool   `json:"enabled" doc:"Record ended jobs in a database. Before you disable it again, read docs/guides/accounting.md: without it, deleted jobs keep waiting for it."`
	ClusterName string `json:"clusterName" pattern:"^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$" doc:"Name of the cluster in the records. It must be unique among clusters that share a database."`
	Store       Store  `json:"store"`
	Prometheus  string `json:"prometheus" doc:"Prometheus server that scrapes NVIDIA's DCGM exporter, to record the usage of GPUs: a URL, or a service in the form NAMESPACE/SERVICE:PORT. Empty means that GPUs are not measured."`
	Replicas    int    `json:"replicas" min:"1" doc:"Number of pods with PostgreSQL. One of them records jobs. With SQLite, there is always one pod."`
	Pods
}

// Store holds the values for the accounting database: SQLite in a volume, or PostgreSQL.
type Store struct {
	SQLite   SQLite   `json:"sqlite"`
	Postgres Postgres `json:"postgres"`
}

// SQLite holds the values for an SQLite database.
type SQLite struct {
	Size         string `json:"size" pattern:"^[0-9]+([KMGTPE]i?)?$" doc:"Size of the volume with the SQLite database."`
	StorageClass string `json:"storageClass" doc:"Storage class of this volume. Empty means the default of the cluster."`
}

// Postgres holds the values for a PostgreSQL database.
type Postgres struct {
	ExistingSecret string `json:"existingSecret" doc:"Secret in volcano-system with the URL of a PostgreSQL database. Empty means SQLite."`
	SecretKey      string `json:"secretKey" pattern:"^[A-Za-z0-9._-]+$" doc:"Key of the URL in this Secret."`
	SpoolSize      string `json:"spoolSize" pattern:"^[0-9]+([KMGTPE]i?)?$" doc:"Size of the volume in which each pod keeps records while the PostgreSQL database is down."`
	StorageClass   string `json:"storageClass" doc:"Storage class of these volumes. Empty means the default of the cluster."`
}

// Certificates holds the values for the certificate of the webhooks.
type Certificates struct {
	Source     string    `json:"source" enum:"vcd,certManager,secret" doc:"Who issues the certificate of the webhooks: vcd itself, cert-manager, or you (an existing Secret)."`
	IssuerRef  IssuerRef `json:"issuerRef"`
	SecretName string    `json:"secretName" doc:"With source secret: the Secret in volcano-system with tls.crt, tls.key and ca.crt."`
}

// IssuerRef names an issuer of cert-manager.
type IssuerRef struct {
	Name  string `json:"name" doc:"With source certManager: the name of the issuer. It must write ca.crt into its Secrets."`
	Kind  string `json:"kind" doc:"Kind of the issuer: Issuer or ClusterIssuer, or a kind of another group."`
	Group string `json:"group" doc:"API group of the issuer."`
}

// Budget holds the values for disruption budgets.
type Budget struct {
	Enabled        bool `json:"enabled" doc:"Create a PodDisruptionBudget for each component."`
	MaxUnavailable int  `json:"maxUnavailable" min:"1" doc:"Number of pods of a component that may be evicted at the same time."`
}

// Spread holds the values for the spread of pods.
type Spread struct {
	Zones string `json:"zones" enum:"ScheduleAnyway,DoNotSchedule" doc:"What happens if the pods of a component cannot be spread over zones."`
	Hosts string `json:"hosts" enum:"ScheduleAnyway,DoNotSchedule" doc:"What happens if the pods of a component cannot be spread over nodes."`
}

// Network holds the values for network policies.
type Network struct {
	Enabled     bool             `json:"enabled" doc:"Create a NetworkPolicy for each component, which permits connections only to its ports."`
	MetricsFrom []map[string]any `json:"metricsFrom" doc:"Peers that may read metrics, as in a NetworkPolicy. Empty means all."`
}

// QueueUse holds the value for the permission to use queues.
type QueueUse struct {
	Required bool `json:"required" doc:"Require the verb use on each queue that an object names. Grant it before you turn this on."`
}

// Accounts holds the value for the accounts of jobs.
type Accounts struct {
	Required bool `json:"required" doc:"Reject jobs without an account in which their user is listed. Create the accounts before you turn this on."`
}

// Monitoring holds the values for the objects of the Prometheus Operator and of Grafana, and for traces.
type Monitoring struct {
	PodMonitor     Monitor `json:"podMonitor"`
	ServiceMonitor Monitor `json:"serviceMonitor"`
	Alerts         Extra   `json:"alerts"`
	Dashboards     Extra   `json:"dashboards"`
	Traces         Traces  `json:"traces"`
}

// Traces holds the value for the traces of jobs.
type Traces struct {
	Endpoint string `json:"endpoint" pattern:"^(https?://[^ ]+)?$" doc:"URL of the OpenTelemetry collector that receives a trace of each ended job by gRPC, for example http://collector.monitoring:4317. Empty means no traces."`
}

// Monitor holds the values for a PodMonitor or a ServiceMonitor.
type Monitor struct {
	Extra
	Interval string `json:"interval" pattern:"^([0-9]+(ms|s|m))?$" doc:"Time between two scrapes. Empty means the default of Prometheus."`
}

// Extra holds the values for an optional object with labels.
type Extra struct {
	Enabled bool              `json:"enabled" doc:"Create it."`
	Labels  map[string]string `json:"labels" doc:"Labels by which its reader selects it."`
}

// Doctor holds the values for the test of a release.
type Doctor struct {
	Enabled        bool     `json:"enabled" doc:"Let helm test run vcctl doctor in the cluster."`
	Image          Image    `json:"image"`
	ProbeNamespace string   `json:"probeNamespace" doc:"Namespace in which the test runs a small job. Empty means no such job."`
	Args           []string `json:"args" doc:"More arguments for vcctl doctor, for example [--image=registry.example.com/busybox] for the image of the small job."`
}

// DefaultValues returns the values of an installation without changes. They describe install.yaml.
func DefaultValues() Values {
	pods := Pods{PriorityClassName: "system-cluster-critical"}
	component := Component{Replicas: 2, Pods: pods}
	repository, _ := imageName(deploy.Image)
	return Values{
		Size:             deploy.DefaultSize,
		Image:            Image{Repository: repository},
		Scheduler:        Scheduler{Component: component},
		Controllers:      component,
		Admission:        component,
		Accounting:       defaultAccounting(pods),
		Certificates:     Certificates{Source: "vcd", IssuerRef: IssuerRef{Kind: "Issuer", Group: "cert-manager.io"}},
		DisruptionBudget: Budget{Enabled: true, MaxUnavailable: 1},
		TopologySpread:   Spread{Zones: "ScheduleAnyway", Hosts: "ScheduleAnyway"},
		NetworkPolicy:    Network{Enabled: true},
		Monitoring:       Monitoring{Dashboards: Extra{Labels: map[string]string{"grafana_dashboard": "1"}}},
		Doctor:           Doctor{Enabled: true, ProbeNamespace: "default", Image: Image{Repository: doctorRepository}},
	}
}

func defaultAccounting(pods Pods) Accounting {
	return Accounting{
		ClusterName: "default", Replicas: 2, Pods: pods,
		Store: Store{SQLite: SQLite{Size: fmt.Sprintf("%dGi", deploy.DefaultAccountingGiB)}, Postgres: Postgres{SecretKey: "url", SpoolSize: "2Gi"}},
	}
}

// CRDValues holds the values of chart vc-crds.
type CRDValues struct {
	CRDs CRDs `json:"crds"`
}

// CRDs holds the values for the CustomResourceDefinitions.
type CRDs struct {
	Keep bool `json:"keep" doc:"Keep the CustomResourceDefinitions when the release is removed. Without them, Kubernetes deletes every job and queue."`
}

// DefaultCRDValues returns the values of chart vc-crds without changes.
func DefaultCRDValues() CRDValues { return CRDValues{CRDs: CRDs{Keep: true}} }
