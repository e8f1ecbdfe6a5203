package podlogs

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// logServer serves logs: each request for a pod returns the next of its parts and ends.
type logServer struct {
	mu    sync.Mutex
	parts map[string][]string
	asked map[string][]string
	// previous holds the logs of the containers before their last restart.
	previous map[string]string
}

func (s *logServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // api v1 namespaces ns pods NAME [log]
	name := path[5]
	if len(path) == 6 {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"uid":%q},"status":{"phase":%q}}`, name, "uid-"+name, s.phaseOf(name))
		return
	}
	if r.URL.Query().Get("previous") == "true" {
		s.servePrevious(w, r, name)
		return
	}
	s.asked[name] = append(s.asked[name], r.URL.Query().Get("sinceTime"))
	if len(s.parts[name]) > 0 {
		fmt.Fprint(w, s.parts[name][0])
		s.parts[name] = s.parts[name][1:]
	}
}

func (s *logServer) servePrevious(w http.ResponseWriter, r *http.Request, name string) {
	text, exists := s.previous[name]
	if r.URL.Query().Get("follow") == "true" || !exists {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400,"message":"previous terminated container \"main\" in pod %q not found"}`, name)
		return
	}
	fmt.Fprint(w, text)
}

func (s *logServer) phaseOf(name string) string {
	if len(s.parts[name]) == 0 {
		return "Succeeded"
	}
	return "Running"
}

func start(t *testing.T, s *logServer) (*Tail, context.Context) {
	t.Helper()
	s.asked = map[string][]string{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	tail := New(client)
	t.Cleanup(func() {
		tail.Stop()
		stop()
	})
	return tail, ctx
}

// until takes views until wanted returns true for one.
func until(ctx context.Context, t *testing.T, tail *Tail, wanted func(*View) bool) *View {
	t.Helper()
	for {
		v, err := tail.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if wanted(v) {
			return v
		}
	}
}

func ended(names ...string) func(*View) bool {
	return func(v *View) bool {
		for _, name := range names {
			if v.Streams[name] != "ended" {
				return false
			}
		}
		return true
	}
}

func texts(v *View) map[string][]string {
	by := map[string][]string{}
	for _, line := range v.Lines {
		by[line.Pod] = append(by[line.Pod], line.Text)
	}
	return by
}

func pod(name string) Pod { return Pod{Namespace: "ns", Name: name, UID: types.UID("uid-" + name)} }

func TestSeveralPodsAreFollowedAndAStreamThatBreaksGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	server := &logServer{parts: map[string][]string{
		"a": {"2026-11-21T10:00:00.1Z one\n2026-11-21T10:00:00.2Z two\n", "2026-11-21T10:00:00.2Z two\n2026-11-21T10:00:00.2Z twin\n2026-11-21T10:00:00.3Z three\n"},
		"b": {"2026-11-21T10:00:00.1Z \x1b[31mred\x1b[0m\tx\n2026-11-21T10:00:00.2Z 10%\r20%\r30%\n"},
	}}
	tail, ctx := start(t, server)
	tail.Follow([]Pod{pod("a"), pod("b")})
	v := until(ctx, t, tail, ended("a", "b"))
	if diff := cmp.Diff(map[string][]string{"a": {"one", "two", "twin", "three"}, "b": {"red     x", "30%"}}, texts(v)); diff != "" {
		t.Error(diff)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	if asked := server.asked["a"]; len(asked) != 2 || asked[0] != "" || asked[1] == "" {
		t.Errorf("asked since %q", asked)
	}
}

func TestOnlyTheLastLinesAreKept(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 2*MaxLines + 500 {
		fmt.Fprintf(&text, "2026-11-21T10:00:00.%06dZ %d\n", i, i)
	}
	tail, ctx := start(t, &logServer{parts: map[string][]string{"a": {text.String()}}})
	tail.Follow([]Pod{pod("a")})
	v := until(ctx, t, tail, ended("a"))
	if len(v.Lines) != MaxLines || v.Lines[MaxLines-1].Text != fmt.Sprint(2*MaxLines+499) || v.Dropped != MaxLines+500 {
		t.Errorf("%d lines, the last is %q, %d dropped", len(v.Lines), v.Lines[len(v.Lines)-1].Text, v.Dropped)
	}
}

func TestMoreThanTwentyPodsAreNotFollowed(t *testing.T) {
	t.Parallel()
	server := &logServer{parts: map[string][]string{}}
	var pods []Pod
	for i := range MaxPods + 1 {
		pods = append(pods, pod(fmt.Sprint("p", i)))
	}
	tail, ctx := start(t, server)
	tail.Follow(pods)
	v := until(ctx, t, tail, ended("p0", "p19"))
	if got := v.Streams["p20"]; !strings.HasPrefix(got, "not followed") {
		t.Errorf("the 21st: %q", got)
	}
}

func TestWhatAProgramWroteCannotTakeTheTerminalOver(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"plain ünïcode ✓":         "plain ünïcode ✓",
		"\x1b]0;title\x07after":   "after",
		"\x1b]0;title\x1b\\after": "after",
		"a\x1b[2J\x1b[Hb":         "ab",
		"bell\a and \x00null":     "bell and null",
		"\x1b(Btext":              "text",
		"half an escape \x1b":     "half an escape ",
		"\u009b31mC1":             "31mC1",
		"done\r":                  "done",
		"a\tb":                    "a       b",
		"invalid \xff\xfe bytes":  "invalid �� bytes",
	} {
		if got := cleanLogText(raw); got != want {
			t.Errorf("%q becomes %q, not %q", raw, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\t\r\x07")
	f.Fuzz(func(t *testing.T, raw string) {
		for _, r := range cleanLogText(raw) {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
				t.Errorf("%q keeps %q", raw, r)
			}
		}
	})
}

func TestPreviousLogsReplaceTheCurrentOnesAndEnd(t *testing.T) {
	t.Parallel()
	server := &logServer{
		parts:    map[string][]string{"a": {"2026-11-21T10:00:01.1Z now\n"}, "b": {"2026-11-21T10:00:01.2Z now\n"}},
		previous: map[string]string{"a": "2026-11-21T10:00:00.1Z before\n"},
	}
	tail, ctx := start(t, server)
	tail.Follow([]Pod{pod("a"), pod("b")})
	until(ctx, t, tail, ended("a", "b"))
	previous := func(name string) Pod {
		p := pod(name)
		p.Previous = true
		return p
	}
	tail.Follow([]Pod{previous("a"), previous("b")})
	v := until(ctx, t, tail, func(v *View) bool { return v.Streams["a"] == "ended" && v.Streams["b"] != "" })
	if diff := cmp.Diff(map[string][]string{"a": {"before"}}, texts(v)); diff != "" {
		t.Error(diff)
	}
	if got := v.Streams["b"]; got != "the pod was not restarted, so it has no previous logs" {
		t.Errorf("the state of a pod without a restart is %q", got)
	}
}
