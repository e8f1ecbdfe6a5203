package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/local"
)

func newDown() *cobra.Command {
	var path string
	var purge bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster and clean up after it",
		Long: `Stop the cluster and all pods on its process nodes, and remove mounts and networks
that a killed process might have left. The state is kept for the next start, unless
--purge is set or the cluster was ephemeral.

Running pods on process nodes have one second to end before they are killed. At the
next start, these pods count as stopped (exit code 137, reason NodeStopped):
containers with restartPolicy Always or OnFailure are started again on the same
node. Pods with restartPolicy Never become Failed, and so do their jobs, unless the
jobs have a policy such as PodFailed: RestartJob. Pending pods stay pending, and
simulated pods continue.`,
		Example: `  vc-local down
  vc-local down --purge`,
		Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := local.RunningDir(path)
			if err != nil {
				return err
			}
			stopped, err := local.StopCluster(cmd.Context(), dir, purge)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), downText(dir, stopped))
			return nil
		},
	}
	addRunningDirFlag(cmd, &path)
	cmd.Flags().BoolVar(&purge, "purge", false, "also remove the cluster's state")
	return cmd
}

// downText describes what was stopped and how this affects the next start.
func downText(dir local.Dir, stopped local.Stopped) string {
	text := "no cluster was running in " + string(dir)
	switch {
	case stopped.Killed:
		text = "stopped the cluster in " + string(dir) + "; the cluster did not stop in time and was killed"
	case stopped.WasRunning:
		text = "stopped the cluster in " + string(dir)
	}
	if stopped.Purged {
		text += "; its state was removed"
	}
	switch stopped.Pods {
	case 0:
		return text
	case 1:
		text += "\n1 running pod was stopped"
	default:
		text += fmt.Sprintf("\n%d running pods were stopped", stopped.Pods)
	}
	if stopped.Purged {
		return text
	}
	return text + "; jobs that do not restart their pods will fail when the cluster starts again"
}
