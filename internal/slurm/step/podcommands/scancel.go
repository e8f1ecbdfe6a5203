package podcommands

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/signals"
	"github.com/vc-batch/vc/internal/usererror"
)

// scancelTable lists the options of scancel that are supported inside a job.
var scancelTable = getopt.Table{Program: "scancel", Operands: "[JOB[.STEP]...]", Options: []getopt.Option{
	{Long: "signal", Short: 's', Arg: getopt.Required, Value: "NAME", Help: "Send this signal instead of ending the job"},
	{Long: "batch", Short: 'b', Help: "Send the signal only to the script"},
	{Long: "full", Short: 'f', Help: "Send the signal to the script and the steps"},
	{Long: "quiet", Short: 'Q', Help: "No effect: the current job cannot have ended yet"},
	{Long: "verbose", Short: 'v', Help: "Report each action"},
}}

// RunScancel ends this job, or ends or signals one of its steps.
var RunScancel = (&command{table: &scancelTable, isPartial: true, isOwn: isOwnScancel, run: runScancel}).execute

func runScancel(ctx context.Context, p getopt.Parsed) (int, error) {
	if len(p.Operands) == 0 {
		return 0, usererror.Errorf("inside a job, you can cancel only the job itself and its steps: scancel $SLURM_JOB_ID", "No job identification provided")
	}
	client, job, err := jobclient.RequestJob(ctx)
	if err != nil {
		return 0, err
	}
	text, signalled := p.LastValue("signal")
	for _, operand := range p.Operands {
		id, step, _ := strings.Cut(operand, ".")
		if !job.Pod.HasID(id) {
			return 0, foreignJobError(id, &job.Pod)
		}
		r := protocol.Request{End: &protocol.EndRequest{Cancel: true}}
		toPart := step != "" || p.Has("batch") || p.Has("full")
		if signalled || toPart {
			if r.Signal, err = newSignalRequest(cmp.Or(text, "TERM"), step, p.Has("batch"), p.Has("full")); err != nil {
				return 0, err
			}
			r.End = nil
		}
		if p.Has("verbose") {
			fmt.Fprintf(os.Stderr, "scancel: %s job %s\n", actionText(&r, cmp.Or(text, "TERM")), operand)
		}
		if err := client.QueryHead(ctx, r, nil); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// actionText returns the text that scancel -v prints for its action.
func actionText(r *protocol.Request, signal string) string {
	if r.Signal != nil {
		return "Signal " + strings.TrimPrefix(strings.ToUpper(signal), "SIG") + " to"
	}
	return "Terminating"
}

// newSignalRequest returns the request for a signal. By default, the signal is sent to all steps.
func newSignalRequest(text, step string, batch, full bool) (*protocol.SignalRequest, error) {
	number, err := signals.ParseNumber(text)
	if err != nil {
		return nil, usererror.Errorf("specify a signal by name, such as USR1 or SIGTERM, or by number", "Unknown job signal: %s", text)
	}
	r := &protocol.SignalRequest{Number: number, Step: -1, Batch: batch || full, Steps: full || !batch}
	switch step {
	case "":
	case "batch":
		r.Batch, r.Steps = true, false
	default:
		if r.Step, err = strconv.Atoi(step); err != nil || r.Step < 0 {
			return nil, usererror.Errorf("specify a step number after the dot, or batch for the script", "Invalid job id specified: step %q", step)
		}
		r.Batch, r.Steps = false, false
	}
	return r, nil
}

// isOwnScancel reports whether scancel ends or signals only this job.
func isOwnScancel(client *jobclient.Client, p getopt.Parsed) bool {
	return client.AreOwnIDs(p.Operands)
}
