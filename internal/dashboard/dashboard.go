// Package dashboard puts the dashboard and the command line together, which do not
// know each other: it starts the one with what the other knows of terminal and cluster.
//
//	In:   a factory of the command line, how the user wants the dashboard
//	Out:  the dashboard, in the terminal
//
// # Concurrency
//
// The watches run beside the program and end with it.
package dashboard

import (
	"context"
	"io"
	"os"
	"os/user"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/feed/live"
	"github.com/vc-batch/vc/internal/tail"
	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// In gives a factory the dashboard.
func In(f *cli.Factory) { f.Dashboard = show }

// show runs the dashboard until the user ends it.
func show(ctx context.Context, f *cli.Factory, o cli.DashboardOptions) error {
	config, err := f.RESTConfig()
	if err != nil {
		return err
	}
	own, err := f.Namespace()
	if err != nil {
		return err
	}
	config = quiet(config)
	cluster := f.Where().Context
	watches, err := live.New(live.Options{Config: config, Cluster: cluster, Namespace: own, Now: f.Now})
	if err != nil {
		return err
	}
	able, err := newHands(f)
	if err != nil {
		return err
	}
	lines := logs{tail.New(able.cluster.Typed)}
	defer lines.Stop()
	how := settings(f, o, own)
	how.Actions = able
	ctx, stop := context.WithCancel(ctx)
	running := make(chan struct{})
	go func() { defer close(running); watches.Run(ctx) }()
	defer func() { stop(); <-running }()
	return tui.Run(ctx, how, tui.World{
		In: f.Streams.In, Out: f.Streams.Out, Err: f.Streams.Err, Env: os.Environ(), Source: watches, Logs: lines, Now: f.Now, Colors: colors(f),
	})
}

func settings(f *cli.Factory, o cli.DashboardOptions, own string) tui.Settings {
	s := tui.Settings{
		Specs: screens.All(), Theme: o.Theme, Colors: theme.TrueColor, ASCII: o.ASCII, Namespace: o.Namespace, Own: own, User: me(f), ReadOnly: o.ReadOnly, Program: f.Program,
	}
	if c := colors(f); c != nil {
		s.Colors = *c
	}
	return s
}

// colors is what was said about colours; nil is that the terminal decides.
func colors(f *cli.Factory) *theme.Colors {
	c := theme.TrueColor
	switch {
	case !f.Streams.Color():
		c = theme.NoColor
	case f.Streams.ColorMode != "always":
		return nil
	}
	return &c
}

// me is who asks, as jobs are labelled with.
func me(f *cli.Factory) string {
	for _, name := range []string{"USER", "LOGNAME"} {
		if value := f.Streams.Env(name); value != "" {
			return value
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// quiet keeps client-go from writing into the frames.
func quiet(config *rest.Config) *rest.Config {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	return config
}
