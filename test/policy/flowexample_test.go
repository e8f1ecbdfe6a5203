package policy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// TestTheFlowExampleAvoidsSimulatedNodes checks that no step of examples/flow can run on a simulated node. A pod there
// answers no probe and does not end, so the flow would wait forever.
func TestTheFlowExampleAvoidsSimulatedNodes(t *testing.T) {
	t.Parallel()
	nodes := map[string]struct {
		labels map[string]string
		want   bool
	}{
		"a simulated node":      {map[string]string{keys.NodeKind: "simulated"}, false},
		"a process node":        {map[string]string{keys.NodeKind: "process"}, true},
		"a node of any cluster": {nil, true},
	}
	templates := readFlowTemplates(t)
	if len(templates) != 3 {
		t.Fatalf("examples/flow has %d templates, want 3", len(templates))
	}
	for _, template := range templates {
		for name, node := range nodes {
			for _, task := range template.Spec.Tasks {
				affinity := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: task.Template.Spec})
				got, err := affinity.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: node.labels}})
				if err != nil || got != node.want {
					t.Errorf("template %s on %s: allowed %v, %v; want %v", template.Name, name, got, err, node.want)
				}
			}
		}
	}
}

func readFlowTemplates(t *testing.T) (templates []flowv1alpha1.JobTemplate) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples/flow/night.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var template flowv1alpha1.JobTemplate
		switch err := decoder.Decode(&template); {
		case errors.Is(err, io.EOF):
			return templates
		case err != nil:
			t.Fatal(err)
		case template.Kind == "JobTemplate":
			templates = append(templates, template)
		}
	}
}
