package controlplane

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestControlPlane(t *testing.T) {
	dir := t.TempDir()
	options := Options{Dir: dir, Ephemeral: true, Progress: func(part string, took time.Duration) { t.Logf("%s ready %s", part, took) }}
	c, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(c.RESTConfig())
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}}}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Errorf("a pod cannot be created: %v", err)
	}
	t.Logf("resident: %s", residentMemory())

	t.Run("clients are told the version of Kubernetes", func(t *testing.T) {
		version, err := client.Discovery().ServerVersion()
		if err != nil {
			t.Fatal(err)
		}
		if version.GitVersion != Kubernetes {
			t.Errorf("got %s, want %s", version.GitVersion, Kubernetes)
		}
		requirements, err := os.ReadFile("../../../go.mod")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(requirements), "k8s.io/kubernetes "+Kubernetes+"\n") {
			t.Errorf("go.mod requires another version of k8s.io/kubernetes than %s", Kubernetes)
		}
	})

	t.Run("a stranger with a certificate may do nothing", func(t *testing.T) {
		config, err := c.ConfigFor("somebody")
		if err != nil {
			t.Fatal(err)
		}
		_, err = kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) {
			t.Errorf("list pods: got %v, want forbidden", err)
		}
	})

	begun := time.Now()
	c.Stop()
	t.Logf("stopped in %s", time.Since(begun))

	t.Run("what was written is there after a restart", func(t *testing.T) {
		begun := time.Now()
		again, err := Start(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Stop()
		t.Logf("restarted in %s", time.Since(begun))
		client := kubernetes.NewForConfigOrDie(again.RESTConfig())
		if _, err := client.CoreV1().Pods("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func residentMemory() string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", os.Getpid()))
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "VmRSS") {
			return strings.TrimSpace(line)
		}
	}
	return "unknown"
}
