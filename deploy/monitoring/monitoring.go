// Package monitoring contains the Grafana dashboards and the Prometheus alerts for vc. They are available as Go data and as
// files for administrators.
//
//	In:   the names and labels of metrics, as package metrics declares them (a test checks each expression)
//	Out:  Dashboards and Alerts as data, Files as text
//
// # Invariants
//
//   - The files in this directory are generated; a test compares them with the data.
//   - Every expression is valid PromQL and names only metrics and labels that exist.
//   - No expression needs the metrics of individual jobs.
package monitoring

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Files returns the generated files by name: a JSON file for each dashboard, and the alerts as a PrometheusRule.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, d := range Dashboards() {
		text, err := json.MarshalIndent(d.grafana(), "", "  ")
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", d.Name, err)
		}
		files[d.Name+".json"] = append(text, '\n')
	}
	rule, err := yaml.Marshal(PrometheusRule())
	if err != nil {
		return nil, fmt.Errorf("alerts: %w", err)
	}
	files["alerts.yaml"] = append([]byte(alertsHeader), rule...)
	return files, nil
}

// RuleGroups returns the alerts as the spec of a PrometheusRule, which is also a rule file of Prometheus.
func RuleGroups() ([]byte, error) { return yaml.Marshal(PrometheusRule()["spec"]) }

// alertsHeader is the comment at the start of the file of alerts.
const alertsHeader = `# Alerts for vc, as an object of the Prometheus Operator: kubectl apply -f deploy/monitoring/alerts.yaml
# Without the operator, write a rule file of Prometheus that contains the list groups of spec.
# This file is generated: go test ./deploy/monitoring -rewrite
`
