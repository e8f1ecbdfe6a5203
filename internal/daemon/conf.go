package daemon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/kube"
)

// confPoll is how often the scheduler's file is looked at. Reading it is
// cheaper than watching a directory of symbolic links, which is what a mounted
// ConfigMap is, and cannot miss a change.
const confPoll = 2 * time.Second

// confMisses is how many looks in turn a file may be missing before that is told.
const confMisses = 5

// confFile is the scheduler's configuration file and the last good content of it.
type confFile struct {
	path string
	log  logr.Logger
	last []byte
	good *config.Config
	// inForce is good, for other goroutines than that which follows the file.
	inForce atomic.Pointer[config.Config]
	// metrics is the section of that name of good, for those who follow it.
	metrics atomic.Pointer[config.Metrics]
	// state is how the configuration stands, teller who is told; nil: nobody.
	state  confState
	teller *confTeller
}

// load reads the file for the start: then it must be there and valid.
func (f *confFile) load() error {
	if f.path == "" {
		f.good = config.Default()
		f.metrics.Store(&f.good.Metrics)
		f.inForce.Store(f.good)
		f.state = confState{text: config.DefaultText, source: "the built-in configuration"}
		confValid.Set(1)
		return nil
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return withHint(fmt.Errorf("scheduler configuration: %w", err), "give the path of a file with --scheduler-conf, or leave it out for the built-in configuration")
	}
	if _, err := f.take(data); err != nil {
		return withHint(err, "correct the file, or leave --scheduler-conf out for the built-in configuration")
	}
	return nil
}

// take makes the content the current one if it is good.
func (f *confFile) take(data []byte) (*scheduler.Engine, error) {
	f.last = data
	c, warnings, err := config.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration %s: %w", f.path, err)
	}
	engine, err := scheduler.New(c, scheduler.WithAttacher(kube.New()))
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration %s: %w", f.path, err)
	}
	engine.Watch = watchStages
	for _, w := range append(warnings, engine.Warnings...) {
		f.log.Info("Scheduler configuration has an oddity", "file", f.path, "warning", w)
	}
	f.good = c
	f.metrics.Store(&c.Metrics)
	f.inForce.Store(c)
	f.state = confState{text: config.Telling(data), source: f.path, warnings: slices.Concat(warnings, engine.Warnings)}
	confValid.Set(1)
	return engine, nil
}

// engine makes an engine of the last good content.
func (f *confFile) engine() (*scheduler.Engine, error) {
	e, err := scheduler.New(f.good, scheduler.WithAttacher(kube.New()))
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	e.Watch = watchStages
	return e, nil
}

// thinker makes an engine of the last good content for thoughts: what it does is in no figures.
func (f *confFile) thinker() (*scheduler.Engine, error) {
	e, err := scheduler.New(f.inForce.Load(), scheduler.WithAttacher(kube.New()))
	if err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	return e, nil
}

// follow sends an engine whenever the file has changed to something valid.
func (f *confFile) follow(ctx context.Context, engines chan<- *scheduler.Engine) {
	f.teller.tell(ctx, f.state)
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
			// A file being replaced may be missing for a moment.
			if missed++; missed == confMisses {
				f.refuse(ctx, fmt.Errorf("scheduler configuration: %w", err))
			}
			continue
		}
		back := missed >= confMisses
		missed = 0
		if bytes.Equal(data, f.last) && !back {
			continue
		}
		engine, err := f.take(data)
		if err != nil {
			f.refuse(ctx, err)
			continue
		}
		confReloads.WithLabelValues("taken").Inc()
		f.log.Info("Scheduler configuration is taken over", "file", f.path)
		f.teller.tell(ctx, f.state)
		select {
		case engines <- engine:
		case <-ctx.Done():
			return
		}
	}
}

// refuse says aloud that the last good configuration stays, and why.
func (f *confFile) refuse(ctx context.Context, why error) {
	confReloads.WithLabelValues("refused").Inc()
	confValid.Set(0)
	f.log.Error(why, "Scheduler configuration is refused; the last good one stays")
	f.state.refused = why.Error()
	f.teller.tell(ctx, f.state)
}
