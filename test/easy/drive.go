package easy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// Layout is the machine that a trace runs on.
type Layout struct {
	Nodes, ProcsPerNode int
	// OnePod gives a job one pod with all its processors instead of a gang of pods with one each.
	OnePod bool
	// AllAdmitted omits minResources, so that every PodGroup is admitted at once.
	AllAdmitted bool
	// Strict gives the queue the strategy fifo, which starts jobs in order.
	Strict bool
}

// Procs is the number of processors of all nodes.
func (l Layout) Procs() int { return l.Nodes * l.ProcsPerNode }

// Result is the outcome of a run of the engine.
type Result struct {
	// Starts holds the start of each job by its index in the trace, -1 for a job that never started.
	Starts []int
	// Delayed names the heads of the queue that started later than they could have when they became the head.
	Delayed []string
	// Different describes the first instants at which EASY would have started other jobs in the same state.
	Different []string
	// IdleUsable is the number of processor seconds that were idle although EASY would have started a job on them.
	IdleUsable int
	// Makespan is the end of the last job.
	Makespan int
	// DeepestQueue and MostPendingPods are the greatest numbers of waiting jobs and of pods without a node.
	DeepestQueue, MostPendingPods int
	Cycles                        int
}

// Run simulates a trace with the engine in virtual time. It creates objects as the job controller does: first a
// PodGroup with minResources and the request of its task, then the pods once the PodGroup is admitted. At each instant
// it handles completions, then arrivals, and then runs cycles until they decide nothing more.
// then cycles until nothing more is decided.
func Run(jobs []Job, layout Layout) (Result, error) {
	d, err := newDriver(jobs, layout)
	if err != nil {
		return Result{}, err
	}
	for next := 0; next < len(d.trace) || len(d.running) > 0; {
		d.clock = d.nextInstant(next)
		d.complete()
		for ; next < len(d.trace) && d.trace[next].Submit <= d.clock; next++ {
			d.arrive(d.trace[next])
		}
		want := d.expected()
		if err := d.pass(); err != nil {
			return d.result, err
		}
		d.compare(want)
		d.judge(next)
	}
	return d.result, nil
}

// job is a job of the trace with its objects in the model.
type job struct {
	Job
	place int
	pods  []*corev1.Pod
	bound int
}

type driver struct {
	layout   Layout
	engine   *scheduler.Engine
	cluster  *model.Cluster
	trace    []job
	byName   map[string]*job
	waiting  []*job // in queue order
	running  []*job // sorted by end
	podOf    map[types.UID]*corev1.Pod
	clock    int
	free     int
	pending  int         // pods without a node
	promised map[int]int // by job id: when a head of the queue could start
	result   Result
}

func newDriver(jobs []Job, layout Layout) (*driver, error) {
	engine, err := scheduler.New(config.Default())
	if err != nil {
		return nil, err
	}
	d := &driver{
		layout: layout, engine: engine, cluster: model.New(), free: layout.Procs(),
		byName: map[string]*job{}, podOf: map[types.UID]*corev1.Pod{}, promised: map[int]int{},
	}
	queue := make.Queue(keys.DefaultQueue)
	if layout.Strict {
		queue.Fifo()
	}
	d.cluster.Apply(model.QueueFrom(queue.Obj()))
	for i := range layout.Nodes {
		d.cluster.Apply(model.NodeFrom(make.Node(fmt.Sprintf("node-%04d", i)).CPU(strconv.Itoa(layout.ProcsPerNode)).Resource("pods", "10000").Obj()))
	}
	for i, j := range jobs {
		d.result.Starts = append(d.result.Starts, -1)
		if j.Run > 0 && j.Procs > 0 && j.Procs <= layout.Procs() {
			d.trace = append(d.trace, job{Job: j, place: i})
		}
	}
	slices.SortFunc(d.trace, func(a, b job) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID)) })
	return d, nil
}

func (d *driver) nextInstant(next int) int {
	switch {
	case next == len(d.trace):
		return d.running[0].end(d)
	case len(d.running) == 0:
		return d.trace[next].Submit
	}
	return min(d.trace[next].Submit, d.running[0].end(d))
}

func (j *job) end(d *driver) int { return d.result.Starts[j.place] + j.Run }

func (j *job) name() string { return fmt.Sprintf("job-%06d", j.ID) }

// complete ends jobs whose time is over and deletes them as the job controller does.
func (d *driver) complete() {
	for len(d.running) > 0 && d.running[0].end(d) <= d.clock {
		j := d.running[0]
		d.running = d.running[1:]
		d.free += j.Procs
		d.result.Makespan = d.clock
		for _, p := range j.pods {
			p.Status.Phase = corev1.PodSucceeded
			d.cluster.Apply(model.TaskFrom(p, true))
		}
		for _, p := range j.pods {
			d.cluster.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
			delete(d.podOf, p.UID)
		}
		d.cluster.Apply(model.GangGone{Namespace: make.Namespace, Name: j.name()})
		delete(d.byName, j.name())
	}
}

// arrive adds the job's PodGroup.
func (d *driver) arrive(j job) {
	sizes := j.sizes(d.layout)
	members := len(sizes)
	group := make.Gang(j.name()).Min(members).MinTask("main", members).
		Annotation(keys.TaskRequests, fmt.Sprintf(`{"main":{"cpu":"%d"}}`, sizes[0])).Annotation(keys.TaskPlacements, "{}").
		Annotation(keys.RunningEstimate, (time.Duration(max(j.Estimate, j.Run)) * time.Second).String()).
		Age(time.Duration(j.Submit) * time.Second).Phase(schedulingv1beta1.PodGroupPending)
	if !d.layout.AllAdmitted {
		group.MinResource("cpu", strconv.Itoa(j.Procs))
	}
	d.cluster.Apply(model.GangFrom(group.Obj()))
	added := &j
	d.byName[j.name()] = added
	at, _ := slices.BinarySearchFunc(d.waiting, added, func(a, b *job) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID)) })
	d.waiting = slices.Insert(d.waiting, at, added)
	d.result.DeepestQueue = max(d.result.DeepestQueue, len(d.waiting))
}

// sizes returns the number of processors of each of the job's pods.
func (j *job) sizes(layout Layout) []int {
	if layout.OnePod {
		return []int{j.Procs}
	}
	return slices.Repeat([]int{1}, j.Procs)
}

// admitted creates the pods of a job whose PodGroup was admitted.
func (d *driver) admitted(j *job) {
	limit := int64(max(j.Estimate, j.Run))
	for i, procs := range j.sizes(d.layout) {
		p := make.Pod(fmt.Sprintf("%s-main-%d", j.name(), i)).Gang(j.name()).Role("main").CPU(strconv.Itoa(procs)).Obj()
		p.Spec.ActiveDeadlineSeconds = &limit
		j.pods = append(j.pods, p)
		d.podOf[p.UID] = p
		d.cluster.Apply(model.TaskFrom(p, true))
	}
	d.pending += len(j.pods)
	d.result.MostPendingPods = max(d.result.MostPendingPods, d.pending)
}

// maxCycles limits the cycles of one instant.
const maxCycles = 200

// pass runs cycles until they decide nothing more.
func (d *driver) pass() error {
	for range maxCycles {
		d.result.Cycles++
		now := make.Epoch.Add(time.Duration(d.clock) * time.Second)
		made := d.engine.Cycle(now, d.cluster)
		decision.Assume(d.cluster, &made)
		changed := false
		for _, b := range made.Binds {
			changed = true
			d.bind(b, now)
		}
		for i := range made.Gangs {
			j := d.byName[made.Gangs[i].Gang.Name]
			if j != nil && len(j.pods) == 0 && made.Gangs[i].Status.Phase == schedulingv1beta1.PodGroupInqueue {
				changed = true
				d.admitted(j)
			}
		}
		if len(made.Evicts) > 0 {
			return fmt.Errorf("at %d: the engine evicts %s", d.clock, made.Evicts[0].Pod.Name)
		}
		if !changed {
			return nil
		}
	}
	return fmt.Errorf("at %d: still deciding after %d cycles", d.clock, maxCycles)
}

// bind starts a pod. A job starts with its last pod.
func (d *driver) bind(b decision.Bind, now time.Time) {
	p, j := d.podOf[b.Pod.UID], d.byName[b.Gang.Name]
	at := metav1.NewTime(now)
	p.Spec.NodeName, p.Status.Phase, p.Status.StartTime = b.Node, corev1.PodRunning, &at
	d.cluster.Apply(model.TaskFrom(p, true))
	d.pending--
	if j.bound++; j.bound < len(j.pods) {
		return
	}
	d.free -= j.Procs
	d.result.Starts[j.place] = d.clock
	d.waiting = slices.DeleteFunc(d.waiting, func(o *job) bool { return o == j })
	place, _ := slices.BinarySearchFunc(d.running, j.end(d), func(o *job, end int) int { return cmp.Or(cmp.Compare(o.end(d), end), -1) })
	d.running = slices.Insert(d.running, place, j)
	if by, was := d.promised[j.ID]; was && d.clock > by {
		d.result.Delayed = append(d.result.Delayed, fmt.Sprintf("%s could start at %d and started at %d", j.name(), by, d.clock))
	}
}

// expected returns the jobs that EASY would start now.
func (d *driver) expected() []string {
	var names []string
	for _, k := range EASY(mapped(d.waiting, func(j *job) Job { return j.Job }), d.free, d.runs(), d.clock) {
		names = append(names, d.waiting[k].String())
	}
	slices.Sort(names)
	return names
}

// compare records an instant at which the pass started other jobs than expected.
func (d *driver) compare(want []string) {
	var have []string
	for _, j := range d.running {
		if d.result.Starts[j.place] == d.clock {
			have = append(have, j.String())
		}
	}
	slices.Sort(have)
	if !slices.Equal(have, want) && len(d.result.Different) < 5 {
		d.result.Different = append(d.result.Different, fmt.Sprintf("at %d the engine starts %v, EASY %v; waiting %v", d.clock, have, want, d.waiting[:min(5, len(d.waiting))]))
	}
}

func (j *job) String() string {
	return fmt.Sprintf("%d(%d procs, %d s)", j.ID, j.Procs, max(j.Estimate, j.Run))
}

// runs returns the running jobs.
func (d *driver) runs() []running {
	return mapped(d.running, func(j *job) running {
		return running{j.Procs, j.end(d), d.result.Starts[j.place] + max(j.Estimate, j.Run)}
	})
}

// judge compares the state after a pass with the decision of EASY in the same state.
func (d *driver) judge(next int) {
	if len(d.waiting) == 0 {
		return
	}
	runs := d.runs()
	head := d.waiting[0]
	if _, known := d.promised[head.ID]; !known && head.Procs > d.free {
		d.promised[head.ID], _ = shadowOf(head.Procs, d.free, runs)
	}
	if next == len(d.trace) && len(d.running) == 0 {
		return
	}
	span := d.nextInstant(next) - d.clock
	for _, k := range EASY(mapped(d.waiting, func(j *job) Job { return j.Job }), d.free, runs, d.clock) {
		d.result.IdleUsable += d.waiting[k].Procs * span
	}
}

func mapped[A, B any](list []A, f func(A) B) (out []B) {
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}
