package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/kube"
)

// confPoll is the interval at which the scheduler's configuration file is read. Reading the file is cheaper than
// watching a mounted ConfigMap, which is a directory of symbolic links, and it cannot miss a change.
const confPoll = 2 * time.Second

// confMisses is the number of consecutive reads that must find the file missing before this is reported.
const confMisses = 5

// confFile is the scheduler's configuration file together with its last valid content.
type confFile struct {
	path string
	// optional permits that the file is missing. The built-in configuration is in use then.
	optional bool
	log      logr.Logger
	last     []byte
	good     *config.Config
	// inForce holds the same configuration as good. Any goroutine may read it, whereas only the goroutine that follows
	// the file may read good.
	inForce atomic.Pointer[config.Config]
	// metrics is the metrics section of good. Any goroutine may read it.
	metrics atomic.Pointer[config.Metrics]
	// state is the state of the configuration, which teller publishes. A nil teller publishes nothing.
	state  confState
	teller *confTeller
}

// builtInSource is the source of the configuration without a file.
const builtInSource = "the built-in configuration"

// loadAtStartup reads the file at startup. The file must be valid, and must exist unless it is optional.
func (f *confFile) loadAtStartup() error {
	if f.path == "" {
		f.useBuiltIn()
		return nil
	}
	data, err := os.ReadFile(f.path)
	if f.optional && errors.Is(err, fs.ErrNotExist) {
		f.useBuiltIn()
		f.log.Info("There is no scheduler configuration; the built-in configuration is in use", "file", f.path)
		return nil
	}
	if err != nil {
		return withHint(fmt.Errorf("scheduler configuration: %w", err), "specify the path of a file with --scheduler-conf, or omit the flag for the built-in configuration")
	}
	if _, err := f.takeContent(data); err != nil {
		return withHint(err, "correct the file, or omit --scheduler-conf for the built-in configuration")
	}
	return nil
}

// useBuiltIn makes the built-in configuration the current one.
func (f *confFile) useBuiltIn() {
	f.last = nil
	f.good = config.Default()
	f.metrics.Store(&f.good.Metrics)
	f.inForce.Store(f.good)
	f.state = confState{text: config.DefaultText, source: builtInSource}
	confValid.Set(1)
}

// takeContent makes the content the current configuration if it is valid.
func (f *confFile) takeContent(data []byte) (*scheduler.Engine, error) {
	f.last = data
	c, warnings, err := config.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration %s: %w", f.path, err)
	}
	engine, err := scheduler.New(c, scheduler.WithAttacher(kube.New()))
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration %s: %w", f.path, err)
	}
	engine.Watch = measureStage
	for _, w := range append(warnings, engine.Warnings...) {
		f.log.Info("Scheduler configuration has a questionable setting", "file", f.path, "warning", w)
	}
	f.good = c
	f.metrics.Store(&c.Metrics)
	f.inForce.Store(c)
	f.state = confState{text: config.RedactPasswords(data), source: f.path, warnings: slices.Concat(warnings, engine.Warnings)}
	confValid.Set(1)
	return engine, nil
}

// newEngine creates an engine from the last valid configuration.
func (f *confFile) newEngine() (*scheduler.Engine, error) {
	e, err := scheduler.New(f.good, scheduler.WithAttacher(kube.New()))
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	e.Watch = measureStage
	return e, nil
}

// newWhatIfEngine creates an engine for simulations from the last valid configuration. Its work is not included in the
// metrics.
func (f *confFile) newWhatIfEngine() (*scheduler.Engine, error) {
	e, err := scheduler.New(f.inForce.Load(), scheduler.WithAttacher(kube.New()))
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	return e, nil
}

// followFile sends a new engine whenever the file changes to a valid configuration.
func (f *confFile) followFile(ctx context.Context, engines chan<- *scheduler.Engine) {
	f.teller.publishState(ctx, f.state)
	if f.path == "" {
		return
	}
	ticker := time.NewTicker(confPoll)
	defer ticker.Stop()
	missed := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		data, err := os.ReadFile(f.path)
		if err != nil {
			// A file that is being replaced may be missing for a moment.
			if missed++; missed == confMisses {
				f.handleMissingFile(ctx, err, engines)
			}
			continue
		}
		back := missed >= confMisses
		missed = 0
		if bytes.Equal(data, f.last) && !back {
			continue
		}
		engine, err := f.takeContent(data)
		if err != nil {
			f.reportRefused(ctx, err)
			continue
		}
		f.sendEngine(ctx, engine, engines)
	}
}

// handleMissingFile returns to the built-in configuration if the file is optional, and reports the error otherwise. It does
// nothing if the built-in configuration is in use already.
func (f *confFile) handleMissingFile(ctx context.Context, why error, engines chan<- *scheduler.Engine) {
	if !f.optional || !errors.Is(why, fs.ErrNotExist) {
		f.reportRefused(ctx, fmt.Errorf("scheduler configuration: %w", why))
		return
	}
	if f.state.source == builtInSource {
		return
	}
	f.useBuiltIn()
	engine, err := f.newEngine()
	if err != nil {
		f.reportRefused(ctx, err)
		return
	}
	f.sendEngine(ctx, engine, engines)
}

// sendEngine reports the current configuration, and sends its engine.
func (f *confFile) sendEngine(ctx context.Context, engine *scheduler.Engine, engines chan<- *scheduler.Engine) {
	confReloads.WithLabelValues("taken").Inc()
	f.log.Info("Scheduler configuration is now in use", "source", f.state.source)
	f.teller.publishState(ctx, f.state)
	select {
	case engines <- engine:
	case <-ctx.Done():
	}
}

// reportRefused reports that the new configuration is invalid and that the last valid one stays in use.
func (f *confFile) reportRefused(ctx context.Context, why error) {
	confReloads.WithLabelValues("refused").Inc()
	confValid.Set(0)
	f.log.Error(why, "Scheduler configuration was rejected; the last valid configuration stays in use")
	f.state.refused = why.Error()
	f.teller.publishState(ctx, f.state)
}
