package attach

import (
	"context"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/podcommands"
	"github.com/vc-batch/vc/internal/usererror"
)

// Sattach shows the output of a running step.
var Sattach = program.Program{Table: &podcommands.SattachTable, Run: runSattach,
	Short: "Show the output of a running step",
	Long: `
		Show the output of a running step, starting with its last lines. When the step
		ends, sattach exits with the step's exit code. Ctrl-C ends sattach but not the
		step. JOB without a step, or JOB.batch, means the job's script, whose output is
		read from the log of its pod.`,
	Example: `
		# The first step of a job, with the task number before each line
		vcctl slurm sattach -l 42.0

		# The script of a job
		vcctl slurm sattach 42`,
}

func runSattach(ctx context.Context, c *program.Call) error {
	id, number, err := podcommands.AttachTarget(c.Parsed)
	if err != nil {
		return err
	}
	a, err := FindRunningAllocation(ctx, c, id, "Unable to attach to job "+id)
	if err != nil {
		return err
	}
	if number == "" || number == "batch" {
		return a.followScript(ctx)
	}
	command := []string{launchconfig.Program, c.Table.Program}
	for _, given := range c.Parsed.Given {
		if podcommands.SattachTable.HasOption(given.Name) {
			command = append(command, FormatOption(given))
		}
	}
	streams := StandardStreams(c)
	streams.Stdin = nil
	code, err := a.ExecInHead(ctx, Session{Command: append(command, a.JobIDInPod()+"."+number), Streams: streams})
	if err != nil {
		return err
	}
	return ExitStatus(code)
}

// recentLines is the number of earlier output lines that sattach prints for a script.
const recentLines = 100

// followScript prints the output of a batch script until it ends.
func (a *Allocation) followScript(ctx context.Context) error {
	for _, option := range []string{"label", "layout", "output-filter", "error-filter"} {
		if a.Parsed.Has(option) {
			return usererror.Errorf("specify a step, for example "+a.ID+".0; the batch script is a single process", "--%s applies only to steps", option)
		}
	}
	clientset, err := a.Factory.Clientset()
	if err != nil {
		return err
	}
	options := &corev1.PodLogOptions{Container: a.Head.Spec.Containers[0].Name, Follow: true, TailLines: new(int64(recentLines))}
	log, err := clientset.CoreV1().Pods(a.Head.Namespace).GetLogs(a.Head.Name, options).Stream(ctx)
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = io.Copy(a.Factory.Streams.Out, log)
	if err != nil && ctx.Err() != nil && !strings.Contains(err.Error(), "broken pipe") {
		return ExitStatus(program.Interrupted)
	}
	return err
}
