package step

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/vc-batch/vc/internal/slurm/getopt"
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
	return reportError(name, h.becomeClusterCommand(name, args))
}

// hasClusterAccess reports whether the job's pods have their own service account with access to the cluster.
func (h *here) hasClusterAccess() bool { return h.spec.ServiceAccount != "" }

// becomeClusterCommand replaces this process with a vcctl command.
func (h *here) becomeClusterCommand(name string, args []string) error {
	if !h.hasClusterAccess() {
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
	if err != nil || !h.hasClusterAccess() || isOwn(h) {
		return nil
	}
	return h.becomeClusterCommand(name, args)
}

// mayBeOwnID reports whether id can be the ID of this job. It does not contact the launcher.
func (h *here) mayBeOwnID(id string) bool {
	id, _, _ = strings.Cut(id, ".")
	job := jobAnswer{Spec: h.spec, Pod: h.pod}
	return job.matchesID(id)
}

// areOwnIDs reports whether all IDs in the comma-separated lists belong to this job. It returns false if there are no
// IDs.
func (h *here) areOwnIDs(lists []string) bool {
	var ids []string
	for _, list := range lists {
		ids = append(ids, strings.Split(list, ",")...)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !h.mayBeOwnID(id) })
}

func isInformationRequest(p getopt.Parsed) bool {
	return p.Has("help") || p.Has("usage") || p.Has("version")
}
