package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"context"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/vc-batch/vc/internal/scheduler"
)

const goodConf = "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n"

func TestConfigurationFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&confFile{path: path, log: logr.Discard()}).loadAtStartup(); err == nil || HintOfError(err) == "" {
		t.Errorf("a missing file at the start: got %v, want an error with a hint", err)
	}
	write("actions: \"fly\"\n")
	if err := (&confFile{path: path, log: logr.Discard()}).loadAtStartup(); err == nil || HintOfError(err) == "" {
		t.Errorf("an unknown action at the start: got %v, want an error with a hint", err)
	}
	write(goodConf)
	f := &confFile{path: path, log: logr.Discard()}
	if err := f.loadAtStartup(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		engines := make(chan *scheduler.Engine, 10)
		go f.followFile(ctx, engines)
		steps := []struct {
			what, text string
			engines    int
			valid      float64
		}{
			{"the same content makes no new engine", goodConf, 0, 1},
			{"an invalid file is refused", "actions: \"fly\"\n", 0, 0},
			{"a changed one is taken", goodConf + "  - name: priority\n", 1, 1},
			{"one that is gone for good is refused", "", 1, 0},
			{"one that is back is taken", goodConf + "  - name: priority\n", 2, 1},
		}
		for _, s := range steps {
			if s.text != "" {
				write(s.text)
			} else if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			time.Sleep((confMisses + 1) * confPoll)
			synctest.Wait()
			if len(engines) != s.engines {
				t.Errorf("%s: %d new engines, want %d", s.what, len(engines), s.engines)
			}
			if valid := testutil.ToFloat64(confValid); valid != s.valid {
				t.Errorf("%s: the metric says %v, want %v", s.what, valid, s.valid)
			}
		}
		stop()
	})
	if f.good == nil || len(f.last) == 0 {
		t.Error("the last good content is not kept")
	}
}

func TestAnOptionalFileMayBeMissingAppearAndGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	f := &confFile{path: path, optional: true, log: logr.Discard()}
	if err := f.loadAtStartup(); err != nil {
		t.Fatalf("the file is missing at the start: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		engines := make(chan *scheduler.Engine, 10)
		go f.followFile(ctx, engines)
		for _, s := range []struct {
			what    string
			change  func() error
			engines int
			source  string
			valid   float64
		}{
			{"a missing file", func() error { return nil }, 0, builtInSource, 1},
			{"a new file", func() error { return os.WriteFile(path, []byte(goodConf), 0o600) }, 1, path, 1},
			{"a removed file", func() error { return os.Remove(path) }, 2, builtInSource, 1},
			{"the same file again", func() error { return os.WriteFile(path, []byte(goodConf), 0o600) }, 3, path, 1},
			{"an invalid file", func() error { return os.WriteFile(path, []byte("actions: fly\n"), 0o600) }, 3, path, 0},
		} {
			if err := s.change(); err != nil {
				t.Fatal(err)
			}
			time.Sleep((confMisses + 1) * confPoll)
			synctest.Wait()
			if len(engines) != s.engines || f.state.source != s.source {
				t.Errorf("%s: %d engines from %s, want %d from %s", s.what, len(engines), f.state.source, s.engines, s.source)
			}
			if valid := testutil.ToFloat64(confValid); valid != s.valid {
				t.Errorf("%s: the metric is %v, want %v", s.what, valid, s.valid)
			}
		}
		stop()
	})
	if err := (&confFile{path: path, optional: true, log: logr.Discard()}).loadAtStartup(); err == nil {
		t.Error("an invalid optional file is accepted at the start")
	}
}

// TestThePasswordIsNotPublished: every user who may read ConfigMaps can read the published
// configuration, so it must not contain the password.
func TestThePasswordIsNotPublished(t *testing.T) {
	path := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	if err := os.WriteFile(path, []byte(goodConf+"metrics: {type: elasticsearch, address: 'https://logs:9200', elasticsearch.password: swordfish}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &confFile{path: path, log: logr.Discard()}
	if err := f.loadAtStartup(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(f.state.text, "swordfish") || !strings.Contains(f.state.text, "elasticsearch") {
		t.Errorf("told: %s", f.state.text)
	}
	if got := f.metrics.Load().Elastic.Password; got != "swordfish" {
		t.Errorf("the source is asked with the password %q", got)
	}
}

func TestWhatHasNoEffectIsLogged(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	f := &confFile{path: "volcano-scheduler.conf", log: log}
	text := "actions: allocate\ntiers: [{plugins: [{name: magic}, {name: proportion, arguments: {nonsense: 5}}]}]\n"
	if _, err := f.takeContent([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"unknown policy", "proportion: nonsense has no effect"} {
		if len(lines) != 2 || !strings.Contains(lines[i], want) {
			t.Errorf("logged %q, want two lines, the one at %d with %q", lines, i, want)
		}
	}
}
