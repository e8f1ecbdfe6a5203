package deploy

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/accounting/kubeletstats"
	"github.com/vc-batch/vc/internal/accounting/wire"
)

// TestOnlyAdministratorsMayReadTheRecordsOfAllUsers checks the roles of people: all users may send queries, and no role that is
// part of view, edit or admin permits reading the records of others.
func TestOnlyAdministratorsMayReadTheRecordsOfAllUsers(t *testing.T) {
	t.Parallel()
	everybody, rights := map[string]bool{}, map[string][]string{}
	for _, object := range People() {
		switch object := object.(type) {
		case *rbacv1.ClusterRoleBinding:
			for _, subject := range object.Subjects {
				everybody[object.RoleRef.Name] = everybody[object.RoleRef.Name] || subject.Name == "system:authenticated"
			}
		case *rbacv1.ClusterRole:
			for _, rule := range object.Rules {
				if !slices.Contains(rule.APIGroups, wire.GroupName) {
					continue
				}
				rights[object.Name] = append(rights[object.Name], rule.Resources...)
				if len(object.Labels) > 0 || !slices.Equal(rule.Verbs, []string{"list"}) {
					t.Errorf("%s permits %v, labels %v", object.Name, rule.Verbs, object.Labels)
				}
			}
		}
	}
	want := map[string][]string{
		"vc-accounting-user":  {wire.RecordsResource, wire.UsageResource, wire.CapacityResource, wire.TransactionsResource, wire.EventsResource},
		"vc-accounting-admin": {wire.RecordsResource, wire.UsageResource, wire.CapacityResource, wire.TransactionsResource, wire.EventsResource, wire.AllRecordsResource, wire.AllUsageResource},
	}
	if diff := cmp.Diff(want, rights); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !everybody["vc-accounting-user"] || everybody["vc-accounting-admin"] {
		t.Errorf("all users have the roles %v", everybody)
	}
}

// TestAccountingHasOnlyItsRights checks that the component changes nothing but jobs, annotations of accounts, ConfigMaps in
// its namespace, and objects with its own name.
func TestAccountingHasOnlyItsRights(t *testing.T) {
	t.Parallel()
	var changes []string
	for _, object := range AccountingRBAC() {
		var rules []rbacv1.PolicyRule
		switch object := object.(type) {
		case *rbacv1.ClusterRole:
			rules = object.Rules
		case *rbacv1.Role:
			rules = object.Rules
		}
		for _, rule := range rules {
			for _, verb := range rule.Verbs {
				if !slices.Contains(watched, verb) {
					changes = append(changes, strings.TrimSpace(verb+" "+strings.Join(rule.Resources, ",")+" "+strings.Join(rule.ResourceNames, ",")))
				}
			}
			if slices.Contains(rule.Resources, "secrets") && slices.Contains(rule.Verbs, "list") {
				t.Error("accounting may list secrets")
			}
		}
	}
	want := []string{
		"patch jobs", "patch pods/status", "patch accounts,qoses", "record accounts,qoses", "create subjectaccessreviews", "create apiservices",
		"update apiservices v1alpha1.accounting.vc-batch.dev", "delete apiservices v1alpha1.accounting.vc-batch.dev",
		"create leases", "update leases vc-accounting", "delete configmaps", "create serviceaccounts/token vc-accounting-kubelets",
		"create secrets", "update secrets vc-accounting-certificate",
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestKubeletsGetATokenThatPermitsOnlyMeasuring checks the rights of the identity that kubelets see, and that the recorder
// has this right only through its tokens.
func TestKubeletsGetATokenThatPermitsOnlyMeasuring(t *testing.T) {
	t.Parallel()
	if AccountingKubeletsAccount != kubeletstats.AccountName {
		t.Errorf("the chart has the service account %s, and tokens are requested for %s", AccountingKubeletsAccount, kubeletstats.AccountName)
	}
	rolesOf, rules := map[string][]string{}, map[string][]rbacv1.PolicyRule{}
	for _, object := range AccountingRBAC() {
		switch object := object.(type) {
		case *rbacv1.ClusterRole:
			rules[object.Name] = object.Rules
		case *rbacv1.ClusterRoleBinding:
			rolesOf[object.Subjects[0].Name] = append(rolesOf[object.Subjects[0].Name], object.RoleRef.Name)
		case *rbacv1.RoleBinding:
			if object.Subjects[0].Name == AccountingKubeletsAccount {
				t.Errorf("kubelets get the rights of the role %s", object.RoleRef.Name)
			}
		}
	}
	want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes/stats"}, Verbs: []string{"get"}}}
	if diff := cmp.Diff(want, rules[AccountingKubeletsAccount]); diff != "" || !slices.Equal(rolesOf[AccountingKubeletsAccount], []string{AccountingKubeletsAccount}) {
		t.Errorf("kubelets get the roles %v, -want +got:\n%s", rolesOf[AccountingKubeletsAccount], diff)
	}
	for _, rule := range rules[AccountingAccount] {
		if slices.Contains(rule.Resources, "nodes/stats") {
			t.Error("the recorder needs no access to kubelets with its own identity")
		}
	}
}

// TestNobodyMayListTheSecretsOfACluster checks that install.yaml permits only reading Secrets by name: an account that
// may list or watch them, or has all permissions, has access to the keys of all users (#3446).
func TestNobodyMayListTheSecretsOfACluster(t *testing.T) {
	content, err := os.ReadFile("install.yaml")
	if err != nil {
		t.Fatal(err)
	}
	roles, onSecrets := 0, 0
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil || role.Kind != "ClusterRole" {
			continue
		}
		roles++
		for _, rule := range role.Rules {
			verbs := strings.Join(rule.Verbs, " ")
			for _, resource := range rule.Resources {
				if resource == "*" || strings.Contains(verbs, "*") {
					t.Errorf("%s: %v on %s", role.Name, rule.Verbs, resource)
				}
				if resource == "secrets" {
					onSecrets++
					if strings.Contains(verbs, "list") || strings.Contains(verbs, "watch") {
						t.Errorf("%s may %s secrets of all namespaces", role.Name, verbs)
					}
				}
			}
		}
	}
	if roles == 0 || onSecrets == 0 {
		t.Errorf("%d roles were looked at, %d rules about secrets: the test sees nothing", roles, onSecrets)
	}
}
