// Package configcmd implements `vcctl config`, which checks the scheduler's configuration before it is installed and shows
// the configuration in effect.
package configcmd

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// New returns `vcctl config`.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.Group(f, "config", "Check the scheduler's configuration", cli.Text(`
		The scheduler's configuration (volcano-scheduler.conf): which actions run, and
		which policies decide. A changed file is taken over without a restart; one that
		is wrong is refused, and the last good one stays in force.`))
	cmd.AddCommand(newCheck(f, check))
	return cmd
}
