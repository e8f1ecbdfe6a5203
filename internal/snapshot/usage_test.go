package snapshot

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestMeasurementsAreAddedAndMissingOnesAreIgnored(t *testing.T) {
	t.Parallel()
	early, late := time.Unix(100, 0), time.Unix(200, 0)
	core := Measured{Core: &MeasuredCore{MilliCPU: 500, MemoryBytes: 10}}
	one := Measured{GPU: &MeasuredGPU{Count: 1, Percent: 90, MemoryBytes: 5, LastBusy: early}}
	three := Measured{Core: &MeasuredCore{MilliCPU: 250, MemoryBytes: 1}, GPU: &MeasuredGPU{Count: 3, Percent: 10, MemoryBytes: 7, LastBusy: late}}
	got := Measured{}.Add(core).Add(one).Add(three)
	want := Measured{Core: &MeasuredCore{MilliCPU: 750, MemoryBytes: 11}, GPU: &MeasuredGPU{Count: 4, Percent: 30, MemoryBytes: 12, LastBusy: late}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
	if one.GPU.Count != 1 || three.GPU.Count != 3 {
		t.Error("Add changed one of its arguments")
	}
}

func TestOnlyLongUnusedGPUsOfRunningPodsAreIdle(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	cases := map[string]struct {
		pod       Pod
		measured  MeasuredGPU
		wantIdle  bool
		wantSince time.Time
	}{
		"unused for an hour":             {Pod{Phase: "Running", Started: MomentOf(ago(2 * time.Hour))}, MeasuredGPU{LastBusy: ago(time.Hour)}, true, ago(time.Hour)},
		"never used since its start":     {Pod{Phase: "Running", Started: MomentOf(ago(2 * time.Hour))}, MeasuredGPU{}, true, ago(2 * time.Hour)},
		"used by an earlier pod":         {Pod{Phase: "Running", Started: MomentOf(ago(20 * time.Minute))}, MeasuredGPU{LastBusy: ago(time.Hour)}, true, ago(20 * time.Minute)},
		"busy now":                       {Pod{Phase: "Running", Started: MomentOf(ago(2 * time.Hour))}, MeasuredGPU{Percent: BusyPercent, LastBusy: ago(time.Hour)}, false, time.Time{}},
		"a pause of a few minutes":       {Pod{Phase: "Running", Started: MomentOf(ago(2 * time.Hour))}, MeasuredGPU{LastBusy: ago(9 * time.Minute)}, false, time.Time{}},
		"started a few minutes ago":      {Pod{Phase: "Running", Started: MomentOf(ago(9 * time.Minute))}, MeasuredGPU{}, false, time.Time{}},
		"its containers are not started": {Pod{Phase: "Pending"}, MeasuredGPU{}, false, time.Time{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			since, isIdle := idleSince(&tc.pod, &tc.measured, now)
			if isIdle != tc.wantIdle || isIdle && !since.Equal(tc.wantSince) {
				t.Errorf("idle %v since %v, want %v since %v", isIdle, since, tc.wantIdle, tc.wantSince)
			}
		})
	}
}

func TestIdleGPUsAreListedByJobWithTheLargestNumberFirst(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	gpus := func(n int64) *Amounts { return &Amounts{Devices: map[corev1.ResourceName]int64{"nvidia.com/gpu": n}} }
	pod := func(name, job string, n int64) *Pod {
		return &Pod{UID: types.UID(name), Namespace: "nlp", Name: name, Job: job, JobUID: types.UID(job), Phase: "Running", Started: MomentOf(now.Add(-time.Hour)), Asks: gpus(n)}
	}
	pods := []*Pod{pod("a-0", "a", 2), pod("a-1", "a", 2), pod("b-0", "b", 8), pod("alone", "", 1), pod("busy-0", "busy", 4), pod("unmeasured", "", 16)}
	usage := &Usage{HasGPU: true, Pods: map[PodKey]Measured{}}
	for _, p := range pods[:5] {
		usage.Pods[KeyOfPod("nlp", p.Name)] = Measured{GPU: &MeasuredGPU{Count: 1}}
	}
	usage.Pods[KeyOfPod("nlp", "busy-0")] = Measured{GPU: &MeasuredGPU{Count: 4, Percent: 90}}
	snap := &Snapshot{Nodes: []*Node{{Pods: pods[:3]}, {Pods: pods[3:]}}, Usage: usage, index: &index{},
		Jobs: []*Job{{UID: "a", Name: "a", Title: "train", User: "mei"}}}
	idle, allocated := snap.FindIdleGPUs(now)
	var texts []string
	for i := range idle {
		texts = append(texts, idle[i].Text(now))
	}
	want := []string{"8 b for 60m", "4 train (mei) for 60m", "1 alone for 60m"}
	if diff := cmp.Diff(want, texts); diff != "" || allocated != 17 {
		t.Errorf("%d allocated; idle (-want +got):\n%s", allocated, diff)
	}
}
