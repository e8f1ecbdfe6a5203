package profile

import (
	"maps"
	"slices"
	"strings"
)

// TypesOf are the site's names for the kinds of devices that a node with these labels has, by resource: nvidia.com/gpu is a100. Of several names the
// first in the alphabet.
func (p *Profile) TypesOf(labels map[string]string) map[string]string {
	types := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Gres)) {
		g := p.Gres[name]
		for _, kind := range slices.Sorted(maps.Keys(g.Types)) {
			if types[string(g.Resource)] == "" && len(g.Types[kind]) > 0 && Carries(labels, g.Types[kind]) {
				types[string(g.Resource)] = kind
			}
		}
	}
	return types
}

// Carries says whether a node with these labels has one of the values, which have commas between, of each key that is wanted.
func Carries(labels, wanted map[string]string) bool {
	for key, values := range wanted {
		if value, ok := labels[key]; !ok || !slices.Contains(strings.Split(values, ","), value) {
			return false
		}
	}
	return true
}
