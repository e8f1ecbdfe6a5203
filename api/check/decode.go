package check

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// longestValue is the maximum length of an invalid value in a message, in characters.
const longestValue = 80

// Decode decodes an object. It returns an error for each field whose value does not match the type of the field.
// Field names are case-sensitive.
func Decode[T any](raw []byte) (*T, field.ErrorList) {
	object := new(T)
	err := kjson.UnmarshalCaseSensitivePreserveInts(raw, object)
	if err == nil {
		return object, nil
	}
	errs := typeErrors(raw, reflect.TypeFor[T](), nil)
	if len(errs) == 0 {
		errs = field.ErrorList{field.Invalid(field.NewPath("object"), cut(raw), err.Error())}
	}
	return object, errs
}

// UnknownFields returns messages about the unknown and duplicate fields of an object in the format of the API server,
// for example `unknown field "spec.replica"`. It returns nil for kinds that the package does not check.
func UnknownFields(kind schema.GroupVersionKind, raw []byte) []string {
	judge, ok := judges[kind]
	if !ok {
		return nil
	}
	return judge.unknownFields(raw)
}

// describeUnknownFields returns a text about each field that the type does not have.
func describeUnknownFields[T any](raw []byte) []string {
	unknown, err := kjson.UnmarshalStrict(raw, new(T))
	if err != nil {
		return nil // Decode reports this error
	}
	texts := make([]string, len(unknown))
	for i, one := range unknown {
		texts[i] = one.Error()
	}
	return texts
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// typeErrors returns an error for each field below path whose value does not match the type t.
func typeErrors(raw []byte, t reflect.Type, path *field.Path) field.ErrorList {
	if string(raw) == "null" {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		return typeErrors(raw, t.Elem(), path)
	}
	value := reflect.New(t)
	err := kjson.UnmarshalCaseSensitivePreserveInts(raw, value.Interface())
	if err == nil {
		return nil
	}
	if !reflect.PointerTo(t).Implements(unmarshaler) {
		switch t.Kind() {
		case reflect.Struct:
			return typeErrorsInStruct(raw, t, path)
		case reflect.Map:
			return typeErrorsInMap(raw, t, path)
		case reflect.Slice:
			if t.Elem().Kind() != reflect.Uint8 {
				return typeErrorsInList(raw, t, path)
			}
		}
	}
	return field.ErrorList{field.Invalid(orObject(path), cut(raw), wanted(t, err))}
}

func typeErrorsInStruct(raw []byte, t reflect.Type, path *field.Path) field.ErrorList {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return field.ErrorList{field.Invalid(orObject(path), cut(raw), "must be an object")}
	}
	var errs field.ErrorList
	for i := range t.NumField() {
		member := t.Field(i)
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		switch {
		case !member.IsExported() || name == "-":
		case slices.Contains(strings.Split(options, ","), "inline") || (name == "" && member.Anonymous):
			errs = append(errs, typeErrors(raw, member.Type, path)...)
		default:
			if inner, ok := members[name]; ok {
				errs = append(errs, typeErrors(inner, member.Type, path.Child(name))...)
			}
		}
	}
	return errs
}

func typeErrorsInMap(raw []byte, t reflect.Type, path *field.Path) field.ErrorList {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return field.ErrorList{field.Invalid(orObject(path), cut(raw), "must be an object")}
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(members)) {
		errs = append(errs, typeErrors(members[name], t.Elem(), path.Key(name))...)
	}
	return errs
}

func typeErrorsInList(raw []byte, t reflect.Type, path *field.Path) field.ErrorList {
	var members []json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return field.ErrorList{field.Invalid(orObject(path), cut(raw), "must be a list")}
	}
	var errs field.ErrorList
	for i, inner := range members {
		errs = append(errs, typeErrors(inner, t.Elem(), path.Index(i))...)
	}
	return errs
}

// wanted describes the values that a field of type t accepts; err is the error from the decoder.
func wanted(t reflect.Type, err error) string {
	switch t.Kind() {
	case reflect.String:
		return "must be a string"
	case reflect.Bool:
		return "must be true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "must be a whole number that fits the field"
	}
	return err.Error()
}

func orObject(path *field.Path) *field.Path {
	if path == nil {
		return field.NewPath("object")
	}
	return path
}

// cut returns the text of a JSON value for use in a message. It unquotes strings and shortens long values.
func cut(raw []byte) string {
	text := string(raw)
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		text = plain
	}
	if runes := []rune(text); len(runes) > longestValue {
		return string(runes[:longestValue]) + "…"
	}
	return text
}
