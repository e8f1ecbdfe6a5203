package local

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/vc-batch/vc/internal/accounting/wire"
)

func TestSlurmsCommandsHaveTheRightsTheyNeedInJobs(t *testing.T) {
	t.Parallel()
	client := fake.NewClientset()
	if err := slurmRights(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	role, err := client.RbacV1().Roles(metav1.NamespaceDefault).Get(t.Context(), slurmAccount, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	clusterRole, err := client.RbacV1().ClusterRoles().Get(t.Context(), slurmAccount, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, needed := range []struct {
		command, group, resource string
		verbs                    []string
	}{
		{"sbatch", "batch.volcano.sh", "jobs", []string{"create", "get"}},
		{"sbatch", "", "configmaps", []string{"create"}},
		{"sbatch --test-only", "insight.vc-batch.dev", "plans", []string{"create", "get", "watch", "delete"}},
		{"scrontab", "batch.volcano.sh", "cronjobs", []string{"create", "get", "list", "delete"}},
		{"scrontab", "batch.volcano.sh", "cronjobs/finalizers", []string{"update"}},
		{"scrontab", "", "configmaps", []string{"create", "get", "update", "delete"}},
		{"scrontab -r", "", "secrets", []string{"get", "update"}},
		{"squeue", "", "pods", []string{"list"}},
		{"scancel", "batch.volcano.sh", "jobs", []string{"delete"}},
		{"sacct", wire.GroupName, wire.RecordsResource, []string{"list"}},
		{"sacct", wire.GroupName, wire.AllRecordsResource, []string{"list"}},
		{"scontrol requeue", "bus.volcano.sh", "commands", []string{"create"}},
	} {
		for _, verb := range needed.verbs {
			permitted := false
			for _, rule := range slices.Concat(role.Rules, clusterRole.Rules) {
				permitted = permitted || slices.Contains(rule.APIGroups, needed.group) && slices.Contains(rule.Resources, needed.resource) && slices.Contains(rule.Verbs, verb)
			}
			if !permitted {
				t.Errorf("%s must not %s %s", needed.command, verb, needed.resource)
			}
		}
	}
}
