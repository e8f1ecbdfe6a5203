package run

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/usererror"
)

// volumeExamples is the hint for an invalid --volume.
const volumeExamples = "examples: --volume data:/data (a claim)  --volume /srv/data:/data:ro (a directory on the node)  --volume /scratch (empty)  --volume configmap/conf:/etc/conf  --volume secret/key:/etc/key"

// podVolumes parses --volume values of the form SOURCE:PATH[:ro], as used by docker.
func (r *recipe) podVolumes() ([]corev1.Volume, []corev1.VolumeMount, error) {
	var volumes []corev1.Volume
	var mounts []corev1.VolumeMount
	for i, text := range r.volumes {
		source, mount, err := parseVolume(text)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool { return m.MountPath == mount.MountPath }) {
			return nil, nil, usererror.Errorf("mount each volume at a different path", "--volume %s: another volume is mounted at %s", text, mount.MountPath)
		}
		mount.Name = fmt.Sprintf("volume-%d", i)
		volumes = append(volumes, corev1.Volume{Name: mount.Name, VolumeSource: source})
		mounts = append(mounts, mount)
	}
	return volumes, mounts, nil
}

// parseVolume parses one --volume. A source that starts with a slash is a directory on the node, configmap/NAME is a
// ConfigMap, secret/NAME is a Secret, and any other name is a PersistentVolumeClaim. Without a source, the volume is
// an empty directory that is deleted with the pod.
func parseVolume(text string) (corev1.VolumeSource, corev1.VolumeMount, error) {
	wrong := func(format string, args ...any) (corev1.VolumeSource, corev1.VolumeMount, error) {
		return corev1.VolumeSource{}, corev1.VolumeMount{}, usererror.Errorf(volumeExamples, "--volume %s: %s", text, fmt.Sprintf(format, args...))
	}
	parts := strings.Split(text, ":")
	mount := corev1.VolumeMount{}
	if mode := parts[len(parts)-1]; len(parts) > 1 && !strings.HasPrefix(mode, "/") {
		switch mode {
		case "ro":
			mount.ReadOnly = true
		case "rw":
		default:
			return wrong("%q is neither a path in the container nor a mode (ro, rw)", mode)
		}
		parts = parts[:len(parts)-1]
	}
	source := ""
	switch len(parts) {
	case 1:
		mount.MountPath = parts[0]
	case 2:
		source, mount.MountPath = parts[0], parts[1]
	default:
		return wrong("the value has too many parts; use the form SOURCE:PATH[:ro]")
	}
	if !path.IsAbs(mount.MountPath) {
		return wrong("the path in the container is missing or does not begin with /")
	}
	kind, name, hasKind := strings.Cut(source, "/")
	switch {
	case source == "" && mount.ReadOnly:
		return wrong("an empty volume cannot be read-only")
	case source == "":
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, mount, nil
	case path.IsAbs(source):
		return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: source}}, mount, nil
	case !hasKind:
		kind, name = "pvc", source
	}
	switch strings.ToLower(kind) {
	case "pvc", "persistentvolumeclaim", "claim":
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name, ReadOnly: mount.ReadOnly}}, mount, nil
	case "configmap", "cm":
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}, mount, nil
	case "secret":
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}, mount, nil
	}
	return wrong("unknown volume source %q; a path on the node begins with /", kind)
}

// podTolerations parses --toleration values of the form KEY[=VALUE][:EFFECT], the format of kubectl taint.
func (r *recipe) podTolerations() ([]corev1.Toleration, error) {
	const examples = "examples: --toleration dedicated=train:NoSchedule  --toleration nvidia.com/gpu  --toleration dedicated:NoExecute"
	var all []corev1.Toleration
	for _, text := range r.tolerations {
		rest, effect, hasEffect := strings.Cut(text, ":")
		key, value, hasValue := strings.Cut(rest, "=")
		one := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
		if hasValue {
			one.Operator, one.Value = corev1.TolerationOpEqual, value
		}
		known := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
		switch {
		case key == "":
			return nil, usererror.Errorf(examples, "--toleration %s: the key is missing", text)
		case hasEffect && !slices.Contains(known, one.Effect):
			return nil, usererror.Errorf("valid effects: NoSchedule, PreferNoSchedule, NoExecute; "+examples, "--toleration %s: %q is not a valid effect", text, effect)
		}
		all = append(all, one)
	}
	return all, nil
}
