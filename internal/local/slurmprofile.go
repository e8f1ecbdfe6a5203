package local

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/slurm/profile"
)

// ofTheSystem are the directories of a machine that hold programs and the system itself: a pod sees them as they are, and has nothing to write there.
var ofTheSystem = []string{"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "lost+found", "nix", "opt", "proc", "run", "sbin", "snap", "sys", "usr", "var"}

// slurmProfile tells Slurm's commands that all nodes are this machine: whoever submits a script finds its output where he is. A profile that is
// there is left as it is.
func slurmProfile(ctx context.Context, client kubernetes.Interface) error {
	text, err := profileText(os.DirFS("/"))
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: daemon.Namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("namespace %s: %w", daemon.Namespace, err)
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: profile.Name, Namespace: daemon.Namespace}, Data: map[string]string{profile.Key: text}}
	if _, err := client.CoreV1().ConfigMaps(daemon.Namespace).Create(ctx, object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("ConfigMap %s: %w", profile.Name, err)
	}
	return nil
}

// profileText is the profile of this machine: every directory at its root that people may have files in is a volume at the same path.
func profileText(root fs.FS) (string, error) {
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return "", err
	}
	// What a script says happens on process nodes only: on simulated ones its pods would be waited for without end.
	p := profile.Profile{DefaultImage: "this-machine", NodeSelector: map[string]string{keys.NodeKind: "process"}, ServiceAccount: slurmAccount}
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || strings.HasPrefix(name, ".") || slices.Contains(ofTheSystem, name) {
			continue
		}
		directory := corev1.HostPathDirectory
		p.Volumes = append(p.Volumes, profile.Volume{Name: fmt.Sprintf("root-%d", len(p.Volumes)), MountPath: "/" + name,
			VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/" + name, Type: &directory}}})
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		return "", err
	}
	return "# Made by vc-local: all nodes are this machine, and see the same files. Change it as you like; it is not written again.\n" + string(text), nil
}
