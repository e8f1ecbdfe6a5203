package launchconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
)

// masterPortBase is the lowest port at which the processes of a distributed program meet. The last four digits of the
// job's number are added to it, as in PyTorch Lightning.
const masterPortBase = 15000

// MasterPort returns the default port at which the processes of the job with the given number meet.
func MasterPort(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil {
		return masterPortBase
	}
	return masterPortBase + n%10000
}

// unlimitedSeconds is the assumed duration of a job without a time limit. As in Slurm, it is one year.
const unlimitedSeconds = 365 * 24 * 60 * 60

// User is the user who runs a job's processes. Home and Shell are empty if the pod's system has no entry for the user.
type User struct {
	UID, GID    int
	Home, Shell string
}

// LoginVariables returns the variables that a login sets. The container's own variables and exported variables take
// precedence.
func LoginVariables(s *Spec, u User) []string {
	return []string{
		"USER=" + s.User, "LOGNAME=" + s.User, "HOME=" + cmp.Or(u.Home, "/"), "SHELL=" + cmp.Or(u.Shell, "/bin/sh"),
		"TERM=xterm", "LANG=C.UTF-8", "TMPDIR=/tmp",
	}
}

// IdentityVariables returns the variables that contain the numeric IDs of the job's user.
func IdentityVariables(u User) []string {
	return []string{"SLURM_JOB_UID=" + strconv.Itoa(u.UID), "SLURM_JOB_GID=" + strconv.Itoa(u.GID)}
}

// GPUVariables returns the variable that lists the accelerators that programs may use, which are all of the pod's
// accelerators. It returns nil for a job without accelerators.
func GPUVariables(s *Spec) []string {
	if s.GPUsOnNode == 0 {
		return nil
	}
	return []string{"CUDA_VISIBLE_DEVICES=" + OrdinalList(s.GPUsOnNode)}
}

// variables is a list of NAME=value entries.
type variables []string

func (v *variables) addVariable(name, value string) { *v = append(*v, name+"="+value) }

// addNonempty adds a variable unless its value is empty.
func (v *variables) addNonempty(name, value string) {
	if value != "" {
		v.addVariable(name, value)
	}
}

func (v *variables) addNumber(name string, n int64) { v.addVariable(name, strconv.FormatInt(n, 10)) }

// addPositive adds a variable if its value is greater than 0.
func (v *variables) addPositive(name string, n int64) {
	if n > 0 {
		v.addNumber(name, n)
	}
}

// SlurmVariables returns the SLURM_* variables for a script, with the values that Slurm would set. hosts contains the
// job's nodes, and start is the time when the job started.
func SlurmVariables(s *Spec, p *Pod, hosts []string, start time.Time) []string {
	var v variables
	v.addJob(s, p, start)
	v.addNodes(s, p, hosts)
	v.addRequested(s)
	v.addArray(s, p)
	return v
}

// MeetingVariables returns the variables with the default address and port at which the processes of a distributed
// program meet.
func MeetingVariables(p *Pod, hosts []string) []string {
	return []string{"MASTER_ADDR=" + hosts[0], "MASTER_PORT=" + strconv.Itoa(MasterPort(p.SlurmJobID()))}
}

func (v *variables) addJob(s *Spec, p *Pod, start time.Time) {
	for _, name := range []string{"SLURM_JOB_ID", "SLURM_JOBID"} {
		v.addVariable(name, p.SlurmJobID())
	}
	v.addVariable("SLURM_JOB_NAME", s.JobName)
	v.addVariable("SLURM_JOB_PARTITION", s.Partition)
	v.addNonempty("SLURM_JOB_ACCOUNT", s.Account)
	v.addNonempty("SLURM_JOB_QOS", s.QOS)
	v.addVariable("SLURM_JOB_USER", s.User)
	v.addNonempty("SLURM_CLUSTER_NAME", s.Cluster)
	v.addNonempty("SLURM_SUBMIT_DIR", s.SubmitDir)
	v.addNonempty("SLURM_SUBMIT_HOST", s.SubmitHost)
	v.addNumber("SLURM_JOB_START_TIME", start.Unix())
	limit := s.TimeLimit
	if limit == 0 {
		limit = unlimitedSeconds
	}
	v.addNumber("SLURM_JOB_END_TIME", start.Unix()+limit)
	v.addPositive("SLURM_RESTART_COUNT", int64(p.Restarts))
	v.addNonempty("SLURM_JOB_DEPENDENCY", s.Dependency)
	v.addNonempty("SLURM_EXPORT_ENV", s.ExportEnv)
	v.addNonempty("SLURM_DISTRIBUTION", s.Distribution)
}

func (v *variables) addNodes(s *Spec, p *Pod, hosts []string) {
	list, n := hostlist.CompressNames(hosts), int64(len(hosts))
	v.addVariable("SLURM_JOB_NODELIST", list)
	v.addVariable("SLURM_NODELIST", list)
	v.addNumber("SLURM_JOB_NUM_NODES", n)
	v.addNumber("SLURM_NNODES", n)
	for _, name := range []string{"SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_GTIDS"} {
		v.addNumber(name, 0)
	}
	v.addNonempty("SLURMD_NODENAME", p.Node)
	v.addVariable("SLURM_JOB_CPUS_PER_NODE", FormatRunLength(RepeatCount(s.CPUs, len(hosts))))
	v.addNumber("SLURM_CPUS_ON_NODE", int64(s.CPUs))
	v.addVariable("SLURM_TASKS_PER_NODE", FormatRunLength(SpreadTasks(s.DefaultTaskCount(len(hosts)), len(hosts), s.TasksPerNode)))
	if s.GPUsOnNode > 0 {
		ids := OrdinalList(s.GPUsOnNode)
		v.addVariable("SLURM_JOB_GPUS", ids)
		v.addNumber("SLURM_GPUS_ON_NODE", int64(s.GPUsOnNode))
	}
}

// OrdinalList returns the numbers from 0 to n-1, separated by commas.
func OrdinalList(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	return strings.Join(ids, ",")
}

func (v *variables) addRequested(s *Spec) {
	if s.TasksGiven && s.Tasks > 0 {
		v.addNumber("SLURM_NTASKS", int64(s.Tasks))
		v.addNumber("SLURM_NPROCS", int64(s.Tasks))
	}
	v.addPositive("SLURM_NTASKS_PER_NODE", int64(s.TasksPerNode))
	v.addPositive("SLURM_CPUS_PER_TASK", int64(s.CPUsPerTask))
	v.addPositive("SLURM_MEM_PER_NODE", s.MemPerNode)
	v.addPositive("SLURM_MEM_PER_CPU", s.MemPerCPU)
	v.addPositive("SLURM_MEM_PER_GPU", s.MemPerGPU)
	v.addNonempty("SLURM_GPUS", s.GPUs)
	v.addNonempty("SLURM_GPUS_PER_NODE", s.GPUsPerNode)
	v.addNonempty("SLURM_GPUS_PER_TASK", s.GPUsPerTask)
}

func (v *variables) addArray(s *Spec, p *Pod) {
	if s.Array == nil || p.ArrayIndex < 0 {
		return
	}
	v.addVariable("SLURM_ARRAY_JOB_ID", p.arrayIDOrName())
	v.addNumber("SLURM_ARRAY_TASK_ID", int64(p.ArrayIndex))
	v.addNumber("SLURM_ARRAY_TASK_COUNT", int64(s.Array.Count))
	v.addNumber("SLURM_ARRAY_TASK_MIN", int64(s.Array.Min))
	v.addNumber("SLURM_ARRAY_TASK_MAX", int64(s.Array.Max))
	v.addNumber("SLURM_ARRAY_TASK_STEP", int64(max(s.Array.Step, 1)))
}

// RshName is the name of the program that MPI libraries start instead of ssh.
const RshName = "vc-rsh"

// MPIVariables returns variables that configure MPI libraries. Without these variables, the libraries would detect
// Slurm by SLURM_JOB_ID and start their daemons with srun. With them, they start their daemons on the hosts in hostfile
// by means of agent, a replacement for ssh. asRoot is true if the processes run as root, which is usual in a pod.
func MPIVariables(hostfile, agent string, asRoot bool) []string {
	var v variables
	for _, name := range []string{"OMPI_MCA_plm", "OMPI_MCA_ras", "PRTE_MCA_plm", "PRTE_MCA_ras"} {
		v.addVariable(name, "^slurm")
	}
	for _, name := range []string{"OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent", "HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC"} {
		v.addVariable(name, agent)
	}
	for _, name := range []string{"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"} {
		v.addVariable(name, hostfile)
	}
	for _, name := range []string{"HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP"} {
		v.addVariable(name, "ssh")
	}
	if asRoot {
		for _, name := range []string{"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"} {
			v.addVariable(name, "1")
		}
	}
	return v
}

// IsPodVariable reports whether a variable is specific to one pod, because the pod or the launcher sets it. A job that
// is submitted from inside another job must not inherit such variables.
func IsPodVariable(name string) bool {
	if strings.HasPrefix(name, "VC_") || strings.HasPrefix(name, "VK_") {
		return true
	}
	made := append(MPIVariables("", "", true), MeetingVariables(&Pod{}, []string{""})...)
	return slices.ContainsFunc(made, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}

// HostfileText returns the text of a host file, which contains the number of tasks for each host.
func HostfileText(hosts []string, slots []int) string {
	var b strings.Builder
	for i, host := range hosts {
		fmt.Fprintf(&b, "%s slots=%d\n", host, max(slots[i], 1))
	}
	return b.String()
}

// MergeVariables merges lists of variables. A later NAME=value replaces an earlier one with the same name.
func MergeVariables(layers ...[]string) []string {
	at, merged := map[string]int{}, []string{}
	for _, layer := range layers {
		for _, entry := range layer {
			name, _, _ := strings.Cut(entry, "=")
			if i, there := at[name]; there {
				merged[i] = entry
				continue
			}
			at[name] = len(merged)
			merged = append(merged, entry)
		}
	}
	return merged
}

// VariableValue returns the value of a variable, or "" if it is not set.
func VariableValue(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if text, is := strings.CutPrefix(entry, name+"="); is {
			value = text
		}
	}
	return value
}

// JoinEnvironment encodes variables as the value of EnvironmentKey.
func JoinEnvironment(env []string) []byte {
	var b strings.Builder
	for _, entry := range env {
		b.WriteString(entry + "\x00")
	}
	return []byte(b.String())
}

// SplitEnvironment decodes the result of JoinEnvironment. It omits entries that are not of the form NAME=value.
func SplitEnvironment(text []byte) []string {
	var env []string
	for entry := range strings.SplitSeq(string(text), "\x00") {
		if strings.Index(entry, "=") > 0 {
			env = append(env, entry)
		}
	}
	return env
}
