// Package profile is what a site says once and for all about Slurm's commands: what Slurm has in slurm.conf and gets from its
// shared file system. It stands in the ConfigMap slurm-profile of the job's namespace, else in that of the system, under the key
// profile.yaml. Every field is optional.
//
//	In:   the text of the profile
//	Out:  *Profile, its amounts and times read; or every mistake in it with its path
package profile

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/slurm/value"
)

const (
	// Name is the ConfigMap.
	Name = "slurm-profile"
	// Key is where in it the profile stands.
	Key = "profile.yaml"
)

// Profile is what a site says.
type Profile struct {
	// DefaultImage is the image of jobs that name none.
	DefaultImage string `json:"defaultImage,omitempty"`
	// ToolsImage has the helper that is copied into every pod. On a process node it is there without.
	ToolsImage string `json:"toolsImage,omitempty"`
	// ClusterName is SLURM_CLUSTER_NAME; by default the context.
	ClusterName string `json:"clusterName,omitempty"`
	// Volumes are mounted into every pod: what people take for the shared file system.
	Volumes []Volume `json:"volumes,omitempty"`
	// Partitions by name; a name that is not here is the queue of that name.
	Partitions map[string]Partition `json:"partitions,omitempty"`
	// DefaultPartition is that of jobs that name none.
	DefaultPartition string `json:"defaultPartition,omitempty"`
	// QOS are names of priority classes by qos; one that is not here is the class of that name.
	QOS map[string]string `json:"qos,omitempty"`
	// Accounts by name. When there are any, others are refused.
	Accounts map[string]Account `json:"accounts,omitempty"`
	// Gres are generic resources by name; gpu is nvidia.com/gpu unless it is here.
	Gres map[string]Gres `json:"gres,omitempty"`
	// NodeSelector are labels that all nodes of jobs have: a value may list several with commas between.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Features are labels of nodes, by the feature that they stand for.
	Features map[string]map[string]string `json:"features,omitempty"`
	// Licenses are extended resources by licence.
	Licenses map[string]string `json:"licenses,omitempty"`
	// DefMemPerCPU is the memory for each cpu of jobs that ask for none: 2G.
	DefMemPerCPU string `json:"defMemPerCPU,omitempty"`
	// DefaultTime is the limit of jobs that give none, MaxTime the longest that may be asked for.
	DefaultTime string `json:"defaultTime,omitempty"`
	MaxTime     string `json:"maxTime,omitempty"`
	// Export is what --export is where nobody says: NONE, ALL or a list.
	Export string `json:"export,omitempty"`
	// KeepSeconds is how long ended jobs are kept; 0 is seven days.
	KeepSeconds int32 `json:"keepSeconds,omitempty"`
	// MaxRequeue is how often a job may start again.
	MaxRequeue *int32 `json:"maxRequeue,omitempty"`
	// ClusterDomain is that of names in the cluster; cluster.local.
	ClusterDomain string `json:"clusterDomain,omitempty"`
	// NumaHints lets --hint=nomultithread and --mem-bind=local ask for a single NUMA node.
	NumaHints bool `json:"numaHints,omitempty"`
	// MailNotifier names what sends mail by the jobs' annotations; without it --mail-type has no effect.
	MailNotifier string `json:"mailNotifier,omitempty"`
	// ServiceAccount is the one that the pods of jobs run as, in namespaces that have it: with its rights commands such as sbatch work in jobs.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// Ignore lists options that are warned about in place of being refused: [reservation, network].
	Ignore []string `json:"ignore,omitempty"`
}

// Volume is one volume of a profile.
type Volume struct {
	Name string `json:"name"`
	// MountPath is where it is in the pod.
	MountPath string `json:"mountPath"`
	// Paths are the directories of the submitting machine that are the same; by default MountPath.
	Paths []string `json:"paths,omitempty"`
	// ReadOnly volumes hold no output.
	ReadOnly            bool `json:"readOnly,omitempty"`
	corev1.VolumeSource `json:",inline"`
}

// Partition is what a partition stands for.
type Partition struct {
	// Queue is by default that of the same name.
	Queue       string `json:"queue,omitempty"`
	DefaultTime string `json:"defaultTime,omitempty"`
	MaxTime     string `json:"maxTime,omitempty"`
	// MaxNodes is how many nodes a job may ask for.
	MaxNodes int64 `json:"maxNodes,omitempty"`
}

// Account is what an account stands for.
type Account struct {
	// Queue of the jobs that name no partition.
	Queue string `json:"queue,omitempty"`
	// Namespace that the jobs are made in.
	Namespace string `json:"namespace,omitempty"`
}

// Gres is what a generic resource stands for.
type Gres struct {
	// Resource is its name in Kubernetes.
	Resource corev1.ResourceName `json:"resource"`
	// Types are labels of the nodes that have a type: a100: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}. A value may list
	// several with commas between.
	Types map[string]map[string]string `json:"types,omitempty"`
}

// builtin are the resources that every profile knows.
var builtin = map[string]Gres{
	"gpu":   {Resource: "nvidia.com/gpu"},
	"shard": {Resource: "volcano.sh/vgpu-number"},
	"npu":   {Resource: "huawei.com/Ascend910"},
}

// GresOf is what a generic resource stands for; ok is false for one that nobody knows.
func (p *Profile) GresOf(name string) (g Gres, ok bool) {
	if g, ok = p.Gres[name]; ok {
		return g, true
	}
	g, ok = builtin[name]
	return g, ok
}

// GresNames are all names of generic resources, sorted.
func (p *Profile) GresNames() []string {
	names := slices.Collect(maps.Keys(builtin))
	names = slices.AppendSeq(names, maps.Keys(p.Gres))
	slices.Sort(names)
	return slices.Compact(names)
}

// LongestIn is the longest time limit that jobs of a partition may ask for; value.Unlimited where there is none.
func (p *Profile) LongestIn(partition string) value.Minutes {
	for _, text := range []string{p.Partitions[partition].MaxTime, p.MaxTime} {
		if limit, err := value.ParseTime(text); err == nil && text != "" {
			return limit
		}
	}
	return value.Unlimited
}

// Covering is the volume that a path of the submitting machine is on, and the path in the pod; ok is false when there is none.
func (p *Profile) Covering(file string) (v *Volume, inside string, ok bool) {
	best := ""
	for i := range p.Volumes {
		candidate := &p.Volumes[i]
		for _, prefix := range candidate.paths() {
			if prefix != "" && under(file, prefix) && len(prefix) > len(best) {
				v, best = candidate, prefix
				inside = path.Join(candidate.MountPath, strings.TrimPrefix(file, strings.TrimSuffix(prefix, "/")))
			}
		}
	}
	return v, inside, v != nil
}

func (v *Volume) paths() []string {
	if len(v.Paths) > 0 {
		return v.Paths
	}
	return []string{v.MountPath}
}

// under says whether a file is in a directory, or is it.
func under(file, directory string) bool {
	directory = strings.TrimSuffix(directory, "/")
	return file == directory || strings.HasPrefix(file, directory+"/")
}

// Parse reads a profile. Its error names every mistake with its path.
func Parse(text []byte) (*Profile, error) {
	p := &Profile{}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		return nil, fmt.Errorf("ConfigMap %s, %s: %w", Name, Key, err)
	}
	if problems := p.problems(); len(problems) > 0 {
		return nil, fmt.Errorf("ConfigMap %s, %s: %s", Name, Key, strings.Join(problems, "; "))
	}
	return p, nil
}
