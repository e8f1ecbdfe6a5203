package deploy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/vc-batch/vc/internal/slurm/profile"
)

// TestEveryUserMayReadAccountsAndOnlyAdministratorsMayChangeThem checks the roles of people: no role that is part of view,
// edit or admin permits changes of accounts, because accounts limit the users of all namespaces.
func TestEveryUserMayReadAccountsAndOnlyAdministratorsMayChangeThem(t *testing.T) {
	t.Parallel()
	rights := map[string][]string{}
	bindsAllUsers := false
	for _, object := range People() {
		switch object := object.(type) {
		case *rbacv1.ClusterRole:
			for _, r := range object.Rules {
				if !slices.Contains(r.APIGroups, accountGroup) {
					continue
				}
				rights[object.Name] = r.Verbs
				if len(object.Labels) > 0 && slices.Contains(r.Verbs, "update") {
					t.Errorf("%s is part of other roles", object.Name)
				}
			}
		case *rbacv1.ClusterRoleBinding:
			bindsAllUsers = bindsAllUsers || object.RoleRef.Name == "vc-account-viewer" && object.Subjects[0].Name == "system:authenticated"
		}
	}
	want := map[string][]string{
		"vc-account-viewer": {"get", "list", "watch"},
		"vc-account-admin":  {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
	}
	if diff := cmp.Diff(want, rights); diff != "" || !bindsAllUsers {
		t.Errorf("all users may read accounts: %v; -want +got:\n%s", bindsAllUsers, diff)
	}
}

// TestUsersMayUseAllOurKinds checks that the roles aggregated into edit and view cover every namespaced kind.
func TestUsersMayUseAllOurKinds(t *testing.T) {
	kinds := map[string][]string{
		batchGroup: {"jobs", "cronjobs"}, flowGroup: {"jobflows", "jobtemplates"}, gangGroup: {"podgroups"}, busGroup: {"commands"}, insightGroup: {"plans"},
	}
	verbs := map[string][]string{
		"volcano-user":   {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
		"volcano-viewer": {"get", "list", "watch"},
	}
	for _, object := range People() {
		role, ok := object.(*rbacv1.ClusterRole)
		if !ok || verbs[role.Name] == nil {
			continue
		}
		for group, resources := range kinds {
			for _, resource := range resources {
				for _, verb := range verbs[role.Name] {
					allowed := slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
						return slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, verb)
					})
					if !allowed {
						t.Errorf("%s may not %s %s.%s", role.Name, verb, resource, group)
					}
				}
			}
		}
		for _, r := range role.Rules {
			if slices.Contains(r.Resources, "jobs/status") && slices.Contains(r.Verbs, "update") {
				t.Errorf("%s may write the status of jobs: admission would take its users for the controllers", role.Name)
			}
		}
		delete(verbs, role.Name)
	}
	if len(verbs) > 0 {
		t.Errorf("there are no roles %v", verbs)
	}
	if slurmProfile != profile.Name {
		t.Errorf("the profile is %s and may be read as %s", profile.Name, slurmProfile)
	}
}
