package podsetup

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens anew")

// TestAPodOfABatchJob checks the complete manifest: an init container installs vc-step, and a ConfigMap and a Secret
// hold its input.
func TestAPodOfABatchJob(t *testing.T) {
	t.Parallel()
	pod := corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Image: "nvcr.io/nvidia/pytorch:24.01", Env: []corev1.EnvVar{{Name: "OWN", Value: "1"}},
		Resources:    corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("4")}},
		VolumeMounts: []corev1.VolumeMount{{Name: "home", MountPath: "/home"}},
	}}}
	PreparePod(&pod, Options{Object: "run-sh-x7k2p-slurm", ToolsImage: "ghcr.io/vc-batch/vcd:v0.1.0", Secret: true})
	got, err := yaml.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/pod.yaml"
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAJobWithoutASecretMountsNone(t *testing.T) {
	t.Parallel()
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}
	PreparePod(&pod, Options{Object: "o"})
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			t.Errorf("%+v", v)
		}
	}
	if len(pod.Containers[0].VolumeMounts) != 2 {
		t.Errorf("%+v", pod.Containers[0].VolumeMounts)
	}
}
