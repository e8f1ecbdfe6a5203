package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// warnOfStrangers names keys that mean nothing where they stand: what somebody wrote and misspelled would be passed over
// without a word. Those of policies and of metrics are looked at where these are read.
func warnOfStrangers(data []byte, warn func(string, ...any)) {
	var all map[string]any
	if yaml.Unmarshal(data, &all) != nil {
		return // it is told elsewhere
	}
	strangers("", all, warn, "actions", "configurations", "metrics", "plugins", "tiers")
	strangersIn(all, "tiers", warn, "plugins")
	strangersIn(all, "configurations", warn, "arguments", "name")
}

// strangersIn looks at the entries of a list.
func strangersIn(all map[string]any, section string, warn func(string, ...any), known ...string) {
	for key, value := range all {
		list, isList := value.([]any)
		if !isList || !strings.EqualFold(key, section) {
			continue
		}
		for i, item := range list {
			if entry, isMap := item.(map[string]any); isMap {
				strangers(fmt.Sprintf("%s[%d].", section, i), entry, warn, known...)
			}
		}
	}
}

// strangers warns of keys that are not known; how they are written in small and large letters does not matter, as for the reader.
func strangers(where string, entry map[string]any, warn func(string, ...any), known ...string) {
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, key) }) {
			warn("%s%s: not expected; ignored (there is %s)", where, key, strings.Join(known, ", "))
		}
	}
}
