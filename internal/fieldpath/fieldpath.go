// Package fieldpath reads a field of an API object by its JSONPath, for columns that users define.
//
//	In:   a JSONPath as in kubectl, with or without braces; an API object
//	Out:  the value as text
//
// Pure.
package fieldpath

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
)

// FieldsOf returns the fields of an object, with the values that they have in its JSON.
func FieldsOf(object any) (map[string]any, error) {
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

// Path is a parsed JSONPath.
type Path struct{ parsed *jsonpath.JSONPath }

// Parse parses a JSONPath; the braces and the leading dot are optional. The error is that of the JSONPath library.
func Parse(path string) (Path, error) {
	text := strings.TrimSpace(path)
	if !strings.HasPrefix(text, "{") {
		text = "{." + strings.TrimPrefix(strings.TrimPrefix(text, "."), "$.") + "}"
	}
	parsed := jsonpath.New(path).AllowMissingKeys(true)
	return Path{parsed}, parsed.Parse(text)
}

// Text returns the values at the path in the fields of an object, separated by blanks. It returns "" if there are none.
func (p Path) Text(fields map[string]any) string {
	var text strings.Builder
	if err := p.parsed.Execute(&text, fields); err != nil {
		return ""
	}
	return text.String()
}
