package apiclient

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

// newWatchCodecs returns the serializers for a client of the scheme's kinds. client-go's own decoder searches for the
// end of an event, parses the event, copies the object, parses the object for its kind and then parses it completely,
// each time after a validity check. This decoder finds the end by counting brackets, and reads the event type and the
// kind from the beginning, where the API server always writes them.
func newWatchCodecs(scheme *runtime.Scheme) runtime.NegotiatedSerializer {
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

// codecs is the usual serializer except for JSON.
type codecs struct {
	runtime.NegotiatedSerializer
	media []runtime.SerializerInfo
}

func (c codecs) SupportedMediaTypes() []runtime.SerializerInfo { return c.media }

// front reads the kind of an object from its beginning.
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

// events decodes watch events.
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
	eventTypes   = [...]watch.EventType{watch.Modified, watch.Added, watch.Deleted, watch.Bookmark, watch.Error}
)

// readEvent decodes an event without parsing its object. The object is not copied, because it is decoded before the
// next event is read.
func readEvent(data []byte, event *metav1.WatchEvent) bool {
	rest, ok := bytes.CutPrefix(data, beforeType)
	if !ok || rest[len(rest)-1] != '}' {
		return false
	}
	for _, t := range eventTypes {
		after, ok := bytes.CutPrefix(rest, []byte(t))
		if !ok {
			continue
		}
		object, ok := bytes.CutPrefix(after, beforeObject)
		isObject := ok && bytes.HasPrefix(object, []byte{'{'})
		if !isObject || objectLength(object) != len(object)-1 {
			return false // the event has further fields
		}
		event.Type, event.Object.Raw = string(t), object[:len(object)-1]
		return true
	}
	return false
}

// objectLength returns the end of the object at the beginning of data, or -1 if the object is incomplete.
func objectLength(data []byte) int {
	var s scan
	return s.endOfObject(data)
}

// framer splits a stream into events.
type framer struct{ runtime.Framer }

func (framer) NewFrameReader(r io.ReadCloser) io.ReadCloser { return &frames{source: r} }
