package volume

import (
	"fmt"
	"maps"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"

	"github.com/vc-batch/vc/internal/local/processnode/environ"
)

// File is a file of a projected volume: its content and its permission bits.
type File = volumeutil.FileProjection

// Files maps paths relative to the volume to files.
type Files map[string]File

// Sources holds functions that look up the objects to which volumes refer. NotFound reports whether an error means that
// an object is missing.
type Sources struct {
	ConfigMap func(name string) (*corev1.ConfigMap, error)
	Secret    func(name string) (*corev1.Secret, error)
	// Token requests a token for the pod's service account. An empty audience means the API server.
	Token func(audience string, expirationSeconds int64) (string, error)
	// Claim returns the volume to which a claim in the pod's namespace is bound.
	Claim    func(name string) (*corev1.PersistentVolume, error)
	NotFound func(error) bool
}

const defaultMode int32 = 0o644

func firstGivenMode(modes ...*int32) int32 {
	for _, mode := range modes {
		if mode != nil {
			return *mode
		}
	}
	return defaultMode
}

func filesFromConfigMap(object *corev1.ConfigMap, items []corev1.KeyToPath, mode *int32, optional bool) (Files, error) {
	data := map[string][]byte{}
	for key, value := range object.Data {
		data[key] = []byte(value)
	}
	maps.Copy(data, object.BinaryData)
	return selectItems(data, items, mode, optional, "ConfigMap "+object.Name)
}

func filesFromSecret(object *corev1.Secret, items []corev1.KeyToPath, mode *int32, optional bool) (Files, error) {
	return selectItems(object.Data, items, mode, optional, "Secret "+object.Name)
}

// selectItems returns the listed keys, or all keys if the list is empty.
func selectItems(data map[string][]byte, items []corev1.KeyToPath, mode *int32, optional bool, name string) (Files, error) {
	files := Files{}
	if len(items) == 0 {
		for key, value := range data {
			files[key] = File{Data: value, Mode: firstGivenMode(mode)}
		}
		return files, nil
	}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok {
			if optional {
				continue
			}
			return nil, fmt.Errorf("%s has no key %q", name, item.Key)
		}
		if err := files.addVolumeFile(item.Path, File{Data: value, Mode: firstGivenMode(item.Mode, mode)}); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// addVolumeFile adds a file. It rejects paths outside the volume.
func (f Files) addVolumeFile(name string, file File) error {
	clean := path.Clean(name)
	leavesVolume := clean == ".." || strings.HasPrefix(clean, "../")
	if name == "" || path.IsAbs(name) || leavesVolume {
		return fmt.Errorf("path %q is not inside the volume", name)
	}
	f[clean] = file
	return nil
}

func filesFromDownwardAPI(pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile, mode *int32, facts environ.Facts) (Files, error) {
	files := Files{}
	for _, item := range items {
		var text string
		var err error
		switch {
		case item.FieldRef != nil:
			text, err = environ.FieldValue(pod, item.FieldRef.FieldPath, facts)
		case item.ResourceFieldRef != nil:
			text, err = environ.ResourceField(pod, "", item.ResourceFieldRef, facts)
		}
		if err == nil {
			err = files.addVolumeFile(item.Path, File{Data: []byte(text), Mode: firstGivenMode(item.Mode, mode)})
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// projectFiles computes the files of a volume. ok is false if volumes of this kind have no projected files.
func projectFiles(pod *corev1.Pod, v *corev1.Volume, facts environ.Facts, sources Sources) (files Files, ok bool, err error) {
	switch {
	case v.ConfigMap != nil:
		files, err = configMapFiles(v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.DefaultMode, v.ConfigMap.Optional, sources)
	case v.Secret != nil:
		files, err = secretFiles(v.Secret.SecretName, v.Secret.Items, v.Secret.DefaultMode, v.Secret.Optional, sources)
	case v.DownwardAPI != nil:
		files, err = filesFromDownwardAPI(pod, v.DownwardAPI.Items, v.DownwardAPI.DefaultMode, facts)
	case v.Projected != nil:
		files, err = projectedFiles(pod, v.Projected, facts, sources)
	default:
		return nil, false, nil
	}
	return files, true, err
}

func configMapFiles(name string, items []corev1.KeyToPath, mode *int32, optional *bool, sources Sources) (Files, error) {
	may := optional != nil && *optional
	object, err := sources.ConfigMap(name)
	if err != nil {
		if may && sources.NotFound(err) {
			return Files{}, nil
		}
		return nil, err
	}
	return filesFromConfigMap(object, items, mode, may)
}

func secretFiles(name string, items []corev1.KeyToPath, mode *int32, optional *bool, sources Sources) (Files, error) {
	may := optional != nil && *optional
	object, err := sources.Secret(name)
	if err != nil {
		if may && sources.NotFound(err) {
			return Files{}, nil
		}
		return nil, err
	}
	return filesFromSecret(object, items, mode, may)
}

func projectedFiles(pod *corev1.Pod, source *corev1.ProjectedVolumeSource, facts environ.Facts, sources Sources) (Files, error) {
	all := Files{}
	for _, part := range source.Sources {
		var files Files
		var err error
		switch {
		case part.ConfigMap != nil:
			files, err = configMapFiles(part.ConfigMap.Name, part.ConfigMap.Items, source.DefaultMode, part.ConfigMap.Optional, sources)
		case part.Secret != nil:
			files, err = secretFiles(part.Secret.Name, part.Secret.Items, source.DefaultMode, part.Secret.Optional, sources)
		case part.DownwardAPI != nil:
			files, err = filesFromDownwardAPI(pod, part.DownwardAPI.Items, source.DefaultMode, facts)
		case part.ServiceAccountToken != nil:
			files, err = tokenFile(part.ServiceAccountToken, source.DefaultMode, sources)
		default:
			err = fmt.Errorf("process nodes do not support this kind of projected source")
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, files)
	}
	return all, nil
}

func tokenFile(source *corev1.ServiceAccountTokenProjection, mode *int32, sources Sources) (Files, error) {
	seconds := int64(3600)
	if source.ExpirationSeconds != nil {
		seconds = *source.ExpirationSeconds
	}
	token, err := sources.Token(source.Audience, seconds)
	if err != nil {
		return nil, fmt.Errorf("service account token: %w", err)
	}
	files := Files{}
	return files, files.addVolumeFile(source.Path, File{Data: []byte(token), Mode: firstGivenMode(mode)})
}
