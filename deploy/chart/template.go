package chart

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/deploy/manifest"
)

// document is an object that becomes a template: some of its fields are replaced by expressions of Helm's template language.
//
// A field that depends on values first gets a marker. When the object has been encoded as YAML, each marker is one line, and
// its insertion replaces this line. Because of that, the rest of the text is the same as in install.yaml.
type document struct {
	content    map[string]any
	insertions []insertion
	// before is text before the document, and condition is an expression that must be true; both may be empty.
	before, condition string
}

// insertion returns the text that replaces a line with a marker. indent is the indentation of the line. prefix is the part of
// the line before the marker, such as "replicas: ".
type insertion func(indent, prefix string) string

// newDocument returns a document for an object.
func newDocument(object runtime.Object) (*document, error) {
	content, err := manifest.Content(object)
	return &document{content: content}, err
}

// set replaces the field at the path. The steps of the path are keys of maps and indices of lists; an index equal to the length
// of a list appends to it.
func (d *document) set(insert insertion, path ...any) {
	marker := d.nextMarker()
	d.insertions = append(d.insertions, insert)
	d.content, _ = withValue(d.content, marker, path).(map[string]any)
}

// setEntries adds the entries that a named template returns to the map at the path.
func (d *document) setEntries(template string, path ...any) {
	d.set(entries(template), slices.Concat(path, []any{d.nextMarker()})...)
}

// append adds to the list at the path.
func (d *document) append(insert insertion, path ...any) {
	d.set(insert, slices.Concat(path, []any{len(d.list(path...))})...)
}

// list returns the list at the path, which is empty if there is none.
func (d *document) list(path ...any) []any {
	var list any = d.content
	for _, step := range path {
		switch tree := list.(type) {
		case map[string]any:
			list = tree[fmt.Sprint(step)]
		case []any:
			list = tree[step.(int)]
		}
	}
	present, _ := list.([]any)
	return present
}

// nextMarker returns the marker of the next insertion.
func (d *document) nextMarker() string { return fmt.Sprintf("vc-marker-%d-", len(d.insertions)) }

// withValue returns the tree with a new value at the path.
func withValue(tree any, value string, path []any) any {
	if len(path) == 0 {
		return value
	}
	switch step := path[0].(type) {
	case string:
		fields, _ := tree.(map[string]any)
		if fields == nil {
			fields = map[string]any{}
		}
		fields[step] = withValue(fields[step], value, path[1:])
		return fields
	case int:
		items, _ := tree.([]any)
		if step == len(items) {
			items = append(items, nil)
		}
		items[step] = withValue(items[step], value, path[1:])
		return items
	}
	panic(fmt.Sprintf("step %v of a path is neither a key nor an index", path[0]))
}

// expression inserts the result of an expression.
func expression(text string) insertion {
	return func(indent, prefix string) string { return indent + prefix + "{{ " + text + " }}" }
}

// optional inserts the field if the value of the expression is not empty.
func optional(text string) insertion {
	return func(indent, prefix string) string {
		return fmt.Sprintf("%s{{- with %s }}\n%s%s\n%s  {{- toYaml . | nindent %d }}\n%s{{- end }}",
			indent, text, indent, strings.TrimSpace(prefix), indent, len(indent)+2, indent)
	}
}

// optionalWord inserts the field on one line if the value of the expression is not empty.
func optionalWord(text string) insertion {
	return lines("{{- with "+text+" }}", "%s {{ . }}", "{{- end }}")
}

// items inserts the items of a list.
func items(text string) insertion {
	return func(indent, _ string) string {
		return fmt.Sprintf("%s{{- with %s }}\n%s{{- toYaml . | nindent %d }}\n%s{{- end }}", indent, text, indent, len(indent), indent)
	}
}

// entries inserts the entries of a map that a named template returns.
func entries(template string) insertion {
	return func(indent, _ string) string {
		return fmt.Sprintf("%s{{- include %q . | nindent %d }}", indent, template, len(indent))
	}
}

// lines inserts lines with the indentation of the marker. In a line, %s is the place of the prefix.
func lines(text ...string) insertion {
	return func(indent, prefix string) string {
		var out []string
		for _, line := range text {
			out = append(out, indent+strings.Replace(line, "%s", strings.TrimSpace(prefix), 1))
		}
		return strings.Join(out, "\n")
	}
}

// markedLine matches a line with a marker: the indentation, the text before the marker, and the number of the marker.
var markedLine = regexp.MustCompile(`(?m)^( *)(.*?)vc-marker-(\d+)-(?:: .*)?$`)

// render returns the template.
func (d *document) render() ([]byte, error) {
	text, err := manifest.Encode(d.content)
	if err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte("{{"), []byte(`{{ "{{" }}`))
	text = markedLine.ReplaceAllFunc(text, func(line []byte) []byte {
		parts := markedLine.FindSubmatch(line)
		number, _ := strconv.Atoi(string(parts[3])) // the expression matches only digits
		return []byte(d.insertions[number](string(parts[1]), string(parts[2])))
	})
	var out bytes.Buffer
	out.WriteString(d.before)
	if d.condition != "" {
		fmt.Fprintf(&out, "{{- if %s }}\n", d.condition)
	}
	out.WriteString("---\n")
	out.Write(text)
	if d.condition != "" {
		out.WriteString("{{- end }}\n")
	}
	return out.Bytes(), nil
}
