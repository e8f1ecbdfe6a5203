// Package squeue implements the output of squeue: its columns, the order and selection of its rows, and its JSON.
//
//	In:   rows, a format, an order, filters
//	Out:  lines
package squeue

import (
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
)

// The default formats of squeue.
const (
	Default = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
	Verbose = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
	Start   = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
	Steps   = "%.15i %.8j %.9P %.8u %.9M %N"
)

// Style is the format of values.
type Style struct {
	// Time formats times.
	Time timeformat.Style
	// Bits is the maximum length of a list of elements; see listrow.Row.ID.
	Bits int
}

type field = tableformat.Field[*listrow.Row]

// column creates a field; the words of -O are separated by |.
func column(letter byte, words, title string, value func(*listrow.Row) string) field {
	return tableformat.New(letter, words, title, 0, value)
}

// none is the text of a column that does not apply.
const none = "N/A"

// noValue is printed for a missing text, as Slurm does.
const noValue = "(null)"

func or(text, other string) string {
	if text != "" {
		return text
	}
	return other
}

func text(value string) func(*listrow.Row) string { return func(*listrow.Row) string { return value } }

// Fields returns all columns, with their letters for -o and their words for -O.
func (s Style) Fields() []field {
	type row = *listrow.Row
	at := func(t time.Time, r row) string {
		if t.IsZero() {
			return none
		}
		return s.Time.Format(t, r.Now)
	}
	return []field{
		column('a', "Account", "ACCOUNT", func(r row) string { return r.Account() }),
		column('A', "JobID", "JOBID", func(r row) string { return r.RawID() }),
		column('b', "tres-per-node|gres", "TRES_PER_NODE", func(r row) string { return r.Gres() }),
		column('B', "BatchHost", "EXEC_HOST", func(r row) string { return or(r.BatchHost(), none) }),
		column('c', "MinCpus", "MIN_CPUS", func(r row) string { return strconv.Itoa(r.MinCPUs()) }),
		column('C', "NumCPUs", "CPUS", func(r row) string { return strconv.Itoa(r.Total().CPUs) }),
		column('d', "MinTmpDisk", "MIN_TMP_DISK", text("0")),
		column('D', "NumNodes", "NODES", func(r row) string { return strconv.Itoa(r.NumNodes()) }),
		column('e', "EndTime", "END_TIME", func(r row) string { _, end := r.Foretold(); return at(end, r) }),
		column('E', "Dependency", "DEPENDENCY", func(r row) string { return or(r.Dependency(), noValue) }),
		column('f', "Feature", "FEATURES", func(r row) string { return or(r.Asked.Features, noValue) }),
		column('F', "ArrayJobID", "ARRAY_JOB_ID", func(r row) string { return r.Number() }),
		column('g', "GroupName", "GROUP", func(r row) string { return or(r.Asked.Group, none) }),
		column('G', "GroupID", "GROUP", func(r row) string { return or(r.Asked.GID, none) }),
		column('h', "OverSubscribe|Shared", "OVER_SUBSCRIBE", func(r row) string { return overSubscribe(r) }),
		column('H', "", "SOCKETS_PER_NODE", text("*")),
		column('i', "JobArrayID", "JOBID", func(r row) string { return r.ID(s.Bits) }),
		column('I', "", "CORES_PER_SOCKET", text("*")),
		column('j', "Name", "NAME", func(r row) string { return r.Name() }),
		column('J', "Threads", "THREADS_PER_CORE", text("*")),
		column('k', "Comment", "COMMENT", func(r row) string { return or(r.Asked.Comment, noValue) }),
		column('K', "ArrayTaskID", "ARRAY_TASK_ID", func(r row) string { return strings.Trim(r.ElementText(s.Bits), "[]") }),
		column('l', "TimeLimit", "TIME_LIMIT", func(r row) string { return state.LimitClock(r.Limit()) }),
		column('L', "TimeLeft", "TIME_LEFT", func(r row) string { return state.LeftClock(r.Limit(), r.Used()) }),
		column('m', "MinMemory", "MIN_MEMORY", func(r row) string { return minMemory(r) }),
		column('M', "TimeUsed", "TIME", func(r row) string { return state.Clock(r.Used()) }),
		column('n', "ReqNodes", "REQ_NODES", func(r row) string { return r.Asked.Nodes }),
		column('N', "NodeList", "NODELIST", func(r row) string { return r.NodeList() }),
		column('o', "Command", "COMMAND", func(r row) string { return or(r.Asked.Command, noValue) }),
		column('O', "Contiguous", "CONTIGUOUS", text("0")),
		column('p', "Priority", "PRIORITY", func(r row) string { return strconv.FormatFloat(float64(r.Priority)/(1<<32), 'f', 14, 64) }),
		column('P', "Partition", "PARTITION", func(r row) string { return r.Partition() }),
		column('q', "QOS", "QOS", func(r row) string { return r.QOS() }),
		column('Q', "PriorityLong", "PRIORITY", func(r row) string { return strconv.FormatInt(r.Priority, 10) }),
		column('r', "Reason", "REASON", func(r row) string { return r.State.Reason }),
		column('R', "ReasonList", "NODELIST(REASON)", func(r row) string { return r.NodeListOrReason() }),
		column('s', "", "SELECT_JOBINFO", text(none)),
		column('S', "StartTime", "START_TIME", func(r row) string { start, _ := r.Foretold(); return at(start, r) }),
		column('t', "StateCompact", "ST", func(r row) string { return string(r.State.Code) }),
		column('T', "State", "STATE", func(r row) string { return r.State.Code.Name() }),
		column('u', "UserName", "USER", func(r row) string { return r.User() }),
		column('U', "UserID", "UID", func(r row) string { return r.UserID() }),
		column('v', "Reservation", "RESERVATION", text(noValue)),
		column('V', "SubmitTime", "SUBMIT_TIME", func(r row) string { return at(r.Times.Submit, r) }),
		column('w', "WCKey", "WCKEY", func(r row) string { return or(r.Asked.WCKey, noValue) }),
		column('W', "Licenses", "LICENSES", text(noValue)),
		column('x', "ExcNodes", "EXC_NODES", func(r row) string { return r.Asked.Exclude }),
		column('X', "CoreSpec", "CORE_SPEC", text(none)),
		column('y', "Nice", "NICE", text("0")),
		column('Y', "SchedNodes", "SCHEDNODES", func(r row) string { return or(r.PromisedNodes(), noValue) }),
		column('z', "SCT", "S:C:T", text("*:*:*")),
		column('Z', "WorkDir", "WORK_DIR", func(r row) string { return or(r.Asked.WorkDir, noValue) }),
		column(0, "Cluster", "CLUSTER", func(r row) string { return or(r.Cluster, none) }),
		column(0, "cpus-per-task", "CPUS_PER_TASK", func(r row) string { return strconv.Itoa(max(r.Asked.CPUsPerTask, 1)) }),
		column(0, "EligibleTime", "ELIGIBLE_TIME", func(r row) string { return at(r.Times.Eligible, r) }),
		column(0, "exit_code|ExitCode", "EXIT_CODE", func(r row) string { return r.Exit.String() }),
		column(0, "Namespace", "NAMESPACE", func(r row) string { return r.Job.Namespace }),
		column(0, "Nodes", "NODES", func(r row) string { return r.NodeList() }),
		column(0, "NumTasks", "TASKS", func(r row) string { return strconv.Itoa(r.Tasks()) }),
		column(0, "PendingTime", "PENDING_TIME", func(r row) string { return pendingTime(r) }),
		column(0, "Requeue", "REQUEUE", func(r row) string { return strconv.Itoa(digit(r.Asked.Requeue)) }),
		column(0, "RestartCnt", "RESTART_COUNT", func(r row) string { return strconv.Itoa(state.Restarts(r.Job)) }),
		column(0, "STDERR", "STDERR", func(r row) string { return r.File(or(r.Asked.StdErr, r.Asked.StdOut)) }),
		column(0, "STDIN", "STDIN", func(r row) string { return or(r.File(r.Asked.StdIn), "/dev/null") }),
		column(0, "STDOUT", "STDOUT", func(r row) string { return r.File(r.Asked.StdOut) }),
		column(0, "tres-alloc", "TRES_ALLOC", func(r row) string { return r.TRES() }),
		column(0, "AccrueTime", "ACCRUE_TIME", func(r row) string { return at(r.Times.Eligible, r) }),
		column(0, strings.Join(meaningless, "|"), "", text(none)),
	}
}

// meaningless lists columns of -O that have no meaning here.
var meaningless = []string{
	"AdminComment", "AllocNodes", "AllocSID", "AssocID", "BatchFlag", "BoardsPerNode", "BurstBuffer", "BurstBufferState", "ClusterFeature", "Container",
	"ContainerID", "Cores", "CPUFreq", "CronJob", "cpus-per-tres", "Deadline", "DelayBoot", "DerivedEC", "Features", "HetJobId", "HetJobIdSet", "HetJobOffset", "LastSchedEval", "LicensesAlloc",
	"MaxCPUs", "MaxNodes", "MCSLabel", "mem-per-tres", "MinTime", "Network", "NTPerBoard", "NTPerCore", "NTPerNode", "NTPerSocket", "Origin", "PackJobId", "PackJobIdSet", "PackJobOffset", "PreemptTime", "Prefer",
	"Profile", "Reboot", "ReqSwitch", "ResizeTime", "ResvPort", "SiblingsActive", "SiblingsActiveRaw", "SiblingsViable", "SiblingsViableRaw", "Sockets",
	"SPerBoard", "SystemComment", "tres-bind", "tres-freq", "tres-per-job", "tres-per-socket", "tres-per-step", "tres-per-task", "Wait4Switch",
}

func digit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func overSubscribe(r *listrow.Row) string {
	if r.Asked.Exclusive {
		return "NO"
	}
	return "OK"
}

func minMemory(r *listrow.Row) string {
	if r.Asked.MemPerCPU > 0 {
		return listrow.Memory(r.Asked.MemPerCPU << 20)
	}
	return listrow.Memory(r.PerNode().Memory)
}

func pendingTime(r *listrow.Row) string {
	start := r.Times.Start
	if start.IsZero() {
		start = r.Now
	}
	return strconv.Itoa(int(start.Sub(r.Times.Submit) / time.Second))
}
