package real

import (
	"maps"
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
)

// podsOf returns the pods of a job by name.
func podsOf(t *testing.T, namespace, job string) map[string]corev1.Pod {
	t.Helper()
	list, err := shared.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: keys.JobName + "=" + job})
	if err != nil {
		t.Fatal(err)
	}
	pods := map[string]corev1.Pod{}
	for i := range list.Items {
		pods[list.Items[i].Name] = list.Items[i]
	}
	return pods
}

// nodesOf returns the names of the nodes of some pods.
func nodesOf(pods map[string]corev1.Pod) []string {
	names := map[string]bool{}
	for name := range pods {
		names[pods[name].Spec.NodeName] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
