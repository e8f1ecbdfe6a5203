package stream

import (
	"context"
	"errors"
	"sync"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// Logs holds the flags of `vcctl job logs` for commands about objects that create jobs, such as job flows.
type Logs struct{ o logsOptions }

// Part is a job that such an object created, with the label that starts its log lines.
type Part struct {
	Job   *batchv1alpha1.Job
	Label string
}

// NewLogs returns Logs with no flags set; AddFlags adds the flags to a command.
func NewLogs(f *cli.Factory) *Logs { return &Logs{o: logsOptions{f: f}} }

// AddFlags adds the flags to a command.
func (l *Logs) AddFlags(cmd *cobra.Command) { l.o.addFlags(cmd) }

// CheckFlags rejects invalid flag values and contradicting flags.
func (l *Logs) CheckFlags(cmd *cobra.Command) error { return l.o.checkFlags(cmd) }

// IsFollowing reports whether the user specified --follow.
func (l *Logs) IsFollowing() bool { return l.o.follow }

// RedirectToFile redirects the output of printLogs to the file specified with --output, if any.
func (l *Logs) RedirectToFile(printLogs func() error) error {
	if l.o.file == "" {
		return printLogs()
	}
	return l.o.redirectToFile(printLogs)
}

// PrintParts prints the logs of the parts, one part after another.
func (l *Logs) PrintParts(ctx context.Context, c client.WithWatch, parts []Part) error {
	options := make([]*logsOptions, len(parts))
	for i := range parts {
		options[i] = l.partOptions(parts[i])
	}
	return streamLogs(ctx, options, c)
}

// FollowJobLogs prints the logs of all pods of a job, with the default flags of `job logs -f`, until the job has ended.
func FollowJobLogs(ctx context.Context, f *cli.Factory, c client.WithWatch, job *batchv1alpha1.Job) error {
	o := &logsOptions{f: f, follow: true, tail: -1, prefix: true, job: job}
	return streamLogs(ctx, []*logsOptions{o}, c)
}

func (l *Logs) partOptions(part Part) *logsOptions {
	o := l.o
	o.job = part.Job
	if o.of = part.Label; o.of != "" {
		o.of += "/"
	}
	return &o
}

// FollowAll follows the pods of the parts received from the channel, until the channel is closed and all parts have
// ended.
func (l *Logs) FollowAll(ctx context.Context, c client.WithWatch, parts <-chan Part) error {
	clientset, err := l.o.f.Clientset()
	if err != nil {
		return err
	}
	c = l.o.f.RetryingClient(c)
	shared := newSink(l.o.f)
	var mu sync.Mutex // guards problems
	var problems []error
	var all sync.WaitGroup
	for part := range parts {
		o := l.partOptions(part)
		shared.widenLabels(len(o.of) + labelWidth(o.job))
		all.Go(func() {
			if err := newStreamer(o, clientset, shared).followLogs(ctx, c); err != nil {
				mu.Lock()
				defer mu.Unlock()
				problems = append(problems, err)
			}
		})
	}
	all.Wait()
	return errors.Join(problems...)
}

// widenLabels increases the label column to width; lines printed before do not change.
func (s *sink) widenLabels(width int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.width = max(s.width, width)
}
