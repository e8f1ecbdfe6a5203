package failpoint

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Moment is the side of a write on which the process crashes.
type Moment string

// The moments.
const (
	Before Moment = "before" // the request was not sent
	After  Moment = "after"  // the API server has completed the request, but no code of the process saw the answer
)

// Point identifies a write in the stream of all writes.
type Point struct {
	Moment   Moment
	Verb     string // create, update, patch, delete
	Resource string // with its subresource: pods, pods/binding, jobs/status
	Nth      int    // counted from 1
	Texts    []string
}

// String returns the format that Parse accepts.
func (p Point) String() string {
	return strings.Join(append([]string{string(p.Moment), p.Verb, p.Resource, strconv.Itoa(p.Nth)}, p.Texts...), " ")
}

var verbs = map[string]string{
	http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

// Parse parses a failpoint: MOMENT VERB RESOURCE NTH [TEXT …].
func Parse(text string) (Point, error) {
	words := strings.Fields(text)
	if len(words) < 4 {
		return Point{}, fmt.Errorf("failpoint %q: want MOMENT VERB RESOURCE NTH [TEXT ...]", text)
	}
	p := Point{Moment: Moment(words[0]), Verb: words[1], Resource: words[2], Texts: words[4:]}
	if p.Moment != Before && p.Moment != After {
		return p, fmt.Errorf("failpoint %q: moment %q: want before or after", text, words[0])
	}
	if !slices.Contains([]string{"create", "update", "patch", "delete"}, p.Verb) {
		return p, fmt.Errorf("failpoint %q: verb %q: want create, update, patch or delete", text, p.Verb)
	}
	var err error
	if p.Nth, err = strconv.Atoi(words[3]); err != nil || p.Nth < 1 {
		return p, fmt.Errorf("failpoint %q: number %q: want 1 or more", text, words[3])
	}
	return p, nil
}

// write is a request that changes an object.
type write struct {
	verb, resource, path string
	body                 []byte
}

// writeOf describes a request; ok is false if the request changes nothing.
func writeOf(method, path string, body []byte) (write, bool) {
	verb, ok := verbs[method]
	if !ok {
		return write{}, false
	}
	words := strings.Split(strings.Trim(path, "/"), "/")
	skip := 2 // api/v1
	if words[0] == "apis" {
		skip = 3 // apis/GROUP/VERSION
	}
	if len(words) <= skip {
		return write{}, false
	}
	words = words[skip:]
	if words[0] == "namespaces" && len(words) > 2 {
		words = words[2:]
	}
	resource := words[0]
	if len(words) > 2 {
		resource += "/" + words[2]
	}
	return write{verb: verb, resource: resource, path: path, body: body}, true
}

// matches reports whether a failpoint counts a write.
func (p *Point) matches(w write) bool {
	if p.Verb != w.verb || p.Resource != w.resource {
		return false
	}
	return !slices.ContainsFunc(p.Texts, func(text string) bool {
		return !strings.Contains(w.path, text) && !bytes.Contains(w.body, []byte(text))
	})
}
