package daemon

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/internal/scheduler/decision"
)

var label = regexp.MustCompile(`[a-z_A-Z]+="([^"]*)"`)

// series returns the metrics with a label of this value, as name{values} value.
func series(t *testing.T, word string) []string {
	t.Helper()
	answer := httptest.NewRecorder()
	metricsHandler(false).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	var out []string
	for line := range strings.Lines(answer.Body.String()) {
		if strings.Contains(line, `="`+word+`"`) {
			out = append(out, label.ReplaceAllString(strings.TrimSpace(line), "$1"))
		}
	}
	return out
}

func amounts(cpu, gpus string) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	if gpus != "" {
		list["nvidia.com/gpu"] = resource.MustParse(gpus)
	}
	return list
}

func TestQueuesAreShownUnderVolcanosNames(t *testing.T) {
	q := decision.QueueFigures{
		Queue: "q-shown", Weight: 3, Share: 1.5, Overused: true, Allocated: amounts("2", "4"), Request: amounts("3", "8"),
		Inqueue: amounts("1", ""), Deserved: amounts("2", "2"), RealCapacity: amounts("10", ""),
	}
	registerSchedulerMetrics()
	var o cycleObserver
	o.observeCycle(1, &decision.Decisions{Stats: decision.Stats{Queues: []decision.QueueFigures{q}, Starts: []decision.Start{{Queue: "q-shown", Waited: true}}}}, 0)
	want := []string{
		"vc_estimated_start_unknown_total{q-shown} 1",
		"volcano_queue_allocated_memory_bytes{q-shown} 0", "volcano_queue_allocated_milli_cpu{q-shown} 2000",
		"volcano_queue_allocated_scalar_resources{q-shown,nvidia.com/gpu} 4",
		"volcano_queue_deserved_memory_bytes{q-shown} 0", "volcano_queue_deserved_milli_cpu{q-shown} 2000",
		"volcano_queue_deserved_scalar_resources{q-shown,nvidia.com/gpu} 2",
		"volcano_queue_inqueue_memory_bytes{q-shown} 0", "volcano_queue_inqueue_milli_cpu{q-shown} 1000",
		"volcano_queue_overused{q-shown} 1", "volcano_queue_real_capacity_milli_cpu{q-shown} 10000",
		"volcano_queue_request_memory_bytes{q-shown} 0", "volcano_queue_request_milli_cpu{q-shown} 3000",
		"volcano_queue_request_scalar_resources{q-shown,nvidia.com/gpu} 8", "volcano_queue_share{q-shown} 1.5", "volcano_queue_weight{q-shown} 3",
	}
	got := series(t, "q-shown")
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "vc_queue_wait_seconds") })
	if !slices.Equal(got, want) {
		t.Errorf("series\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	q.Allocated, q.Overused = amounts("1", ""), false // the devices were released
	observeQueues(&decision.Stats{Queues: []decision.QueueFigures{q}})
	if got := series(t, "q-shown"); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "volcano_queue_allocated_scalar") }) ||
		!slices.Contains(got, "volcano_queue_overused{q-shown} 0") {
		t.Errorf("after the devices were given back: %v", got)
	}
	observeQueues(&decision.Stats{QueuesGone: []string{"q-shown"}})
	if got := series(t, "q-shown"); len(got) > 0 {
		t.Errorf("a queue that was deleted still has %v", got)
	}
}

func TestSeriesOfAGangGoWithIt(t *testing.T) {
	gang := decision.Object{Namespace: "ns", Name: "g-shown"}
	registerSchedulerMetrics()
	gangs := newGangSeries()
	observe := func(s decision.Stats) { gangs.observeGangs(&s, time.Unix(1010, 0)) }
	observe(decision.Stats{Gangs: []decision.GangFigures{{Gang: gang, Unready: 4, Tries: 2}}})
	observe(decision.Stats{Gangs: []decision.GangFigures{{Gang: gang, Unready: 4, Tries: 3}}})
	if got, want := series(t, "ns/g-shown"), []string{"volcano_job_retry_counts{ns/g-shown} 5", "volcano_unschedule_task_count{ns/g-shown} 4"}; !slices.Equal(got, want) {
		t.Errorf("while it waits: %v, want %v", got, want)
	}
	observe(decision.Stats{
		Gangs:  []decision.GangFigures{{Gang: gang, Tries: 1, Share: 0.25}},
		Starts: []decision.Start{{Gang: gang, Queue: "q", Created: time.Unix(1000, 0)}},
	})
	want := []string{
		"volcano_e2e_job_scheduling_duration{g-shown,ns,q} 10000", "volcano_e2e_job_scheduling_last_time{g-shown,ns,q} 1010",
		"volcano_e2e_job_scheduling_start_time{g-shown,ns,q} 1000", "volcano_job_share{g-shown,ns} 0.25",
	}
	if got := series(t, "g-shown"); !slices.Equal(got, want) {
		t.Errorf("once it runs: %v, want %v", got, want)
	}
	observe(decision.Stats{GangsGone: []decision.Object{gang}})
	if got := append(series(t, "g-shown"), series(t, "ns/g-shown")...); len(got) > 0 {
		t.Errorf("after it was deleted: %v", got)
	}
}

func TestTensOfThousandsOfGangsDoNotFillMemory(t *testing.T) {
	defer deleteAllGangSeries()
	var s decision.Stats
	for i := range mostGangs + 100 {
		s.Gangs = append(s.Gangs, decision.GangFigures{Gang: decision.Object{Namespace: "ns", Name: fmt.Sprint("g", i)}, Unready: 1})
	}
	gangs := newGangSeries()
	gangs.observeGangs(&s, time.Now())
	if n := len(gangs.queueOf); n != mostGangs {
		t.Errorf("%d gangs have series, want %d at most", n, mostGangs)
	}
}
