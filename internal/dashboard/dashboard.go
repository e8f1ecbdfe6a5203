// Package dashboard connects the dashboard with the command line, which do not depend on each other. It starts the
// dashboard with the command line's terminal and cluster.
//
//	In:   a factory of the command line, the user's options for the dashboard
//	Out:  the dashboard, in the terminal
//
// # Concurrency
//
// The watches run concurrently with the dashboard's program and end with it.
package dashboard

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/feed/livesnapshot"
	"github.com/vc-batch/vc/internal/podlogs"
	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/usagemetrics"
	"github.com/vc-batch/vc/internal/usererror"
)

// AddToFactory adds the dashboard to a factory.
func AddToFactory(f *cli.Factory) { f.Dashboard = runDashboard }

// runDashboard runs the dashboard until the user ends it. If the user switches to another cluster, runDashboard starts
// that cluster's dashboard. If that fails, it returns to the previous dashboard and shows the error.
func runDashboard(ctx context.Context, f *cli.Factory, o cli.DashboardOptions) error {
	preferences, err := readPreferences(f)
	if err != nil {
		return err
	}
	if names := preferences.ThemeNames(); o.Theme != "" && !slices.Contains(names, o.Theme) {
		return usererror.Errorf("one of: "+strings.Join(names, ", "), "--theme: unknown theme %q", o.Theme)
	}
	if o.Demo {
		return showDemo(ctx, f, o, preferences)
	}
	var said screenapi.Notice
	before, as := f, o
	for {
		next, err := showCluster(ctx, f, o, preferences, said)
		switch {
		case err != nil && f == before:
			return err
		case err != nil:
			said, f, o = screenapi.Notice{Text: cli.HumanizeError(err, f.DescribeConnection()).What, Bad: true}, before, as
			continue
		case next == "":
			return nil
		}
		before, as, said = f, o, screenapi.Notice{}
		var left []string
		if f, left = factoryForContext(f, next); len(left) > 0 {
			said = screenapi.Notice{Text: strings.Join(left, " and ") + " on the command line does not apply to context " + next}
		}
		o.Namespace = ""
	}
}

// showDemo shows a made-up cluster.
func showDemo(ctx context.Context, f *cli.Factory, o cli.DashboardOptions, preferences tui.Preferences) error {
	cluster := demo.New()
	how := newSettings(f, o, preferences, demo.Namespace)
	how.Actions, how.User, how.Contexts = cluster, demo.User, nil
	_, err := tui.Run(ctx, how, tui.World{
		In: f.Streams.In, Out: f.Streams.Out, Err: f.Streams.Err, Env: os.Environ(), Source: cluster, Logs: demo.NewLogs(cluster.Now), Now: cluster.Now, Colors: requestedColors(f),
	})
	return locatePreferenceError(f, err)
}

// factoryForContext returns a factory for another context of the same kubeconfig. It keeps the flags about the user's
// identity and the connection. Flags about the cluster's address and credentials apply only to the first cluster, so
// factoryForContext omits them and returns their names.
func factoryForContext(f *cli.Factory, name string) (other *cli.Factory, left []string) {
	other = cli.NewFactory(f.Program, f.Streams)
	other.Now = f.Now
	from, to := f.Config, other.Config
	to.KubeConfig, to.CacheDir, to.Context = from.KubeConfig, from.CacheDir, &name
	to.Impersonate, to.ImpersonateUID, to.ImpersonateGroup, to.ImpersonateUserExtra = from.Impersonate, from.ImpersonateUID, from.ImpersonateGroup, from.ImpersonateUserExtra
	to.Timeout, to.DisableCompression = from.Timeout, from.DisableCompression
	for flag, value := range map[string]*string{
		"cluster": from.ClusterName, "user": from.AuthInfoName, "server": from.APIServer, "tls-server-name": from.TLSServerName, "client-certificate": from.CertFile, "client-key": from.KeyFile,
		"certificate-authority": from.CAFile, "token": from.BearerToken, "username": from.Username, "password": from.Password,
	} {
		if value != nil && *value != "" {
			left = append(left, "--"+flag)
		}
	}
	if from.Insecure != nil && *from.Insecure {
		left = append(left, "--insecure-skip-tls-verify")
	}
	slices.Sort(left)
	return other, left
}

// longestListing is how long the measured use waits for the lists. Later it is read although a list is incomplete.
const longestListing = 30 * time.Second

// showCluster shows one cluster. next is the context that the user switches to, or "".
func showCluster(ctx context.Context, f *cli.Factory, o cli.DashboardOptions, preferences tui.Preferences, said screenapi.Notice) (next string, err error) {
	config, err := f.RESTConfig()
	if err != nil {
		return "", err
	}
	own, err := f.Namespace()
	if err != nil {
		return "", err
	}
	watches, err := livesnapshot.New(livesnapshot.Options{Config: withoutOutput(config), Cluster: f.DescribeConnection().Context, Namespace: own, Now: f.Now})
	if err != nil {
		return "", err
	}
	usage, err := usagemetrics.New(usagemetrics.Options{Config: withoutOutput(config), Namespace: own, Prometheus: preferences.Prometheus})
	if err != nil {
		return "", err
	}
	able, err := newHands(f)
	if err != nil {
		return "", err
	}
	lines := logs{podlogs.New(able.cluster.Typed)}
	defer lines.Stop()
	how := newSettings(f, o, preferences, own)
	how.User = findJobUser(ctx, f)
	how.Actions, how.Notice = able, said
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { watches.Run(ctx) })
	running.Go(func() {
		select {
		case <-ctx.Done():
		case <-watches.Loaded(): // so that the lists, which are needed first, arrive as fast as possible
		case <-time.After(longestListing):
		}
		usage.Run(ctx, watches.SetUsage)
	})
	defer func() { stop(); running.Wait() }()
	next, err = tui.Run(ctx, how, tui.World{
		In: f.Streams.In, Out: f.Streams.Out, Err: f.Streams.Err, Env: os.Environ(), Source: watches, Logs: lines, Now: f.Now, Colors: requestedColors(f),
	})
	return next, locatePreferenceError(f, err)
}

// longestNameCheck limits how long the dashboard waits at its start for the name of the user.
const longestNameCheck = 500 * time.Millisecond

// findJobUser returns the user whose jobs the dashboard shows as the user's own.
func findJobUser(ctx context.Context, f *cli.Factory) string {
	ctx, cancel := context.WithTimeout(ctx, longestNameCheck)
	defer cancel()
	namespace, err := f.Namespace()
	if err != nil {
		return f.Streams.FindUserName()
	}
	return f.FindJobUser(ctx, namespace)
}

func newSettings(f *cli.Factory, o cli.DashboardOptions, preferences tui.Preferences, own string) tui.Settings {
	s := tui.Settings{
		Specs: screens.AllScreenSpecs(), Theme: o.Theme, Colors: theme.TrueColor, ASCII: o.ASCII, Compact: o.Compact, Namespace: o.Namespace, Own: own, User: f.Streams.FindUserName(), ReadOnly: o.ReadOnly, Program: f.Program,
		Preferences: preferences, RunCommand: runShellCommand,
	}
	if c := requestedColors(f); c != nil {
		s.Colors = *c
	}
	if o.SlurmWords {
		s.Words = screenapi.SlurmWords
	}
	if raw, err := f.Config.ToRawKubeConfigLoader().RawConfig(); err == nil {
		s.Contexts = slices.Sorted(maps.Keys(raw.Contexts))
	}
	return s
}

// requestedColors returns the colours that the user requested. Nil means that the terminal decides.
func requestedColors(f *cli.Factory) *theme.Colors {
	c := theme.TrueColor
	switch {
	case !f.Streams.IsColored():
		c = theme.NoColor
	case f.Streams.ColorMode != "always":
		return nil
	}
	return &c
}

// withoutOutput prevents client-go from writing to the terminal while the dashboard is shown.
func withoutOutput(config *rest.Config) *rest.Config {
	klog.SetLogger(logr.Discard()) // klog writes errors to stderr, regardless of its configured output
	config = rest.CopyConfig(config)
	config.WarningHandlerWithContext = rest.NoWarnings{}
	return config
}
