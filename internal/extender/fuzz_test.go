package extender_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/extender"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/test/make"
)

// says answers every request with the same text.
type says struct{ text string }

func (s *says) RoundTrip(in *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(s.text)), Request: in}, nil
}

// FuzzAnswers lets the server return any answer to any request: no pod may be bound to a full node, and none may be
// evicted without need.
func FuzzAnswers(f *testing.F) {
	server := &says{}
	if err := scheduler.Register("extender-of-fuzz", func(p config.Plugin, warn func(string)) session.Policy {
		return extender.New(p, server, warn)
	}); err != nil {
		f.Fatal(err)
	}
	text := "actions: \"enqueue, allocate, preempt, reclaim\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n  - name: proportion\n  - name: extender-of-fuzz\n" +
		"    arguments:\n      extender.urlPrefix: http://nowhere\n"
	for verb, answer := range agreeing {
		text += "      extender." + verb + ": " + verb + "\n"
		f.Add(answer)
	}
	f.Add(`{"status":-1}`)
	f.Add(`{"status":1,"victims":[{"UID":"pod-old-0"},{"UID":""},{}]}`)
	f.Add(`{"nodeScore":{"a":1e308,"b":-1e308}}`)
	f.Add(`[]`)
	f.Add(`null`)
	cfg, _, err := config.Parse([]byte(text))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		server.text = answer
		engine, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c := busy()
		binds, evicts := 0, 0
		for i := range 4 {
			d := cycle(engine, c, make.Epoch.Add(time.Duration(i)*2*time.Second))
			binds, evicts = binds+len(d.Binds), evicts+len(d.Evicts)
		}
		if binds > 1 { // one cpu is free, and evicted pods still hold theirs
			t.Errorf("%d bound where one has room", binds)
		}
		if evicts > 3 {
			t.Errorf("%d evicted of three", evicts)
		}
	})
}
