package volume

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/vc-batch/vc/internal/local/processnode/environ"
	"github.com/vc-batch/vc/internal/local/processnode/shim"
)

var errAbsent = errors.New("absent")

func testSources(data map[string]string) Sources {
	return Sources{
		ConfigMap: func(name string) (*corev1.ConfigMap, error) {
			if name != "cm" {
				return nil, errAbsent
			}
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, nil
		},
		Secret: func(string) (*corev1.Secret, error) {
			return &corev1.Secret{Data: map[string][]byte{"key": []byte("k")}}, nil
		},
		Token:    func(audience string, seconds int64) (string, error) { return "token for " + audience, nil },
		Claim:    func(string) (*corev1.PersistentVolume, error) { return nil, errAbsent },
		NotFound: func(err error) bool { return errors.Is(err, errAbsent) },
	}
}

func TestProject(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"a": "b"}}}
	configMap := func(f func(*corev1.ConfigMapVolumeSource)) corev1.VolumeSource {
		source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}
		f(source)
		return corev1.VolumeSource{ConfigMap: source}
	}
	cases := map[string]struct {
		source corev1.VolumeSource
		want   Files
		err    string
	}{
		"all keys with the default mode": {
			source: configMap(func(s *corev1.ConfigMapVolumeSource) { s.DefaultMode = ptr.To[int32](0o400) }),
			want:   Files{"x": {Data: []byte("1"), Mode: 0o400}, "y": {Data: []byte("2"), Mode: 0o400}},
		},
		"chosen keys at chosen paths": {
			source: configMap(func(s *corev1.ConfigMapVolumeSource) {
				s.Items = []corev1.KeyToPath{{Key: "x", Path: "deep/x", Mode: ptr.To[int32](0o755)}}
			}),
			want: Files{"deep/x": {Data: []byte("1"), Mode: 0o755}},
		},
		"a key that is missing": {
			source: configMap(func(s *corev1.ConfigMapVolumeSource) { s.Items = []corev1.KeyToPath{{Key: "z", Path: "z"}} }),
			err:    `ConfigMap cm has no key "z"`,
		},
		"a path that leaves the volume": {
			source: configMap(func(s *corev1.ConfigMapVolumeSource) { s.Items = []corev1.KeyToPath{{Key: "x", Path: "a/../../x"}} }),
			err:    `path "a/../../x" is not inside the volume`,
		},
		"an optional ConfigMap that is missing": {
			source: configMap(func(s *corev1.ConfigMapVolumeSource) { s.Name, s.Optional = "none", ptr.To(true) }),
			want:   Files{},
		},
		"a ConfigMap that is missing": {source: configMap(func(s *corev1.ConfigMapVolumeSource) { s.Name = "none" }), err: "absent"},
		"projected from several": {
			source: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "vault", Path: "token"}},
				{Secret: &corev1.SecretProjection{Items: []corev1.KeyToPath{{Key: "key", Path: "k"}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}}},
			}}},
			want: Files{"token": {Data: []byte("token for vault"), Mode: 0o644}, "k": {Data: []byte("k"), Mode: 0o644}, "labels": {Data: []byte(`a="b"`), Mode: 0o644}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, _, err := projectFiles(pod, &corev1.Volume{VolumeSource: c.source}, environ.Facts{}, testSources(map[string]string{"x": "1", "y": "2"}))
			if (err == nil) != (c.err == "") || (err != nil && err.Error() != c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" && c.err == "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWriteReplacesAllFilesAtOnce(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "v")
	for _, files := range []Files{
		{"a": {Data: []byte("1"), Mode: 0o644}, "d/b": {Data: []byte("2"), Mode: 0o600}},
		{"a": {Data: []byte("3"), Mode: 0o644}, "d/c": {Data: []byte("4"), Mode: 0o644}},
		{"z": {Data: []byte("5"), Mode: 0o644}},
		{},
	} {
		if err := Write(directory, files, -1); err != nil {
			t.Fatal(err)
		}
		got := Files{}
		for _, name := range []string{"a", "d/b", "d/c", "z"} {
			path := filepath.Join(directory, name)
			if data, err := os.ReadFile(path); err == nil {
				info, _ := os.Stat(path)
				got[name] = File{Data: data, Mode: int32(info.Mode().Perm())}
			}
		}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestMounts(t *testing.T) {
	directory := t.TempDir()
	outside := t.TempDir()
	pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}},
		{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: outside}}},
	}}}
	set, err := PrepareVolumes(pod, directory, "", environ.Facts{}, testSources(map[string]string{"x": "1"}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(directory, "work", "evil")); err != nil {
		t.Fatal(err)
	}
	expand := func(string) (string, error) { return "pod-1", nil }
	mounts, err := set.Mounts(&corev1.Container{VolumeMounts: []corev1.VolumeMount{
		{Name: "work", MountPath: "/work", SubPathExpr: "$(POD)"}, {Name: "conf", MountPath: "/etc/conf"}, {Name: "host", MountPath: "h", ReadOnly: true},
	}}, expand)
	if err != nil {
		t.Fatal(err)
	}
	want := []shim.Mount{
		{Source: filepath.Join(directory, "work/pod-1"), Target: "/work"},
		{Source: filepath.Join(directory, "conf"), Target: "/etc/conf", ReadOnly: true},
		{Source: outside, Target: "/h", ReadOnly: true},
	}
	if diff := cmp.Diff(want, mounts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, mount := range map[string]corev1.VolumeMount{
		"a sub path upwards":       {Name: "work", SubPath: "../x"},
		"a link out of the volume": {Name: "work", SubPath: "evil"},
		"a volume that is not":     {Name: "none"},
	} {
		if _, err := set.Mounts(&corev1.Container{VolumeMounts: []corev1.VolumeMount{mount}}, expand); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
