package apiserver

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// canonicalize changes an object to what remains of it after it was encoded as JSON and decoded again: times have whole
// seconds, and empty lists and maps that JSON omits are nil.
func canonicalize(object client.Object) {
	if c := canonicalizerOf(reflect.TypeOf(object).Elem()); c != nil {
		c(reflect.ValueOf(object).Elem())
	}
	object.GetObjectKind().SetGroupVersionKind(noKind)
}

// canonicalizeMetadata does the same for the metadata only.
func canonicalizeMetadata(object client.Object) {
	if accessor, ok := object.(metav1.ObjectMetaAccessor); ok {
		if metadata, ok := accessor.GetObjectMeta().(*metav1.ObjectMeta); ok {
			canonicalizerOf(metadataType)(reflect.ValueOf(metadata).Elem())
		}
	}
}

// canonicalizer changes a value in place.
type canonicalizer func(reflect.Value)

var (
	canonicalizers sync.Map // by reflect.Type
	timeType       = reflect.TypeFor[metav1.Time]()
	metadataType   = reflect.TypeFor[metav1.ObjectMeta]()
	microTimeType  = reflect.TypeFor[metav1.MicroTime]()
	opaqueTypes    = map[reflect.Type]bool{
		reflect.TypeFor[resource.Quantity](): true, reflect.TypeFor[runtime.RawExtension](): true, reflect.TypeFor[metav1.FieldsV1](): true,
	}
)

// canonicalizerOf returns the function for a type, or nil if values of the type never change.
func canonicalizerOf(t reflect.Type) canonicalizer {
	if c, ok := canonicalizers.Load(t); ok {
		return c.(canonicalizer)
	}
	built := builder{}
	built.canonicalizerOf(t)
	for t, c := range built {
		canonicalizers.Store(t, c.apply)
	}
	return built[t].apply
}

// builder holds the functions that are being built for a type and for the types that it consists of.
type builder map[reflect.Type]*builtCanonicalizer

type builtCanonicalizer struct {
	apply canonicalizer
	done  bool
}

func (b builder) canonicalizerOf(t reflect.Type) canonicalizer {
	if c, ok := b[t]; ok {
		if c.done {
			return c.apply
		}
		// The type contains itself, so its function is known later.
		return func(v reflect.Value) {
			if c.apply != nil {
				c.apply(v)
			}
		}
	}
	c := &builtCanonicalizer{}
	b[t] = c
	c.apply = b.newCanonicalizer(t)
	c.done = true
	return c.apply
}

func (b builder) newCanonicalizer(t reflect.Type) canonicalizer {
	switch {
	case t == timeType:
		return func(v reflect.Value) {
			p := v.Addr().Interface().(*metav1.Time)
			*p = secondsOf(*p)
		}
	case t == microTimeType:
		return func(v reflect.Value) {
			p := v.Addr().Interface().(*metav1.MicroTime)
			if !p.IsZero() {
				p.Time = time.UnixMicro(p.UnixMicro())
			}
		}
	case opaqueTypes[t]:
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return b.newStructCanonicalizer(t)
	case reflect.Pointer:
		if element := b.canonicalizerOf(t.Elem()); element != nil {
			return func(v reflect.Value) {
				if !v.IsNil() {
					element(v.Elem())
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if element := b.canonicalizerOf(t.Elem()); element != nil {
			return func(v reflect.Value) {
				for i := range v.Len() {
					element(v.Index(i))
				}
			}
		}
	case reflect.Map:
		if element := b.canonicalizerOf(t.Elem()); element != nil || isNullable(t.Elem()) {
			return newMapCanonicalizer(t, element)
		}
	}
	return nil
}

// isNullable reports whether the schemas of this project's kinds drop nil values of a type from maps.
func isNullable(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8
}

func newMapCanonicalizer(t reflect.Type, element canonicalizer) canonicalizer {
	nullable := isNullable(t.Elem())
	return func(v reflect.Value) {
		for _, key := range v.MapKeys() {
			value := v.MapIndex(key)
			switch {
			case nullable && value.IsNil():
				v.SetMapIndex(key, reflect.Value{})
			case element != nil:
				changed := reflect.New(t.Elem()).Elem()
				changed.Set(value)
				element(changed)
				v.SetMapIndex(key, changed)
			}
		}
	}
}

func (b builder) newStructCanonicalizer(t reflect.Type) canonicalizer {
	type change struct {
		field int
		apply canonicalizer // may be nil
		// omitted reports whether JSON omits the field if it is empty.
		omitted bool
	}
	var changes []change
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		c := change{field: i, apply: b.canonicalizerOf(f.Type)}
		if kind := f.Type.Kind(); kind == reflect.Slice || kind == reflect.Map {
			_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			c.omitted = strings.Contains(options, "omitempty")
		}
		if c.omitted || c.apply != nil {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return func(v reflect.Value) {
		for i := range changes {
			f := v.Field(changes[i].field)
			switch {
			case changes[i].omitted && f.Len() == 0:
				if !f.IsNil() {
					f.SetZero()
				}
			case changes[i].apply != nil:
				changes[i].apply(f)
			}
		}
	}
}
