// Package kubestatemetrics runs the configuration of kube-state-metrics through kube-state-metrics' own library. That
// library is used by the module in directory library, which this package runs.
package kubestatemetrics

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestTheObjectsHaveOnlyKnownFields checks the objects whose metrics the library computes.
func TestTheObjectsHaveOnlyKnownFields(t *testing.T) {
	text, err := os.ReadFile("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range bytes.Split(text, []byte("\n---\n")) {
		var meta struct {
			Kind string `json:"kind"`
		}
		if err := yaml.Unmarshal(object, &meta); err != nil {
			t.Fatal(err)
		}
		types := map[string]any{"Job": &batchv1alpha1.Job{}, "PodGroup": &schedulingv1beta1.PodGroup{}, "Queue": &schedulingv1beta1.Queue{}}
		if err := yaml.UnmarshalStrict(object, types[meta.Kind]); err != nil {
			t.Errorf("%s: %v\n%s", meta.Kind, err, object)
		}
	}
}

// runGo runs go in the module of the library.
func runGo(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = "library"
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	return cmd.CombinedOutput()
}

// TestKubeStateMetricsMakesTheExpectedMetrics runs the tests of the module of the library.
func TestKubeStateMetricsMakesTheExpectedMetrics(t *testing.T) {
	if os.Getenv("VC_SEEDS") != "full" {
		t.Skip("SKIPPED: make test-full builds kube-state-metrics' library, which takes minutes")
	}
	if out, err := runGo(t, "mod", "download"); err != nil {
		t.Skipf("the module of kube-state-metrics cannot be downloaded: %v\n%s", err, out)
	}
	// The cache of results does not see changes of files outside the module.
	if out, err := runGo(t, "test", "-count=1", "./..."); err != nil {
		t.Errorf("go test: %v\n%s", err, out)
	}
}
