// Package charttest renders the Helm charts of this repository, as helm template does.
package charttest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/deploy"
)

// Load reads a chart in deploy/charts.
func Load(name string) (*chart.Chart, error) {
	_, self, _, _ := runtime.Caller(0)
	return LoadFrom(filepath.Join(filepath.Dir(self), "..", ".."), name)
}

// LoadFrom reads a chart in deploy/charts of a source tree.
func LoadFrom(tree, name string) (*chart.Chart, error) {
	return loader.Load(filepath.Join(tree, "deploy", "charts", name))
}

// Release is a rendered chart: its templates one after the other, and the text that Helm prints after an installation.
type Release struct{ Manifest, Notes string }

// Render renders a chart with values in YAML for the namespace of vc.
func Render(c *chart.Chart, values string) (Release, error) {
	return RenderIn(c, deploy.Namespace, values)
}

// RenderIn renders a chart with values in YAML for a namespace. It checks the values with the schema of the chart.
func RenderIn(c *chart.Chart, namespace, values string) (Release, error) {
	given := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		return Release{}, fmt.Errorf("values: %w", err)
	}
	options := common.ReleaseOptions{Name: "vc", Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(c, given, options, common.DefaultCapabilities)
	if err != nil {
		return Release{}, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return Release{}, err
	}
	var release Release
	var manifest strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		switch {
		case strings.HasSuffix(path, "NOTES.txt"):
			release.Notes = files[path]
		case strings.TrimSpace(files[path]) != "":
			manifest.WriteString("---\n" + files[path] + "\n")
		}
	}
	release.Manifest = manifest.String()
	return release, nil
}

// Objects returns the objects in a manifest.
func Objects(manifest string) ([]*unstructured.Unstructured, error) {
	decoder := k8syaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(manifest)), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		switch {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// Combination is a set of values that administrators could choose.
type Combination struct{ Name, Values string }

// Combinations returns the sets of values with which the tests render chart vc.
func Combinations() []Combination {
	return []Combination{
		{"small", "size: small"},
		{"medium", "size: medium"},
		{"requests", "scheduler: {cpu: '2', memoryMiB: 4096}\ncontrollers: {cpu: 1500m}\nadmission: {memoryMiB: 300}"},
		{"one-replica", "scheduler: {replicas: 1}\ncontrollers: {replicas: 1}\nadmission: {replicas: 1}\npodDisruptionBudget: {enabled: false}"},
		{"three-replicas", "admission: {replicas: 3}\npodDisruptionBudget: {maxUnavailable: 2}"},
		{"digest", "image: {digest: 'sha256:" + strings.Repeat("0123456789abcdef", 4) + "', tag: v9}"},
		{"private-registry", "image: {repository: 'registry.example.com:5000/batch/vcd', tag: v1.2.3, pullPolicy: Always, pullSecrets: [{name: registry}]}"},
		{"placement", "scheduler:\n  nodeSelector: {node-role.kubernetes.io/control-plane: ''}\n  tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]\n" +
			"  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app.kubernetes.io/name: vc-scheduler}}}]}}\n" +
			"admission:\n  tolerations: [{operator: Exists}]\n  podAnnotations: {example.com/team: batch}\n  priorityClassName: system-node-critical"},
		{"strict-spread", "topologySpread: {zones: DoNotSchedule, hosts: DoNotSchedule}"},
		{"extra-arguments", "scheduler: {extraArgs: [--v=2, --per-job-metrics]}\ncontrollers: {extraArgs: ['--controllers=*,-cronjob-controller']}\nadmission: {extraArgs: [--require-priority-class-use]}"},
		{"scheduler-config", "scheduler:\n  config: |\n    actions: \"enqueue, allocate\"\n    tiers:\n    - plugins:\n      - name: gang\n"},
		{"cert-manager", "certificates: {source: certManager, issuerRef: {name: internal, kind: ClusterIssuer}}"},
		{"given-certificate", "certificates: {source: secret, secretName: webhook-tls}\nadmission: {extraArgs: [--v=4]}"},
		{"no-network-policies", "networkPolicy: {enabled: false}"},
		{"metrics-from-one-namespace", "networkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}"},
		{"queue-use", "queueUse: {required: true}"},
		{"accounts", "accounts: {required: true}"},
		{"dashboards", "monitoring: {dashboards: {enabled: true, labels: {grafana_dashboard: '1', team: batch}}}"},
		{"pod-monitor-and-alerts", "monitoring: {podMonitor: {enabled: true, interval: 15s, labels: {release: prometheus}}, alerts: {enabled: true, labels: {release: prometheus}}}"},
		{"service-monitor", "monitoring: {serviceMonitor: {enabled: true}}"},
		{"traces", "monitoring: {traces: {endpoint: 'http://collector.monitoring:4317'}}\ncontrollers: {extraArgs: [--v=2]}"},
		{"accounting-sqlite", "accounting: {enabled: true, store: {sqlite: {size: 50Gi, storageClass: fast}}}"},
		{"accounting-postgres", "accounting: {enabled: true, clusterName: prod, replicas: 3, prometheus: 'monitoring/prometheus-server:80', extraArgs: [--v=2], store: {postgres: {existingSecret: accounting-database, secretKey: address, spoolSize: 5Gi}}}\npodDisruptionBudget: {enabled: false}"},
		{"without-test", "doctor: {enabled: false}"},
		{"test-arguments", "doctor: {probeNamespace: '', args: [--output=json], image: {repository: registry.example.com/vcctl, tag: v1}}"},
		{"subchart", "global: {imageRegistry: registry.example.com}\nenabled: true"},
	}
}
