package scontrol

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// nodeDetails returns a line with the devices of a job and, if the job is running, a line about each of its nodes.
// Processors and devices are numbered from 0, as they are in the job's pods.
func nodeDetails(r *listrow.Row) []string {
	lines := []string{"JOB_GRES=" + gresText(r.TotalRequest().Devices, false)}
	if r.State.Code.BaseCode() != state.Running {
		return lines
	}
	per := r.LargestRequest()
	for _, node := range r.NodeNames() {
		lines = append(lines, fmt.Sprintf("  Nodes=%s CPU_IDs=%s Mem=%d GRES=%s", node, rangeText(int64(per.CPUs)), per.Memory>>20, gresText(per.Devices, true)))
	}
	return lines
}

// rangeText returns the numbers from 0 to n-1 as a range.
func rangeText(n int64) string {
	if n <= 1 {
		return "0"
	}
	return "0-" + strconv.FormatInt(n-1, 10)
}

// gresText lists devices as gpu:2 or, with their numbers, as gpu:2(IDX:0-1).
func gresText(devices map[string]int64, numbered bool) string {
	var list []string
	for name, n := range devices {
		text := fmt.Sprintf("%s:%d", listrow.GresName(name), n)
		if numbered {
			text += "(IDX:" + rangeText(n) + ")"
		}
		list = append(list, text)
	}
	slices.Sort(list)
	text := strings.Join(list, ",")
	if numbered {
		return text
	}
	return cmp.Or(text, noValue)
}

// BatchStepText returns the description of the batch step of a running row.
func BatchStepText(r *listrow.Row, form Form) string {
	per := r.LargestRequest()
	host := cmp.Or(r.BatchHost(), "N/A")
	tres := "cpu=" + strconv.Itoa(per.CPUs)
	if per.Memory > 0 {
		tres += ",mem=" + listrow.FormatMemory(per.Memory)
	}
	return joinLines([]string{
		fmt.Sprintf("StepId=%s.batch UserId=%s StartTime=%s TimeLimit=UNLIMITED", r.DisplayID(0), r.UserID(), timeText(r.Times.Start, r.Now, form.Style)),
		fmt.Sprintf("State=RUNNING Partition=%s NodeList=%s", r.PartitionName(), host),
		fmt.Sprintf("Nodes=1 CPUs=%d Tasks=1 Name=batch Network=(null)", per.CPUs),
		"TRES=" + tres + ",node=1",
		"ResvPorts=(null)",
		"CPUFreqReq=Default Dist=Block",
		"SrunHost:Pid=" + host + ":0",
	}, form.OneLine)
}
