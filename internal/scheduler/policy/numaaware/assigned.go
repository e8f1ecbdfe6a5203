package numaaware

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model/numa"
)

// assigned holds the CPUs of each container of a pod, with the container's name.
type assigned []containerCPUs

type containerCPUs struct {
	name string
	cpus numa.CPUSet
}

// String formats the CPUs for the annotation vc-batch.dev/numa-cpus, for example main=0-3;side=8.
func (a assigned) String() string {
	parts := make([]string, len(a))
	for i, c := range a {
		parts[i] = c.name + "=" + c.cpus.String()
	}
	return strings.Join(parts, ";")
}

// allAssignedCPUs returns the CPUs of all containers.
func (a assigned) allAssignedCPUs() (all numa.CPUSet) {
	for _, c := range a {
		all = all.Union(c.cpus)
	}
	return all
}

// parseAssigned parses the annotation vc-batch.dev/numa-cpus.
func parseAssigned(text string) (assigned, error) {
	var out assigned
	for _, part := range strings.Split(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, list, ok := strings.Cut(part, "=")
		cpus, err := numa.ParseCPUs(list)
		hasCPUs := err == nil && !cpus.IsEmpty()
		if !ok || name == "" || !hasCPUs {
			return nil, fmt.Errorf("must be CONTAINER=CPUS;…, not %q", part)
		}
		if slices.ContainsFunc(out, func(c containerCPUs) bool { return c.name == name }) {
			return nil, fmt.Errorf("container %s is listed twice", name)
		}
		out = append(out, containerCPUs{name, cpus})
	}
	return out, nil
}
