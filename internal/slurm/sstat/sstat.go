// Package sstat implements the output of sstat, which shows what a running job has used so far.
//
//	In:   rows of running jobs, whose pods have the annotation with their use
//	Out:  lines and columns
//
// The use is measured for each pod, not for each step. So a job, or an element of an array, has one line, which is that of
// its batch script and includes everything that runs in the pods. A pod counts as a task.
package sstat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/podusage"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
)

// BatchStep is the step of all lines.
const BatchStep = "batch"

// The formats of sstat.
const (
	Default = "jobid,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss,maxpages,maxpagesnode,maxpagestask,avepages," +
		"mincpu,mincpunode,mincputask,avecpu,ntasks,avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,consumedenergy,maxdiskread,maxdiskreadnode," +
		"maxdiskreadtask,avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite"
	// Processes is the format of --pidformat.
	Processes = "jobid,nodelist,pids"
)

// Line is a running job or element of an array.
type Line struct {
	*listrow.Row
	// Tasks lists the pods that have started, the head first. Measured lists the tasks whose use was measured.
	Tasks, Measured []Task
}

// Task is the use of a pod.
type Task struct {
	// Number is the position of the pod in the job.
	Number int
	Node   string
	podusage.Use
}

// NewLine returns the line of a running row.
func NewLine(row *listrow.Row) *Line {
	l := &Line{Row: row}
	head := row.HeadPod()
	pods := slices.Clone(row.Mine)
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(-compareBool(a == head, b == head), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	for _, pod := range pods {
		if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodPending {
			continue
		}
		use, isMeasured := podusage.Of(pod)
		task := Task{Number: len(l.Tasks), Node: pod.Spec.NodeName, Use: use}
		l.Tasks = append(l.Tasks, task)
		if isMeasured {
			l.Measured = append(l.Measured, task)
		}
	}
	return l
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// leastCPU returns the task with the least CPU time, and mostMemory the one with the highest peak of memory. Without a
// measured task, ok is false.
func (l *Line) leastCPU() (task Task, ok bool) {
	if len(l.Measured) == 0 {
		return Task{}, false
	}
	return slices.MinFunc(l.Measured, func(a, b Task) int { return cmp.Compare(a.CPUMilliseconds, b.CPUMilliseconds) }), true
}

func (l *Line) mostMemory() (task Task, ok bool) {
	if len(l.Measured) == 0 {
		return Task{}, false
	}
	// The first of several equal tasks is the result.
	return slices.MinFunc(l.Measured, func(a, b Task) int { return cmp.Compare(b.PeakMemoryBytes, a.PeakMemoryBytes) }), true
}

// averageCPU returns the mean CPU time of the measured tasks, of which there is at least one.
func (l *Line) averageCPU() time.Duration {
	sum := time.Duration(0)
	for i := range l.Measured {
		sum += l.Measured[i].CPUTime()
	}
	return sum / time.Duration(len(l.Measured))
}

// averageMemory returns the mean peak of the memory of the measured tasks, of which there is at least one.
func (l *Line) averageMemory() int64 {
	sum := int64(0)
	for i := range l.Measured {
		sum += l.Measured[i].PeakMemoryBytes
	}
	return sum / int64(len(l.Measured))
}

// nodeList returns the nodes of the tasks in Slurm's format.
func (l *Line) nodeList() string {
	var nodes []string
	for i := range l.Tasks {
		nodes = append(nodes, l.Tasks[i].Node)
	}
	hostlist.SortNames(nodes)
	return hostlist.CompressNames(slices.Compact(nodes))
}

// Style is the format in which values are printed.
type Style struct {
	// Exact prints memory in kibibytes instead of a suitable unit.
	Exact bool
}

func (s Style) formatMemory(bytes int64) string {
	if s.Exact {
		return sacct.Style{Units: 'K'}.FormatSize((bytes + 1023) &^ 1023)
	}
	return sacct.Style{}.FormatSize(bytes)
}

type field = tableformat.Field[*Line]

// ColumnFields returns all columns.
func (s Style) ColumnFields() []field {
	var all []field
	add := func(name string, width int, value func(*Line) string) {
		all = append(all, tableformat.NewField(0, name, name, width, value))
	}
	of := func(find func(*Line) (Task, bool), text func(Task) string) func(*Line) string {
		return func(l *Line) string {
			task, ok := find(l)
			if !ok {
				return ""
			}
			return text(task)
		}
	}
	measured := func(text func(*Line) string) func(*Line) string {
		return func(l *Line) string {
			if len(l.Measured) == 0 {
				return ""
			}
			return text(l)
		}
	}
	node := func(t Task) string { return t.Node }
	number := func(t Task) string { return strconv.Itoa(t.Number) }
	add("JobID", -12, func(l *Line) string { return l.DisplayID(-1) + "." + BatchStep })
	add("AveCPU", 10, measured(func(l *Line) string { return sacct.FormatCPUTime(l.averageCPU()) }))
	add("AveRSS", 10, measured(func(l *Line) string { return s.formatMemory(l.averageMemory()) }))
	add("MaxRSS", 10, of((*Line).mostMemory, func(t Task) string { return s.formatMemory(t.PeakMemoryBytes) }))
	add("MaxRSSNode", 10, of((*Line).mostMemory, node))
	add("MaxRSSTask", 10, of((*Line).mostMemory, number))
	add("MinCPU", 10, of((*Line).leastCPU, func(t Task) string { return sacct.FormatCPUTime(t.CPUTime()) }))
	add("MinCPUNode", 10, of((*Line).leastCPU, node))
	add("MinCPUTask", 10, of((*Line).leastCPU, number))
	add("NTasks", 8, func(l *Line) string { return strconv.Itoa(len(l.Tasks)) })
	add("Nodelist", 20, (*Line).nodeList)
	for _, column := range blank {
		add(column.name, column.width, func(*Line) string { return "" })
	}
	slices.SortFunc(all, func(a, b field) int { return strings.Compare(a.Names[0], b.Names[0]) })
	return all
}

// blank lists columns whose values are not measured.
var blank = []struct {
	name  string
	width int
}{
	{"AveCPUFreq", 10}, {"AveDiskRead", 14}, {"AveDiskWrite", 14}, {"AvePages", 10}, {"AveVMSize", 10}, {"ConsumedEnergy", 14}, {"ConsumedEnergyRaw", 17},
	{"MaxDiskRead", 12}, {"MaxDiskReadNode", 15}, {"MaxDiskReadTask", 15}, {"MaxDiskWrite", 12}, {"MaxDiskWriteNode", 16}, {"MaxDiskWriteTask", 16},
	{"MaxPages", 8}, {"MaxPagesNode", 12}, {"MaxPagesTask", 14}, {"MaxVMSize", 10}, {"MaxVMSizeNode", 14}, {"MaxVMSizeTask", 14}, {"Pids", 20},
	{"ReqCPUFreqGov", 13}, {"ReqCPUFreqMax", 13}, {"ReqCPUFreqMin", 13},
	{"TRESUsageInAve", 14}, {"TRESUsageInMax", 14}, {"TRESUsageInMaxNode", 18}, {"TRESUsageInMaxTask", 18}, {"TRESUsageInMin", 14}, {"TRESUsageInMinNode", 18},
	{"TRESUsageInMinTask", 18}, {"TRESUsageInTot", 14}, {"TRESUsageOutAve", 15}, {"TRESUsageOutMax", 15}, {"TRESUsageOutMaxNode", 19},
	{"TRESUsageOutMaxTask", 19}, {"TRESUsageOutMin", 15}, {"TRESUsageOutMinNode", 19}, {"TRESUsageOutMinTask", 19}, {"TRESUsageOutTot", 15},
}
