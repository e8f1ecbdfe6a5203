package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// warnUnknownKeys warns about unknown keys, for example misspelled ones, which would otherwise be ignored silently.
// Keys of policies and metrics are checked where those sections are parsed.
func warnUnknownKeys(data []byte, warn func(string, ...any)) {
	var all map[string]any
	if yaml.Unmarshal(data, &all) != nil {
		return // Parse reports the error
	}
	warnUnknownEntryKeys("", all, warn, "actions", "configurations", "metrics", "plugins", "tiers")
	warnUnknownListKeys(all, "tiers", warn, "plugins")
	warnUnknownListKeys(all, "configurations", warn, "arguments", "name")
}

// warnUnknownListKeys warns about unknown keys in the entries of a list.
func warnUnknownListKeys(all map[string]any, section string, warn func(string, ...any), known ...string) {
	for key, value := range all {
		list, isList := value.([]any)
		if !isList || !strings.EqualFold(key, section) {
			continue
		}
		for i, item := range list {
			if entry, isMap := item.(map[string]any); isMap {
				warnUnknownEntryKeys(fmt.Sprintf("%s[%d].", section, i), entry, warn, known...)
			}
		}
	}
}

// warnUnknownEntryKeys warns about the unknown keys of one entry. Like the parser, it ignores case.
func warnUnknownEntryKeys(where string, entry map[string]any, warn func(string, ...any), known ...string) {
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, key) }) {
			warn("%s%s is unknown and ignored; valid keys: %s", where, key, strings.Join(known, ", "))
		}
	}
}
