package deploy

import (
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

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
