package step

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// clusterCommands are the commands that need the cluster. vcctl carries them out with the rights of the pod's service account.
var clusterCommands = []string{"sbatch", "sacct", "sinfo", "sprio", "sshare", "scrontab", "sdiag", "strigger"}

// clusterProgram is the program that reaches the cluster.
const clusterProgram = "vcctl"

// Outside replaces this process by the command of the same name that works where jobs are submitted. It returns only if it cannot.
func Outside(_ context.Context, name string, args []string) int {
	h, err := findHere()
	if err != nil {
		return report(name, err)
	}
	return report(name, h.becomeClusterCommand(name, args))
}

// reachesCluster reports whether the job's pods have rights in the cluster: a service account of their own.
func (h *here) reachesCluster() bool { return h.spec.ServiceAccount != "" }

// becomeClusterCommand replaces this process by a command of vcctl.
func (h *here) becomeClusterCommand(name string, args []string) error {
	if !h.reachesCluster() {
		return fault.Errorf("run it where the job was submitted; an administrator permits it in jobs by serviceAccount in ConfigMap slurm-profile", "the pods of this job have no rights in the cluster")
	}
	env := os.Environ()
	program := h.spec.Program
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
		if program, err = lookPath(clusterProgram, ".", env); err != nil {
			return fault.Errorf("put it into the job's image, or on a shared volume in PATH", "the program %s, which reaches the cluster, is not in this pod", clusterProgram)
		}
	}
	if os.Getenv("KUBECONFIG") == "" {
		// A kubeconfig in the home directory is the user's, and of wherever it is used. An empty one leads to the service account.
		env = append(env, "KUBECONFIG="+os.DevNull)
	}
	return syscall.Exec(program, append([]string{clusterProgram, "slurm", name}, args...), env)
}

// becomeIfNotOwn replaces this process by the command of vcctl if the job has rights in the cluster and the words are about more than the own job. Otherwise
// it returns nil, and the caller answers from what the launcher knows.
func becomeIfNotOwn(name string, args []string, isOwn func(*here) bool) error {
	h, err := findHere()
	if err != nil || !h.reachesCluster() || isOwn(h) {
		return nil
	}
	return h.becomeClusterCommand(name, args)
}

// mayBe reports whether an id can be the own job's, as far as a pod knows without asking its launcher.
func (h *here) mayBe(id string) bool {
	id, _, _ = strings.Cut(id, ".")
	job := jobAnswer{Spec: h.spec, Pod: h.pod}
	return job.called(id)
}

// areOwn reports whether all ids, lists with commas among them, are the own job's. No id is not.
func (h *here) areOwn(lists []string) bool {
	var ids []string
	for _, list := range lists {
		ids = append(ids, strings.Split(list, ",")...)
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !h.mayBe(id) })
}

// isOwnSqueue reports whether squeue is asked about the own job only, in a way that needs no cluster.
func isOwnSqueue(args []string) func(*here) bool {
	return func(h *here) bool {
		p, err := squeueTable.Parse(args)
		if err != nil {
			return false
		}
		ids, _ := p.Last("jobs")
		return isAboutItself(p) || h.areOwn(append(p.Operands, ids))
	}
}

// isOwnScontrol reports whether scontrol is asked about the own job, or about what needs no cluster.
func isOwnScontrol(args []string) func(*here) bool {
	return func(h *here) bool {
		p, err := scontrolTable.Parse(args)
		if err != nil {
			return false
		}
		words := p.Operands
		switch {
		case isAboutItself(p), len(words) == 0, isWord(words[0], "ping", 2):
			return true
		case isWord(words[0], "requeue", 3):
			return h.areOwn(words[1:])
		case !isWord(words[0], "show", 2) || len(words) < 2:
			return false
		case strings.HasPrefix(strings.ToLower(words[1]), "host"):
			return true
		}
		return isWord(words[1], "jobs", 1) && h.areOwn(words[2:])
	}
}

// isOwnScancel reports whether scancel is asked to end or signal the own job.
func isOwnScancel(args []string) func(*here) bool {
	return func(h *here) bool {
		p, err := scancelTable.Parse(args)
		return err == nil && (isAboutItself(p) || h.areOwn(p.Operands))
	}
}

// isOwnSbcast reports whether sbcast is about the own job.
func isOwnSbcast(args []string) func(*here) bool {
	return func(h *here) bool {
		p, err := SbcastTable.Parse(args)
		id, given := p.Last("jobid")
		return err != nil || isAboutItself(p) || !given || h.mayBe(id)
	}
}

// isOwnSattach reports whether sattach is asked about a step of the own job.
func isOwnSattach(args []string) func(*here) bool {
	return func(h *here) bool {
		p, err := SattachTable.Parse(args)
		if err != nil || isAboutItself(p) || len(p.Operands) != 1 {
			return true
		}
		_, step, _ := strings.Cut(p.Operands[0], ".")
		return h.mayBe(p.Operands[0]) && step != "" && step != "batch"
	}
}

func isAboutItself(p getopt.Parsed) bool {
	return p.Has("help") || p.Has("usage") || p.Has("version")
}
