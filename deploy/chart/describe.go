package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// property describes one value of a chart, or a group of values.
type property struct {
	name, doc  string
	value      any
	enum       []string
	pattern    string
	minimum    *int
	properties []property // of a group
}

// describe returns the properties of a struct of values, in the order of its fields. Embedded structs are flattened.
func describe(values any) []property {
	var all []property
	content := reflect.ValueOf(values)
	for i := range content.NumField() {
		field, value := content.Type().Field(i), content.Field(i).Interface()
		if field.Anonymous {
			all = append(all, describe(value)...)
			continue
		}
		p := property{name: field.Tag.Get("json"), doc: field.Tag.Get("doc"), pattern: field.Tag.Get("pattern"), value: value}
		if enum, ok := field.Tag.Lookup("enum"); ok {
			p.enum = strings.Split(enum, ",")
		}
		if minimum, err := strconv.Atoi(field.Tag.Get("min")); err == nil {
			p.minimum = &minimum
		}
		if field.Type.Kind() == reflect.Struct {
			p.properties = describe(value)
		}
		all = append(all, p)
	}
	return all
}

// schemaTypes holds the schemas of the types that fields of values may have.
var schemaTypes = map[reflect.Type]map[string]any{
	reflect.TypeFor[string]():            {"type": "string"},
	reflect.TypeFor[bool]():              {"type": "boolean"},
	reflect.TypeFor[int]():               {"type": "integer"},
	reflect.TypeFor[[]string]():          {"type": "array", "items": map[string]any{"type": "string"}},
	reflect.TypeFor[[]map[string]any]():  {"type": "array", "items": map[string]any{"type": "object"}},
	reflect.TypeFor[map[string]any]():    {"type": "object"},
	reflect.TypeFor[map[string]string](): {"type": "object", "additionalProperties": map[string]any{"type": "string"}},
}

// schemaOf returns the JSON schema of the properties. It rejects unknown keys.
func schemaOf(properties []property) map[string]any {
	fields := map[string]any{}
	for _, p := range properties {
		fields[p.name] = p.schema()
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": fields}
}

func (p property) schema() map[string]any {
	if p.properties != nil {
		return schemaOf(p.properties)
	}
	schema := map[string]any{"description": p.doc, "default": p.defaultValue()}
	for key, value := range schemaTypes[reflect.TypeOf(p.value)] {
		schema[key] = value
	}
	if p.enum != nil {
		schema["enum"] = p.enum
	}
	if p.pattern != "" {
		schema["pattern"] = p.pattern
	}
	if p.minimum != nil {
		schema["minimum"] = *p.minimum
	}
	return schema
}

// defaultValue returns the default value, with empty instead of missing lists and maps.
func (p property) defaultValue() any {
	switch value := reflect.ValueOf(p.value); {
	case value.Kind() == reflect.Slice && value.IsNil():
		return []any{}
	case value.Kind() == reflect.Map && value.IsNil():
		return map[string]any{}
	}
	return p.value
}

// schemaFile returns values.schema.json. It also admits the keys that Helm adds to the values of a subchart.
func schemaFile(properties []property) ([]byte, error) {
	schema := schemaOf(properties)
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	fields, ok := schema["properties"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the schema has no properties")
	}
	fields["global"] = map[string]any{"type": "object", "description": "Values that Helm shares between charts. This chart ignores them."}
	fields["enabled"] = map[string]any{"type": "boolean", "description": "The condition of a chart that depends on this one. This chart ignores it."}
	return encodeJSON(schema, "  ")
}

// encodeJSON encodes a value without escaping the characters that are special only in HTML.
func encodeJSON(value any, indent string) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return out.Bytes(), err
}

// inJSON returns a default value as JSON on one line, which is also YAML.
func (p property) inJSON() (string, error) {
	text, err := encodeJSON(p.defaultValue(), "")
	return strings.TrimSpace(string(text)), err
}

// valuesFile returns values.yaml, with the descriptions as comments.
func valuesFile(properties []property) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(notice)
	err := writeValues(&out, properties, "")
	return out.Bytes(), err
}

func writeValues(out *bytes.Buffer, properties []property, indent string) error {
	for _, p := range properties {
		if p.properties != nil {
			fmt.Fprintf(out, "%s%s:\n", indent, p.name)
			if err := writeValues(out, p.properties, indent+"  "); err != nil {
				return err
			}
			continue
		}
		text, err := p.inJSON()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s# %s\n%s%s: %s\n", indent, p.doc, indent, p.name, text)
	}
	return nil
}

// valuesTable returns the table of values for the README.
func valuesTable(properties []property) (string, error) {
	var out strings.Builder
	out.WriteString("| Value | Default | Description |\n|---|---|---|\n")
	err := writeRows(&out, properties, "")
	return out.String(), err
}

func writeRows(out *strings.Builder, properties []property, prefix string) error {
	for _, p := range properties {
		if p.properties != nil {
			if err := writeRows(out, p.properties, prefix+p.name+"."); err != nil {
				return err
			}
			continue
		}
		text, err := p.inJSON()
		if err != nil {
			return err
		}
		doc := p.doc
		if p.enum != nil {
			doc += " One of " + strings.Join(quoteAll(p.enum), ", ") + "."
		}
		fmt.Fprintf(out, "| `%s%s` | `%s` | %s |\n", prefix, p.name, text, doc)
	}
	return nil
}

func quoteAll(words []string) []string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = fmt.Sprintf("`%q`", word)
	}
	return quoted
}
