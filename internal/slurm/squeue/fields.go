// Package squeue implements the output of squeue: its columns, its JSON format, and the order and selection of its
// rows.
//
//	In:   rows, a format, an order, filters
//	Out:  lines
package squeue

import (
	"cmp"
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

// Style is the format in which values are printed.
type Style struct {
	// Time formats times.
	Time timeformat.Style
	// Bits is the maximum length of a list of elements. See listrow.Row.DisplayID.
	Bits int
}

type field = tableformat.Field[*listrow.Row]

// newColumn creates a field. The words for -O are separated by |.
func newColumn(letter byte, words, title string, value func(*listrow.Row) string) field {
	return tableformat.NewField(letter, words, title, 0, value)
}

// none is the text of a column that does not apply to a row.
const none = "N/A"

// noValue is printed for a missing text, as Slurm does.
const noValue = "(null)"

func constantText(value string) func(*listrow.Row) string {
	return func(*listrow.Row) string { return value }
}

// ColumnFields returns all columns, with their letters for -o and their words for -O.
func (s Style) ColumnFields() []field {
	type row = *listrow.Row
	at := func(t time.Time, r row) string {
		if t.IsZero() {
			return none
		}
		return s.Time.FormatTime(t, r.Now)
	}
	return []field{
		newColumn('a', "Account", "ACCOUNT", func(r row) string { return r.AccountName() }),
		newColumn('A', "JobID", "JOBID", func(r row) string { return r.RawID() }),
		newColumn('b', "tres-per-node|gres", "TRES_PER_NODE", func(r row) string { return r.GresText() }),
		newColumn('B', "BatchHost", "EXEC_HOST", func(r row) string { return cmp.Or(r.BatchHost(), none) }),
		newColumn('c', "MinCpus", "MIN_CPUS", func(r row) string { return strconv.Itoa(r.MinimumCPUs()) }),
		newColumn('C', "NumCPUs", "CPUS", func(r row) string { return strconv.Itoa(r.TotalRequest().CPUs) }),
		newColumn('d', "MinTmpDisk", "MIN_TMP_DISK", constantText("0")),
		newColumn('D', "NumNodes", "NODES", func(r row) string { return strconv.Itoa(r.NodeCount()) }),
		newColumn('e', "EndTime", "END_TIME", func(r row) string { _, end := r.StartAndEnd(); return at(end, r) }),
		newColumn('E', "Dependency", "DEPENDENCY", func(r row) string { return cmp.Or(r.OpenDependency(), noValue) }),
		newColumn('f', "Feature", "FEATURES", func(r row) string { return cmp.Or(r.Asked.Features, noValue) }),
		newColumn('F', "ArrayJobID", "ARRAY_JOB_ID", func(r row) string { return r.NumberOrName() }),
		newColumn('g', "GroupName", "GROUP", func(r row) string { return cmp.Or(r.Asked.Group, none) }),
		newColumn('G', "GroupID", "GROUP", func(r row) string { return cmp.Or(r.Asked.GID, none) }),
		newColumn('h', "OverSubscribe|Shared", "OVER_SUBSCRIBE", func(r row) string { return overSubscribeText(r) }),
		newColumn('H', "", "SOCKETS_PER_NODE", constantText("*")),
		newColumn('i', "JobArrayID", "JOBID", func(r row) string { return r.DisplayID(s.Bits) }),
		newColumn('I', "", "CORES_PER_SOCKET", constantText("*")),
		newColumn('j', "Name", "NAME", func(r row) string { return r.JobTitle() }),
		newColumn('J', "Threads", "THREADS_PER_CORE", constantText("*")),
		newColumn('k', "Comment", "COMMENT", func(r row) string { return cmp.Or(r.Asked.Comment, noValue) }),
		newColumn('K', "ArrayTaskID", "ARRAY_TASK_ID", func(r row) string { return strings.Trim(r.ElementText(s.Bits), "[]") }),
		newColumn('l', "TimeLimit", "TIME_LIMIT", func(r row) string { return state.LimitClock(r.TimeLimit()) }),
		newColumn('L', "TimeLeft", "TIME_LEFT", func(r row) string { return state.LeftClock(r.TimeLimit(), r.UsedTime()) }),
		newColumn('m', "MinMemory", "MIN_MEMORY", func(r row) string { return minMemoryText(r) }),
		newColumn('M', "TimeUsed", "TIME", func(r row) string { return state.ShortClock(r.UsedTime()) }),
		newColumn('n', "ReqNodes", "REQ_NODES", func(r row) string { return r.Asked.Nodes }),
		newColumn('N', "NodeList", "NODELIST", func(r row) string { return r.NodeList() }),
		newColumn('o', "Command", "COMMAND", func(r row) string { return cmp.Or(r.Asked.Command, noValue) }),
		newColumn('O', "Contiguous", "CONTIGUOUS", constantText("0")),
		newColumn('p', "Priority", "PRIORITY", func(r row) string { return strconv.FormatFloat(float64(r.Priority)/(1<<32), 'f', 14, 64) }),
		newColumn('P', "Partition", "PARTITION", func(r row) string { return r.PartitionName() }),
		newColumn('q', "QOS", "QOS", func(r row) string { return r.QOSName() }),
		newColumn('Q', "PriorityLong", "PRIORITY", func(r row) string { return strconv.FormatInt(r.Priority, 10) }),
		newColumn('r', "Reason", "REASON", func(r row) string { return r.State.Reason }),
		newColumn('R', "ReasonList", "NODELIST(REASON)", func(r row) string { return r.NodeListOrReason() }),
		newColumn('s', "", "SELECT_JOBINFO", constantText(none)),
		newColumn('S', "StartTime", "START_TIME", func(r row) string { start, _ := r.StartAndEnd(); return at(start, r) }),
		newColumn('t', "StateCompact", "ST", func(r row) string { return string(r.State.Code) }),
		newColumn('T', "State", "STATE", func(r row) string { return r.State.Code.LongName() }),
		newColumn('u', "UserName", "USER", func(r row) string { return r.UserName() }),
		newColumn('U', "UserID", "UID", func(r row) string { return r.UserID() }),
		newColumn('v', "Reservation", "RESERVATION", constantText(noValue)),
		newColumn('V', "SubmitTime", "SUBMIT_TIME", func(r row) string { return at(r.Times.Submit, r) }),
		newColumn('w', "WCKey", "WCKEY", func(r row) string { return cmp.Or(r.Asked.WCKey, noValue) }),
		newColumn('W', "Licenses", "LICENSES", constantText(noValue)),
		newColumn('x', "ExcNodes", "EXC_NODES", func(r row) string { return r.Asked.Exclude }),
		newColumn('X', "CoreSpec", "CORE_SPEC", constantText(none)),
		newColumn('y', "Nice", "NICE", constantText("0")),
		newColumn('Y', "SchedNodes", "SCHEDNODES", func(r row) string { return cmp.Or(r.NominatedNodes(), noValue) }),
		newColumn('z', "SCT", "S:C:T", constantText("*:*:*")),
		newColumn('Z', "WorkDir", "WORK_DIR", func(r row) string { return cmp.Or(r.Asked.WorkDir, noValue) }),
		newColumn(0, "Cluster", "CLUSTER", func(r row) string { return cmp.Or(r.Cluster, none) }),
		newColumn(0, "cpus-per-task", "CPUS_PER_TASK", func(r row) string { return strconv.Itoa(max(r.Asked.CPUsPerTask, 1)) }),
		newColumn(0, "EligibleTime", "ELIGIBLE_TIME", func(r row) string { return at(r.Times.Eligible, r) }),
		newColumn(0, "exit_code|ExitCode", "EXIT_CODE", func(r row) string { return r.Exit.String() }),
		newColumn(0, "Namespace", "NAMESPACE", func(r row) string { return r.Job.Namespace }),
		newColumn(0, "Nodes", "NODES", func(r row) string { return r.NodeList() }),
		newColumn(0, "NumTasks", "TASKS", func(r row) string { return strconv.Itoa(r.TaskCount()) }),
		newColumn(0, "PendingTime", "PENDING_TIME", func(r row) string { return pendingTimeText(r) }),
		newColumn(0, "Requeue", "REQUEUE", func(r row) string { return strconv.Itoa(boolDigit(r.Asked.Requeue)) }),
		newColumn(0, "RestartCnt", "RESTART_COUNT", func(r row) string { return strconv.Itoa(state.CountRestarts(r.Job)) }),
		newColumn(0, "STDERR", "STDERR", func(r row) string { return r.ExpandFile(cmp.Or(r.Asked.StdErr, r.Asked.StdOut)) }),
		newColumn(0, "STDIN", "STDIN", func(r row) string { return cmp.Or(r.ExpandFile(r.Asked.StdIn), "/dev/null") }),
		newColumn(0, "STDOUT", "STDOUT", func(r row) string { return r.ExpandFile(r.Asked.StdOut) }),
		newColumn(0, "tres-alloc", "TRES_ALLOC", func(r row) string { return r.TRESText() }),
		newColumn(0, "AccrueTime", "ACCRUE_TIME", func(r row) string { return at(r.Times.Eligible, r) }),
		newColumn(0, strings.Join(meaningless, "|"), "", constantText(none)),
	}
}

// meaningless lists the columns of -O that have no meaning here.
var meaningless = []string{
	"AdminComment", "AllocNodes", "AllocSID", "AssocID", "BatchFlag", "BoardsPerNode", "BurstBuffer", "BurstBufferState", "ClusterFeature", "Container",
	"ContainerID", "Cores", "CPUFreq", "CronJob", "cpus-per-tres", "Deadline", "DelayBoot", "DerivedEC", "Features", "HetJobId", "HetJobIdSet", "HetJobOffset", "LastSchedEval", "LicensesAlloc",
	"MaxCPUs", "MaxNodes", "MCSLabel", "mem-per-tres", "MinTime", "Network", "NTPerBoard", "NTPerCore", "NTPerNode", "NTPerSocket", "Origin", "PackJobId", "PackJobIdSet", "PackJobOffset", "PreemptTime", "Prefer",
	"Profile", "Reboot", "ReqSwitch", "ResizeTime", "ResvPort", "SiblingsActive", "SiblingsActiveRaw", "SiblingsViable", "SiblingsViableRaw", "Sockets",
	"SPerBoard", "SystemComment", "tres-bind", "tres-freq", "tres-per-job", "tres-per-socket", "tres-per-step", "tres-per-task", "Wait4Switch",
}

func boolDigit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func overSubscribeText(r *listrow.Row) string {
	if r.Asked.Exclusive {
		return "NO"
	}
	return "OK"
}

func minMemoryText(r *listrow.Row) string {
	if r.Asked.MemPerCPU > 0 {
		return listrow.FormatMemory(r.Asked.MemPerCPU << 20)
	}
	return listrow.FormatMemory(r.LargestRequest().Memory)
}

func pendingTimeText(r *listrow.Row) string {
	start := r.Times.Start
	if start.IsZero() {
		start = r.Now
	}
	return strconv.Itoa(int(start.Sub(r.Times.Submit) / time.Second))
}
