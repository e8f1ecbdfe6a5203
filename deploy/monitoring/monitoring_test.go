package monitoring

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	_ "github.com/vc-batch/vc/internal/daemon" // declares the metrics of all components
	"github.com/vc-batch/vc/internal/metrics"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the generated dashboards and alerts")

// metricsOfLibraries are the metrics of libraries, and of kube-state-metrics, with their labels.
var metricsOfLibraries = map[string][]string{
	"workqueue_depth":                            {"name", "controller", "priority"},
	"controller_runtime_reconcile_total":         {"controller", "result"},
	"controller_runtime_reconcile_errors_total":  {"controller"},
	"controller_runtime_webhook_requests_total":  {"webhook", "code"},
	"controller_runtime_webhook_latency_seconds": {"webhook"},
	"rest_client_requests_total":                 {"code", "host", "method"},
	"process_resident_memory_bytes":              {},
	"kube_deployment_status_replicas_available":  {"namespace", "deployment"},
}

var histogramsOfLibraries = []string{"controller_runtime_webhook_latency_seconds"}

// labelsOfTarget are the labels that Prometheus adds to each series.
var labelsOfTarget = []string{"instance", "job", "namespace", "pod"}

// series is a metric as expressions name it: for a histogram, one of its parts.
type series struct {
	labels []string
	kind   metrics.Type
}

// knownSeries returns all series that expressions may name.
func knownSeries() map[string]series {
	known := map[string]series{}
	add := func(name string, kind metrics.Type, labelNames []string) {
		if kind != metrics.Histogram {
			known[name] = series{labels: labelNames, kind: kind}
			return
		}
		known[name+"_bucket"] = series{labels: append([]string{"le"}, labelNames...), kind: metrics.Counter}
		known[name+"_sum"] = series{labels: labelNames, kind: metrics.Counter}
		known[name+"_count"] = series{labels: labelNames, kind: metrics.Counter}
	}
	for _, d := range metrics.Definitions() {
		if !d.IsPerJob() {
			add(d.Name, d.Type, d.Labels)
		}
	}
	for name, labelNames := range metricsOfLibraries {
		kind := metrics.Gauge
		switch {
		case slices.Contains(histogramsOfLibraries, name):
			kind = metrics.Histogram
		case strings.HasSuffix(name, "_total"):
			kind = metrics.Counter
		}
		add(name, kind, labelNames)
	}
	return known
}

// checkExpression returns the errors of an expression.
func checkExpression(text string, known map[string]series) []error {
	text = strings.ReplaceAll(text, rate, "5m")
	expr, err := parser.ParseExpr(text)
	if err != nil {
		return []error{err}
	}
	c := &checker{known: known, labels: map[string]bool{}}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		c.visit(node, path)
		return nil
	})
	for _, label := range c.grouped {
		if !c.labels[label] && !slices.Contains(labelsOfTarget, label) {
			c.errs = append(c.errs, fmt.Errorf("no metric of the expression has the label %s", label))
		}
	}
	return c.errs
}

type checker struct {
	known   map[string]series
	labels  map[string]bool // labels of the series that the expression names
	grouped []string        // labels by which the expression groups
	errs    []error
}

func (c *checker) visit(node parser.Node, path []parser.Node) {
	switch node := node.(type) {
	case *parser.VectorSelector:
		c.visitSelector(node, path)
	case *parser.AggregateExpr:
		c.grouped = append(c.grouped, node.Grouping...)
	}
}

func (c *checker) visitSelector(selector *parser.VectorSelector, path []parser.Node) {
	found, ok := c.known[selector.Name]
	if !ok {
		c.errs = append(c.errs, fmt.Errorf("there is no metric %s without series for each job", selector.Name))
		return
	}
	for _, label := range found.labels {
		c.labels[label] = true
	}
	for _, m := range selector.LabelMatchers {
		isName := m.Name == labels.MetricName
		if !isName && !slices.Contains(found.labels, m.Name) && !slices.Contains(labelsOfTarget, m.Name) {
			c.errs = append(c.errs, fmt.Errorf("%s has no label %s", selector.Name, m.Name))
		}
	}
	isRanged := len(path) > 0 && isMatrix(path[len(path)-1])
	if isRanged != (found.kind == metrics.Counter) && !isOnlyCompared(path) {
		c.errs = append(c.errs, fmt.Errorf("%s is a %s: use a rate of counters, and the value of gauges", selector.Name, found.kind))
	}
}

func isMatrix(node parser.Node) bool {
	_, ok := node.(*parser.MatrixSelector)
	return ok
}

// isOnlyCompared reports whether only the existence of a series matters, as an operand of a set operation.
func isOnlyCompared(path []parser.Node) bool {
	return slices.ContainsFunc(path, func(node parser.Node) bool {
		operation, ok := node.(*parser.BinaryExpr)
		return ok && operation.Op.IsSetOperator()
	})
}

func TestEveryPanelShowsMetricsThatExist(t *testing.T) {
	known := knownSeries()
	for _, d := range Dashboards() {
		for _, section := range d.Sections {
			for _, panel := range section.Panels {
				if panel.Help == "" || len(panel.Queries) == 0 {
					t.Errorf("%s, %s: has no help or no query", d.Title, panel.Title)
				}
				for _, q := range panel.Queries {
					for _, err := range checkExpression(q.Expr, known) {
						t.Errorf("%s, %s: %s: %v", d.Title, panel.Title, q.Expr, err)
					}
					if strings.Contains(q.Expr, "$queue") && !d.HasQueues {
						t.Errorf("%s, %s: uses a variable that the dashboard lacks", d.Title, panel.Title)
					}
				}
			}
		}
	}
}

func TestEveryAlertNamesMetricsThatExist(t *testing.T) {
	known := knownSeries()
	names := map[string]bool{}
	for _, a := range Alerts() {
		for _, err := range checkExpression(a.Expr, known) {
			t.Errorf("%s: %s: %v", a.Name, a.Expr, err)
		}
		if d, err := model.ParseDuration(a.For); err != nil || time.Duration(d) < time.Minute {
			t.Errorf("%s: for %s: want at least a minute, so that one scrape does not wake anybody: %v", a.Name, a.For, err)
		}
		if a.Summary == "" || a.Action == "" || names[a.Name] {
			t.Errorf("%s: has no summary or action, or its name is used twice", a.Name)
		}
		names[a.Name] = true
	}
}

func TestAWrongExpressionIsFound(t *testing.T) {
	known := knownSeries()
	for expression, want := range map[string]string{
		`sum(`:                                                         "parse error",
		`max(vc_no_such_metric)`:                                       "there is no metric",
		`max(volcano_unschedule_task_count)`:                           "there is no metric",
		`max(volcano_queue_share{queue="q"})`:                          "has no label queue",
		`max by (queue) (volcano_queue_share)`:                         "has the label queue",
		`sum(vc_evictions_total)`:                                      "is a counter",
		`sum(rate(vc_decision_age_seconds[5m]))`:                       "there is no metric vc_decision_age_seconds",
		`sum(rate(volcano_queue_share[5m]))`:                           "is a gauge",
		`sum by (le, lane) (rate(vc_decision_age_seconds_bucket[5m]))`: "has the label lane",
	} {
		found := fmt.Sprint(checkExpression(expression, known))
		if !strings.Contains(found, want) {
			t.Errorf("%s: found %s, want %q", expression, found, want)
		}
	}
}

// TestAllQueuesExcludeTheRoot checks that the choice of all queues does not include the root, whose resources are those
// of all queues together.
func TestAllQueuesExcludeTheRoot(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	var model struct {
		Templating struct {
			List []struct{ Name, Regex, AllValue string }
		}
	}
	if err := json.Unmarshal(files["queues.json"], &model); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, variable := range model.Templating.List {
		if variable.Name != "queue" {
			continue
		}
		checked++
		if variable.Regex != "/^(?!root$).*/" || variable.AllValue != "" {
			t.Errorf("variable queue has regex %q and value %q for all queues, which include the root", variable.Regex, variable.AllValue)
		}
	}
	if checked != 1 {
		t.Errorf("%d variables queue, want 1", checked)
	}
}

func TestTheFilesAreUpToDate(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if *rewrite {
			if err := os.WriteFile(name, want, 0o644); err != nil { //nolint:gosec // not secret
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name) //nolint:gosec // a file of this directory
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got), go test ./deploy/monitoring -rewrite rewrites it:\n%s", name, diff)
		}
	}
}
