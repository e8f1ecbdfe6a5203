package local

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/slurm/profile"
)

// slurmAccount is the name of the service account for batch jobs in namespace default, and the name of its roles. Its
// permissions allow sbatch and the other commands to work inside jobs.
const slurmAccount = "slurm-job"

// policyRule returns a rule that permits the verbs on the resources in an API group.
func policyRule(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

var (
	// jobRights are the permissions of jobs in their namespace. They are the same as those of a user who submits and
	// controls jobs there.
	jobRights = []rbacv1.PolicyRule{
		policyRule("batch.volcano.sh", []string{"jobs", "cronjobs"}, "get", "list", "watch", "create", "update", "patch", "delete"),
		// The jobs that a job submits belong to the same user.
		policyRule("batch.volcano.sh", []string{"jobs"}, deploy.ImpersonateVerb),
		policyRule("batch.volcano.sh", []string{"jobs/finalizers", "cronjobs/finalizers"}, "update"),
		policyRule("bus.volcano.sh", []string{"commands"}, "create", "get", "list"),
		policyRule("scheduling.volcano.sh", []string{"podgroups"}, "get", "list", "watch"),
		policyRule("insight.vc-batch.dev", []string{"plans"}, "get", "list", "watch", "create", "delete"),
		policyRule("", []string{"pods", "pods/log", "events", "services"}, "get", "list", "watch"),
		policyRule("", []string{"pods/exec", "pods/attach"}, "create", "get"),
		policyRule("", []string{"configmaps"}, "get", "list", "create", "update", "delete"),
		// The entries of a scrontab store the secrets of their jobs. This permission reveals nothing new, because a job
		// can read these secrets anyway by mounting them in another job.
		policyRule("", []string{"secrets"}, "get", "create", "update"),
		policyRule("", []string{"serviceaccounts"}, "get"),
	}
	// clusterRights are the permissions of jobs for cluster-scoped objects.
	clusterRights = []rbacv1.PolicyRule{
		policyRule("scheduling.volcano.sh", []string{"queues"}, "get", "list", "watch"),
		policyRule("scheduling.k8s.io", []string{"priorityclasses"}, "get", "list"),
		policyRule("", []string{"nodes", "namespaces"}, "get", "list", "watch"),
		// The records belong to the users for whom the jobs run, not to this account, which may submit for all users.
		policyRule(wire.GroupName, []string{wire.RecordsResource, wire.UsageResource, wire.TransactionsResource, wire.EventsResource, wire.AllRecordsResource, wire.AllUsageResource}, "list"),
	}
	profileRights = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{profile.Name}, Verbs: []string{"get"}}}
)

// slurmRights creates the service account for batch jobs and its roles. Existing objects are not changed.
func slurmRights(ctx context.Context, client kubernetes.Interface) error {
	const home, system = metav1.NamespaceDefault, daemon.Namespace
	meta := func(namespace string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: slurmAccount, Namespace: namespace}
	}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: slurmAccount, Namespace: home}}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: slurmAccount}
	clusterRole := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: slurmAccount}
	account := &corev1.ServiceAccount{ObjectMeta: meta(home)}
	_, err := client.CoreV1().ServiceAccounts(home).Create(ctx, account, metav1.CreateOptions{})
	problems := []error{err}
	for namespace, rules := range map[string][]rbacv1.PolicyRule{home: jobRights, system: profileRights} {
		_, err := client.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta(namespace), Rules: rules}, metav1.CreateOptions{})
		problems = append(problems, err)
		_, err = client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta(namespace), Subjects: subjects, RoleRef: role}, metav1.CreateOptions{})
		problems = append(problems, err)
	}
	_, err = client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta(""), Rules: clusterRights}, metav1.CreateOptions{})
	problems = append(problems, err)
	_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta(""), Subjects: subjects, RoleRef: clusterRole}, metav1.CreateOptions{})
	problems = append(problems, err)
	for _, err := range problems {
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("permissions of batch jobs: %w", err)
		}
	}
	return nil
}
