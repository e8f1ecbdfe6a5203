package differential

import (
	"encoding/base64"
	"encoding/json"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// page is a page of a List with a limit. tokens holds the continue token of each server for the next page; "" means that
// there is none.
type page struct {
	key     key
	request *request
	tokens  map[*side]string
}

// record stores the continue token of a response.
func (p *page) record(s *side, response runtime.Object) {
	if list, ok := response.(metav1.ListInterface); ok {
		p.tokens[s] = list.GetContinue()
	}
}

// drawNextPage draws a request for the page after one of the last pages. Objects may have changed since the first page.
// Some continue tokens are invalid.
func (w *world) drawNextPage() (o operation, ok bool) {
	if len(w.pages) == 0 {
		return o, false
	}
	last := w.pages[max(0, len(w.pages)-5):]
	p := last[w.IntN(len(last))]
	change := pick(w, nil, nil, nil, nil, tokenChanges[w.IntN(len(tokenChanges))])
	return operation{key: p.key, text: "list", page: p, build: func(s *side) *request {
		next := *p.request
		next.Continue = p.tokens[s]
		if change != nil {
			next.Continue = change(next.Continue)
		}
		return &next
	}}, true
}

// tokenChanges change a continue token.
var tokenChanges = []func(string) string{
	func(string) string { return "!" },
	func(string) string { return base64.RawURLEncoding.EncodeToString([]byte("not JSON")) },
	withFields(map[string]any{"v": "meta.k8s.io/v2"}),
	withFields(map[string]any{"rv": 0}),
	withFields(map[string]any{"rv": -1}),
	withFields(map[string]any{"rv": int64(math.MaxInt64 / 2)}),
	withFields(map[string]any{"start": ""}),
	withFields(map[string]any{"start": "../x"}),
	withFields(map[string]any{"start": "/b"}),
}

// withFields returns a function that replaces fields of a token. A token without fields becomes one of the newest version.
func withFields(fields map[string]any) func(string) string {
	return func(token string) string {
		content := map[string]any{"v": "meta.k8s.io/v1", "rv": -1, "start": "a\u0000"}
		if data, err := base64.RawURLEncoding.DecodeString(token); err == nil {
			_ = json.Unmarshal(data, &content)
		}
		for name, value := range fields {
			content[name] = value
		}
		data, err := json.Marshal(content)
		if err != nil {
			panic(err) // the content can be encoded
		}
		return base64.RawURLEncoding.EncodeToString(data)
	}
}
