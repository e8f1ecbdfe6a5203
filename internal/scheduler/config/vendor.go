package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// vendor lists policies from cloud vendors' editions of Volcano. They have no effect here, so each is mapped to its
// replacement.
var vendor = map[string]string{
	"lifecycle":                  "the scheduler does not label nodes with the run time of their pods; use binpack to keep lightly used nodes free for the autoscaler",
	"cce-gpu-topology-predicate": "the policy supports only the vendor's GPU nodes; use deviceshare to share GPUs",
	"cce-gpu-topology-priority":  "the policy supports only the vendor's GPU nodes; use deviceshare to share GPUs",
	"cce-gpu":                    "the policy supports only the vendor's GPU add-on; use deviceshare to share GPUs",
	"xgpu":                       "the policy supports only the vendor's GPU add-on; use deviceshare to share GPUs",
	"nodelocalvolume":            "use the predicates policy, which checks volumes",
	"nodeemptydirvolume":         "request the resource ephemeral-storage in the pods instead",
	"nodeCSIscheduling":          "use the predicates policy, which checks volumes and volume limits",
	"networkresource":            "the policy supports only the vendor's network interfaces; extended resources count like any other resource",
}

// meaningless lists arguments and switches of Volcano or a vendor that have no effect here. Each is mapped to the
// reason.
var meaningless = map[string]string{
	"predicateErrorCacheEnable": "pods with the same requirements are always evaluated only once",
	"enableJobPipelined":        "resources are reserved for a gang as a whole, or not at all",
	"enabledSubJobPipelined":    "resources are reserved for sub-groups together with their gang, or not at all",
	"selectorspread.weight":     "Kubernetes replaced selector spread with topology spread; use podtopologyspread.weight",
}

// VendorReplacement reports whether a policy belongs to a cloud vendor's edition of Volcano, and returns its
// replacement here.
func VendorReplacement(name string) (instead string, ok bool) {
	instead, ok = vendor[name]
	return instead, ok
}

// VendorPolicies returns the names of the policies that VendorReplacement recognizes, sorted.
func VendorPolicies() []string { return slices.Sorted(maps.Keys(vendor)) }

// NoEffectKeys returns the keys that NoEffectReason recognizes, sorted.
func NoEffectKeys() []string { return slices.Sorted(maps.Keys(meaningless)) }

// NoEffectReason returns the reason why an argument or a switch has no effect here.
func NoEffectReason(key string) (why string, ok bool) {
	why, ok = meaningless[key]
	return why, ok
}

// confKeys lists the keys under which a ConfigMap holds the configuration.
var confKeys = []string{"volcano-scheduler.conf", "default-scheduler.conf"}

// unwrapConfig extracts the configuration from the forms in which users provide it: the file itself, a ConfigMap that
// contains it, or the parameters of a vendor's add-on.
func unwrapConfig(data []byte, warn func(string, ...any)) ([]byte, error) {
	var outer struct {
		Kind    string            `json:"kind"`
		Data    map[string]string `json:"data"`
		Actions any               `json:"actions"`
		Default any               `json:"default_scheduler_conf"`
	}
	if err := yaml.Unmarshal(data, &outer); err != nil {
		return data, nil //nolint:nilerr // the strict parser reports the error with more detail
	}
	switch {
	case outer.Actions != nil:
		return data, nil
	case outer.Kind == "ConfigMap":
		return extractFromConfigMap(outer.Data, warn)
	case outer.Default != nil:
		warn("default_scheduler_conf is used; the add-on's other parameters have no effect")
		inner, err := yaml.Marshal(outer.Default)
		if err != nil {
			return nil, fmt.Errorf("default_scheduler_conf: %w", err)
		}
		return inner, nil
	}
	return data, nil
}

func extractFromConfigMap(data map[string]string, warn func(string, ...any)) ([]byte, error) {
	for _, key := range confKeys {
		if text, ok := data[key]; ok {
			warn("only data[%s] of the ConfigMap is used; specify the value of this key instead of the whole ConfigMap", key)
			return []byte(text), nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if strings.HasSuffix(key, ".conf") || strings.HasSuffix(key, ".yaml") {
			warn("only data[%s] of the ConfigMap is used; specify the value of this key instead of the whole ConfigMap", key)
			return []byte(data[key]), nil
		}
	}
	return nil, fmt.Errorf("the ConfigMap has no key %s in data", strings.Join(confKeys, " or "))
}
