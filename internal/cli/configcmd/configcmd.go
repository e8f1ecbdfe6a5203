// Package configcmd implements `vcctl config`, which checks the scheduler's configuration before it is installed, and
// shows the configuration in effect.
package configcmd

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// New returns `vcctl config`.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.NewCommandGroup(f, "config", "Check the scheduler's configuration", cli.FormatHelp(`
		Check the scheduler's configuration (volcano-scheduler.conf), which lists its
		actions and policies. The scheduler reloads a changed file without a restart. It
		rejects an invalid file and keeps the last valid configuration.`))
	cmd.AddCommand(newCheck(f, checkConfiguration))
	return cmd
}
