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

// ofTheSystem lists the directories of the machine that contain programs and system files. Pods see them unchanged
// and need not write to them.
var ofTheSystem = []string{"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "lost+found", "nix", "opt", "proc", "run", "sbin", "snap", "sys", "usr", "var"}

// slurmProfile writes the profile for Slurm's commands. The profile states that all nodes are this machine, so that
// users find the output of their scripts in the directory from which they submitted them. An existing profile is not
// changed.
func slurmProfile(ctx context.Context, client kubernetes.Interface) error {
	text, err := profileForMachine(os.DirFS("/"))
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

// profileForMachine returns the profile for this machine. Every top-level directory that may contain users' files is a
// volume with the same path.
func profileForMachine(root fs.FS) (string, error) {
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return "", err
	}
	// Only process nodes run scripts. On simulated nodes, the pods would never end.
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
	return "# Created by vc-local: all nodes run on this machine and have the same files. You can change this profile; vc-local does not overwrite it.\n" + string(text), nil
}
