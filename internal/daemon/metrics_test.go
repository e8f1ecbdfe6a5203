package daemon

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/vc-batch/vc/internal/daemon/cycleloop"
	"github.com/vc-batch/vc/internal/metrics"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/outbox"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// family is a metric in the registry.
type family struct {
	kind, help string
	samples    []sample
}

// sample is a series of a metric.
type sample struct {
	labels map[string]string
	value  float64 // of a histogram, the number of observations
	sum    float64 // of a histogram
	limits []float64
}

// gather returns the metrics of vc in the registry, by name.
func gather(t *testing.T) map[string]family {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]family{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "vc_") && !strings.HasPrefix(f.GetName(), "volcano_") {
			continue
		}
		of := family{kind: strings.ToLower(f.GetType().String()), help: f.GetHelp()}
		for _, m := range f.GetMetric() {
			s := sample{labels: map[string]string{}, sum: m.GetHistogram().GetSampleSum()}
			s.value = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			for _, l := range m.GetLabel() {
				s.labels[l.GetName()] = l.GetValue()
			}
			for _, b := range m.GetHistogram().GetBucket() {
				s.limits = append(s.limits, b.GetUpperBound())
			}
			of.samples = append(of.samples, s)
		}
		byName[f.GetName()] = of
	}
	return byName
}

// labelNames returns the names of a sample's labels, sorted.
func (s *sample) labelNames() []string { return slices.Sorted(maps.Keys(s.labels)) }

// sumOf returns the sum of a metric's series. With a value, it adds only the series with a label of this value. Of a
// histogram, it returns the number of observations.
func sumOf(t *testing.T, name, value string) float64 {
	t.Helper()
	sum := 0.0
	for _, s := range gather(t)[name].samples {
		if value == "" || slices.Contains(slices.Collect(maps.Values(s.labels)), value) {
			sum += s.value
		}
	}
	return sum
}

// countSeries returns the number of series of the metrics of vc, and the number of those with a series per job.
func countSeries(t *testing.T) (all, perJob int) {
	t.Helper()
	for _, f := range gather(t) {
		all += len(f.samples)
		for i := range f.samples {
			if slices.ContainsFunc(f.samples[i].labelNames(), metrics.IsPerJobLabel) {
				perJob++
			}
		}
	}
	return all, perJob
}

// newRealLoop returns a loop with an engine, on a cluster with one node.
func newRealLoop(t *testing.T, cpu string, gangs *gangSeries) (*loop, *hand) {
	t.Helper()
	registerSchedulerMetrics()
	t.Cleanup(deleteAllGangSeries)
	h := newHand()
	h.put(model.QueueFrom(make.Queue("default").Obj()))
	h.put(model.NodeFrom(make.Node("a").CPU(cpu).Resource("pods", "10000").Obj()))
	return &loop{
		Loop: cycleloop.Loop{Source: h, Effects: nowhere{}, Engine: newMeasuredEngine(t), Cluster: model.New(), Period: time.Second},
		beat: func(time.Time) {}, log: logr.Discard(), observer: cycleObserver{gangs: gangs},
		changedSince: func() time.Time { return time.Now().Add(-time.Millisecond) },
	}, h
}

func newMeasuredEngine(t *testing.T) *scheduler.Engine {
	t.Helper()
	engine, err := scheduler.New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	engine.Watch = measureStage
	return engine
}

// putGang adds a gang and its only pod.
func putGang(h *hand, gang *make.GangBuilder, pod *make.PodBuilder) {
	h.put(model.GangFrom(gang.Obj()))
	h.put(model.TaskFrom(pod.Gang(gang.Obj().Name).Obj(), true))
}

// runEveryCase makes the loop record every metric: a gang starts, one cannot, one evicts another, an attempt fails with
// an error, a pod is bound, and a pod uses a card.
func runEveryCase(t *testing.T, l *loop, h *hand) {
	t.Helper()
	now := make.Epoch.Add(time.Minute)
	cycle := func() {
		now = now.Add(3 * time.Second)
		l.runOneCycle(now)
	}
	putGang(h, make.Gang("low"), make.Pod("low-0").CPU("3"))
	cycle()
	h.put(model.TaskFrom(make.Pod("low-0").Gang("low").CPU("3").On("a").Phase(corev1.PodRunning).Obj(), true))
	putGang(h, make.Gang("huge"), make.Pod("huge-0").CPU("100"))
	h.put(model.PriorityClassSet{Name: "high", Value: 1000})
	putGang(h, make.Gang("high").PriorityClass("high"), make.Pod("high-0").CPU("3").Priority(1000))
	cycle()
	cycle()
	observeWrite(outbox.Attempt{Lane: "bind", Outcome: "ok", Took: time.Millisecond, Waited: 2 * time.Millisecond})
	pod := decision.Object{Namespace: "default", Name: "low-0"}
	l.observer.observeCycle(0, &decision.Decisions{Now: now, Stats: decision.Stats{GangsTried: 1, GangsFailed: 1, GangsParked: 1, Devices: []decision.NodeDevices{{
		Node: "a", Cards: []decision.CardFigures{{Card: "GPU-0", Pods: []decision.PodOnCard{{Pod: pod, MemoryMiB: 1}}}},
	}}}}, 0)
}

// TestMetricsOfVolcano checks that the metrics in Volcano's documentation exist with its names, types, labels and units
// after cycles of a real engine, and that they measure what they say.
func TestMetricsOfVolcano(t *testing.T) {
	const histogram, gauge, counter = "histogram", "gauge", "counter"
	table := []struct {
		name     string
		kind     string
		labels   []string
		from, to float64             // the smallest and largest limit of Volcano's buckets
		values   map[string][]string // values of labels that must exist
	}{
		{name: "e2e_scheduling_latency_milliseconds", kind: histogram, from: 5, to: 2560},
		{name: "e2e_job_scheduling_latency_milliseconds", kind: histogram, from: 32, to: 16384},
		{name: "e2e_job_scheduling_duration", kind: gauge, labels: []string{"job_name", "job_namespace", "queue"},
			values: map[string][]string{"job_name": {"low"}, "queue": {"default"}, "job_namespace": {"default"}}},
		{name: "plugin_scheduling_latency_microseconds", kind: histogram, labels: []string{"OnSession", "plugin"}, from: 5, to: 2560,
			values: map[string][]string{"plugin": {"gang", "proportion"}, "OnSession": {"OnSessionOpen"}}},
		{name: "action_scheduling_latency_microseconds", kind: histogram, labels: []string{"action"}, from: 5, to: 2560,
			values: map[string][]string{"action": {"allocate", "preempt"}}},
		{name: "task_scheduling_latency_milliseconds", kind: histogram, from: 5, to: 2560},
		{name: "schedule_attempts_total", kind: counter, labels: []string{"result"},
			values: map[string][]string{"result": {"scheduled", "unschedulable", "error"}}},
		{name: "pod_preemption_victims", kind: gauge},
		{name: "total_preemption_attempts", kind: counter},
		{name: "unschedule_task_count", kind: gauge, labels: []string{"job_id"}, values: map[string][]string{"job_id": {"default/huge"}}},
		{name: "unschedule_job_count", kind: gauge},
		{name: "job_retry_counts", kind: counter, labels: []string{"job_id"}, values: map[string][]string{"job_id": {"default/high"}}},
	}
	l, h := newRealLoop(t, "4", newGangSeries())
	before := map[string]float64{}
	for _, row := range table {
		before[row.name] = sumOf(t, "volcano_"+row.name, "")
	}
	runEveryCase(t, l, h)
	all := gather(t)
	for _, row := range table {
		f := all["volcano_"+row.name]
		if f.kind != row.kind {
			t.Errorf("volcano_%s: type %q, want %q", row.name, f.kind, row.kind)
		}
		seen := map[string][]string{}
		for _, one := range f.samples {
			for label, value := range one.labels {
				seen[label] = append(seen[label], value)
			}
			if !slices.Equal(one.labelNames(), row.labels) {
				t.Errorf("volcano_%s: labels %v, want %v", row.name, one.labelNames(), row.labels)
			}
			if row.kind == histogram && !hasLimitsBetween(one.limits, row.from, row.to) {
				t.Errorf("volcano_%s: the buckets lack Volcano's limits from %v to %v", row.name, row.from, row.to)
			}
		}
		for label, values := range row.values {
			for _, value := range values {
				if !slices.Contains(seen[label], value) {
					t.Errorf("volcano_%s: label %s has the values %v, without %s", row.name, label, slices.Compact(slices.Sorted(slices.Values(seen[label]))), value)
				}
			}
		}
		if sumOf(t, "volcano_"+row.name, "") <= before[row.name] {
			t.Errorf("volcano_%s: the value has not grown", row.name)
		}
	}
}

// hasLimitsBetween reports whether the limits contain each power of two times from, up to to.
func hasLimitsBetween(limits []float64, from, to float64) bool {
	for limit := from; limit <= to; limit *= 2 {
		if !slices.Contains(limits, limit) {
			return false
		}
	}
	return true
}

// TestUnitsOfMetrics checks that a duration has the value that the unit in the name of the metric implies, under each
// name.
func TestUnitsOfMetrics(t *testing.T) {
	registerSchedulerMetrics()
	sum := func(name string) float64 {
		total := 0.0
		for _, s := range gather(t)[name].samples {
			total += s.sum
		}
		return total
	}
	const took = 40 * time.Millisecond
	var o cycleObserver
	for _, c := range []struct {
		names   []string
		observe func()
	}{
		{[]string{"volcano_plugin_scheduling_latency_microseconds", "volcano_plugin_scheduling_latency_milliseconds", "vc_policy_duration_seconds"},
			func() { observeStage(scheduler.OpenPolicy, "unit", took) }},
		{[]string{"volcano_plugin_scheduling_latency_microseconds", "volcano_plugin_scheduling_latency_milliseconds", "vc_policy_duration_seconds"},
			func() { observeStage(scheduler.ClosePolicy, "unit", took) }},
		{[]string{"volcano_action_scheduling_latency_microseconds", "volcano_action_scheduling_latency_milliseconds", "vc_action_duration_seconds"},
			func() { observeStage(scheduler.RunAction, "unit", took) }},
		{[]string{"volcano_e2e_scheduling_latency_milliseconds", "vc_cycle_duration_seconds"}, func() { o.observeCycle(1, &decision.Decisions{}, took) }},
		{[]string{"volcano_task_scheduling_latency_milliseconds"}, func() {
			o.observeCycle(0, &decision.Decisions{Stats: decision.Stats{TaskWaits: []time.Duration{took}}}, 0)
		}},
		{[]string{"volcano_e2e_job_scheduling_latency_milliseconds", "vc_queue_wait_seconds"}, func() {
			observeStarts([]decision.Start{{Queue: "unit", Created: make.Epoch}}, make.Epoch.Add(took))
		}},
		{[]string{"volcano_scheduling_stage_duration_milliseconds", "vc_bind_duration_seconds", "vc_outbox_write_duration_seconds"}, func() {
			observeWrite(outbox.Attempt{Lane: "bind", Outcome: "ok", Took: took, Waited: took})
		}},
	} {
		before := map[string]float64{}
		for _, name := range c.names {
			before[name] = sum(name)
		}
		c.observe()
		for _, name := range c.names {
			want := map[string]float64{"microseconds": 40_000, "milliseconds": 40, "seconds": 0.04}[name[strings.LastIndex(name, "_")+1:]]
			if got := sum(name) - before[name]; got < want*0.999 || got > want*1.001 {
				t.Errorf("%s: %v for %v, want %v", name, got, took, want)
			}
		}
	}
}

// TestAttemptsEndWithOneResult checks the results of attempts, including that of a cycle that panics.
func TestAttemptsEndWithOneResult(t *testing.T) {
	registerSchedulerMetrics()
	results := func() map[string]float64 {
		values := map[string]float64{}
		for _, s := range gather(t)["volcano_schedule_attempts_total"].samples {
			values[s.labels["result"]] = s.value
		}
		return values
	}
	added := func(act func()) map[string]float64 {
		before := results()
		act()
		after := results()
		maps.DeleteFunc(after, func(result string, n float64) bool { return n == before[result] })
		for result := range after {
			after[result] -= before[result]
		}
		return after
	}
	var o cycleObserver
	got := added(func() {
		o.observeCycle(0, &decision.Decisions{Stats: decision.Stats{GangsTried: 9, GangsPlaced: 4, GangsFailed: 2}}, 0)
	})
	if diff := cmp.Diff(map[string]float64{"scheduled": 4, "unschedulable": 3, "error": 2}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l, _ := newRealLoop(t, "4", nil)
	l.Engine = &script{answer: func(int) decision.Decisions { panic("broken") }}
	got = added(func() {
		defer func() { _ = recover() }()
		l.runOneCycle(time.Now())
	})
	if diff := cmp.Diff(map[string]float64{"error": 1}, got); diff != "" {
		t.Errorf("a cycle that panics (-want +got):\n%s", diff)
	}
}

// TestEvictionsAreCountedByQueue checks the labels of evictions and that the series of a deleted queue are deleted.
func TestEvictionsAreCountedByQueue(t *testing.T) {
	registerSchedulerMetrics()
	gang := func(name string) decision.Object { return decision.Object{Namespace: "ns", Name: name} }
	evict := func(queue, preemptor string) decision.Evict {
		return decision.Evict{Reason: "reclaim", Gang: gang("victim"), Queue: queue, Preemptor: gang(preemptor), PreemptorQueue: preemptor}
	}
	transactions := sumOf(t, "volcano_eviction_transactions_total", "reclaim")
	observeEvictions([]decision.Evict{evict("q-lost", "q-gets"), evict("q-lost", "q-gets"), evict("q-lost", "q-other")})
	if lost, gets := sumOf(t, "vc_evictions_total", "q-lost"), sumOf(t, "vc_evictions_total", "q-gets"); lost != 3 || gets != 2 {
		t.Errorf("q-lost lost %v pods, 2 of them for q-gets: %v", lost, gets)
	}
	if n := sumOf(t, "volcano_eviction_transactions_total", "reclaim") - transactions; n != 2 {
		t.Errorf("%v gangs got resources, want 2", n)
	}
	deleteQueueSeries("q-gets")
	if n := sumOf(t, "vc_evictions_total", "q-lost"); n != 1 {
		t.Errorf("%v evictions remain after the deletion of q-gets, want 1", n)
	}
	deleteQueueSeries("q-lost")
	if n := sumOf(t, "vc_evictions_total", "q-other"); n != 0 {
		t.Errorf("%v evictions remain after the deletion of q-lost", n)
	}
}

// TestNoSeriesPerJobUnlessAsked runs every case without metrics per job.
func TestNoSeriesPerJobUnlessAsked(t *testing.T) {
	observeDevices([]decision.NodeDevices{{Node: "a"}}, true) // remove the series of other tests
	deleteAllGangSeries()
	l, h := newRealLoop(t, "4", nil)
	runEveryCase(t, l, h)
	all, perJob := countSeries(t)
	if perJob > 0 || all == 0 {
		t.Errorf("%d of %d series are those of individual jobs or pods", perJob, all)
	}
	l, h = newRealLoop(t, "4", newGangSeries())
	runEveryCase(t, l, h)
	if _, perJob = countSeries(t); perJob == 0 {
		t.Error("there are no series of jobs although they were asked for")
	}
	observeDevices([]decision.NodeDevices{{Node: "a"}}, true)
}

// TestSeriesOfHundredThousandJobsGoWithThem lets 100,000 gangs pass through the engine with metrics per job. Half of
// them start, and half of them wait because they are larger than the node. The engine is replaced twice, as after a
// change of the configuration.
func TestSeriesOfHundredThousandJobsGoWithThem(t *testing.T) {
	const waves, gangsPerWave = 50, 2000
	l, h := newRealLoop(t, "4000", newGangSeries())
	now := make.Epoch.Add(time.Hour)
	cycle := func() {
		now = now.Add(3 * time.Second)
		l.runOneCycle(now)
	}
	putGang(h, make.Gang("stays"), make.Pod("stays-0").CPU("1"))
	putGang(h, make.Gang("waits"), make.Pod("waits-0").CPU("5000"))
	cycle()
	cycle()
	before, perJobBefore := countSeries(t)
	most := 0
	for wave := range waves {
		for i := range gangsPerWave {
			name, cpu := fmt.Sprintf("g-%d-%d", wave, i), []string{"1", "5000"}[i%2]
			putGang(h, make.Gang(name), make.Pod(name+"-0").CPU(cpu))
		}
		cycle()
		cycle() // the shares of those that started
		if wave%(waves/2) == 1 {
			l.Engine = newMeasuredEngine(t)
		}
		_, perJob := countSeries(t)
		most = max(most, perJob)
		for i := range gangsPerWave {
			name := fmt.Sprintf("g-%d-%d", wave, i)
			pod, gang := make.Pod(name+"-0").Obj(), make.Gang(name).Obj()
			h.put(model.TaskGone{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID})
			h.put(model.GangGone{Namespace: gang.Namespace, Name: gang.Name, UID: gang.UID})
		}
		cycle()
	}
	now = now.Add(pruneEvery)
	cycle()
	after, perJobAfter := countSeries(t)
	t.Logf("series: %d before, %d per job at most, %d after", before, most, after)
	if most < 2*gangsPerWave {
		t.Errorf("at most %d series of jobs existed, too few for %d gangs", most, gangsPerWave)
	}
	if after != before || perJobAfter != perJobBefore {
		t.Errorf("%d series (%d of jobs) are left, want %d (%d)", after, perJobAfter, before, perJobBefore)
	}
	if n := len(l.observer.gangs.queueOf); n != 2 {
		t.Errorf("%d gangs are remembered, want 2", n)
	}
}

// TestTheRegistryContainsWhatIsDefined checks that each metric of vc in the registry is defined with its type, help text
// and labels, which the reference shows.
func TestTheRegistryContainsWhatIsDefined(t *testing.T) {
	l, h := newRealLoop(t, "4", newGangSeries())
	runEveryCase(t, l, h)
	defined := map[string]metrics.Definition{}
	for _, d := range metrics.Definitions() {
		if _, twice := defined[d.Name]; twice {
			t.Errorf("%s is defined twice", d.Name)
		}
		defined[d.Name] = d
	}
	checked := 0
	for name, f := range gather(t) {
		checked++
		d := defined[name]
		labels := slices.Sorted(slices.Values(d.Labels))
		for i := range f.samples {
			if has := f.samples[i].labelNames(); !slices.Equal(has, labels) {
				t.Errorf("%s: labels %v, defined %v", name, has, labels)
			}
		}
		if d.Help != f.help || string(d.Type) != f.kind {
			t.Errorf("%s: %s %q, defined %s %q", name, f.kind, f.help, d.Type, d.Help)
		}
	}
	if checked < 40 {
		t.Errorf("only %d metrics were checked", checked)
	}
	observeDevices([]decision.NodeDevices{{Node: "a"}}, true)
}
