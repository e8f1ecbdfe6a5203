package scontrol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// details returns lines about each node of a running job. Processors and devices are numbered from 0, as in the job's
// pods.
func details(r *listrow.Row) []string {
	lines := []string{"JOB_GRES=" + gresOf(r.Total().Devices, false)}
	if r.State.Code.Base() != state.Running {
		return lines
	}
	per := r.PerNode()
	for _, node := range r.Nodes() {
		lines = append(lines, fmt.Sprintf("  Nodes=%s CPU_IDs=%s Mem=%d GRES=%s", node, upTo(int64(per.CPUs)), per.Memory>>20, gresOf(per.Devices, true)))
	}
	return lines
}

// upTo returns the numbers from 0 to n-1 as a range.
func upTo(n int64) string {
	if n <= 1 {
		return "0"
	}
	return "0-" + strconv.FormatInt(n-1, 10)
}

// gresOf lists devices as gpu:2 or, with their numbers, as gpu:2(IDX:0-1).
func gresOf(devices map[string]int64, numbered bool) string {
	var list []string
	for name, n := range devices {
		text := fmt.Sprintf("%s:%d", listrow.GresName(name), n)
		if numbered {
			text += "(IDX:" + upTo(n) + ")"
		}
		list = append(list, text)
	}
	slices.Sort(list)
	text := strings.Join(list, ",")
	if numbered {
		return text
	}
	return or(text, noValue)
}

// BatchStep returns the description of the batch step of a running row.
func BatchStep(r *listrow.Row, form Form) string {
	per := r.PerNode()
	host := or(r.BatchHost(), "N/A")
	tres := "cpu=" + strconv.Itoa(per.CPUs)
	if per.Memory > 0 {
		tres += ",mem=" + listrow.Memory(per.Memory)
	}
	return joined([]string{
		fmt.Sprintf("StepId=%s.batch UserId=%s StartTime=%s TimeLimit=UNLIMITED", r.ID(0), r.UserID(), at(r.Times.Start, r.Now, form.Style)),
		fmt.Sprintf("State=RUNNING Partition=%s NodeList=%s", r.Partition(), host),
		fmt.Sprintf("Nodes=1 CPUs=%d Tasks=1 Name=batch Network=(null)", per.CPUs),
		"TRES=" + tres + ",node=1",
		"ResvPorts=(null)",
		"CPUFreqReq=Default Dist=Block",
		"SrunHost:Pid=" + host + ":0",
	}, form.OneLine)
}
