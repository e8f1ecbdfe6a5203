package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/vc-batch/vc/internal/daemon" // declares the metrics of all components
	"github.com/vc-batch/vc/internal/metrics"
)

const metricsIntro = `# Metrics

This page is for administrators and authors of dashboards. It lists every metric of vc.
[Monitor vc](../guides/monitor.md) shows where to read them and which ones to watch.

Metrics whose names start with ` + "`volcano_`" + ` have the names, types, units and labels that Volcano documents, so that its
dashboards and alerts work. Those that start with ` + "`vc_`" + ` follow the conventions of Prometheus: base units, and few labels.

No metric has a series for each job or pod, unless vcd is started with ` + "`--per-job-metrics`" + `. The series of a job are removed
when the job is deleted. At most 10,000 gangs have series of their own in the scheduler.

The registry also contains the metrics of the Go runtime, of client-go and of controller-runtime, under their usual
names.

*This page is generated from the help texts of the metrics; ` + "`go test ./test/policy -rewrite`" + ` writes it.*

| Name | Type | Labels | Meaning |
|---|---|---|---|
`

// TestTheMetricsAreDocumented compares docs/reference/metrics.md with the definitions of the metrics.
func TestTheMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString(metricsIntro)
	for _, d := range metrics.Definitions() {
		var labels []string
		for _, label := range d.Labels {
			labels = append(labels, "`"+label+"`")
		}
		meaning := d.Help
		if d.IsPerJob() {
			meaning += " Only with `--per-job-metrics`."
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", d.Name, d.Type, strings.Join(labels, ", "), meaning)
	}
	path := filepath.Join(root, "docs", "reference", "metrics.md")
	if *rewrite {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page.String(), string(have)); diff != "" {
		t.Errorf("docs/reference/metrics.md is not what the help texts say (-help texts +document); go test ./test/policy -rewrite:\n%s", diff)
	}
}

// conventional matches the name of a metric that follows the conventions of Prometheus, apart from gauges without a
// unit.
var conventional = regexp.MustCompile(`^vc_[a-z_]+_(total|seconds|bytes)$`)

// TestOurMetricsFollowTheConventions checks that counters end with _total, and that histograms have a base unit. Volcano's
// metrics have the names that Volcano gave them.
func TestOurMetricsFollowTheConventions(t *testing.T) {
	t.Parallel()
	for _, d := range metrics.Definitions() {
		isTotal := strings.HasSuffix(d.Name, "_total")
		switch {
		case !strings.HasSuffix(d.Help, "."):
			t.Errorf("%s: the help text is not a sentence: %q", d.Name, d.Help)
		case strings.HasPrefix(d.Name, "volcano_"):
		case !strings.HasPrefix(d.Name, "vc_"):
			t.Errorf("%s: the name starts neither with vc_ nor with volcano_", d.Name)
		case (d.Type == metrics.Counter) != isTotal:
			t.Errorf("%s: only and all counters end with _total", d.Name)
		case d.Type == metrics.Histogram && !conventional.MatchString(d.Name):
			t.Errorf("%s: a histogram has a base unit in its name", d.Name)
		case d.IsPerJob():
			t.Errorf("%s: has a series for each job", d.Name)
		}
	}
}

// metricInDocs matches the name of a metric in a document.
var metricInDocs = regexp.MustCompile("`((?:vc|volcano)_[a-z_]+)`")

// metricInSource matches a string that is the name of a metric, and partOfHistogram the suffix of the parts of a histogram.
var (
	metricInSource  = regexp.MustCompile(`"((?:vc|volcano)_[a-z_0-9]+)"`)
	partOfHistogram = regexp.MustCompile(`_(sum|count|bucket)$`)
)

// TestNamesOfMetricsExist checks that the metrics that documents name, and those that sdiag reads, are defined.
func TestNamesOfMetricsExist(t *testing.T) {
	t.Parallel()
	defined := map[string]bool{}
	for _, d := range metrics.Definitions() {
		defined[d.Name] = true
	}
	check := func(path string, pattern *regexp.Regexp, most int) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		names := pattern.FindAllStringSubmatch(string(text), -1)
		for _, match := range names {
			if !defined[match[1]] && !defined[partOfHistogram.ReplaceAllString(match[1], "")] {
				t.Errorf("%s names %s, which is not defined", path, match[1])
			}
		}
		if len(names) < most {
			t.Errorf("%s: only %d names of metrics were found, want at least %d", path, len(names), most)
		}
	}
	check("docs/guides/monitor.md", metricInDocs, 12)
	check("docs/reference/volcano.md", metricInDocs, 2)
	check("internal/slurm/sdiag/sdiag.go", metricInSource, 3)
}
