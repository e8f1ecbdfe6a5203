package deploy

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// The service accounts of the components.
const (
	SchedulerAccount   = "vc-scheduler"
	ControllersAccount = "vc-controllers"
	AdmissionAccount   = "vc-admission"
	AccountingAccount  = "vc-accounting"
	// AccountingKubeletsAccount is the service account whose tokens kubelets get.
	AccountingKubeletsAccount = "vc-accounting-kubelets"
)

// controllersConfigMap is the configuration of the controllers, with the name from Volcano's chart.
const controllersConfigMap = "volcano-controller-configmap"

// slurmProfile is the ConfigMap with the site's profile for the Slurm commands, as defined in internal/slurm/profile.
const slurmProfile = "slurm-profile"

// The API groups.
const (
	core         = ""
	batchGroup   = "batch.volcano.sh"
	accountGroup = "account.vc-batch.dev"
	busGroup     = "bus.volcano.sh"
	flowGroup    = "flow.volcano.sh"
	insightGroup = "insight.vc-batch.dev"
	gangGroup    = "scheduling.volcano.sh"
	nodeGroup    = "nodeinfo.volcano.sh"
	netGroup     = "topology.volcano.sh"
	hookGroup    = "admissionregistration.k8s.io"
	leaseGroup   = "coordination.k8s.io"
	appsGroup    = "apps"
	kubeJobs     = "batch"
	networkGroup = "networking.k8s.io"
	classGroup   = "scheduling.k8s.io"
	policyGroup  = "policy"
	storageGroup = "storage.k8s.io"
	deviceGroup  = "resource.k8s.io"
	// groups of SubjectAccessReviews and APIServices
	reviewGroup   = "authorization.k8s.io"
	registryGroup = "apiregistration.k8s.io"
)

// component holds one service account and its permissions.
type component struct {
	account string
	// cluster holds the permissions in all namespaces; own holds the permissions in the namespace of the installation.
	cluster, own []rbacv1.PolicyRule
}

// rule returns a rule that permits verbs on resources of a group.
func rule(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// only restricts a rule to objects with the specified names.
func only(r rbacv1.PolicyRule, names ...string) rbacv1.PolicyRule {
	r.ResourceNames = names
	return r
}

func of(resources ...string) []string { return resources }

var watched = []string{"get", "list", "watch"}

// lease returns the rules for leader election with the named lease. They permit creating any lease, because the verb
// "create" cannot be restricted to a name.
func lease(name string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(leaseGroup, of("leases"), "create"),
		only(rule(leaseGroup, of("leases"), "get", "update"), name),
	}
}

// jobIDs returns the rules for assigning job numbers.
func jobIDs() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, of("configmaps"), "create"),
		only(rule(core, of("configmaps"), "get", "update"), keys.JobIDsName),
	}
}

// components returns the components with their permissions.
func components() []component {
	return []component{
		{
			account: SchedulerAccount,
			cluster: []rbacv1.PolicyRule{
				// internal/feed
				rule(core, of("namespaces", "nodes", "pods", "resourcequotas"), watched...),
				rule(classGroup, of("priorityclasses"), watched...),
				rule(policyGroup, of("poddisruptionbudgets"), watched...),
				rule(gangGroup, of("podgroups", "queues"), watched...),
				rule(nodeGroup, of("numatopologies"), watched...),
				rule(netGroup, of("hypernodes"), watched...),
				rule(accountGroup, of("accounts", "qoses"), watched...),
				// volumes and devices, and the objects that describe where they are available
				rule(core, of("persistentvolumes", "persistentvolumeclaims"), append(watched, "patch")...),
				rule(storageGroup, of("storageclasses", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"), watched...),
				rule(deviceGroup, of("resourceclaims"), append(watched, "update")...),
				rule(deviceGroup, of("resourceclaims/status", "resourceclaims/binding"), "update", "patch"),
				rule(deviceGroup, of("resourceslices", "deviceclasses", "devicetaintrules"), watched...),
				// internal/nodemetrics: the actual load of nodes, if the metrics adapter is configured
				rule("custom.metrics.k8s.io", of("nodes/node_cpu_usage_avg", "nodes/node_memory_usage_avg"), "get"),
				// internal/outbox: bindings, evictions, conditions, statuses, events
				rule(core, of("pods/binding"), "create"),
				rule(core, of("pods"), "delete", "patch"), // patch: removes the scheduling gate from a pod
				rule(core, of("pods/status"), "patch"),
				rule(core, of("events"), "create", "patch"),
				rule(gangGroup, of("podgroups", "queues/status"), "patch"),
				rule(netGroup, of("hypernodes/status"), "patch"),
				// internal/daemon: the root queue and the default queue
				rule(gangGroup, of("queues"), "create"),
				// internal/daemon: what-if requests from users, and the jobs on which these requests depend
				rule(insightGroup, of("plans"), append(watched, "delete")...),
				rule(insightGroup, of("plans/status"), "update"),
				rule(batchGroup, of("jobs"), "get", "list"),
			},
			// internal/daemon: the state of its configuration, and account usage
			own: append(lease("vc-scheduler"),
				rule(core, of("configmaps"), "create"),
				only(rule(core, of("configmaps"), "get", "update"), keys.ConfigurationName, keys.UsageName)),
		},
		{
			account: ControllersAccount,
			cluster: []rbacv1.PolicyRule{
				// internal/controllers/job
				rule(batchGroup, of("jobs"), append(watched, "create", "patch", "delete")...), // create: for CronJobs and JobFlows
				rule(batchGroup, of("jobs/status"), "update"),
				rule(batchGroup, of("jobs/finalizers"), "update"), // owner references that block deletion
				rule(batchGroup, of("jobs"), ImpersonateVerb),     // to create jobs and PodGroups for the users of their sources
				rule(core, of("pods"), append(watched, "create", "patch", "delete")...),
				rule(core, of("persistentvolumeclaims"), "get", "create"),
				rule(classGroup, of("priorityclasses"), watched...),
				// the plugins svc and ssh; a job's own Secret is read by its name
				rule(core, of("services", "configmaps", "secrets"), "get", "create", "update", "delete"),
				rule(networkGroup, of("networkpolicies"), "get", "create", "update", "delete"),
				// internal/controllers/podgroup
				rule(gangGroup, of("podgroups"), append(watched, "create", "patch", "delete")...),
				rule(core, of("pods/finalizers"), "update"),
				rule(appsGroup, of("replicasets", "statefulsets"), watched...),
				rule(appsGroup, of("daemonsets"), "get"),
				rule(kubeJobs, of("jobs"), "get"),
				// internal/controllers/queue
				rule(gangGroup, of("queues"), append(watched, "patch")...),
				rule(gangGroup, of("queues/status"), "patch"),
				// internal/controllers/cronjob, jobflow, jobtemplate
				rule(batchGroup, of("cronjobs"), watched...),
				rule(batchGroup, of("cronjobs/status"), "update"),
				rule(batchGroup, of("cronjobs/finalizers"), "update"),
				rule(flowGroup, of("jobflows", "jobtemplates"), watched...),
				rule(flowGroup, of("jobflows/status", "jobtemplates/status"), "update"),
				rule(flowGroup, of("jobflows/finalizers"), "update"),
				// internal/controllers/hypernode
				rule(netGroup, of("hypernodes"), append(watched, "create", "update", "delete")...),
				rule(core, of("nodes"), watched...),
				// internal/joblist: permission checks for users, and the registration of the lists
				rule(reviewGroup, of("subjectaccessreviews"), "create"),
				rule(registryGroup, of("apiservices"), "create"),
				only(rule(registryGroup, of("apiservices"), "get", "update", "delete"), "v1."+jobsummary.GroupName),
				// all controllers
				rule(busGroup, of("commands"), append(watched, "delete")...),
				rule(core, of("events"), "create", "patch"),
			},
			own: append(append(lease("vc-controller-manager"), jobIDs()...),
				only(rule(core, of("configmaps"), "list", "watch"), controllersConfigMap)),
		},
		{
			account: AdmissionAccount,
			cluster: []rbacv1.PolicyRule{
				// internal/admission: queues and namespaces to which objects refer, and its own configurations
				rule(gangGroup, of("queues"), watched...),
				rule(core, of("namespaces"), "get"),
				// checks whether users may read the jobs on which their jobs depend, and whether they may release jobs
				// held by an administrator
				rule(reviewGroup, of("subjectaccessreviews"), "create"),
				// accounts and QOS, and their jobs that have not ended
				rule(accountGroup, of("accounts", "qoses"), watched...),
				// jobs on which other jobs depend, and the job numbers in use
				rule(batchGroup, of("jobs"), watched...),
				rule(flowGroup, of("jobtemplates"), "list"), // to check the jobs of JobFlows
				// create: deleted configurations are re-created; the ClusterRole owns them
				only(rule(rbacv1.GroupName, of("clusterroles"), "get"), AdmissionAccount),
				rule(hookGroup, of("mutatingwebhookconfigurations", "validatingwebhookconfigurations"), "list", "watch", "create"),
				only(rule(hookGroup, of("mutatingwebhookconfigurations"), "get", "update"), mutatingConfigurations...),
				only(rule(hookGroup, of("validatingwebhookconfigurations"), "get", "update"), validatingConfigurations...),
			},
			own: append([]rbacv1.PolicyRule{
				rule(core, of("secrets"), "create"),
				only(rule(core, of("secrets"), "get", "update"), "volcano-admission-certificate"),
				// deletions of accounts that are not recorded yet
				rule(core, of("configmaps"), "create"),
			}, jobIDs()...),
		},
	}
}

// RBAC returns the namespace, the service accounts with their permissions, and the roles of users.
func RBAC() []runtime.Object {
	objects := []runtime.Object{namespace()}
	for _, c := range components() {
		objects = append(objects, c.objects()...)
	}
	return append(append(objects, frontProxyReader("vc-listing", ControllersAccount)), people()...)
}

// frontProxyReader returns a role binding that permits a component to read how the API server's aggregator authenticates
// itself. It binds the role that Kubernetes provides for this purpose.
func frontProxyReader(name, account string) runtime.Object {
	return &rbacv1.RoleBinding{
		TypeMeta: rbacType("RoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceSystem},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: Namespace}},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "extension-apiserver-authentication-reader"},
	}
}

func namespace() *corev1.Namespace {
	return &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: Namespace, Labels: map[string]string{
			"pod-security.kubernetes.io/enforce": "restricted",
		}},
	}
}

func (c component) objects() []runtime.Object {
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: c.account, Namespace: Namespace}}
	return []runtime.Object{
		&corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: ownMeta(c.account)},
		clusterRole(c.account, nil, c.cluster),
		clusterRoleBinding(c.account, subjects),
		&rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: ownMeta(c.account), Rules: c.own},
		&rbacv1.RoleBinding{
			TypeMeta: rbacType("RoleBinding"), ObjectMeta: ownMeta(c.account), Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: c.account},
		},
	}
}

// People returns the roles for users and the admission policies, for clusters that do not use install.yaml.
func People() []runtime.Object { return append(people(), policies()...) }

// people returns roles that are aggregated into Kubernetes' roles for users, so that users who may edit or view the
// objects in a namespace may also edit or view its jobs. All users may view the cluster-scoped kinds, such as queues.
func people() []runtime.Object {
	aggregated := func(roles ...string) map[string]string {
		labels := map[string]string{}
		for _, role := range roles {
			labels["rbac.authorization.k8s.io/aggregate-to-"+role] = "true"
		}
		return labels
	}
	everything := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	return []runtime.Object{
		clusterRole("volcano-user", aggregated("edit", "admin"), []rbacv1.PolicyRule{
			rule(batchGroup, of("jobs", "cronjobs"), everything...),
			rule(flowGroup, of("jobflows", "jobtemplates"), everything...),
			rule(gangGroup, of("podgroups"), everything...),
			rule(busGroup, of("commands"), everything...),
			rule(insightGroup, of("plans"), everything...),
		}),
		clusterRole("volcano-viewer", aggregated("view", "edit", "admin"), []rbacv1.PolicyRule{
			rule(batchGroup, of("jobs", "jobs/status", "cronjobs", "cronjobs/status"), watched...),
			rule(flowGroup, of("jobflows", "jobflows/status", "jobtemplates", "jobtemplates/status"), watched...),
			rule(gangGroup, of("podgroups"), watched...),
			rule(busGroup, of("commands"), watched...),
			rule(insightGroup, of("plans"), watched...),
		}),
		clusterRole("volcano-queue-viewer", nil, []rbacv1.PolicyRule{
			rule(gangGroup, of("queues"), watched...),
			rule(netGroup, of("hypernodes"), watched...),
			rule(nodeGroup, of("numatopologies"), watched...),
		}),
		clusterRoleBinding("volcano-queue-viewer", []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}}),
		// An administrator grants this role to those who manage queues.
		clusterRole("volcano-queue-admin", nil, []rbacv1.PolicyRule{rule(gangGroup, of("queues"), append(everything, "use")...)}),
		// All users may read accounts and QOS, which name their limits. Viewers may do so even if an administrator
		// removes the binding.
		clusterRole("vc-account-viewer", aggregated("view", "edit", "admin"), []rbacv1.PolicyRule{rule(accountGroup, of("accounts", "qoses"), watched...)}),
		clusterRoleBinding("vc-account-viewer", []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}}),
		// An administrator grants this role to those who manage accounts and QOS. It is part of no other role, because accounts limit
		// the users of all namespaces.
		clusterRole("vc-account-admin", nil, []rbacv1.PolicyRule{rule(accountGroup, of("accounts", "qoses"), everything...)}),
		// The Slurm commands read the available images and volumes from the site's profile.
		&rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: ownMeta("vc-slurm-profile"), Rules: []rbacv1.PolicyRule{
			only(rule(core, of("configmaps"), "get"), slurmProfile),
		}},
		&rbacv1.RoleBinding{
			TypeMeta: rbacType("RoleBinding"), ObjectMeta: ownMeta("vc-slurm-profile"),
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "vc-slurm-profile"},
		},
		// An administrator binds this role to those who may see the shares and the past usage of all accounts with sshare.
		&rbacv1.Role{TypeMeta: rbacType("Role"), ObjectMeta: ownMeta("vc-fair-share"), Rules: []rbacv1.PolicyRule{
			only(rule(core, of("configmaps"), "get"), keys.ConfigurationName, keys.UsageName),
		}},
		// All users may request lists. A list contains only objects that the user is permitted to list.
		clusterRole("vc-listing", nil, []rbacv1.PolicyRule{rule(jobsummary.GroupName, of(jobsummary.Resource), "list")}),
		clusterRoleBinding("vc-listing", []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}}),
		// All users may query the accounting database. The result contains only their own records, the changes of the accounts
		// that they coordinate, and the capacity of all nodes.
		clusterRole("vc-accounting-user", nil, []rbacv1.PolicyRule{
			rule(wire.GroupName, of(wire.RecordsResource, wire.UsageResource, wire.CapacityResource, wire.TransactionsResource, wire.EventsResource), "list"),
		}),
		clusterRoleBinding("vc-accounting-user", []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}}),
		// An administrator grants this role to those who may read the records of all users.
		clusterRole("vc-accounting-admin", nil, []rbacv1.PolicyRule{
			rule(wire.GroupName, of(wire.RecordsResource, wire.UsageResource, wire.CapacityResource, wire.TransactionsResource, wire.EventsResource, wire.AllRecordsResource, wire.AllUsageResource), "list"),
		}),
	}
}

func ownMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: Namespace}
}

func rbacType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: kind}
}

func clusterRole(name string, labels map[string]string, rules []rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{TypeMeta: rbacType("ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Rules: rules}
}

func clusterRoleBinding(name string, subjects []rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta: rbacType("ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}
}
