package podcommands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/step/cmdutil"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// signalTable lists the options of `vc-step signal`, which scancel runs in the pod.
var signalTable = getopt.Table{Program: "vc-step signal", Options: []getopt.Option{
	{Long: "signal", Short: 's', Arg: getopt.Required, Value: "name", Help: "signal to send"},
	{Long: "batch", Short: 'b', Help: "send the signal only to the script"},
	{Long: "full", Short: 'f', Help: "send the signal to the script and the steps"},
	{Long: "step", Arg: getopt.Required, Value: "n", Help: "send the signal to one step"},
}}

// RunSignal sends a signal to the script or to steps.
func RunSignal(ctx context.Context, args []string) int {
	p, err := signalTable.ParseArguments(args)
	if err != nil {
		return cmdutil.ReportError("vc-step", err)
	}
	text, _ := p.LastValue("signal")
	step, _ := p.LastValue("step")
	r, err := newSignalRequest(text, step, p.Has("batch"), p.Has("full"))
	if err != nil {
		return cmdutil.ReportError("vc-step", err)
	}
	r.Now = true
	client, err := jobclient.New()
	if err == nil {
		err = client.QueryHead(ctx, protocol.Request{Signal: r}, nil)
	}
	return cmdutil.ReportError("vc-step", err)
}

// RunNotify writes a message to the script's error output.
func RunNotify(ctx context.Context, words []string) int {
	client, err := jobclient.New()
	if err == nil {
		err = client.QueryHead(ctx, protocol.Request{Notify: strings.Join(words, " ")}, nil)
	}
	return cmdutil.ReportError("vc-step", err)
}

// RunLimit sets the job's time limit, in seconds.
func RunLimit(ctx context.Context, words []string) int {
	if len(words) != 1 {
		return cmdutil.ReportError("vc-step", errors.New("limit requires a number of seconds"))
	}
	seconds, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil || seconds <= 0 {
		return cmdutil.ReportError("vc-step", fmt.Errorf("limit: %q is not a number of seconds", words[0]))
	}
	client, err := jobclient.New()
	if err == nil {
		err = client.QueryHead(ctx, protocol.Request{Limit: seconds}, nil)
	}
	return cmdutil.ReportError("vc-step", err)
}
