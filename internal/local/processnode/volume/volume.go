package volume

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/local/processnode/environ"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

// Set holds the prepared volumes of a pod by name.
type Set map[string]Volume

// Volume is a prepared volume.
type Volume struct {
	Path     string // directory or file on this machine
	ReadOnly bool
	// Projected is true if the volume must be refreshed when its sources change.
	Projected bool
}

// PrepareVolumes creates all volumes of a pod below directory. memory is a directory for volumes in memory, or "".
// Calling it again refreshes the projected volumes and leaves the others unchanged.
func PrepareVolumes(pod *corev1.Pod, directory, memory string, facts environ.Facts, sources Sources) (Set, error) {
	set := Set{}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		made, err := prepareVolume(pod, v, filepath.Join(directory, v.Name), memory, facts, sources)
		if err != nil {
			return nil, fmt.Errorf("volume %q: %w", v.Name, err)
		}
		set[v.Name] = made
	}
	return set, nil
}

func prepareVolume(pod *corev1.Pod, v *corev1.Volume, path, memory string, facts environ.Facts, sources Sources) (Volume, error) {
	files, projected, err := projectFiles(pod, v, facts, sources)
	if err != nil {
		return Volume{}, err
	}
	group := volumeGroup(pod)
	switch {
	case projected:
		return Volume{Path: path, Projected: true}, Write(path, files, group)
	case v.EmptyDir != nil:
		if v.EmptyDir.Medium == corev1.StorageMediumMemory && memory != "" {
			path = filepath.Join(memory, v.Name)
		}
		return Volume{Path: path}, newEmptyDir(path, group)
	case v.HostPath != nil:
		return newHostPath(v.HostPath)
	case v.PersistentVolumeClaim != nil:
		return claimedVolume(v.PersistentVolumeClaim.ClaimName, v.PersistentVolumeClaim.ReadOnly, sources)
	case v.Ephemeral != nil:
		return claimedVolume(pod.Name+"-"+v.Name, false, sources)
	}
	return Volume{}, errors.New("process nodes do not support this kind of volume")
}

func volumeGroup(pod *corev1.Pod) int64 {
	if context := pod.Spec.SecurityContext; context != nil && context.FSGroup != nil && os.Geteuid() == 0 {
		return *context.FSGroup
	}
	return -1
}

func newEmptyDir(path string, group int64) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	mode := os.ModePerm
	if group >= 0 {
		if err := os.Chown(path, -1, int(group)); err != nil {
			return err
		}
		mode |= os.ModeSetgid
	}
	return os.Chmod(path, mode)
}

func newHostPath(source *corev1.HostPathVolumeSource) (Volume, error) {
	kind := corev1.HostPathUnset
	if source.Type != nil {
		kind = *source.Type
	}
	info, err := os.Stat(source.Path)
	if errors.Is(err, os.ErrNotExist) {
		switch kind {
		case corev1.HostPathUnset, corev1.HostPathDirectoryOrCreate:
			err = os.MkdirAll(source.Path, 0o755)
		case corev1.HostPathFileOrCreate:
			err = os.WriteFile(source.Path, nil, 0o644)
		}
		if err == nil {
			info, err = os.Stat(source.Path)
		}
	}
	if err != nil {
		return Volume{}, err
	}
	if !isKind(info.Mode(), kind) {
		return Volume{}, fmt.Errorf("hostPath type check failed: %s is not a %s", source.Path, kind)
	}
	return Volume{Path: source.Path}, nil
}

func isKind(mode os.FileMode, kind corev1.HostPathType) bool {
	switch kind {
	case corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate:
		return mode.IsDir()
	case corev1.HostPathFile, corev1.HostPathFileOrCreate:
		return mode.IsRegular()
	case corev1.HostPathSocket:
		return mode&os.ModeSocket != 0
	case corev1.HostPathCharDev:
		return mode&os.ModeCharDevice != 0
	case corev1.HostPathBlockDev:
		return mode&os.ModeDevice != 0 && mode&os.ModeCharDevice == 0
	}
	return true
}

func claimedVolume(name string, readOnly bool, sources Sources) (Volume, error) {
	pv, err := sources.Claim(name)
	if err != nil {
		return Volume{}, err
	}
	var made Volume
	switch {
	case pv.Spec.HostPath != nil:
		made, err = newHostPath(pv.Spec.HostPath)
	case pv.Spec.Local != nil:
		made, err = newHostPath(&corev1.HostPathVolumeSource{Path: pv.Spec.Local.Path})
	default:
		err = fmt.Errorf("process nodes cannot attach persistent volume %s, because its type is neither hostPath nor local", pv.Name)
	}
	made.ReadOnly = made.ReadOnly || readOnly
	return made, err
}

// Mounts returns the mounts for a container's volumes. expand replaces $(KEY) in a subPathExpr.
func (s Set) Mounts(container *corev1.Container, expand func(string) (string, error)) ([]shim.Mount, error) {
	var mounts []shim.Mount
	for _, m := range container.VolumeMounts {
		v, ok := s[m.Name]
		if !ok {
			return nil, fmt.Errorf("volume %q of the mount at %s does not exist", m.Name, m.MountPath)
		}
		sub := m.SubPath
		if m.SubPathExpr != "" {
			var err error
			if sub, err = expand(m.SubPathExpr); err != nil {
				return nil, fmt.Errorf("subPathExpr of the mount at %s: %w", m.MountPath, err)
			}
		}
		source, err := v.resolveInside(sub)
		if err != nil {
			return nil, fmt.Errorf("subPath of the mount at %s: %w", m.MountPath, err)
		}
		target := m.MountPath
		if !strings.HasPrefix(target, "/") {
			target = "/" + target
		}
		// Only the node may write to projected volumes.
		mounts = append(mounts, shim.Mount{Source: source, Target: filepath.Clean(target), ReadOnly: m.ReadOnly || v.ReadOnly || v.Projected})
	}
	return mounts, nil
}

// resolveInside resolves a path inside the volume and creates missing directories. It rejects paths outside the volume.
func (v Volume) resolveInside(sub string) (string, error) {
	root, err := filepath.EvalSymlinks(v.Path)
	if err != nil {
		return "", err
	}
	if sub == "" {
		return root, nil
	}
	if filepath.IsAbs(sub) || !filepath.IsLocal(sub) {
		return "", fmt.Errorf("%q is not inside the volume", sub)
	}
	path := filepath.Join(root, sub)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && !v.Projected {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return "", err
		}
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if resolved != root && !strings.HasPrefix(resolved, root+"/") {
		return "", fmt.Errorf("%q resolves to a path outside the volume", sub)
	}
	return resolved, nil
}
