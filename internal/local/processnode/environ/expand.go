package environ

import (
	"strings"

	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// ExpandArguments replaces $(KEY) in each argument with the value from an environment, given as KEY=value lines.
func ExpandArguments(args, env []string) []string {
	values := make(map[string]string, len(env))
	for _, line := range env {
		key, value, _ := strings.Cut(line, "=")
		values[key] = value
	}
	expanded := make([]string, len(args))
	for i, arg := range args {
		expanded[i] = expansion.Expand(arg, expansion.MappingFuncFor(values))
	}
	return expanded
}
