package chaos

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Rules follows the API server's history and records violations of invariants.
type Rules struct {
	nodes      map[string]int64 // capacity of each node in milli-CPUs
	bindWindow time.Duration    // how long a gang may be partially bound
	lease      time.Duration

	mu         sync.Mutex
	violations []string
	seen       map[string]bool // violations, so that each is recorded once
	pods       map[types.UID]pod
	nodeOf     map[types.UID]string // of every pod that was ever bound
	gangs      map[string]*gangState
	numbers    map[int64]types.UID
	numberOf   map[types.UID]int64
	terms      map[string]term // by component
	counts     Counts
	lastWrite  string
}

// Counts are numbers of observed events, which show that a run was not idle.
type Counts struct{ Binds, Jobs, Writes, LateWrites, Terms int }

// pod holds the properties of a pod that the rules use.
type pod struct {
	name, node, queue, group string
	milliCPU                 int64
	ended                    bool
}

// gangState is the state of a PodGroup.
type gangState struct {
	minimum int
	bound   map[types.UID]bool
	since   time.Time // when the first of its pods was bound; zero if no pod is bound
	whole   bool      // it was fully bound once, so lost pods do not make it a partial gang
}

// term is the holder of a lease and the time of its last renewal.
type term struct {
	replica string
	renewed time.Time
}

// NewRules creates rules for nodes with these capacities in milli-CPUs.
func NewRules(nodes map[string]int64, bindWindow, lease time.Duration) *Rules {
	return &Rules{nodes: nodes, bindWindow: bindWindow, lease: lease, seen: map[string]bool{}, pods: map[types.UID]pod{}, nodeOf: map[types.UID]string{},
		gangs: map[string]*gangState{}, numbers: map[int64]types.UID{}, numberOf: map[types.UID]int64{}, terms: map[string]term{}}
}

// Violations returns the recorded violations.
func (r *Rules) Violations() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.violations)
}

// Counts returns the numbers of events observed so far.
func (r *Rules) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// Broken records a violation that another part of the package has found.
func (r *Rules) Broken(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken(format, args...)
}

func (r *Rules) broken(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !r.seen[text] {
		r.seen[text] = true
		r.violations = append(r.violations, time.Now().Format("15:04:05.000")+" "+text)
	}
}

// Pods replaces all pods after a new list, and checks the rules.
func (r *Rules) Pods(all []*corev1.Pod, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pods = map[types.UID]pod{}
	for _, g := range r.gangs {
		clear(g.bound)
	}
	for _, p := range all {
		r.enter(p)
	}
	r.judge(now)
}

// PodSeen applies one change of a pod and checks the rules.
func (r *Rules) PodSeen(p *corev1.Pod, gone bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if gone {
		if g := r.gangs[r.pods[p.UID].group]; g != nil {
			delete(g.bound, p.UID)
		}
		delete(r.pods, p.UID)
	} else {
		r.enter(p)
	}
	r.judge(now)
}

func (r *Rules) enter(p *corev1.Pod) {
	is := pod{name: p.Name, node: p.Spec.NodeName, queue: p.Labels[keys.QueueName], group: p.Annotations[keys.GroupName],
		ended: p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed}
	for _, c := range p.Spec.Containers {
		is.milliCPU += c.Resources.Requests.Cpu().MilliValue()
	}
	r.pods[p.UID] = is
	if is.node == "" {
		return
	}
	switch was, bound := r.nodeOf[p.UID]; {
	case !bound:
		r.counts.Binds++
	case was != is.node:
		r.broken("pod %s (%s) moved from %s to %s", p.Name, p.UID, was, is.node)
	}
	r.nodeOf[p.UID] = is.node
	r.gang(is.group).bound[p.UID] = true
}

func (r *Rules) gang(name string) *gangState {
	if r.gangs[name] == nil {
		r.gangs[name] = &gangState{bound: map[types.UID]bool{}}
	}
	return r.gangs[name]
}

// judge checks the current pods against nodes, queues and gangs.
func (r *Rules) judge(now time.Time) {
	onNode, inQueue := map[string]int64{}, map[string]int64{}
	for _, p := range r.pods {
		if p.node == "" || p.ended {
			continue
		}
		onNode[p.node] += p.milliCPU
		for q := p.queue; q != ""; q = parents[q] {
			inQueue[q] += p.milliCPU
		}
	}
	for _, name := range slices.Sorted(maps.Keys(onNode)) {
		if has, known := r.nodes[name]; known && onNode[name] > has {
			r.broken("node %s has %d milli-cpu and gave %d", name, has, onNode[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inQueue)) {
		if may, limited := capabilities[name]; limited && inQueue[name] > may*1000 {
			r.broken("queue %s may use %d milli-cpu and its pods use %d", name, may*1000, inQueue[name])
		}
	}
	for name, g := range r.gangs {
		r.judgeGang(name, g, now)
	}
}

func (r *Rules) judgeGang(name string, g *gangState, now time.Time) {
	switch {
	case g.whole || name == "" || g.minimum == 0:
	case len(g.bound) >= g.minimum:
		g.whole = true
	case len(g.bound) == 0:
		g.since = time.Time{}
	case g.since.IsZero():
		g.since = now
	case now.Sub(g.since) > r.bindWindow:
		g.whole = true // report it once
		r.broken("%d of the %d pods that gang %s needs have been bound for %s, and no more", len(g.bound), g.minimum, name, r.bindWindow)
	}
}

// GroupSeen applies one change of a PodGroup.
func (r *Rules) GroupSeen(g *schedulingv1beta1.PodGroup, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if gone {
		delete(r.gangs, g.Name)
		return
	}
	r.gang(g.Name).minimum = int(g.Spec.MinMember)
}

// JobSeen applies one change of a Job.
func (r *Rules) JobSeen(job *batchv1alpha1.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first, ok := batchv1alpha1.JobID(job)
	if !ok {
		return // admission could not assign a number; the controllers will
	}
	was, known := r.numberOf[job.UID]
	if known && was != first {
		r.broken("job %s was number %d and is %d", job.Name, was, first)
	}
	if known {
		return
	}
	r.counts.Jobs++
	r.numberOf[job.UID] = first
	for n := first; n < first+int64(batchv1alpha1.IDsOf(job)); n++ {
		if r.numbers[n] != "" {
			r.broken("number %d of job %s was given before", n, job.Name)
		}
		r.numbers[n] = job.UID
	}
}

// Renewed records an accepted lease.
func (r *Rules) Renewed(component, replica string, asked time.Time, holds bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.terms[component]
	switch {
	case holds:
		if was.replica != replica {
			r.counts.Terms++
		}
		r.terms[component] = term{replica: replica, renewed: asked}
	case was.replica == replica:
		r.terms[component] = term{}
	}
}

// Wrote records a write of a replica.
func (r *Rules) Wrote(component, replica, what string, at time.Time, late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Writes++
	r.lastWrite = replica + ": " + what
	if late {
		r.counts.LateWrites++
		return
	}
	if component != scheduler && component != controllers {
		return
	}
	t, led := r.terms[component]
	switch {
	case !led: // queues are created before the first term
	case t.replica != replica:
		r.broken("%s wrote (%s) while %q held the lease", replica, what, t.replica)
	case at.Sub(t.renewed) > r.lease:
		r.broken("%s wrote (%s) %s after it had renewed its lease of %s", replica, what, at.Sub(t.renewed).Round(time.Millisecond), r.lease)
	}
}

// LastWrite returns the last write and its replica.
func (r *Rules) LastWrite() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastWrite
}

// Leader returns the replica that holds a component's lease, or "" if it is unknown.
func (r *Rules) Leader(component string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.terms[component].replica
}

// Tick checks the rules that depend on time.
func (r *Rules) Tick(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judge(now)
}
