// Package version implements `vcctl version`, which shows the versions of the client and the cluster and whether they
// are compatible.
package version

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
)

type options struct {
	f         *cli.Factory
	out       cli.Value
	client    bool
	namespace string
}

// Info is the result of the command, in the form for -o json and -o yaml.
type Info struct {
	Client Client  `json:"client"`
	Server *Server `json:"server,omitempty"`
	// Warnings lists incompatibilities.
	Warnings []string `json:"warnings,omitempty"`
}

// Client describes this binary.
type Client struct {
	APIVersion string `json:"apiVersion"`
	build.Info
}

// Server describes the cluster.
type Server struct {
	Address    string `json:"address"`
	Kubernetes string `json:"kubernetes"`
	// APIs lists vc's API groups that the cluster serves.
	APIs []string `json:"apis"`
	// Missing lists vc's kinds that the cluster does not serve, as kind.group/version.
	Missing []string `json:"missing,omitempty"`
	// Components lists the components of vc whose version is known.
	Components []Component `json:"components,omitempty"`
}

// Component is a component of vc that runs in the cluster.
type Component struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Source is the object from which the version was read.
	Source string `json:"source"`
}

// New returns `vcctl version`.
func New(f *cli.Factory) *cobra.Command { return newVersion(f, printVersion) }

func newVersion(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of this client and of the cluster",
		Long: cli.FormatHelp(`
			Show what this client was built from, and the versions of Kubernetes and of vc's
			components in the cluster. Also show the vc APIs that the cluster serves.

			Incompatibilities are shown as warnings: a scheduler of a different version, missing
			kinds, Volcano's own kinds, or an unsupported Kubernetes version. An unreachable
			cluster also causes a warning, not an error.`),
		Example: f.FormatExamples(`
			# Client and cluster
			vcctl version

			# The client only, for a script
			vcctl version --client -o json`),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UsageError(f, cmd, "unexpected argument %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.out.Validate(); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.out.AddFlag(cmd)
	cmd.Flags().BoolVar(&o.client, "client", false, "Do not contact the cluster")
	cmd.Flags().StringVar(&o.namespace, "scheduler-namespace", "volcano-system", "Namespace in which vc runs")
	cli.RejectTogether(cmd, "--client does not contact the cluster", "client", "scheduler-namespace")
	_ = cmd.RegisterFlagCompletionFunc("scheduler-namespace", f.CompleteNamespaces())
	return cmd
}

func printVersion(ctx context.Context, o *options) error {
	info := Info{Client: Client{batchv1alpha1.GroupVersion.Version, build.DescribeProgram()}}
	if !o.client {
		if err := o.readServer(ctx, &info); err != nil {
			info.Warnings = append(info.Warnings, cli.HumanizeError(err, o.f.DescribeConnection()).What)
		}
	}
	for _, warning := range info.Warnings {
		o.f.Warnf("%s", warning)
	}
	if done, err := o.out.PrintAnswer(o.f, info); done {
		return err
	}
	return o.printInfo(&info)
}

// printInfo prints the version information. The first line is also the same as in Volcano's vcctl.
func (o *options) printInfo(info *Info) error {
	out, c := o.f.Streams.Out, info.Client
	_, err := fmt.Fprintf(out, "API Version: %s\n%s", c.APIVersion, c.Info)
	s := info.Server
	if s == nil || err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "Server: %s\nServer Kubernetes: %s\nServer APIs: %s\n", s.Address, s.Kubernetes, render.TextOrNone(strings.Join(s.APIs, ", "))); err != nil {
		return err
	}
	for _, component := range s.Components {
		if _, err := fmt.Fprintf(out, "Server %s: %s (from %s)\n", component.Name, component.Version, component.Source); err != nil {
			return err
		}
	}
	return nil
}
