package profile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const full = `
defaultImage: registry/base:1
volumes:
- {name: home, mountPath: /home, hostPath: {path: /home}}
- {name: fast, mountPath: /scratch, paths: [/scratch, /lustre/scratch], persistentVolumeClaim: {claimName: fast}}
- {name: root, mountPath: /all, paths: [/], hostPath: {path: /}}
partitions:
  gpu: {queue: research, maxTime: 2-0, maxNodes: 4}
qos: {high: urgent}
gres:
  gpu:
    resource: nvidia.com/gpu
    types: {a100: {nvidia.com/gpu.product: "A100-40,A100-80"}}
  nic: {resource: example.com/nic}
features: {nvlink: {example.com/nvlink: "true"}}
defMemPerCPU: 2G
defaultTime: "60"
`

func TestAProfileIsRead(t *testing.T) {
	t.Parallel()
	p, err := ParseProfile([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if p.Partitions["gpu"].Queue != "research" || p.Volumes[1].PersistentVolumeClaim.ClaimName != "fast" {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff("gpu nic npu shard", strings.Join(p.GresNames(), " ")); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"gpu": "nvidia.com/gpu", "nic": "example.com/nic", "shard": "volcano.sh/vgpu-number", "fpga": ""} {
		if g, _ := p.FindGres(name); string(g.Resource) != want {
			t.Errorf("%s is %s", name, g.Resource)
		}
	}
}

func TestPathsAreOnTheVolumeThatCoversThemBest(t *testing.T) {
	t.Parallel()
	p, err := ParseProfile([]byte(full))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"/home/mei/x": "/home/mei/x", "/home": "/home", "/homes/x": "/all/homes/x", "/lustre/scratch/x": "/scratch/x", "/scratch": "/scratch", "/etc": "/all/etc",
	} {
		if _, inside, ok := p.FindVolume(file); !ok || inside != want {
			t.Errorf("%s is %s, %v; want %s", file, inside, ok, want)
		}
	}
	p.Volumes = p.Volumes[:2]
	if _, inside, ok := p.FindVolume("/homes/x"); ok {
		t.Errorf("/homes/x is %s", inside)
	}
}

func TestErrorsInAProfileHaveTheirPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"defaultImge: x":                                               `unknown field "defaultImge"`,
		"maxTime: 2h":                                                  `maxTime: "2h" is not a valid time: invalid value: 2h is not in Slurm's time format`,
		"partitions: {gpu: {maxTime: x}}":                              `partitions.gpu.maxTime: "x" is not a valid time`,
		"defMemPerCPU: 4Gi":                                            `defMemPerCPU: "4Gi" is not a valid amount of memory`,
		"volumes: [{name: A, mountPath: x}]":                           `volumes[0].name: "A" is not a valid name: use lower-case letters, digits and -; volumes[0].mountPath: "x" is not an absolute path; volumes[0]: the volume type is missing`,
		"{defaultTime: 2-0, maxTime: 1-0}":                             `defaultTime: "2-0" is longer than maxTime "1-0", so no job could use this default time limit`,
		"ignore: [reservations]":                                       `ignore[0]: "reservations" is not one of the unsupported options that sbatch --help lists`,
		"ignore: [gpu-bind]":                                           `ignore[0]: "gpu-bind" is not one of the unsupported options that sbatch --help lists`,
		"features: {fast: {a b: x}}":                                   `features.fast: "a b" is not a valid label: `,
		"features: {fast: {a: x y}}":                                   `features.fast[a]: "x y" is not a valid label value: `,
		"gres: {gpu: {resource: r, types: {a: {k: -}}}}":               `gres.gpu.types.a[k]: "-" is not a valid label value: `,
		"volumes: [{name: vc-slurm-job, mountPath: /x, emptyDir: {}}]": `volumes[0].name: "vc-slurm-job": names that begin with vc-slurm- are reserved for the volumes that every job has`,
		"volumes: [{name: a, mountPath: /x, emptyDir: {}}, {name: a, mountPath: /x/, emptyDir: {}}]": `volumes[1].name: "a" is used twice; volumes[1].mountPath: "/x/" is used twice`,
		"volumes: [{name: a, mountPath: /x, paths: [here], emptyDir: {}}]":                           `volumes[0].paths[0]: "here" is not an absolute path`,
		"gres: {nic: {}}": "gres.nic.resource: the name of the Kubernetes resource is missing",
	} {
		if _, err := ParseProfile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "ConfigMap slurm-profile, profile.yaml") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
