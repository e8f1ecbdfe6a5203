package deploy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

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

// TestAllUsersMayViewClusterScopedKinds checks that a role that is bound to all users covers every cluster-scoped kind.
func TestAllUsersMayViewClusterScopedKinds(t *testing.T) {
	t.Parallel()
	roles, bound := map[string][]rbacv1.PolicyRule{}, []string{}
	for _, object := range People() {
		switch object := object.(type) {
		case *rbacv1.ClusterRole:
			roles[object.Name] = object.Rules
		case *rbacv1.ClusterRoleBinding:
			if object.Subjects[0].Name == "system:authenticated" {
				bound = append(bound, object.RoleRef.Name)
			}
		}
	}
	var rules []rbacv1.PolicyRule
	for _, name := range bound {
		rules = append(rules, roles[name]...)
	}
	for group, resources := range kindsOfScope(apiextensionsv1.ClusterScoped) {
		for _, resource := range resources {
			for _, verb := range []string{"get", "list", "watch"} {
				if !permit(rules, group, resource, verb) {
					t.Errorf("users may not %s %s.%s", verb, resource, group)
				}
			}
		}
	}
}

// kindsOfScope returns the resources of our CustomResourceDefinitions with this scope, by group.
func kindsOfScope(scope apiextensionsv1.ResourceScope) map[string][]string {
	kinds := map[string][]string{}
	for _, crd := range CRDs() {
		if crd.Spec.Scope == scope {
			kinds[crd.Spec.Group] = append(kinds[crd.Spec.Group], crd.Spec.Names.Plural)
		}
	}
	return kinds
}

// permit reports whether rules permit a verb on a resource.
func permit(rules []rbacv1.PolicyRule, group, resource, verb string) bool {
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) && slices.Contains(r.Verbs, verb)
	})
}

// TestUsersMayUseAllOurKinds checks that the roles aggregated into edit and view cover every namespaced kind.
func TestUsersMayUseAllOurKinds(t *testing.T) {
	kinds := kindsOfScope(apiextensionsv1.NamespaceScoped)
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
					if !permit(role.Rules, group, resource, verb) {
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
