package podcommands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// signalTable lists the options of `vc-step signal`, which scancel runs in the pod.
var signalTable = getopt.Table{Program: "vc-step signal", Options: []getopt.Option{
	{Long: "signal", Short: 's', Arg: getopt.Required, Value: "NAME", Help: "Signal to send"},
	{Long: "batch", Short: 'b', Help: "Send the signal only to the script"},
	{Long: "full", Short: 'f', Help: "Send the signal to the script and the steps"},
	{Long: "step", Arg: getopt.Required, Value: "N", Help: "Send the signal to one step"},
}}

// RunSignal sends a signal to the script or to steps.
func RunSignal(ctx context.Context, args []string) error {
	p, err := signalTable.ParseArguments(args)
	if err != nil {
		return err
	}
	text, _ := p.LastValue("signal")
	step, _ := p.LastValue("step")
	r, err := newSignalRequest(text, step, p.Has("batch"), p.Has("full"))
	if err != nil {
		return err
	}
	r.Now = true
	return jobclient.Query(ctx, protocol.Request{Signal: r})
}

// RunNotify writes a message to the script's error output.
func RunNotify(ctx context.Context, words []string) error {
	return jobclient.Query(ctx, protocol.Request{Notify: strings.Join(words, " ")})
}

// RunLimit sets the job's time limit, in seconds.
func RunLimit(ctx context.Context, words []string) error {
	if len(words) != 1 {
		return errors.New("limit requires a number of seconds")
	}
	seconds, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil || seconds <= 0 {
		return fmt.Errorf("limit: %q is not a valid number of seconds", words[0])
	}
	return jobclient.Query(ctx, protocol.Request{Limit: seconds})
}
