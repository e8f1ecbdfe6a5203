// Package watchjson reads watches of custom resources with one look at each byte where client-go takes ten.
//
//	In:   a response of a watch, in JSON
//	Out:  the events, as client-go would decode them
//
// The API server has nothing but JSON for custom resources. client-go's decoder looks for the end of an event, parses the event, copies the object out,
// parses it for its kind and then for good, each with a check of its own before. Here the end is found by counting brackets, and event and kind are read
// off the front, where the API server always puts them.
//
// # Invariants
//
//   - What does not look as the API server writes it goes to client-go's own decoder: an event is read the same way or not at all.
//
// # Concurrency
//
// Codecs may be shared; a stream belongs to one goroutine, as everywhere in client-go.
package watchjson

import (
	"bytes"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/watch"
)

// Codecs are for a client of the kinds of a scheme, to be set as rest.Config's NegotiatedSerializer.
func Codecs(scheme *runtime.Scheme) runtime.NegotiatedSerializer {
	usual := serializer.NewCodecFactory(scheme).WithoutConversion()
	object := json.NewSerializerWithOptions(front{}, scheme, scheme, json.SerializerOptions{})
	c := codecs{NegotiatedSerializer: usual, media: usual.SupportedMediaTypes()}
	for i := range c.media {
		m := &c.media[i]
		if m.MediaType != runtime.ContentTypeJSON || m.StreamSerializer == nil {
			continue
		}
		m.Serializer = object
		m.StreamSerializer = &runtime.StreamSerializerInfo{EncodesAsText: true, Serializer: events{m.StreamSerializer.Serializer}, Framer: framer{m.StreamSerializer.Framer}}
	}
	return c
}

// codecs are the usual ones but for what reads JSON.
type codecs struct {
	runtime.NegotiatedSerializer
	media []runtime.SerializerInfo
}

func (c codecs) SupportedMediaTypes() []runtime.SerializerInfo { return c.media }

// front reads the kind of an object off its beginning.
type front struct{}

const (
	beforeVersion = `{"apiVersion":"`
	beforeKind    = `","kind":"`
)

func (front) Interpret(data []byte) (*schema.GroupVersionKind, error) {
	if gvk, ok := kindOf(data); ok {
		return &gvk, nil
	}
	return json.DefaultMetaFactory.Interpret(data)
}

func kindOf(data []byte) (gvk schema.GroupVersionKind, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(beforeVersion))
	if !ok {
		return gvk, false
	}
	version, rest, ok := bytes.Cut(rest, []byte(beforeKind))
	if !ok || bytes.ContainsAny(version, `"\`) {
		return gvk, false
	}
	kind, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || bytes.IndexByte(kind, '\\') >= 0 {
		return gvk, false
	}
	gv, err := schema.ParseGroupVersion(string(version))
	return gv.WithKind(string(kind)), err == nil
}

// events decode what surrounds the objects of a watch.
type events struct{ runtime.Serializer }

func (e events) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok && readEvent(data, event) {
		return event, defaults, nil
	}
	return e.Serializer.Decode(data, defaults, into)
}

var (
	beforeType   = []byte(`{"type":"`)
	beforeObject = []byte(`","object":`)
	types        = [...]watch.EventType{watch.Modified, watch.Added, watch.Deleted, watch.Bookmark, watch.Error}
)

// readEvent reads an event without a look at its object, which is not copied: it is decoded before the next event is read.
func readEvent(data []byte, event *metav1.WatchEvent) bool {
	rest, ok := bytes.CutPrefix(data, beforeType)
	if !ok || rest[len(rest)-1] != '}' {
		return false
	}
	for _, t := range types {
		after, ok := bytes.CutPrefix(rest, []byte(t))
		if !ok {
			continue
		}
		object, ok := bytes.CutPrefix(after, beforeObject)
		if !ok || len(object) == 0 || object[0] != '{' || ends(object) != len(object)-1 {
			return false // there is more to the event than the object
		}
		event.Type, event.Object.Raw = string(t), object[:len(object)-1]
		return true
	}
	return false
}

// ends is where the object ends that begins the data; -1: not in it.
func ends(data []byte) int {
	var s scan
	return s.end(data)
}

// framer finds the events in a stream.
type framer struct{ runtime.Framer }

func (framer) NewFrameReader(r io.ReadCloser) io.ReadCloser { return &frames{source: r} }
