package sacct

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
)

// The default columns of sacct.
const (
	Default = "jobid,jobname,partition,account,alloccpus,state,exitcode"
	Brief   = "jobid,state,exitcode"
	Verbose = "jobid,jobidraw,jobname,partition,account,user,qos,state,exitcode,derivedexitcode,submit,eligible,start,end,elapsed,planned,timelimit,nnodes,ntasks,ncpus,alloccpus,reqmem,alloctres,maxrss,avecpu,totalcpu,nodelist,reason,restarts,comment"
)

// Style is the format in which values are printed.
type Style struct {
	Time timeformat.Style
	// Units is the unit of memory: K, M, G, T or P. 0 selects a suitable unit.
	Units byte
	// Cluster is the name of the cluster.
	Cluster string
}

type field = tableformat.Field[*Line]

// ColumnFields returns all columns. Columns that apply only to jobs are empty in the lines of steps.
func (s Style) ColumnFields() []field {
	type line = *Line
	all := []field{}
	add := func(words string, width int, value func(line) string) {
		title, _, _ := strings.Cut(words, "|")
		all = append(all, tableformat.NewField(0, words, title, width, value))
	}
	job := func(value func(line) string) func(line) string {
		return func(l line) string {
			if l.IsJob() {
				return value(l)
			}
			return ""
		}
	}
	at := func(t time.Time, l line) string {
		if t.IsZero() {
			return "Unknown"
		}
		return s.Time.FormatTime(t, l.Now)
	}
	start := func(l line) string {
		if l.Start.IsZero() && l.Code.HasEnded() {
			return "None"
		}
		return at(l.Start, l)
	}
	number := strconv.Itoa
	add("JobID", -12, func(l line) string { return withStepSuffix(l.DisplayID(-1), l) })
	add("JobIDRaw", -12, func(l line) string { return withStepSuffix(l.RawID(), l) })
	add("JobName", 10, func(l line) string { return l.Label })
	add("Partition", 10, job(func(l line) string { return l.PartitionName() }))
	add("Account", 10, func(l line) string { return l.AccountName() })
	add("AllocCPUS", 10, func(l line) string { return number(l.CPUs) })
	add("State", 10, func(l line) string { return stateText(l) })
	add("ExitCode", 8, func(l line) string { return l.Ended.String() })
	add("DerivedExitCode", 15, job(func(l line) string { return l.Highest.String() }))
	add("User", 9, job(func(l line) string { return l.UserName() }))
	add("UID", 6, job(func(l line) string { return l.UserID() }))
	add("Group", 9, job(func(l line) string { return l.Asked.Group }))
	add("GID", 6, job(func(l line) string { return l.Asked.GID }))
	add("QOS", 10, job(func(l line) string { return l.QOSName() }))
	add("Submit", 19, func(l line) string { return at(l.submitTime(), l) })
	add("Eligible", 19, job(func(l line) string { return at(l.Times.Eligible, l) }))
	add("Start", 19, start)
	add("End", 19, func(l line) string { return at(l.End, l) })
	add("Elapsed", 10, func(l line) string { return state.LongClock(l.ElapsedTime()) })
	add("ElapsedRaw", 10, func(l line) string { return number(int(l.ElapsedTime() / time.Second)) })
	add("Planned|Reserved", 10, job(func(l line) string { return state.LongClock(l.plannedTime()) }))
	add("Timelimit", 10, job(func(l line) string { return limitText(l.TimeLimit()) }))
	add("TimelimitRaw", 12, job(func(l line) string { return limitRaw(l.TimeLimit()) }))
	add("CPUTime", 10, func(l line) string { return state.LongClock(l.ElapsedTime() * time.Duration(l.CPUs)) })
	add("CPUTimeRAW", 10, func(l line) string { return number(int(l.ElapsedTime()/time.Second) * l.CPUs) })
	add("NNodes|AllocNodes", 8, func(l line) string { return number(l.Pods) })
	add("ReqNodes", 8, job(func(l line) string { return number(l.NodeCount()) }))
	add("NTasks", 8, func(l line) string { return textForSteps(l, number(l.Tasks)) })
	add("NCPUS", 10, func(l line) string { return number(l.CPUs) })
	add("ReqCPUS", 8, func(l line) string {
		if l.IsJob() {
			return number(l.TotalRequest().CPUs)
		}
		return number(l.CPUs)
	})
	add("Suspended", 10, func(l line) string { return state.LongClock(l.suspendedTime()) })
	add("ReqMem", 10, job(func(l line) string { return s.FormatSize(l.TotalRequest().Memory) }))
	add("AllocTRES", 10, func(l line) string { return allocatedTRES(l) })
	add("ReqTRES", 10, job(func(l line) string { return sortTRES(l.TRESText()) }))
	add("NodeList", 15, func(l line) string { return l.nodesText() })
	add("Reason", 22, job(func(l line) string { return l.State.Reason }))
	add("Restarts", 8, job(func(l line) string { return number(state.CountRestarts(l.Job)) }))
	add("Comment", 14, job(func(l line) string { return l.Asked.Comment }))
	add("WorkDir", 20, job(func(l line) string { return l.Asked.WorkDir }))
	add("SubmitLine", 20, job(func(l line) string { return l.Asked.SubmitLine }))
	add("StdOut", 20, job(func(l line) string { return l.ExpandFile(l.Asked.StdOut) }))
	add("StdErr", 20, job(func(l line) string { return l.ExpandFile(l.Asked.StdErr) }))
	add("StdIn", 20, job(func(l line) string { return l.ExpandFile(l.Asked.StdIn) }))
	add("Cluster", 10, func(l line) string { return l.Cluster })
	add("WCKey", 10, job(func(l line) string { return l.Asked.WCKey }))
	add("Constraints", 19, job(func(l line) string { return l.Asked.Features }))
	add("Priority", 10, job(func(l line) string { return strconv.FormatInt(l.Priority, 10) }))
	add("MaxRSS", 10, func(l line) string { return measuredText(l, l.Usage.MaxRSS, s.FormatSize(l.Usage.MaxRSS<<10)) })
	add("AveRSS", 10, func(l line) string { return measuredText(l, l.Usage.MaxRSS, s.FormatSize(l.Usage.MaxRSS<<10)) })
	add("AveCPU", 10, func(l line) string { return measuredText(l, l.Usage.CPUMillis, averageCPUText(l)) })
	add("TotalCPU", 10, func(l line) string { return FormatCPUTime(time.Duration(l.Usage.CPUMillis) * time.Millisecond) })
	add("Namespace", 10, job(func(l line) string { return l.Job.Namespace }))
	for _, name := range blank {
		add(name, 10, func(line) string { return "" })
	}
	return all
}

// blank lists columns that have no meaning here.
var blank = []string{
	"AdminComment", "AllocGRES", "AssocID", "AveCPUFreq", "AveDiskRead", "AveDiskWrite", "AvePages", "AveVMSize", "BlockID", "ConsumedEnergy", "ConsumedEnergyRaw",
	"Container", "DBIndex", "Extra", "FailedNode", "Flags", "Layout", "Licenses", "MaxDiskRead", "MaxDiskReadNode", "MaxDiskReadTask", "MaxDiskWrite", "MaxDiskWriteNode",
	"MaxDiskWriteTask", "MaxPages", "MaxPagesNode", "MaxPagesTask", "MaxRSSNode", "MaxRSSTask", "MaxVMSize", "MaxVMSizeNode", "MaxVMSizeTask", "McsLabel", "MinCPU",
	"MinCPUNode", "MinCPUTask", "PlannedCPU", "PlannedCPURAW", "QOSRAW", "QOSREQ", "ReqCPUFreq", "ReqCPUFreqGov", "ReqCPUFreqMax", "ReqCPUFreqMin", "ReqGRES",
	"Reservation", "ReservationId", "SLUID", "SystemComment", "SystemCPU", "UserCPU",
	"TRESUsageInAve", "TRESUsageInMax", "TRESUsageInMaxNode", "TRESUsageInMaxTask", "TRESUsageInMin", "TRESUsageInMinNode", "TRESUsageInMinTask", "TRESUsageInTot",
	"TRESUsageOutAve", "TRESUsageOutMax", "TRESUsageOutMaxNode", "TRESUsageOutMaxTask", "TRESUsageOutMin", "TRESUsageOutMinNode", "TRESUsageOutMinTask", "TRESUsageOutTot",
	"WCKeyID",
}

func withStepSuffix(id string, l *Line) string {
	if l.Step == "" {
		return id
	}
	return id + "." + l.Step
}

func textForSteps(l *Line, text string) string {
	if l.IsJob() {
		return ""
	}
	return text
}

// stateText returns the long name of the state. For a cancelled job, it also contains the user who cancelled it.
func stateText(l *Line) string {
	if by := l.CancelledBy(); l.Code == state.Cancelled && l.IsJob() && by != "" {
		return l.Code.LongName() + " by " + by
	}
	return l.Code.LongName()
}

func (l *Line) submitTime() time.Time {
	if l.IsJob() {
		return l.Times.Submit
	}
	return l.Start
}

func (l *Line) plannedTime() time.Duration {
	until := l.Start
	if until.IsZero() {
		if until = l.End; until.IsZero() {
			until = l.Now
		}
	}
	return max(0, until.Sub(l.Times.Eligible))
}

func limitText(limit time.Duration) string {
	if limit == 0 {
		return state.Unlimited
	}
	return state.LongClock(limit)
}

func limitRaw(limit time.Duration) string {
	if limit == 0 {
		return state.Unlimited
	}
	return strconv.Itoa(int((limit + time.Minute - 1) / time.Minute))
}

func (l *Line) nodesText() string {
	if l.Nodes == "" {
		return "None assigned"
	}
	return l.Nodes
}

func allocatedTRES(l *Line) string {
	switch {
	case l.CPUs == 0:
		return ""
	case l.IsJob():
		return sortTRES(l.TRESText())
	}
	return fmt.Sprintf("cpu=%d,mem=0,node=%d", l.CPUs, l.Pods)
}

// sortTRES sorts a list of resources by name, as sacct does.
func sortTRES(list string) string {
	parts := strings.Split(list, ",")
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// measuredText returns text if the line is a step and the value was measured, and "" otherwise.
func measuredText(l *Line, measured int64, text string) string {
	if l.IsJob() || measured == 0 {
		return ""
	}
	return text
}

func averageCPUText(l *Line) string {
	return state.LongClock(time.Duration(l.Usage.CPUMillis/int64(max(l.Tasks, 1))) * time.Millisecond)
}

// FormatCPUTime formats CPU time as sacct does: MM:SS.mmm, or [D-]HH:MM:SS for one hour or more.
func FormatCPUTime(d time.Duration) string {
	if d == 0 {
		return "00:00:00"
	}
	if d < time.Hour {
		return fmt.Sprintf("%02d:%02d.%03d", d/time.Minute, d/time.Second%60, d/time.Millisecond%1000)
	}
	return state.LongClock(d)
}

// FormatSize formats bytes in the requested unit, with up to two decimals. By default, it prints multiples of a
// mebibyte in mebibytes or a larger unit, and all other values in kibibytes.
func (s Style) FormatSize(bytes int64) string {
	shift := map[byte]int{'K': 10, 'M': 20, 'G': 30, 'T': 40, 'P': 50}
	if n := shift[s.Units]; n > 0 {
		text := strconv.FormatFloat(float64(bytes)/float64(int64(1)<<n), 'f', 2, 64)
		return strings.TrimSuffix(text, ".00") + string(s.Units)
	}
	if bytes%(1<<20) != 0 {
		return strconv.FormatInt((bytes+1023)/1024, 10) + "K"
	}
	return listrow.FormatMemory(bytes)
}
