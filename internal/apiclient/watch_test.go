package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	restwatch "k8s.io/client-go/rest/watch"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/propertytest"
)

func jobScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := batchv1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	metav1.AddToGroupVersion(s, batchv1alpha1.GroupVersion)
	return s
}

// told is an event of a watch.
type told struct {
	Type   string
	Object runtime.Object
}

// read decodes a stream with the codecs of a client, up to the first error.
func read(t testing.TB, c runtime.NegotiatedSerializer, stream io.Reader) (all []told, end error) {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(c.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		t.Fatal("no JSON")
	}
	frames := info.StreamSerializer.Framer.NewFrameReader(io.NopCloser(stream))
	d := restwatch.NewDecoder(streaming.NewDecoder(frames, info.StreamSerializer.Serializer), c.DecoderToVersion(info.Serializer, batchv1alpha1.GroupVersion))
	for {
		event, object, err := d.Decode()
		if err != nil {
			return all, err
		}
		all = append(all, told{string(event), object})
	}
}

func job(name string) *batchv1alpha1.Job {
	return &batchv1alpha1.Job{TypeMeta: metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", ResourceVersion: "7", Annotations: map[string]string{"quotes": `\"{[`, "other": `}]\\`},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:a":{"k:{\"name\":\"x\"}":{}}}`)}}}},
		Spec: batchv1alpha1.JobSpec{Queue: "q", Tasks: []batchv1alpha1.TaskSpec{{Name: "w", Replicas: 2,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Command: []string{"sh", "-c", "echo \"hi\"\n"}}}}}}}},
		Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running}, Running: 2}}
}

// written returns an event as the API server encodes it: with the members of an object sorted by name.
func written(t testing.TB, event string, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var sorted map[string]any
	if err := json.Unmarshal(text, &sorted); err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(sorted); err != nil {
		t.Fatal(err)
	}
	return `{"type":"` + event + `","object":` + string(text) + "}\n"
}

// TestEventsAreReadAsClientGoReadsThem compares events, objects and the end of the stream with client-go, for any
// division of the stream into pieces.
func TestEventsAreReadAsClientGoReadsThem(t *testing.T) {
	t.Parallel()
	usual := serializer.NewCodecFactory(jobScheme(t)).WithoutConversion()
	status := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Code: 410, Reason: "Expired"}
	pretty, err := json.MarshalIndent(map[string]any{"type": "ADDED", "object": job("pretty")}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	a, b := written(t, "ADDED", job("a")), written(t, "MODIFIED", job("b"))
	for name, stream := range map[string]string{
		"two events":                          a + b,
		"one that is deleted":                 a + written(t, "DELETED", job("a")),
		"a bookmark":                          written(t, "BOOKMARK", &batchv1alpha1.Job{TypeMeta: job("").TypeMeta, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9"}}),
		"an error":                            a + written(t, "ERROR", status),
		"an error as others write it":         `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":410}}`,
		"no line ends":                        strings.TrimSpace(a) + strings.TrimSpace(b),
		"white space":                         "\n \t" + a + "\r\n\n" + b + " ",
		"many lines":                          string(pretty) + a,
		"the object first":                    strings.TrimSpace(a[:0]) + `{"object":` + strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(a), `{"type":"ADDED","object":`), "}") + `,"type":"ADDED"}`,
		"something behind the object":         strings.TrimSuffix(strings.TrimSpace(a), "}") + `,"more":{}}`,
		"an event of no known type":           strings.Replace(a, "ADDED", "ADDEDMORE", 1) + b,
		"a type that is spelled with escapes": strings.Replace(a, "ADDED", `\u0041DDED`, 1) + b,
		"a kind that nobody knows":            a + strings.Replace(b, `"kind":"Job"`, `"kind":"Jib"`, 1),
		"a version that nobody knows":         strings.Replace(b, "v1alpha1", "v9", 1),
		"an object that is cut off":           a + b[:len(b)/2],
		"an object that is none":              `{"type":"ADDED","object":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",}}` + "\n" + a,
		"a number for a text":                 strings.Replace(a, `"queue":"q"`, `"queue":7`, 1),
		"a null":                              `{"type":"ADDED","object":null}`,
		"nothing":                             "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, wantEnd := read(t, usual, strings.NewReader(stream))
			for pieces, reader := range map[string]io.Reader{"at once": strings.NewReader(stream), "byte by byte": iotest.OneByteReader(strings.NewReader(stream)),
				"with its end": iotest.DataErrReader(strings.NewReader(stream))} {
				got, end := read(t, newWatchCodecs(jobScheme(t)), reader)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: -client-go +here\n%s", pieces, diff)
				}
				if errors.Is(wantEnd, io.EOF) != errors.Is(end, io.EOF) || errors.Is(wantEnd, io.ErrUnexpectedEOF) != errors.Is(end, io.ErrUnexpectedEOF) {
					t.Errorf("%s: it ends with %q, there with %q", pieces, end, wantEnd)
				}
			}
		})
	}
}

func TestAStreamThatIsNoJSONEnds(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"<html>", "[1]", "upstream error"} {
		if all, err := read(t, newWatchCodecs(jobScheme(t)), strings.NewReader(stream)); len(all) > 0 || !errors.Is(err, errNotJSON) {
			t.Errorf("%s: %v, %v", stream, all, err)
		}
	}
}

// TestAStreamIsCutBetweenItsObjects covers any content of texts, and any division of the stream into pieces.
func TestAStreamIsCutBetweenItsObjects(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 1000, func(t *rapid.T) {
		var want []string
		var stream bytes.Buffer
		for range rapid.IntRange(1, 4).Draw(t, "objects") {
			object := map[string]any{rapid.StringMatching(`[\\"{}\[\]a]{0,6}`).Draw(t, "key"): []any{rapid.StringMatching(`[\\"{}\[\]a]{0,40}`).Draw(t, "text"), map[string]any{}}}
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(text))
			stream.Write(text)
			stream.WriteString(rapid.SampledFrom([]string{"", "\n", " \r\n"}).Draw(t, "between"))
		}
		f := &frames{source: io.NopCloser(&drip{t: t, left: stream.Bytes()})}
		into := make([]byte, rapid.IntRange(1, 30).Draw(t, "room"))
		var got []string
		for object := []byte{}; ; {
			n, err := f.Read(into)
			object = append(object, into[:n]...)
			switch {
			case errors.Is(err, io.ErrShortBuffer):
				continue
			case errors.Is(err, io.EOF):
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("-want +got\n%s", diff)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			got = append(got, string(object))
			object = object[:0]
		}
	})
}

// drip returns a stream in pieces.
type drip struct {
	t    *rapid.T
	left []byte
}

func (d *drip) Read(into []byte) (int, error) {
	if len(d.left) == 0 {
		return 0, io.EOF
	}
	n := copy(into, d.left[:rapid.IntRange(1, len(d.left)).Draw(d.t, "piece")])
	d.left = d.left[n:]
	return n, nil
}

// BenchmarkEvents measures the cost of an event of a job; compare ClientGo with Own.
func BenchmarkEvents(b *testing.B) {
	stream := []byte(strings.Repeat(written(b, "MODIFIED", job("a")), 100))
	for name, c := range map[string]runtime.NegotiatedSerializer{"ClientGo": serializer.NewCodecFactory(jobScheme(b)).WithoutConversion(), "Own": newWatchCodecs(jobScheme(b))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N/100 + 1 {
				if all, _ := read(b, c, bytes.NewReader(stream)); len(all) != 100 {
					b.Fatal(len(all))
				}
			}
		})
	}
}
