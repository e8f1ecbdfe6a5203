package failpoint

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"

	"k8s.io/client-go/rest"
)

// Wrap makes all clients created from a configuration crash at the failpoint in the environment.
func Wrap(config *rest.Config) error {
	w := &wire{}
	if text := os.Getenv("VC_FAILPOINT"); text != "" {
		p, err := Parse(text)
		if err != nil {
			return err
		}
		w.point = &p
	}
	if path := os.Getenv("VC_FAILPOINT_LOG"); path != "" {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("failpoint: %w", err)
		}
		w.log = file
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &trip{wire: w, next: next} })
	return nil
}

// wire holds the state shared by all requests of the process.
type wire struct {
	point *Point
	log   *os.File
	seen  atomic.Int32
}

type trip struct {
	*wire
	next http.RoundTripper
}

func (t *trip) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	w, ok := writeOf(r.Method, r.URL.Path, body)
	if !ok {
		return t.next.RoundTrip(r)
	}
	counts := t.point != nil && t.point.matches(w)
	if counts && t.point.Moment == Before {
		t.count(w)
	}
	response, err := t.next.RoundTrip(r)
	if err == nil && response.StatusCode < http.StatusBadRequest {
		t.note(w)
		if counts && t.point.Moment == After {
			t.count(w)
		}
	}
	return response, err
}

// bodyOf reads the body of a request, if it has one, and restores it.
func bodyOf(r *http.Request) ([]byte, error) {
	if r.Body == nil || verbs[r.Method] == "" {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close()
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// count counts a matching write and kills the process at the failpoint.
func (t *trip) count(w write) {
	if int(t.seen.Add(1)) != t.point.Nth {
		return
	}
	if t.log != nil {
		fmt.Fprintf(t.log, "KILLED %s: %s %s\n", t.point, w.verb, w.path)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (t *trip) note(w write) {
	if t.log == nil || w.resource == "leases" || w.resource == "events" {
		return
	}
	fmt.Fprintf(t.log, "%s %s %s %.300q\n", w.verb, w.resource, w.path, w.body)
}
