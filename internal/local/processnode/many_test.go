package processnode

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestHundredPods verifies that a node can run a hundred pods on a laptop, with little memory for the inits.
func TestHundredPods(t *testing.T) {
	startNode(t, "many")
	ns := namespace(t)
	const pods = 100
	began := time.Now()
	for i := range pods {
		create(t, ns, shell(fmt.Sprintf("p%d", i), "many", "sleep 1000", func(pod *corev1.Pod) { pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, "job" }))
	}
	created := time.Since(began)
	eventually(t, 60*time.Second, "pods running", func() bool {
		list, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		running := 0
		for _, pod := range list.Items {
			if pod.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		return running == pods
	})
	t.Logf("%d pods created in %s, running after %s", pods, created, time.Since(began))
	private, inits := initMemory(t)
	t.Logf("%d inits, %d KiB each", inits, private/max(inits, 1))
	if inits < pods || private/inits > 16<<10 {
		t.Errorf("%d inits of %d KiB", inits, private/max(inits, 1))
	}
	began = time.Now()
	if err := client.CoreV1().Pods(ns).DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: ptrTo(int64(5))}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, 60*time.Second, "pods gone", func() bool {
		list, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items) == 0
	})
	t.Logf("gone after %s", time.Since(began))
}

// initMemory returns the private memory of all inits, in KiB, and their number.
func initMemory(t *testing.T) (private, inits int) {
	t.Helper()
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		text, _ := os.ReadFile(path)
		if !strings.HasPrefix(string(text), "vc-container-init") {
			continue
		}
		inits++
		rollup, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "smaps_rollup"))
		for line := range strings.SplitSeq(string(rollup), "\n") {
			if fields := strings.Fields(line); len(fields) == 3 && strings.HasPrefix(fields[0], "Private_") {
				kib, _ := strconv.Atoi(fields[1])
				private += kib
			}
		}
	}
	return private, inits
}
