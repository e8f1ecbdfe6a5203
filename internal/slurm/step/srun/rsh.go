package srun

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/srunoptions"
	"github.com/vc-batch/vc/internal/slurm/step/taskio"
)

// withValue lists those options of ssh that take a value.
const withValue = "bcDEeFIiJLlmOopQRSWw"

// RunRsh runs a command line on another node of the job, as ssh does, and returns the exit code. It ignores the options
// of ssh, because keys, ports and terminals do not exist here.
func RunRsh(ctx context.Context, args []string) int {
	host, command := rshArguments(args)
	if host == "" || len(command) == 0 {
		fmt.Fprintln(os.Stderr, launchconfig.RshName+": error: specify a host and a command, as with ssh")
		return 255
	}
	client, err := jobclient.New()
	if err == nil {
		var code int
		if code, err = runRemote(ctx, client, host, strings.Join(command, " ")); err == nil {
			return code
		}
	}
	fmt.Fprintf(os.Stderr, "%s: error: %v\n", launchconfig.RshName, err)
	return 255
}

// rshArguments returns the host and the command that follow ssh's options.
func rshArguments(args []string) (host string, command []string) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			if len(arg) == 2 && strings.Contains(withValue, arg[1:]) {
				i++
			}
		default:
			if _, name, user := strings.Cut(arg, "@"); user {
				arg = name
			}
			return arg, args[i+1:]
		}
	}
	return "", nil
}

// runRemote runs a command line in a shell on another node. The step that it uses always overlaps with other steps.
func runRemote(ctx context.Context, client *jobclient.Client, host, command string) (int, error) {
	node, err := findNode(client.Place.Hosts, host)
	if err != nil {
		return 0, err
	}
	o := &srunoptions.Options{Input: "all", OutputOptions: taskio.OutputOptions{Unbuffered: true}, Quiet: true, Command: []string{"sh", "-c", command}}
	o.Begin.Only, o.Begin.Tasks, o.Begin.Overlap, o.Begin.Name = []string{client.Place.Hosts[node]}, 1, true, launchconfig.RshName
	r := newRunner(client, o)
	if err := client.QueryHead(ctx, protocol.Request{Job: true}, &r.job); err != nil {
		return 0, err
	}
	return r.runStep(ctx)
}

// findNode returns the index of the node with the given host name, which may include a domain.
func findNode(hosts []string, name string) (int, error) {
	short, _, _ := strings.Cut(name, ".")
	for i, host := range hosts {
		if host == name || host == short {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s is not a node of this job; the job's nodes are %s", name, strings.Join(hosts, ", "))
}
