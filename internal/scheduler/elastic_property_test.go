package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// elasticNode is a node with its capacity.
type elasticNode struct{ cpu, slots int }

// elasticJob is a job of equal pods. More of them than its minimum may run.
type elasticJob struct {
	queue     string
	min, each int // each is the cpu of a pod
	pods      []*corev1.Pod
}

// elastic is a world of elastic jobs. cpu counts whole.
type elastic struct {
	t      *rapid.T
	engine *Engine
	model  *model.Cluster
	now    time.Time
	nodes  map[string]elasticNode
	caps   map[string]int // capability of queues; a queue without one is missing here
	jobs   map[string]*elasticJob
}

func newElastic(t *rapid.T) *elastic {
	cfg, _, err := config.Parse([]byte("actions: allocate\ntiers:\n- plugins: [{name: gang}]\n- plugins: [{name: predicates}, {name: capacity}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &elastic{t: t, engine: e, model: model.New(), now: make.Epoch, nodes: map[string]elasticNode{}, caps: map[string]int{}, jobs: map[string]*elasticJob{}}
	for _, name := range []string{"one", "two"} {
		b := make.Queue(name)
		if rapid.Bool().Draw(t, "capped") {
			w.caps[name] = rapid.IntRange(1, 8).Draw(t, "capability")
			b.Capability("cpu", fmt.Sprint(w.caps[name]))
		}
		w.model.Apply(model.QueueFrom(b.Obj()))
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		name, n := fmt.Sprintf("n%d", i), elasticNode{rapid.IntRange(0, 6).Draw(t, "cpu"), rapid.IntRange(1, 5).Draw(t, "slots")}
		w.nodes[name] = n
		w.model.Apply(model.NodeFrom(make.Node(name).CPU(fmt.Sprint(n.cpu)).Resource("pods", fmt.Sprint(n.slots)).Obj()))
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "jobs") {
		w.submit(fmt.Sprintf("j%d", i))
	}
	return w
}

func (w *elastic) submit(name string) {
	size := rapid.IntRange(1, 5).Draw(w.t, "size")
	j := &elasticJob{
		queue: rapid.SampledFrom([]string{"one", "two"}).Draw(w.t, "queue"), min: rapid.IntRange(1, size).Draw(w.t, "min"), each: rapid.IntRange(1, 3).Draw(w.t, "each"),
	}
	w.jobs[name] = j
	w.model.Apply(model.GangFrom(make.Gang(name).Min(j.min).Queue(j.queue).Obj()))
	for i := range size {
		p := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).CPU(fmt.Sprint(j.each)).Obj()
		j.pods = append(j.pods, p)
		w.model.Apply(model.TaskFrom(p, true))
	}
}

// settle carries out decisions until nothing changes for some cycles, which are so far apart that new numbers are written.
func (w *elastic) settle() {
	for quiet := 0; quiet < 3; quiet++ {
		w.now = w.now.Add(numbersEvery + time.Second)
		d := w.engine.Cycle(w.now, w.model)
		decision.Assume(w.model, &d)
		for _, b := range d.Binds {
			quiet = 0
			for _, p := range w.jobs[b.Gang.Name].pods {
				if p.UID == b.Pod.UID {
					p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
					w.model.Apply(model.TaskFrom(p, true))
				}
			}
		}
	}
}

// end ends some of the running pods.
func (w *elastic) end() {
	for _, name := range slices.Sorted(maps.Keys(w.jobs)) {
		for _, p := range w.jobs[name].pods {
			if p.Status.Phase == corev1.PodRunning && rapid.IntRange(0, 3).Draw(w.t, "ends") == 0 {
				p.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodSucceeded, corev1.PodFailed}).Draw(w.t, "as")
				w.model.Apply(model.TaskFrom(p, true))
			}
		}
	}
}

// in counts a job's pods by phase.
func (j *elasticJob) in(phase corev1.PodPhase) (n int) {
	for _, p := range j.pods {
		if p.Status.Phase == phase {
			n++
		}
	}
	return n
}

// inUse returns the cpu of the running pods of a queue.
func (w *elastic) inUse(queue string) (sum int) {
	for _, j := range w.jobs {
		if j.queue == queue {
			sum += j.each * j.in(corev1.PodRunning)
		}
	}
	return sum
}

// limit returns the capability of a queue, if the cluster has as much.
func (w *elastic) limit(queue string) (limit int, capped bool) {
	limit, capped = w.caps[queue]
	return limit, capped && limit <= w.allCPU()
}

// free returns what is free on the nodes.
func (w *elastic) free() map[string]elasticNode {
	free := maps.Clone(w.nodes)
	for _, j := range w.jobs {
		for _, p := range j.pods {
			if p.Status.Phase == corev1.PodRunning {
				n := free[p.Spec.NodeName]
				free[p.Spec.NodeName] = elasticNode{n.cpu - j.each, n.slots - 1}
			}
		}
	}
	return free
}

// expected returns the sentence about a job whose pods wait; "" if it has none, or starts more of them.
func (w *elastic) expected(j *elasticJob) string {
	running, succeeded, failed, pending := j.in(corev1.PodRunning), j.in(corev1.PodSucceeded), j.in(corev1.PodFailed), j.in(corev1.PodPending)
	need := j.min - running - succeeded
	switch {
	case need <= 0 && pending == 0, running+pending == 0: // it has what it needs, or has ended
		return ""
	case need > pending:
		text := fmt.Sprintf("fewer pods exist than the gang needs: %d of %d", running+succeeded+pending, j.min)
		if failed > 0 {
			text += fmt.Sprintf(", %d failed", failed)
		}
		return text
	case need > 0 || running == 0: // a job of which nothing runs needs a pod
		return w.minimumWaits(j, running, max(need, 1))
	}
	why := w.whyMore(j)
	if why == "" {
		return ""
	}
	text := fmt.Sprintf("%d of %d pods have a node", running, len(j.pods))
	if succeeded > 0 {
		text += fmt.Sprintf(", %d completed", succeeded)
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	enough, rest := "1 is enough", "the other pod waits"
	if j.min > 1 {
		enough = fmt.Sprintf("%d are enough", j.min)
	}
	if pending > 1 {
		rest = fmt.Sprintf("the other %d wait", pending)
	}
	return fmt.Sprintf("%s (%s); %s: %s", text, enough, rest, why)
}

// whyMore returns why no further pod of a job starts; "" if one does.
func (w *elastic) whyMore(j *elasticJob) string {
	if limit, capped := w.limit(j.queue); capped && w.inUse(j.queue)+j.each > limit {
		return fmt.Sprintf("queue %s would exceed its capability: cpu requested %d, %d in use, limit %d", j.queue, j.each, w.inUse(j.queue), limit)
	}
	text, fits := w.byNode(j, w.free())
	if fits {
		return ""
	}
	return text
}

// minimumWaits returns why a job does not get its minimum, of which it needs so many pods; "" if it does.
func (w *elastic) minimumWaits(j *elasticJob, running, need int) string {
	if most := w.largest(); j.each > most { // even on empty nodes
		text := fmt.Sprintf("no node is large enough even when empty: cpu requested %d, the largest node has ", j.each)
		if most == 0 {
			text += "none"
		} else {
			text += fmt.Sprint(most)
		}
		if limit, capped := w.caps[j.queue]; capped && need*j.each > limit {
			text += fmt.Sprintf("; the request exceeds the capability of queue %s: cpu requested %d, limit %d", j.queue, need*j.each, limit)
		}
		return text
	}
	limit, capped := w.limit(j.queue)
	if capped && need*j.each > limit {
		return fmt.Sprintf("the request exceeds the capability of queue %s: cpu requested %d, limit %d", j.queue, need*j.each, limit)
	}
	free, placed := w.free(), 0
	for ; placed < need; placed++ {
		if capped && w.inUse(j.queue)+(placed+1)*j.each > limit {
			return fmt.Sprintf("queue %s would exceed its capability: cpu requested %d, %d in use, limit %d", j.queue, need*j.each, w.inUse(j.queue), limit)
		}
		text, fits := w.byNode(j, free)
		if !fits {
			if j.min == 1 && len(j.pods) == 1 {
				return "the pod does not fit on any node: " + strings.Replace(text, "one more pod", "it", 1)
			}
			small := ": "
			if all := w.allCPU(); need*j.each > all {
				small = fmt.Sprintf(", because the cluster is too small: cpu requested %d, limit %d; ", need*j.each, all)
			}
			completed, wanted := "", j.min
			if succeeded := j.in(corev1.PodSucceeded); succeeded > 0 {
				completed, wanted = fmt.Sprintf(", %d completed", succeeded), running+need
			}
			return fmt.Sprintf("not all pods of the gang fit at the same time%s%d of %d fit%s; %s", small, running+placed, wanted, completed, text)
		}
		for name, n := range free {
			if n.cpu >= j.each && n.slots > 0 {
				free[name] = elasticNode{n.cpu - j.each, n.slots - 1}
				break
			}
		}
	}
	return ""
}

func (w *elastic) largest() (most int) {
	for _, n := range w.nodes {
		most = max(most, n.cpu)
	}
	return most
}

func (w *elastic) allCPU() (sum int) {
	for _, n := range w.nodes {
		sum += n.cpu
	}
	return sum
}

// byNode counts the nodes by the reason why they take no pod of a job, with what the nearest lacks, and reports whether
// one takes it.
func (w *elastic) byNode(j *elasticJob, free map[string]elasticNode) (text string, fits bool) {
	counts, short := map[string]int{}, map[string]int{}
	for name, n := range free {
		code := ""
		switch {
		case n.slots == 0:
			code = "TooManyPods"
		case j.each > w.nodes[name].cpu:
			code = "TooLarge cpu"
		case j.each > n.cpu:
			code = "InsufficientResource cpu"
		default:
			return "", true
		}
		counts[code]++
		if lacks := j.each - n.cpu; counts[code] == 1 || lacks < short[code] {
			short[code] = lacks
		}
	}
	codes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(-cmp.Compare(counts[a], counts[b]), cmp.Compare(a, b))
	})
	var parts []string
	for _, code := range codes {
		part := fmt.Sprintf("%d %s", counts[code], code)
		if code != "TooManyPods" {
			part += fmt.Sprintf(" (short by %d)", short[code])
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf("0/%d nodes can run one more pod: %s", len(free), strings.Join(parts, ", ")), false
}

// TestPodsBeyondTheMinimumAreCountedAsTheyAre (I12) compares the sentences about elastic jobs with an independent
// count: how many pods of a job have a node, have completed or failed, and wait; and why no more start, or why the
// minimum does not, with the numbers of the queue and of the nodes. A job whose next pods would fit has no sentence.
func TestPodsBeyondTheMinimumAreCountedAsTheyAre(t *testing.T) {
	seen := map[string]int{}
	whole := propertytest.Check(t, 3000, func(t *rapid.T) {
		w := newElastic(t)
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			w.settle()
			for _, name := range slices.Sorted(maps.Keys(w.jobs)) {
				w.compare(name, seen)
			}
			w.end()
		}
	})
	t.Logf("said: %v", seen)
	for _, reason := range []string{"", "ExtraPodsWait", "NotEnoughPods", "GangDoesNotFit", "OverCapability", "TooLarge", "completed", "failed"} {
		if whole && seen[reason] == 0 {
			t.Errorf("%q was never said", reason)
		}
	}
}

// compare compares the explanation of a job with the count.
func (w *elastic) compare(name string, seen map[string]int) {
	j, told := w.jobs[name], w.model.Gangs["default/"+name].Status.Explanation
	want := w.expected(j)
	if told == nil {
		told = &schedulingv1beta1.Explanation{Members: &schedulingv1beta1.ExplainedMembers{Running: int32(j.in(corev1.PodRunning))}}
	}
	seen[told.Reason]++
	for _, word := range []string{"completed", "failed"} {
		if strings.Contains(told.Message, word) {
			seen[word]++
		}
	}
	if told.Message != want {
		w.t.Fatalf("%stold %s: %s\nwant       %s", w, name, told.Message, want)
	}
	need := j.min - j.in(corev1.PodRunning) - j.in(corev1.PodSucceeded)
	for _, c := range w.model.Gangs["default/"+name].Status.Conditions {
		lacks := fmt.Sprintf("%d/%d tasks in gang unschedulable: ", need, len(j.pods))
		if c.Type == schedulingv1beta1.PodGroupUnschedulableType && c.Status == corev1.ConditionTrue && need > 0 && !strings.HasPrefix(c.Message, lacks) {
			w.t.Fatalf("%sthe condition of %s says %s\nwant %s", w, name, c.Message, lacks)
		}
	}
	if running := j.in(corev1.PodRunning); int(told.Members.Running) != running {
		w.t.Fatalf("%s%d pods of %s run, told %d", w, running, name, told.Members.Running)
	}
}

func (w *elastic) String() string {
	text := fmt.Sprintf("capabilities %v, free %v\n", w.caps, w.free())
	for _, name := range slices.Sorted(maps.Keys(w.jobs)) {
		j := w.jobs[name]
		text += fmt.Sprintf("%s in %s: min %d, each %d, running %d, succeeded %d, failed %d, pending %d\n", name, j.queue, j.min, j.each,
			j.in(corev1.PodRunning), j.in(corev1.PodSucceeded), j.in(corev1.PodFailed), j.in(corev1.PodPending))
	}
	return text
}
