package config

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// hidden stands where a password was.
const hidden = "(hidden)"

// Telling is a configuration that Parse accepts as it may be told to everybody: as it is written, or, where there is a
// password in it, what it means without that.
func Telling(data []byte) string {
	inner, err := unwrap(data, func(string, ...any) {})
	if err != nil {
		return ""
	}
	var all map[string]any
	if yaml.Unmarshal(inner, &all) != nil {
		return ""
	}
	if !hide(all) {
		return string(data)
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		return ""
	}
	return string(text)
}

// hide takes the passwords away, and says whether there are any.
func hide(all map[string]any) (some bool) {
	for section, value := range all {
		metrics, isMap := value.(map[string]any)
		if !isMap || !strings.EqualFold(section, "metrics") {
			continue
		}
		if metrics["elasticsearch.password"] != nil {
			metrics["elasticsearch.password"], some = hidden, true
		}
		if elastic, nested := metrics["elasticsearch"].(map[string]any); nested && elastic["password"] != nil {
			elastic["password"], some = hidden, true
		}
	}
	return some
}
