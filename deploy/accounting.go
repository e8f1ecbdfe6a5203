package deploy

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/internal/accounting/audit"
	"github.com/vc-batch/vc/internal/accounting/wire"
)

// The objects of the component that records jobs, besides its service account and roles.
const (
	// AccountingWorkload is the StatefulSet, and the Service in front of the queries.
	AccountingWorkload = AccountingAccount
	// AccountingLease is the lease of the replica that records jobs.
	AccountingLease = "vc-accounting"
	// AccountingCertificate is the Secret with the certificate of the queries, which vcd issues.
	AccountingCertificate = "vc-accounting-certificate"
	// AccountingSQLite is the argument that selects an SQLite database. AccountingStoreVariable is the environment variable
	// with the address of another database.
	AccountingSQLite        = "--accounting-store=sqlite:" + accountingDir + "/records"
	AccountingStoreVariable = "VC_ACCOUNTING_STORE"
)

const (
	accountingDir  = "/var/lib/vc-accounting"
	accountingPort = 8443
	// accountingRegistration is the APIService of the queries, which vcd creates.
	accountingRegistration = wire.Version + "." + wire.GroupName
)

// DefaultAccountingGiB is the size of the volume of an SQLite database in GiB.
const DefaultAccountingGiB = 10

// Accounting returns the objects of the component that records jobs in an SQLite database. They are not part of the
// default installation.
func Accounting() []runtime.Object {
	w := workload{
		account: AccountingAccount,
		args: []string{
			"accounting", "--accounting-address=" + fmt.Sprintf(":%d", accountingPort), "--accounting-service=" + Namespace + "/" + AccountingWorkload,
			"--accounting-owner=" + AccountingAccount, "--accounting-spool-dir=" + accountingDir + "/spool", AccountingSQLite, "--cluster-name=default",
		},
		ports: []corev1.ContainerPort{{Name: "api", ContainerPort: accountingPort}},
	}
	objects := append(AccountingRBAC(), httpsService(AccountingWorkload, AccountingAccount, w.ports[0].Name))
	return append(objects, w.statefulSet(), w.budget(), w.networkPolicy())
}

// AccountingRBAC returns the service account of the component that records jobs, with its permissions.
func AccountingRBAC() []runtime.Object {
	c := component{
		account: AccountingAccount,
		cluster: []rbacv1.PolicyRule{
			// internal/accounting/recorder: jobs, their finalizer and their pods
			rule(batchGroup, of("jobs"), append(watched, "patch")...),
			rule(core, of("pods"), watched...),
			// internal/accounting/recorder: the changes of nodes; internal/accounting/kubeletstats: the addresses of
			// kubelets, and the annotations of pods with their usage
			rule(core, of("nodes"), watched...),
			rule(core, of("pods/status"), "patch"),
			// accounts, whose coordinators may read the records of their users
			rule(accountGroup, of("accounts", "qoses"), watched...),
			// internal/accounting/recorder: changes of accounts and QOS, which it acknowledges
			rule(accountGroup, of("accounts", "qoses"), "patch", audit.RecordVerb),
			// internal/accounting/serve: permission checks for users, and the registration of the queries, which belongs to
			// the ClusterRole. Clusters may require the verb delete for a change of the owner.
			rule(reviewGroup, of("subjectaccessreviews"), "create"),
			rule(registryGroup, of("apiservices"), "create"),
			only(rule(registryGroup, of("apiservices"), "get", "update", "delete"), accountingRegistration),
			only(rule(rbacv1.GroupName, of("clusterroles"), "get"), AccountingAccount),
		},
		own: append(lease(AccountingLease),
			// deletions of accounts and QOS that are not recorded yet, which admission writes
			rule(core, of("configmaps"), "list", "delete"),
			// internal/accounting/kubeletstats: the identity that kubelets see
			only(rule(core, of("serviceaccounts/token"), "create"), AccountingKubeletsAccount),
			rule(core, of("secrets"), "create"),
			only(rule(core, of("secrets"), "get", "update"), AccountingCertificate)),
	}
	return append(append(c.objects(), frontProxyReader(AccountingAccount, AccountingAccount)), accountingKubelets()...)
}

// accountingKubelets returns the service account whose tokens accounting sends to kubelets. A person who controls a node
// can use such a token, so it permits only reading the usage of pods from kubelets.
func accountingKubelets() []runtime.Object {
	return []runtime.Object{
		&corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: ownMeta(AccountingKubeletsAccount)},
		clusterRole(AccountingKubeletsAccount, nil, []rbacv1.PolicyRule{rule(core, of("nodes/stats"), "get")}),
		clusterRoleBinding(AccountingKubeletsAccount, []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: AccountingKubeletsAccount, Namespace: Namespace}}),
	}
}

// statefulSet returns a StatefulSet in which each replica has a volume for the records that the database has not stored
// yet, and for an SQLite database. A StatefulSet never runs two pods with the same volume, and its volumes stay when it is
// deleted.
func (w workload) statefulSet() *appsv1.StatefulSet {
	meta := ownMeta(w.account)
	meta.Labels = w.labels()
	const volume = "data"
	pod := w.pod()
	pod.SecurityContext.FSGroup = pod.SecurityContext.RunAsGroup
	pod.SecurityContext.FSGroupChangePolicy = new(corev1.FSGroupChangeOnRootMismatch)
	// SQLite sorts large results in temporary files, and the root file system is read-only.
	pod.Containers[0].Env = append(pod.Containers[0].Env, corev1.EnvVar{Name: "TMPDIR", Value: accountingDir})
	pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: accountingDir})
	return &appsv1.StatefulSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{
			// Only one process can use an SQLite database.
			Replicas:    new(int32(1)),
			ServiceName: AccountingWorkload,
			Selector:    w.selector(),
			// The replicas do not depend on each other.
			PodManagementPolicy: appsv1.ParallelPodManagement,
			Template:            corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: w.labels()}, Spec: pod},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Name: volume},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceStorage: *resource.NewQuantity(DefaultAccountingGiB<<30, resource.BinarySI),
					}},
				},
			}},
		},
	}
}
