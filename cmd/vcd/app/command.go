package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/daemon"
)

// usageError is the error for an invalid command line.
type usageError struct {
	err     error
	command string
}

func (u *usageError) Error() string { return u.err.Error() }

func (u *usageError) Unwrap() error { return u.err }

// connectError means that the connection to the API server is not configured.
type connectError struct{ err error }

func (c *connectError) Error() string { return c.err.Error() }

func (c *connectError) Unwrap() error { return c.err }

func usageHint(err error) string {
	var connect *connectError
	if errors.As(err, &connect) {
		return "specify --kubeconfig FILE, or set KUBECONFIG"
	}
	var usage *usageError
	if errors.As(err, &usage) {
		return "see " + usage.command + " --help"
	}
	return ""
}

// NewCommand returns the command vcd with its subcommands.
func NewCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "vcd",
		Short: "Run the daemon of the batch system",
		Long: `vcd schedules, controls and admits batch workloads on Kubernetes.

Each component runs as a separate process or together with the others ("vcd all").
If several processes run the same component, one is active and the others stand by.`,
		SilenceUsage: true, SilenceErrors: true, Version: build.DescribeProgram().Version,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("unknown command %q; valid commands are scheduler, controllers, admission, accounting, all, version", args[0]), "vcd"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &usageError{errors.New("no command given"), "vcd"}
		},
	}
	root.SetVersionTemplate(build.DescribeProgram().String())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return &usageError{err, cmd.CommandPath()} })
	root.AddCommand(
		newPart("scheduler", "Place gangs of pods on nodes", scheduling, daemon.Scheduler),
		newPart("controllers", "Create and monitor the pods of jobs; maintain PodGroups and Queues", controlling, daemon.Controllers),
		newPart("admission", "Set defaults in jobs, queues and PodGroups, and validate them", admitting, daemon.Admission),
		newAccounting(),
		newPart("all", "Run scheduler, controllers, admission and, with --accounting-store, accounting in one process", scheduling|controlling|admitting|recording, daemon.ComponentNames()...),
		newVersion(),
	)
	return root
}

func newPart(name, short string, kinds parts, components ...string) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Example: strings.Join([]string{
			"  # in a cluster, with the permissions from deploy/install.yaml",
			"  vcd " + name,
			"  # from outside, alone",
			"  vcd " + name + " --kubeconfig ~/.kube/config --leader-elect=false",
		}, "\n"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("unexpected argument %q", args[0]), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := f.toOptions(components)
			if err != nil {
				return err
			}
			for _, line := range f.gates.ignoredGates() {
				cmd.PrintErrln(line)
			}
			go tuneMemory(cmd.Context())
			return daemon.Run(cmd.Context(), o)
		},
	}
	f.bindFlags(cmd.Flags(), kinds)
	return cmd
}

// connectionConfig returns the configuration of the connection to the API server. It is taken from the flag,
// $KUBECONFIG, ~/.kube/config, or the pod's service account.
func connectionConfig(kubeconfig, master string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{}
	overrides.ClusterInfo.Server = master
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	if err := wrapForFailpoints(config); err != nil {
		return nil, err
	}
	return rest.AddUserAgent(config, "vcd"), nil
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, and what vcd was built from",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), build.DescribeProgram())
			return err
		},
	}
}
