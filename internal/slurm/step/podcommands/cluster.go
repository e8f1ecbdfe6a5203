// Package podcommands implements Slurm's commands inside the pods of a job, except srun. These are scontrol, squeue,
// scancel, sattach, sbcast and sgather for the job itself, and the commands with which vcctl reaches a pod from
// outside.
//
// The commands get their data from the job's launcher and need no access to the Kubernetes API. If the arguments refer
// to more than this job, and the pod has a service account with access to the cluster, vcctl runs the command instead.
package podcommands

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/slurm/step/cmdutil"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/usererror"
)

// ClusterCommands lists the commands that need access to the cluster. vcctl runs them with the permissions of the pod's
// service account.
var ClusterCommands = []string{"sbatch", "sacct", "sinfo", "sprio", "sshare", "sstat", "scrontab", "sdiag", "strigger"}

// clusterProgram is the name of the program that accesses the cluster.
const clusterProgram = "vcctl"

// RunClusterCommand replaces this process with the vcctl command of the same name. It returns only if this fails, and
// then returns the exit code.
func RunClusterCommand(_ context.Context, name string, args []string) int {
	client, err := jobclient.New()
	if err != nil {
		return cmdutil.ReportError(name, err)
	}
	return cmdutil.ReportError(name, becomeClusterCommand(client, name, args))
}

// becomeClusterCommand replaces this process with a vcctl command. It returns only if this fails.
func becomeClusterCommand(client *jobclient.Client, name string, args []string) error {
	if client.Spec.ServiceAccount == "" {
		return usererror.Errorf("run the command on the host where the job was submitted, or ask an administrator to set serviceAccount in the ConfigMap slurm-profile", "the pods of this job have no permissions in the cluster")
	}
	env := os.Environ()
	program := client.Spec.Program
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
		if program, err = process.LookPath(clusterProgram, ".", env); err != nil {
			return usererror.Errorf("add the program to the job's image, or to a directory in PATH on a shared volume", "%s is not installed in this pod, but this command needs it to access the cluster", clusterProgram)
		}
	}
	if os.Getenv("KUBECONFIG") == "" {
		// A kubeconfig in the home directory is meant for other machines. With an empty kubeconfig, vcctl uses the
		// service account instead.
		env = append(env, "KUBECONFIG="+os.DevNull)
	}
	return syscall.Exec(program, append([]string{clusterProgram, "slurm", name}, args...), env)
}

// command describes one of Slurm's commands.
type command struct {
	table *getopt.Table
	// isPartial is true if vcctl supports more options for the command than the table contains.
	isPartial bool
	// isOwn reports whether the arguments refer only to this job. It is nil if they always refer only to this job.
	isOwn func(client *jobclient.Client, p getopt.Parsed) bool
	run   func(ctx context.Context, p getopt.Parsed) (int, error)
}

// execute runs the command and returns its exit code. If the job has access to the cluster and the arguments refer to
// more than this job, it replaces this process with vcctl.
func (c *command) execute(ctx context.Context, args []string) int {
	name, table := c.table.Program, c.table.WithMissing(getopt.Information...)
	p, err := table.ParseArguments(args)
	client, noJob := jobclient.New()
	if noJob == nil && client.Spec.ServiceAccount != "" && !c.concernsOwnJob(client, p, err) {
		return cmdutil.ReportError(name, becomeClusterCommand(client, name, args))
	}
	switch {
	case err != nil && c.isPartial:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	case err != nil:
		return cmdutil.ReportError(name, slurmerror.NewUsageError(name, err))
	case cmdutil.PrintInformation(table, p):
		return 0
	}
	code, err := c.run(ctx, p)
	return max(code, cmdutil.ReportError(name, err))
}

// concernsOwnJob reports whether the command can run without access to the cluster. invalid is the error in its
// arguments.
func (c *command) concernsOwnJob(client *jobclient.Client, p getopt.Parsed, invalid error) bool {
	switch {
	case invalid != nil:
		return !c.isPartial
	case cmdutil.IsInformationRequest(p), c.isOwn == nil:
		return true
	}
	return c.isOwn(client, p)
}
