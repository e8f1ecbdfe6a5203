package compat

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// jsonFields lists the JSON fields below a type as paths with their JSON types: spec.tasks[].replicas → number.
// Types of Kubernetes itself are not expanded, because both sides use the same ones.
func jsonFields(t reflect.Type) map[string]string {
	fields := map[string]string{}
	collect(t, "", fields)
	return fields
}

func collect(t reflect.Type, path string, fields map[string]string) {
	switch t.Kind() {
	case reflect.Pointer:
		collect(t.Elem(), path, fields)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			fields[path] = "string"
			return
		}
		fields[path] = "array"
		collect(t.Elem(), path+"[]", fields)
	case reflect.Map:
		fields[path] = "object"
		collect(t.Elem(), path+"{}", fields)
	case reflect.Struct:
		collectStruct(t, path, fields)
	case reflect.String:
		fields[path] = "string"
	case reflect.Bool:
		fields[path] = "boolean"
	case reflect.Float32, reflect.Float64:
		fields[path] = "number"
	default:
		fields[path] = fmt.Sprintf("integer of %d bits", t.Bits())
	}
}

func collectStruct(t reflect.Type, path string, fields map[string]string) {
	if foreign(t) {
		fields[path] = t.String()
		return
	}
	if path != "" {
		fields[path] = "object"
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case strings.Contains(options, "inline") || (name == "" && field.Anonymous):
			collect(field.Type, path, fields)
		case name == "":
			panic(fmt.Sprintf("%s.%s has no name in JSON", t, field.Name))
		default:
			collect(field.Type, strings.TrimPrefix(path+"."+name, "."), fields)
		}
	}
}

// foreign reports whether a type belongs to Kubernetes or has its own JSON encoding.
func foreign(t reflect.Type) bool {
	marshals := t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]())
	return marshals || strings.HasPrefix(t.PkgPath(), "k8s.io/")
}
