// Package library holds the configuration of kube-state-metrics against the library that kube-state-metrics itself uses.
// It is a module of its own, because that library needs older versions of Kubernetes' modules than vc.
package library

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	"k8s.io/kube-state-metrics/v2/pkg/metric"
	generator "k8s.io/kube-state-metrics/v2/pkg/metric_generator"
	yaml "sigs.k8s.io/yaml/goyaml.v3"

	sigsyaml "sigs.k8s.io/yaml"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected metrics")

const (
	configuration = "../../../deploy/monitoring/kube-state-metrics.yaml"
	objects       = "../testdata/objects.yaml"
	expected      = "../testdata/metrics.txt"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // a file of this repository
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// readObjects returns the objects of the test by kind.
func readObjects(t *testing.T) map[string][]*unstructured.Unstructured {
	t.Helper()
	byKind := map[string][]*unstructured.Unstructured{}
	for _, text := range bytes.Split(read(t, objects), []byte("\n---\n")) {
		encoded, err := sigsyaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(encoded); err != nil {
			t.Fatal(err)
		}
		byKind[object.GetKind()] = append(byKind[object.GetKind()], object)
	}
	return byKind
}

// TestTheLibraryMakesTheExpectedMetrics reads the configuration like kube-state-metrics does, and compares the metrics of
// some objects with testdata/metrics.txt.
func TestTheLibraryMakesTheExpectedMetrics(t *testing.T) {
	var config customresourcestate.Metrics
	decoder := yaml.NewDecoder(bytes.NewReader(read(t, configuration)))
	decoder.KnownFields(false) // the field kind is not part of the library's type
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	for _, resource := range config.Spec.Resources {
		for i := range resource.Metrics { // kube-state-metrics accepts types in upper case, and converts them
			each := &resource.Metrics[i].Each
			each.Type = metric.Type(strings.ToLower(string(each.Type)))
		}
	}
	byKind := readObjects(t)
	var got strings.Builder
	for _, resource := range config.Spec.Resources {
		found := byKind[resource.GroupVersionKind.Kind]
		if len(found) == 0 {
			t.Errorf("%s: the test has no object of this kind", resource.GroupVersionKind)
		}
		factory, err := customresourcestate.NewCustomResourceMetrics(resource)
		if err != nil {
			t.Fatalf("%s: %v", resource.GroupVersionKind, err)
		}
		families := factory.MetricFamilyGenerators()
		for i := range families {
			writeFamily(&got, &families[i], found)
		}
	}
	if *rewrite {
		if err := os.WriteFile(expected, []byte(got.String()), 0o644); err != nil { //nolint:gosec // not secret
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, expected)), got.String()); diff != "" {
		t.Errorf("the metrics differ (-want +got); go test . -rewrite rewrites testdata/metrics.txt:\n%s", diff)
	}
}

// writeFamily writes the help text and the series of a metric.
func writeFamily(out *strings.Builder, family *generator.FamilyGenerator, objects []*unstructured.Unstructured) {
	out.WriteString("# HELP " + family.Name + " " + family.Help + "\n# TYPE " + family.Name + " " + string(family.Type) + "\n")
	for _, object := range objects {
		out.Write(family.Generate(object).ByteSlice())
	}
}
