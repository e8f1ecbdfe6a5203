package podcommands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/taskio"
	"github.com/vc-batch/vc/internal/usererror"
)

// SattachTable lists the options of sattach.
var SattachTable = getopt.Table{Program: "sattach", Operands: "JOB.STEP", Options: []getopt.Option{
	{Long: "label", Short: 'l', Help: "Print the task number before each line"},
	{Long: "layout", Help: "Print which tasks run on each node, then exit"},
	{Long: "output-filter", Arg: getopt.Required, Value: "TASK", Help: "Print only the output of this task"},
	{Long: "error-filter", Arg: getopt.Required, Value: "TASK", Help: "Print only the standard error of this task"},
	{Long: "unbuffered", Short: 'u', Help: "Do not buffer lines"},
	{Long: "input-filter", Arg: getopt.Required, Value: "TASK", Help: "Not supported: tasks read input from their srun command"},
	{Long: "pty", Help: "Not supported: use srun --jobid=JOB --overlap --pty bash"},
	{Long: "quiet", Short: 'Q', Help: "Print only errors"},
	{Long: "verbose", Short: 'v', NoEffect: true, Help: "No effect: no further details are available"},
}}

// RunSattach prints the output of a running step of the job and returns the exit code of the step.
var RunSattach = (&command{table: &SattachTable, isOwn: isOwnSattach, run: attachToStep}).execute

func attachToStep(ctx context.Context, p getopt.Parsed) (int, error) {
	job, step, err := AttachTarget(p)
	if err != nil {
		return 0, err
	}
	number, err := strconv.Atoi(step)
	if err != nil || number < 0 {
		return 0, usererror.Errorf("specify a running step, for example "+job+".0; the script's output is in the job's output file and in the pod's log", "Invalid job id specified: %s", p.Operands[0])
	}
	client, err := jobclient.New()
	if err != nil {
		return 0, err
	}
	if !client.Pod.HasID(job) {
		return 0, foreignJobError(job, &client.Pod)
	}
	conn, err := client.SendToHead(ctx, protocol.Request{Attach: &protocol.AttachRequest{Step: number}})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	var layout protocol.AttachAnswer
	if err := conn.ReceiveAnswer(&layout, nil); err != nil {
		return 0, err
	}
	if p.Has("layout") {
		printLayout(&layout, os.Stdout)
		return 0, nil
	}
	to, err := openOutputs(&layout, p)
	if err != nil {
		return 0, err
	}
	return printUntilEnd(conn, to, p.Has("quiet"))
}

// AttachTarget returns the job and the step to which sattach's operand refers. The step is empty if the operand
// contains no dot.
func AttachTarget(p getopt.Parsed) (job, step string, err error) {
	for option, hint := range map[string]string{"pty": "use srun --jobid=JOB --overlap --pty bash to open a terminal in a job", "input-filter": "tasks read input only from the srun command that started them"} {
		if p.Has(option) {
			return "", "", usererror.Errorf(hint, "--%s is not supported here", option)
		}
	}
	for _, option := range []string{"output-filter", "error-filter"} {
		text, given := p.LastValue(option)
		if n, err := strconv.Atoi(text); given && (err != nil || n < 0) {
			return "", "", usererror.Errorf("specify a task number, for example --"+option+"=0", "Invalid numeric value %q for --%s.", text, option)
		}
	}
	if len(p.Operands) != 1 {
		return "", "", usererror.Errorf("specify the job and the step number, for example 42.0", "Did not supply a job step id")
	}
	job, step, _ = strings.Cut(p.Operands[0], ".")
	return job, step, nil
}

// printLayout prints the nodes of the step and the tasks on each node.
func printLayout(a *protocol.AttachAnswer, out io.Writer) {
	total := 0
	for _, count := range a.Counts {
		total += count
	}
	fmt.Fprintf(out, "Job step layout:\n\t%d tasks, %d nodes (%s)\n\n", total, len(a.Hosts), strings.Join(a.Hosts, " "))
	rank := 0
	for i, host := range a.Hosts {
		fmt.Fprintf(out, "\tNode %d (%s), %d task(s):", i, host, a.Counts[i])
		for range a.Counts[i] {
			fmt.Fprintf(out, " %d", rank)
			rank++
		}
		fmt.Fprintln(out)
	}
}

// openOutputs returns outputs for all tasks of the step. The outputs write to the streams of this program.
func openOutputs(a *protocol.AttachAnswer, p getopt.Parsed) (*taskio.Outputs, error) {
	o := &taskio.OutputOptions{Label: p.Has("label"), Unbuffered: p.Has("unbuffered")}
	only, _ := p.LastValue("output-filter")
	o.Output, o.Error = only, "all"
	if text, given := p.LastValue("error-filter"); given {
		o.Error = text
	}
	total := 0
	for _, count := range a.Counts {
		total += count
	}
	all := taskio.NewOutputs(o, launchconfig.Names{}, total)
	for rank := range total {
		if err := all.OpenTask(rank, "", 0); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// printUntilEnd prints the output until the step ends, and returns the step's exit code.
func printUntilEnd(conn *protocol.Conn, to *taskio.Outputs, quiet bool) (int, error) {
	for {
		f, err := conn.ReceiveFrame()
		if err != nil {
			return 1, usererror.WithHint(fmt.Errorf("the connection to the job's launcher was lost: %w", err), protocol.LauncherGoneHint)
		}
		switch f.Kind {
		case protocol.StdoutFrame, protocol.StderrFrame:
			to.WriteOutput(int(f.Task), f.Kind == protocol.StderrFrame, f.Data)
		case protocol.NoticeFrame:
			if !quiet {
				fmt.Fprintln(os.Stderr, "sattach:", string(f.Data))
			}
		case protocol.ErrorFrame:
			return 1, protocol.DecodeError(f.Data)
		case protocol.AnswerFrame:
			for rank := range to.Tasks {
				to.FlushTask(rank)
			}
			var s launchconfig.Step
			if err := json.Unmarshal(f.Data, &s); err != nil {
				return 1, err
			}
			return max(s.Code, protocol.Ending{Signal: s.Signal}.ShellStatus()), nil
		}
	}
}

// isOwnSattach reports whether sattach attaches to a step of this job.
func isOwnSattach(client *jobclient.Client, p getopt.Parsed) bool {
	if len(p.Operands) != 1 {
		return true
	}
	_, step, _ := strings.Cut(p.Operands[0], ".")
	return client.MayBeOwnID(p.Operands[0]) && step != "" && step != "batch"
}
