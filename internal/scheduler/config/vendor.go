package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// vendor lists policies of cloud editions of Volcano that have no effect elsewhere, with their replacements here.
var vendor = map[string]string{
	"lifecycle":                  "nodes are not marked by how long their pods live; binpack keeps lightly used nodes free for the autoscaler",
	"cce-gpu-topology-predicate": "it knows its cloud's GPU nodes only; deviceshare shares GPUs here",
	"cce-gpu-topology-priority":  "it knows its cloud's GPU nodes only; deviceshare shares GPUs here",
	"cce-gpu":                    "it knows its cloud's GPU add-on only; deviceshare shares GPUs here",
	"xgpu":                       "it knows its cloud's GPU add-on only; deviceshare shares GPUs here",
	"nodelocalvolume":            "predicates judges volumes here",
	"nodeemptydirvolume":         "ephemeral storage is a resource here: pods ask for ephemeral-storage",
	"nodeCSIscheduling":          "predicates judges volumes and their limits here",
	"networkresource":            "it knows its cloud's network interfaces only; extended resources count here like any other",
}

// meaningless lists arguments and switches of Volcano or of a vendor that have no effect here, with the reason.
var meaningless = map[string]string{
	"predicateErrorCacheEnable": "every shape is judged once anyway",
	"enableJobPipelined":        "a gang is promised room whole, or not at all",
	"enabledSubJobPipelined":    "sub-groups are promised room together with their gang, or not at all",
	"selectorspread.weight":     "Kubernetes has replaced it by topology spread: podtopologyspread.weight",
}

// Vendor reports whether a policy belongs to a cloud vendor's edition, and returns what replaces it here.
func Vendor(name string) (instead string, ok bool) {
	instead, ok = vendor[name]
	return instead, ok
}

// Vendors returns the policies known to Vendor, sorted.
func Vendors() []string { return slices.Sorted(maps.Keys(vendor)) }

// MeaninglessKeys returns the keys known to Meaningless, sorted.
func MeaninglessKeys() []string { return slices.Sorted(maps.Keys(meaningless)) }

// Meaningless returns why an argument or a switch has no effect here.
func Meaningless(key string) (why string, ok bool) {
	why, ok = meaningless[key]
	return why, ok
}

// confKeys lists the keys under which a ConfigMap holds the configuration.
var confKeys = []string{"volcano-scheduler.conf", "default-scheduler.conf"}

// unwrap extracts the configuration from the forms that users have: the file itself, the ConfigMap that contains
// it, or the parameters of a vendor's add-on.
func unwrap(data []byte, warn func(string, ...any)) ([]byte, error) {
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
		return fromConfigMap(outer.Data, warn)
	case outer.Default != nil:
		warn("default_scheduler_conf: read; the add-on's other parameters have no effect here")
		inner, err := yaml.Marshal(outer.Default)
		if err != nil {
			return nil, fmt.Errorf("default_scheduler_conf: %w", err)
		}
		return inner, nil
	}
	return data, nil
}

func fromConfigMap(data map[string]string, warn func(string, ...any)) ([]byte, error) {
	for _, key := range confKeys {
		if text, ok := data[key]; ok {
			warn("data[%s]: read; give the scheduler what is under this key, not the ConfigMap around it", key)
			return []byte(text), nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if strings.HasSuffix(key, ".conf") || strings.HasSuffix(key, ".yaml") {
			warn("data[%s]: read; give the scheduler what is under this key, not the ConfigMap around it", key)
			return []byte(data[key]), nil
		}
	}
	return nil, fmt.Errorf("ConfigMap: no key %s in data", strings.Join(confKeys, " or "))
}
