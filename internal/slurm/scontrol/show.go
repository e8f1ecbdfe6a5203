// Package scontrol implements the output of scontrol, which describes jobs, nodes and partitions in the format of
// Slurm's manual. It also parses the arguments of update commands.
//
//	In:   rows, nodes, partitions; NAME=value words
//	Out:  descriptions as text; requested changes
package scontrol

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/sinfo"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
)

// noValue is printed for a missing text, as Slurm does.
const noValue = "(null)"

// joinLines joins the lines about an object with indented line breaks or, for output on one line, with blanks. It
// replaces line breaks within lines, because users can put them into names and comments, and the rest of the text would
// look like a new line of scontrol's output.
func joinLines(lines []string, oneLine bool) string {
	for i := range lines {
		lines[i] = printable.EscapeLine(lines[i])
	}
	if oneLine {
		return strings.Join(lines, " ") + "\n"
	}
	return strings.Join(lines, "\n   ") + "\n\n"
}

func timeText(t, now time.Time, style timeformat.Style) string {
	if t.IsZero() {
		return "Unknown"
	}
	return style.FormatTime(t, now)
}

// Form is the format in which objects are described.
type Form struct {
	Style timeformat.Style
	// OneLine prints an object on a single line. Details adds the resources of a job on each node.
	OneLine, Details bool
}

// JobText returns the description of a row.
func JobText(r *listrow.Row, form Form) string {
	style := form.Style
	start, end := r.StartAndEnd()
	when := func(t time.Time) string { return timeText(t, r.Now, style) }
	per, total := r.LargestRequest(), r.TotalRequest()
	lines := []string{
		jobLine(r),
		fmt.Sprintf("UserId=%s(%s) GroupId=%s MCS_label=N/A Namespace=%s", r.UserName(), r.UserID(), groupText(r), r.Job.Namespace),
		fmt.Sprintf("Priority=%d Nice=0 Account=%s QOS=%s WCKey=%s", r.Priority, r.AccountName(), r.QOSName(), cmp.Or(r.Asked.WCKey, "*")),
		fmt.Sprintf("JobState=%s Reason=%s Dependency=%s", r.State.Code.LongName(), r.State.Reason, cmp.Or(r.OpenDependency(), noValue)),
		fmt.Sprintf("Requeue=%d Restarts=%d BatchFlag=1 Reboot=0 ExitCode=%s", boolDigit(r.Asked.Requeue), state.CountRestarts(r.Job), exitOfJob(r)),
		fmt.Sprintf("RunTime=%s TimeLimit=%s TimeMin=N/A", state.LongClock(r.UsedTime()), limitText(r)),
		fmt.Sprintf("SubmitTime=%s EligibleTime=%s", when(r.Times.Submit), when(eligibleTime(r))),
		fmt.Sprintf("AccrueTime=%s", when(eligibleTime(r))),
		fmt.Sprintf("StartTime=%s EndTime=%s Deadline=N/A", when(start), when(end)),
		suspensionText(r, style) + " LastSchedEval=N/A",
		fmt.Sprintf("Partition=%s AllocNode:Sid=%s:N/A", r.PartitionName(), cmp.Or(r.Asked.SubmitHost, "N/A")),
		fmt.Sprintf("ReqNodeList=%s ExcNodeList=%s", cmp.Or(r.Asked.Nodes, noValue), cmp.Or(r.Asked.Exclude, noValue)),
		fmt.Sprintf("NodeList=%s", cmp.Or(r.NodeList(), noValue)),
	}
	if nodes := r.NodeNames(); len(nodes) > 0 {
		lines = append(lines, "BatchHost="+cmp.Or(r.BatchHost(), "N/A"))
	}
	if nodes := r.NominatedNodes(); nodes != "" {
		lines = append(lines, "SchedNodeList="+nodes)
	}
	lines = append(lines,
		fmt.Sprintf("NumNodes=%d NumCPUs=%d NumTasks=%d CPUs/Task=%d ReqB:S:C:T=0:0:*:*", r.NodeCount(), total.CPUs, r.TaskCount(), max(r.Asked.CPUsPerTask, 1)),
		"ReqTRES="+r.TRESText(), "AllocTRES="+allocatedTRES(r),
		fmt.Sprintf("Socks/Node=* NtasksPerN:B:S:C=%d:0:*:* CoreSpec=*", r.Asked.TasksPerNode))
	if form.Details {
		lines = append(lines, nodeDetails(r)...)
	}
	lines = append(lines,
		memoryText(r, per),
		fmt.Sprintf("Features=%s DelayBoot=00:00:00", cmp.Or(r.Asked.Features, noValue)),
		fmt.Sprintf("OverSubscribe=%s Contiguous=0 Licenses=(null) Network=(null)", overSubscribeText(r)),
		"Command="+cmp.Or(r.Asked.Command, noValue), "WorkDir="+cmp.Or(r.Asked.WorkDir, noValue))
	if r.Asked.Comment != "" {
		lines = append(lines, "Comment="+r.Asked.Comment)
	}
	lines = append(lines, "StdErr="+cmp.Or(r.ExpandFile(cmp.Or(r.Asked.StdErr, r.Asked.StdOut)), noValue), "StdIn="+cmp.Or(r.ExpandFile(r.Asked.StdIn), "/dev/null"), "StdOut="+cmp.Or(r.ExpandFile(r.Asked.StdOut), noValue))
	if gres := r.GresText(); gres != "N/A" {
		lines = append(lines, "TresPerNode="+gres)
	}
	return joinLines(lines, form.OneLine)
}

// eligibleTime returns the time from which the job was able to start, or the zero time while the job is held.
func eligibleTime(r *listrow.Row) time.Time {
	if r.State.IsHeld() {
		return time.Time{}
	}
	return r.Times.Eligible
}

// exitOfJob returns how the job ended. For a job that was cancelled after it had started, it returns SIGTERM.
func exitOfJob(r *listrow.Row) state.Exit {
	if r.State.Code == state.Cancelled && !r.Times.Start.IsZero() {
		return state.Exit{Signal: int(syscall.SIGTERM)}
	}
	return r.Exit
}

// groupText returns the user's group in the form NAME(NUMBER).
func groupText(r *listrow.Row) string {
	if r.Asked.GID == "" {
		return "N/A"
	}
	return fmt.Sprintf("%s(%s)", r.Asked.Group, r.Asked.GID)
}

func jobLine(r *listrow.Row) string {
	text := "JobId=" + r.RawID()
	if r.IsArray() {
		text += fmt.Sprintf(" ArrayJobId=%s ArrayTaskId=%s", r.NumberOrName(), strings.Trim(r.ElementText(-1), "[]"))
		if throttle, err := batchv1alpha1.ArrayLimit(r.Job); err == nil && throttle > 0 {
			text += " ArrayTaskThrottle=" + strconv.Itoa(int(throttle))
		}
	}
	return text + " JobName=" + r.JobTitle()
}

func boolDigit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func limitText(r *listrow.Row) string {
	if r.TimeLimit() == 0 {
		return state.Unlimited
	}
	return state.LongClock(r.TimeLimit())
}

// suspensionText returns when a suspended job was suspended, and for how long it had run.
func suspensionText(r *listrow.Row, style timeformat.Style) string {
	if r.State.Code == state.Suspended {
		return fmt.Sprintf("SuspendTime=%s SecsPreSuspend=%d", timeText(r.Times.Released, r.Now, style), r.UsedTime()/time.Second)
	}
	return "SuspendTime=None SecsPreSuspend=0"
}

func allocatedTRES(r *listrow.Row) string {
	if r.Times.Start.IsZero() {
		return noValue
	}
	return r.TRESText()
}

func memoryText(r *listrow.Row, per listrow.Ask) string {
	name, amount := "MinMemoryNode", listrow.FormatMemory(per.Memory)
	if r.Asked.MemPerCPU > 0 {
		name, amount = "MinMemoryCPU", listrow.FormatMemory(r.Asked.MemPerCPU<<20)
	}
	return fmt.Sprintf("MinCPUsNode=%d %s=%s MinTmpDiskNode=0", r.MinimumCPUs(), name, amount)
}

func overSubscribeText(r *listrow.Row) string {
	if r.Asked.Exclusive {
		return "NO"
	}
	return "OK"
}

// nodeStates maps states of nodes to the names that scontrol prints.
var nodeStates = map[string]string{
	"idle": "IDLE", "mix": "MIXED", "alloc": "ALLOCATED", "drng": "MIXED+DRAIN", "drain": "IDLE+DRAIN", "maint": "IDLE+MAINTENANCE", "down*": "DOWN*", "unk": "UNKNOWN",
	"plnd": "IDLE+PLANNED", "mix-": "MIXED+PLANNED", "alloc-": "ALLOCATED+PLANNED",
}

// NodeText returns the description of a node. partitions contains the names of the partitions to which the node
// belongs.
func NodeText(n *sinfo.Node, partitions []string, now time.Time, style timeformat.Style, oneLine bool) string {
	used, all := n.CountCPUs()
	info := n.Node.Status.NodeInfo
	mega := func(bytes int64) int64 { return bytes >> 20 }
	lines := []string{
		fmt.Sprintf("NodeName=%s Arch=%s CoresPerSocket=%d", n.Name, cmp.Or(info.Architecture, "N/A"), all),
		fmt.Sprintf("CPUAlloc=%d CPUEfctv=%d CPUTot=%d CPULoad=N/A", used, all, all),
		fmt.Sprintf("Gres=%s", cmp.Or(n.GresText(), noValue)),
		fmt.Sprintf("NodeAddr=%s NodeHostName=%s Version=%s", internalAddress(n), n.Name, cmp.Or(info.KubeletVersion, "N/A")),
		fmt.Sprintf("OS=%s", cmp.Or(strings.TrimSpace(info.OSImage+" "+info.KernelVersion), "N/A")),
		fmt.Sprintf("RealMemory=%d AllocMem=%d FreeMem=%d Sockets=1 Boards=1", mega(n.Has.MemoryBytes), mega(n.Used.MemoryBytes), mega(n.Has.MemoryBytes-n.Used.MemoryBytes)),
		fmt.Sprintf("State=%s ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A", nodeStates[n.State]),
		fmt.Sprintf("Partitions=%s", strings.Join(partitions, ",")),
		"BootTime=Unknown", // Kubernetes does not report it
		"CfgTRES=" + sinfo.TRESText(n.Has),
		"AllocTRES=" + sinfo.TRESText(n.Used),
	}
	if n.Reason != "" {
		reason := "Reason=" + n.Reason
		if n.At != sinfo.Unknown {
			reason += fmt.Sprintf(" [%s@%s]", n.By, n.At)
		}
		lines = append(lines, reason)
	}
	return joinLines(lines, oneLine)
}

func internalAddress(n *sinfo.Node) string {
	for _, a := range n.Node.Status.Addresses {
		if a.Type == "InternalIP" {
			return a.Address
		}
	}
	return n.Name
}

// partitionStates maps states of partitions to the names that scontrol prints.
var partitionStates = map[string]string{"up": "UP", "drain": "DRAIN", "inact": "INACTIVE", "down": "DOWN"}

// PartitionText returns the description of a partition.
func PartitionText(p *sinfo.Partition, nodes string, oneLine bool) string {
	cpus, has := 0, sinfo.SumAllocatable(p.Nodes)
	for _, n := range p.Nodes {
		_, all := n.CountCPUs()
		cpus += all
	}
	standard := "NO"
	if p.Default {
		standard = "YES"
	}
	longest := "UNLIMITED"
	if p.MaxTime != "infinite" {
		longest = p.MaxTime
	}
	shortest := "NONE"
	if p.DefaultTime != "n/a" {
		shortest = p.DefaultTime
	}
	return joinLines([]string{
		"PartitionName=" + p.Name,
		"AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL",
		fmt.Sprintf("AllocNodes=ALL Default=%s QoS=N/A", standard),
		fmt.Sprintf("DefaultTime=%s DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO", shortest),
		fmt.Sprintf("MaxNodes=%s MaxTime=%s MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED", p.MaximumNodes("UNLIMITED"), longest),
		"Nodes=" + cmp.Or(nodes, noValue),
		fmt.Sprintf("PriorityJobFactor=%d PriorityTier=%d RootOnly=NO ReqResv=NO OverSubscribe=NO", p.Queue.Spec.Weight, p.Queue.Spec.Priority),
		"OverTimeLimit=NONE PreemptMode=REQUEUE",
		fmt.Sprintf("State=%s TotalCPUs=%d TotalNodes=%d SelectTypeParameters=NONE", partitionStates[p.Avail], cpus, len(p.Nodes)),
		"JobDefaults=(null)",
		"DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED",
		"TRES=" + cmp.Or(sinfo.TRESText(has), noValue),
	}, oneLine)
}
