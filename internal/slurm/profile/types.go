package profile

import (
	"maps"
	"slices"
	"strings"
)

// DeviceTypes returns the site's names for the device types on a node with the given labels, such as a100 for the
// resource nvidia.com/gpu. The result is a map from resources to names. If several names match, the alphabetically
// first one is used.
func (p *Profile) DeviceTypes(labels map[string]string) map[string]string {
	types := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Gres)) {
		g := p.Gres[name]
		for _, kind := range slices.Sorted(maps.Keys(g.Types)) {
			if types[string(g.Resource)] == "" && len(g.Types[kind]) > 0 && MatchesLabels(labels, g.Types[kind]) {
				types[string(g.Resource)] = kind
			}
		}
	}
	return types
}

// MatchesLabels reports whether the labels contain all wanted keys with wanted values. Each wanted value is a
// comma-separated list of alternatives.
func MatchesLabels(labels, wanted map[string]string) bool {
	for key, values := range wanted {
		if value, ok := labels[key]; !ok || !slices.Contains(strings.Split(values, ","), value) {
			return false
		}
	}
	return true
}
