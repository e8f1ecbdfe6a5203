package cli

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/internal/usererror"
)

// FieldValidation holds --validate, which controls how the server treats unknown fields. The values are the same as
// in kubectl.
type FieldValidation struct {
	// Mode is strict, warn or ignore after Validate has been called.
	Mode string
}

// AddFlag adds --validate.
func (v *FieldValidation) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.Mode, "validate", "strict", "How to handle unknown fields: strict (reject), warn, or ignore")
	cmd.Flags().Lookup("validate").NoOptDefVal = "strict"
	_ = cmd.RegisterFlagCompletionFunc("validate", CompleteValues("strict", "warn", "ignore"))
}

// Validate rejects unknown modes, and converts true and false to strict and ignore.
func (v *FieldValidation) Validate() error {
	switch v.Mode {
	case "true", "":
		v.Mode = "strict"
	case "false":
		v.Mode = "ignore"
	case "strict", "warn", "ignore":
	default:
		return usererror.Errorf("--validate=strict, warn or ignore", "--validate: %q is not a valid value", v.Mode)
	}
	return nil
}

// CheckFields checks an object of a vc kind for unknown fields. Depending on Mode, it returns an error, prints a
// warning or ignores them.
func (v *FieldValidation) CheckFields(f *Factory, object FileObject) error {
	kind := object.Object.GroupVersionKind()
	if !check.Judges(kind) {
		return nil
	}
	text, err := object.Object.MarshalJSON()
	if err != nil {
		return AddFileSource(err, object)
	}
	unknown := check.UnknownFields(kind, text)
	switch {
	case len(unknown) == 0:
	case v.Mode == "strict":
		return AddFileSource(UnknownFields(object.Object, fmt.Errorf("strict decoding error: %s", strings.Join(unknown, ", "))), object)
	case v.Mode == "warn":
		for _, one := range unknown {
			f.Warnf("%s %q: %s", strings.ToLower(kind.Kind), object.Object.GetName(), one)
		}
	}
	return nil
}

// WrapClient returns a client that validates every write as Mode requires.
func (v *FieldValidation) WrapClient(c client.Client) client.Client {
	return client.WithFieldValidation(c, client.FieldValidation(strings.ToUpper(v.Mode[:1])+v.Mode[1:]))
}

var (
	unknownField   = regexp.MustCompile(`unknown field "([^"]+)"`)
	duplicateField = regexp.MustCompile(`duplicate field "([^"]+)"`)
)

// UnknownFields converts the server's strict decoding error to an error that lists the unknown fields and suggests
// similar names. It returns nil if err is a different error.
func UnknownFields(object *unstructured.Unstructured, err error) error {
	if err == nil || !strings.Contains(err.Error(), "strict decoding error") {
		return nil
	}
	var what, hints []string
	for _, found := range unknownField.FindAllStringSubmatch(err.Error(), -1) {
		what = append(what, fmt.Sprintf("unknown field %q", found[1]))
		if near := nearestField(object, found[1]); near != "" {
			hints = append(hints, fmt.Sprintf("did you mean %q?", near))
		}
	}
	for _, found := range duplicateField.FindAllStringSubmatch(err.Error(), -1) {
		what = append(what, fmt.Sprintf("field %q is set twice", found[1]))
	}
	if len(what) == 0 {
		return nil
	}
	hints = append(hints, "use --validate=false to submit the object without these fields")
	return &usererror.Error{What: strings.Join(what, ", "), Hint: strings.Join(hints, " "), Err: err}
}

// nearestField returns the known field at the same level whose name is most similar to that of an unknown field. It
// returns "" if there is no similar name, or if the kind is not registered.
func nearestField(object *unstructured.Unstructured, path string) string {
	known, err := Scheme().New(object.GroupVersionKind())
	if err != nil {
		return ""
	}
	at := reflect.TypeOf(known)
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		name, index, _ := strings.Cut(part, "[")
		next, found := fieldsByJSONName(at)[name]
		if !found {
			return ""
		}
		if at = next; index != "" {
			at = dereferenceType(at)
			if at.Kind() != reflect.Slice && at.Kind() != reflect.Map {
				return ""
			}
			at = at.Elem()
		}
	}
	names := []string{}
	for name := range fieldsByJSONName(at) {
		names = append(names, name)
	}
	last := parts[len(parts)-1]
	slices.Sort(names)
	if same := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, last) }); same >= 0 {
		return names[same]
	}
	return FindNearest(last, names)
}

// dereferenceType returns the type to which a pointer type points, following nested pointers.
func dereferenceType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// fieldsByJSONName returns the fields of a struct by JSON name, including the fields of inlined structs.
func fieldsByJSONName(t reflect.Type) map[string]reflect.Type {
	t = dereferenceType(t)
	if t.Kind() != reflect.Struct {
		return nil
	}
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		one := t.Field(i)
		name, _, _ := strings.Cut(one.Tag.Get("json"), ",")
		switch {
		case name == "" && one.Anonymous:
			for inner, kind := range fieldsByJSONName(one.Type) {
				all[inner] = kind
			}
		case name != "" && name != "-":
			all[name] = one.Type
		}
	}
	return all
}
