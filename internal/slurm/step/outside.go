package step

import (
	"context"
	"os"
	"syscall"

	"github.com/vc-batch/vc/internal/usererror"
)

// clusterCommands lists the commands that need access to the cluster. They are run by vcctl, with the permissions of
// the pod's service account.
var clusterCommands = []string{"sbatch", "sacct", "sinfo", "sprio", "sshare", "scrontab", "sdiag", "strigger"}

// clusterProgram is the name of the program that accesses the cluster.
const clusterProgram = "vcctl"

// BecomeOutsideCommand replaces this process with the vcctl command of the same name. It returns only if this fails.
func BecomeOutsideCommand(_ context.Context, name string, args []string) int {
	h, err := findHere()
	if err != nil {
		return reportError(name, err)
	}
	return reportError(name, becomeClusterCommand(h, name, args))
}

// becomeClusterCommand replaces this process with a vcctl command.
func becomeClusterCommand(h *here, name string, args []string) error {
	if h.spec.ServiceAccount == "" {
		return usererror.Errorf("run it where the job was submitted; an administrator can permit it inside jobs with serviceAccount in ConfigMap slurm-profile", "the pods of this job have no permissions in the cluster")
	}
	env := os.Environ()
	program := h.spec.Program
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
		if program, err = lookPath(clusterProgram, ".", env); err != nil {
			return usererror.Errorf("add it to the job's image, or to a shared volume in PATH", "%s, which this command needs to access the cluster, is not installed in this pod", clusterProgram)
		}
	}
	if os.Getenv("KUBECONFIG") == "" {
		// A kubeconfig in the home directory is meant for other machines. An empty kubeconfig makes vcctl use the
		// service account.
		env = append(env, "KUBECONFIG="+os.DevNull)
	}
	return syscall.Exec(program, append([]string{clusterProgram, "slurm", name}, args...), env)
}

// becomeIfForeign replaces this process with the vcctl command if the job has access to the cluster and the arguments
// refer to more than this job. Otherwise, it returns nil, and the caller requests the data from the launcher.
func becomeIfForeign(name string, args []string, isOwn func(*here) bool) error {
	h, err := findHere()
	if err != nil || h.spec.ServiceAccount == "" || isOwn(h) {
		return nil
	}
	return becomeClusterCommand(h, name, args)
}
