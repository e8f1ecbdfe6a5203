package slurm

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/podcommands"
	"github.com/vc-batch/vc/internal/usererror"
)

func newSattach(f *cli.Factory) *cobra.Command {
	table := podcommands.SattachTable
	return newProgramCommand(f, program{table: &table, run: runSattach,
		short: "Show the output of a running step",
		long: `
			Show the output of a running step, starting with its last lines, until it ends,
			and exit with its exit code. Ctrl-C ends sattach but not the step. JOB without a
			step, or JOB.batch, means the job's script, whose output is read from the log of
			its pod.`,
		example: `
			# The first step of a job, with the task number before each line
			vcctl slurm sattach -l 42.0

			# The script of a job
			vcctl slurm sattach 42`,
	})
}

func runSattach(ctx context.Context, c *call) error {
	id, number, err := podcommands.AttachTarget(c.parsed)
	if err != nil {
		return err
	}
	a, err := c.runningAllocation(ctx, id, "Unable to attach to job "+id)
	if err != nil {
		return err
	}
	if number == "" || number == "batch" {
		return a.followScript(ctx)
	}
	command := []string{launchconfig.Program, c.table.Program}
	for _, given := range c.parsed.Given {
		if podcommands.SattachTable.HasOption(given.Name) {
			command = append(command, formatOption(given))
		}
	}
	streams := c.standardStreams()
	streams.Stdin = nil
	code, err := a.execInHead(ctx, session{command: append(command, a.jobIDInPod()+"."+number), streams: streams})
	if err != nil {
		return err
	}
	return exitStatus(code)
}

// jobIDInPod returns the job number that is used in the job's pod. For an array, it includes the index of the element.
func (a *allocation) jobIDInPod() string {
	id := numberOrName(a.job)
	if index := a.head.Labels[keys.ArrayIndex]; index != "" {
		id += "_" + index
	}
	return id
}

// recentLines is the number of earlier output lines that sattach prints for a script.
const recentLines = 100

// followScript prints the output of a batch script until it ends.
func (a *allocation) followScript(ctx context.Context) error {
	for _, option := range []string{"label", "layout", "output-filter", "error-filter"} {
		if a.parsed.Has(option) {
			return usererror.Errorf("specify a step, for example "+a.id+".0; a script is a single process", "--%s applies only to steps", option)
		}
	}
	clientset, err := a.f.Clientset()
	if err != nil {
		return err
	}
	options := &corev1.PodLogOptions{Container: a.head.Spec.Containers[0].Name, Follow: true, TailLines: new(int64(recentLines))}
	log, err := clientset.CoreV1().Pods(a.head.Namespace).GetLogs(a.head.Name, options).Stream(ctx)
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = io.Copy(a.f.Streams.Out, log)
	if err != nil && ctx.Err() != nil && !strings.Contains(err.Error(), "broken pipe") {
		return exitStatus(interrupted)
	}
	return err
}
