// Package monitoring contains the Grafana dashboards, the Prometheus alerts and the configuration of kube-state-metrics for
// vc. They are available as Go data and as files for administrators.
//
//	In:   the names and labels of metrics, as package metrics declares them (a test checks each expression), and the
//	      fields of the CRDs (a test checks each path)
//	Out:  Dashboards, Alerts and StateKinds as data, Files as text
//
// # Invariants
//
//   - The files in this directory are generated; a test compares them with the data.
//   - Every expression is valid PromQL and names only metrics and labels that exist.
//   - No expression needs the metrics of individual jobs.
//   - The configuration of kube-state-metrics names only fields that the CRDs have.
package monitoring

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Files returns the generated files by name: a JSON file for each dashboard, the alerts as a PrometheusRule, and the
// configuration of kube-state-metrics.
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
	state, err := yaml.Marshal(CustomResourceStateMetrics())
	if err != nil {
		return nil, fmt.Errorf("configuration of kube-state-metrics: %w", err)
	}
	files["kube-state-metrics.yaml"] = append([]byte(stateHeader), state...)
	return files, nil
}

// RuleGroups returns the alerts as the spec of a PrometheusRule, which is also a rule file of Prometheus.
func RuleGroups() ([]byte, error) { return yaml.Marshal(PrometheusRule()["spec"]) }

// alertsHeader is the comment at the start of the file of alerts.
const alertsHeader = `# Alerts for vc, as an object of the Prometheus Operator: kubectl apply -f deploy/monitoring/alerts.yaml
# Without the operator, write a rule file of Prometheus that contains the list groups of spec.
# This file is generated: go test ./deploy/monitoring -rewrite
`

// stateHeader is the comment at the start of the configuration of kube-state-metrics.
const stateHeader = `# Metrics of jobs, PodGroups and queues for kube-state-metrics: --custom-resource-state-config-file=kube-state-metrics.yaml
# Its service account needs the verbs list and watch for these kinds. See docs/guides/monitor.md.
# This file is generated: go test ./deploy/monitoring -rewrite
`
