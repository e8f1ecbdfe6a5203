package job

import (
	"context"
	"errors"
	"sync"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// Logs are the flags of `vcctl job logs` for a command about objects that jobs are made from.
type Logs struct{ o logsOptions }

// Part is a job of such an object, and what its lines begin with.
type Part struct {
	Job   *batchv1alpha1.Job
	Label string
}

// NewLogs returns the flags; they are added to a command with AddFlags.
func NewLogs(f *cli.Factory) *Logs { return &Logs{o: logsOptions{f: f}} }

// AddFlags adds the flags.
func (l *Logs) AddFlags(cmd *cobra.Command) { l.o.addFlags(cmd) }

// Check rejects values of flags, and flags that contradict each other.
func (l *Logs) Check(cmd *cobra.Command) error { return l.o.check(cmd) }

// Follows reports whether the logs are followed.
func (l *Logs) Follows() bool { return l.o.follow }

// ToFile lets print write to the file of --output, if there is one.
func (l *Logs) ToFile(print func() error) error {
	if l.o.file == "" {
		return print()
	}
	return l.o.toFile(print)
}

// Print prints what the pods of the parts have said, one part after the other.
func (l *Logs) Print(ctx context.Context, c client.WithWatch, parts []Part) error {
	options := make([]*logsOptions, len(parts))
	for i := range parts {
		options[i] = l.optionsOf(parts[i])
	}
	return stream(ctx, options, c)
}

func (l *Logs) optionsOf(part Part) *logsOptions {
	o := l.o
	o.job = part.Job
	if o.of = part.Label; o.of != "" {
		o.of += "/"
	}
	return &o
}

// FollowAll follows the pods of the parts as they come from the channel, until that is closed and all of them have ended.
func (l *Logs) FollowAll(ctx context.Context, c client.WithWatch, parts <-chan Part) error {
	clientset, err := l.o.f.Clientset()
	if err != nil {
		return err
	}
	c = l.o.f.Patient(c)
	shared := newSink(l.o.f)
	var mu sync.Mutex // guards problems
	var problems []error
	var all sync.WaitGroup
	for part := range parts {
		o := l.optionsOf(part)
		shared.widen(len(o.of) + labelWidth(o.job))
		all.Go(func() {
			if err := newStreamer(o, clientset, shared).follow(ctx, c); err != nil {
				mu.Lock()
				defer mu.Unlock()
				problems = append(problems, err)
			}
		})
	}
	all.Wait()
	return errors.Join(problems...)
}

// widen makes room for labels of a width; lines that were printed before stay as they are.
func (s *sink) widen(width int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.width = max(s.width, width)
}
