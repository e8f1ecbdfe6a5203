package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// requests counts the requests to the API server by verb and resource, according to its metrics. Watches are omitted,
// because they are counted when they end.
type requests map[string]float64

func (r *rig) requests(t *testing.T) requests {
	t.Helper()
	data, err := r.core.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := requests{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "apiserver_request_total{")
		if !ok {
			continue
		}
		labels, value, _ := strings.Cut(rest, "} ")
		n, err := strconv.ParseFloat(value, 64)
		if verb := label(labels, "verb"); err == nil && verb != "WATCH" {
			what := verb + " " + label(labels, "resource")
			if sub := label(labels, "subresource"); sub != "" {
				what += "/" + sub
			}
			if code := label(labels, "code"); code[0] != '2' {
				what += " (" + code + ")"
			}
			all[what] += n
		}
	}
	return all
}

// since lists the requests per pod between an earlier count and this one, the most frequent first. It omits requests
// that occur less than once per fifty pods.
func (r requests) since(earlier requests, pods int) string {
	type line struct {
		what string
		n    float64
	}
	var all []line
	for what, n := range r {
		if n -= earlier[what]; n*50 >= float64(pods) {
			all = append(all, line{what, n})
		}
	}
	slices.SortFunc(all, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.what, b.what))
	})
	words := make([]string, len(all))
	for i, l := range all {
		words[i] = fmt.Sprintf("%s %.2f", l.what, l.n/float64(pods))
	}
	return strings.Join(words, ", ")
}

// writesSince returns the writes between an earlier count and this one, without the heartbeats of nodes.
func (r requests) writesSince(earlier requests) map[string]float64 {
	written := map[string]float64{}
	for what, n := range r {
		verb, resource, _ := strings.Cut(what, " ")
		resource, _, _ = strings.Cut(resource, " ")
		if n -= earlier[what]; n == 0 || resource == "leases" || resource == "nodes/status" {
			continue
		}
		switch verb {
		case "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION":
			written[what] = n
		}
	}
	return written
}

func label(labels, name string) string {
	_, rest, _ := strings.Cut(labels, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}
