// Package profile reads a site's settings for Slurm's commands, which correspond to slurm.conf and the shared file
// system of a Slurm cluster. The settings are stored in the ConfigMap slurm-profile, under the key profile.yaml. The
// ConfigMap is in the job's namespace or, if it does not exist there, in the system's namespace. Every field is
// optional.
//
//	In:   the text of the profile
//	Out:  *Profile with validated amounts and times, or all errors with their paths
package profile

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const (
	// Name is the name of the ConfigMap.
	Name = "slurm-profile"
	// Key is the key of the profile in the ConfigMap.
	Key = "profile.yaml"
)

// Profile holds the settings of a site.
type Profile struct {
	// DefaultImage is the image for jobs that do not specify one.
	DefaultImage string `json:"defaultImage,omitempty"`
	// ToolsImage is an image that contains the program vc-step, which is copied into every pod. On a process node, the
	// program is available without an image.
	ToolsImage string `json:"toolsImage,omitempty"`
	// ClusterName is the value of SLURM_CLUSTER_NAME. The default is the name of the context.
	ClusterName string `json:"clusterName,omitempty"`
	// Volumes are mounted into every pod. They correspond to the shared file system of a Slurm cluster.
	Volumes []Volume `json:"volumes,omitempty"`
	// Partitions maps names to partitions. A name that is not listed refers to the queue with that name.
	Partitions map[string]Partition `json:"partitions,omitempty"`
	// DefaultPartition is the partition for jobs that do not specify one.
	DefaultPartition string `json:"defaultPartition,omitempty"`
	// QOS maps QOS names to priority classes. A name that is not listed refers to the class with that name.
	QOS map[string]string `json:"qos,omitempty"`
	// Accounts maps names to accounts. If it is not empty, accounts that are not listed are rejected.
	Accounts map[string]Account `json:"accounts,omitempty"`
	// Gres maps names to generic resources. gpu refers to nvidia.com/gpu unless gpu is listed here.
	Gres map[string]Gres `json:"gres,omitempty"`
	// NodeSelector contains the labels that all nodes for jobs must have. A value may be a comma-separated list of
	// alternatives.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Features maps features to node labels.
	Features map[string]map[string]string `json:"features,omitempty"`
	// Licenses maps licences to extended resources.
	Licenses map[string]string `json:"licenses,omitempty"`
	// DefMemPerCPU is the memory per CPU, such as 2G, for jobs that do not request memory.
	DefMemPerCPU string `json:"defMemPerCPU,omitempty"`
	// DefaultTime is the time limit for jobs that do not specify one. MaxTime is the maximum time limit. Only Slurm's
	// commands check them; the API server enforces the limits of the queues.
	DefaultTime string `json:"defaultTime,omitempty"`
	MaxTime     string `json:"maxTime,omitempty"`
	// Export is the default value of --export: NONE, ALL or a list.
	Export string `json:"export,omitempty"`
	// KeepSeconds is the time for which ended jobs are kept, in seconds. 0 means seven days.
	KeepSeconds int32 `json:"keepSeconds,omitempty"`
	// MaxRequeue is the maximum number of restarts of a job.
	MaxRequeue *int32 `json:"maxRequeue,omitempty"`
	// ClusterDomain is the domain of the cluster. The default is cluster.local.
	ClusterDomain string `json:"clusterDomain,omitempty"`
	// NumaHints makes the options --hint=nomultithread and --mem-bind=local request a single NUMA node.
	NumaHints bool `json:"numaHints,omitempty"`
	// MailNotifier is the name of the program that sends the mail that users request in the jobs' annotations. Without
	// it, --mail-type has no effect.
	MailNotifier string `json:"mailNotifier,omitempty"`
	// ServiceAccount is the service account for the jobs' pods. It is used only in namespaces that contain it. Its
	// permissions allow commands such as sbatch to work inside jobs.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// Ignore lists rejected options that only cause a warning, such as [reservation, network].
	Ignore []string `json:"ignore,omitempty"`
}

// Volume is a volume of a profile.
type Volume struct {
	Name string `json:"name"`
	// MountPath is the path of the volume in the pod.
	MountPath string `json:"mountPath"`
	// Paths lists the corresponding directories on the submitting machine. The default is MountPath.
	Paths []string `json:"paths,omitempty"`
	// ReadOnly volumes cannot contain output files.
	ReadOnly            bool `json:"readOnly,omitempty"`
	corev1.VolumeSource `json:",inline"`
}

// Partition holds the settings of a partition. Its limits can only be stricter than those of its queue; see LimitsOf.
type Partition struct {
	// Queue is the queue of the partition. The default is the queue with the same name.
	Queue       string `json:"queue,omitempty"`
	DefaultTime string `json:"defaultTime,omitempty"`
	MaxTime     string `json:"maxTime,omitempty"`
	// MaxNodes is the maximum number of nodes per job.
	MaxNodes int64 `json:"maxNodes,omitempty"`
}

// Account holds the settings of an account.
type Account struct {
	// Queue is the queue for jobs that do not specify a partition.
	Queue string `json:"queue,omitempty"`
	// Namespace is the namespace of the jobs.
	Namespace string `json:"namespace,omitempty"`
}

// Gres holds the settings of a generic resource.
type Gres struct {
	// Resource is the name of the resource in Kubernetes.
	Resource corev1.ResourceName `json:"resource"`
	// Types maps types to node labels, for example a100: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB}. A value may
	// be a comma-separated list of alternatives.
	Types map[string]map[string]string `json:"types,omitempty"`
}

// builtin lists the predefined generic resources.
var builtin = map[string]Gres{
	"gpu":   {Resource: "nvidia.com/gpu"},
	"shard": {Resource: "volcano.sh/vgpu-number"},
	"npu":   {Resource: "huawei.com/Ascend910"},
}

// FindGres returns the settings of a generic resource. ok is false if the resource is unknown.
func (p *Profile) FindGres(name string) (g Gres, ok bool) {
	if g, ok = p.Gres[name]; ok {
		return g, true
	}
	g, ok = builtin[name]
	return g, ok
}

// GresNames returns the sorted names of all generic resources.
func (p *Profile) GresNames() []string {
	names := slices.Collect(maps.Keys(builtin))
	names = slices.AppendSeq(names, maps.Keys(p.Gres))
	slices.Sort(names)
	return slices.Compact(names)
}

// FindVolume returns the volume that contains a path on the submitting machine, and the corresponding path in the pod.
// ok is false if no volume contains the path.
func (p *Profile) FindVolume(file string) (v *Volume, inside string, ok bool) {
	best := ""
	for i := range p.Volumes {
		candidate := &p.Volumes[i]
		for _, prefix := range candidate.sourcePaths() {
			if prefix != "" && isUnder(file, prefix) && len(prefix) > len(best) {
				v, best = candidate, prefix
				inside = path.Join(candidate.MountPath, strings.TrimPrefix(file, strings.TrimSuffix(prefix, "/")))
			}
		}
	}
	return v, inside, v != nil
}

func (v *Volume) sourcePaths() []string {
	if len(v.Paths) > 0 {
		return v.Paths
	}
	return []string{v.MountPath}
}

// isUnder reports whether a file is inside a directory, or is the directory itself.
func isUnder(file, directory string) bool {
	directory = strings.TrimSuffix(directory, "/")
	return file == directory || strings.HasPrefix(file, directory+"/")
}

// ParseProfile parses a profile. The error lists all errors in the profile with their paths.
func ParseProfile(text []byte) (*Profile, error) {
	p := &Profile{}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		return nil, fmt.Errorf("ConfigMap %s, %s: %w", Name, Key, err)
	}
	if problems := p.findProblems(); len(problems) > 0 {
		return nil, fmt.Errorf("ConfigMap %s, %s: %s", Name, Key, strings.Join(problems, "; "))
	}
	return p, nil
}
