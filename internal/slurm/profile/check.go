package profile

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/request"
)

// reserved is the prefix for the names of volumes that every batch job has.
const reserved = "vc-slurm-"

// checker collects the errors in a profile together with their paths.
type checker struct{ problems []string }

func (c *checker) addProblem(path, format string, args ...any) {
	c.problems = append(c.problems, path+": "+fmt.Sprintf(format, args...))
}

// findProblems returns all errors in a profile.
func (p *Profile) findProblems() []string {
	c := &checker{}
	c.checkTimes("", p.DefaultTime, p.MaxTime)
	for _, name := range slices.Sorted(maps.Keys(p.Partitions)) {
		c.checkTimes("partitions."+name+".", p.Partitions[name].DefaultTime, p.Partitions[name].MaxTime)
	}
	if p.DefMemPerCPU != "" {
		if _, err := optionvalue.ParseMemory(p.DefMemPerCPU); err != nil {
			c.addProblem("defMemPerCPU", "%q is not a valid amount of memory: %v", p.DefMemPerCPU, err)
		}
	}
	if name := p.ServiceAccount; name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		c.addProblem("serviceAccount", "%q is not a valid service account name", name)
	}
	c.checkVolumes(p.Volumes)
	for _, name := range slices.Sorted(maps.Keys(p.Gres)) {
		g := p.Gres[name]
		if g.Resource == "" {
			c.addProblem("gres."+name+".resource", "the name of the Kubernetes resource is missing")
		}
		for _, kind := range slices.Sorted(maps.Keys(g.Types)) {
			c.checkLabels("gres."+name+".types."+kind, g.Types[kind])
		}
	}
	if len(p.NodeSelector) > 0 {
		c.checkLabels("nodeSelector", p.NodeSelector)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Features)) {
		c.checkLabels("features."+name, p.Features[name])
	}
	for i, name := range p.Ignore {
		if !slices.Contains(request.RejectedNames(), name) {
			c.addProblem(fmt.Sprintf("ignore[%d]", i), "%q is not one of the unsupported options that sbatch --help lists", name)
		}
	}
	return c.problems
}

// checkTimes checks the time limits of the site or of a partition.
func (c *checker) checkTimes(at, usual, most string) {
	read := func(field, text string) optionvalue.Minutes {
		if text == "" {
			return optionvalue.Unlimited
		}
		minutes, err := optionvalue.ParseTime(text)
		if err != nil {
			c.addProblem(at+field, "%q is not a valid time: %v", text, err)
			return optionvalue.Unlimited
		}
		return minutes
	}
	if a, b := read("defaultTime", usual), read("maxTime", most); b > 0 && a > b {
		c.addProblem(at+"defaultTime", "%q is longer than maxTime %q, so no job could use this default time limit", usual, most)
	}
}

func (c *checker) checkVolumes(all []Volume) {
	names, places := map[string]bool{}, map[string]bool{}
	for i, v := range all {
		at := fmt.Sprintf("volumes[%d]", i)
		switch {
		case len(validation.IsDNS1123Label(v.Name)) > 0:
			c.addProblem(at+".name", "%q is not a valid name: use lower-case letters, digits and -", v.Name)
		case strings.HasPrefix(v.Name, reserved):
			c.addProblem(at+".name", "%q: names that begin with %s are reserved for the volumes that every job has", v.Name, reserved)
		case names[v.Name]:
			c.addProblem(at+".name", "%q is used twice", v.Name)
		}
		names[v.Name] = true
		switch {
		case !path.IsAbs(v.MountPath):
			c.addProblem(at+".mountPath", "%q is not an absolute path", v.MountPath)
		case places[path.Clean(v.MountPath)]:
			c.addProblem(at+".mountPath", "%q is used twice", v.MountPath)
		}
		places[path.Clean(v.MountPath)] = true
		for j, prefix := range v.Paths {
			if !path.IsAbs(prefix) {
				c.addProblem(fmt.Sprintf("%s.paths[%d]", at, j), "%q is not an absolute path", prefix)
			}
		}
		if v.VolumeSource == (corev1.VolumeSource{}) {
			c.addProblem(at, "the volume type is missing: specify persistentVolumeClaim, nfs, hostPath, …")
		}
	}
}

// checkLabels checks node labels. The value of a label may be a comma-separated list of alternatives.
func (c *checker) checkLabels(at string, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			c.addProblem(at, "%q is not a valid label: %s", key, problems[0])
		}
		for one := range strings.SplitSeq(labels[key], ",") {
			if problems := validation.IsValidLabelValue(one); len(problems) > 0 {
				c.addProblem(at+"["+key+"]", "%q is not a valid label value: %s", one, problems[0])
			}
		}
	}
}
