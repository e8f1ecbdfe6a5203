package scenarios

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vc-batch/vc/internal/extender"
)

func TestMain(m *testing.M) {
	if err := extender.RegisterPolicy(); err != nil {
		panic(err)
	}
	m.Run()
}

// opinion is an extender server that policy extender calls.
type opinion struct {
	server *httptest.Server
	lock   sync.Mutex
	// answers holds the answer for each verb. "broken" makes the server return an error.
	answers map[string]string
	asked   []string
}

// answer sets the server's answers from now on. Each line is a verb and its answer.
func (w *world) answer(lines []string) []string {
	if w.opinion == nil {
		o := &opinion{}
		o.server = httptest.NewServer(o)
		w.t.Cleanup(o.server.Close)
		w.opinion = o
	}
	w.opinion.lock.Lock()
	defer w.opinion.lock.Unlock()
	w.opinion.answers = map[string]string{}
	for _, line := range lines {
		verb, text, _ := strings.Cut(line, " ")
		w.opinion.answers[verb] = text
	}
	return []string{"the server has an opinion"}
}

func (o *opinion) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	o.lock.Lock()
	defer o.lock.Unlock()
	verb := strings.TrimPrefix(in.URL.Path, "/")
	if !slices.Contains(o.asked, verb) {
		o.asked = append(o.asked, verb)
	}
	if o.answers[verb] == "broken" {
		http.Error(out, "no", http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(out, o.answers[verb])
}

// asked returns the verbs of the requests since the last call.
func (w *world) asked() []string {
	if w.opinion == nil {
		return nil
	}
	w.opinion.lock.Lock()
	defer w.opinion.lock.Unlock()
	verbs := w.opinion.asked
	w.opinion.asked = nil
	slices.Sort(verbs)
	return verbs
}

// address replaces the server's address in a configuration.
func (o *opinion) address(text string) string {
	if o == nil {
		return text
	}
	return strings.ReplaceAll(text, "http://opinion", o.server.URL)
}
