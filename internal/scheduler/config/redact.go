package config

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// hidden is shown instead of a password.
const hidden = "(hidden)"

// RedactPasswords returns the configuration in a form that any user may see. A configuration without passwords is
// returned unchanged. Otherwise, the result is the parsed content with each password replaced, and Parse accepts it. If
// the configuration cannot be parsed, the result is empty.
func RedactPasswords(data []byte) string {
	inner, err := unwrapConfig(data, func(string, ...any) {})
	if err != nil {
		return ""
	}
	var all map[string]any
	if yaml.Unmarshal(inner, &all) != nil {
		return ""
	}
	if !hidePasswords(all) {
		return string(data)
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		return ""
	}
	return string(text)
}

// hidePasswords replaces the passwords and reports whether there were any.
func hidePasswords(all map[string]any) (some bool) {
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
