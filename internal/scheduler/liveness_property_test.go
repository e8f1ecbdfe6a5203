package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingk8s "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/kube"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

const (
	// restCycles is the number of cycles without changes at the end: longer than missing pods of a gang can hold up a
	// strict queue, a minute while it waits behind others and a minute as the first.
	restCycles = 70
	// mostCycles bounds a world: everything that starts ends after a few cycles.
	mostCycles = 600
	// podCycles is how many cycles a pod runs.
	podCycles = 3
)

// livingJob is a gang and the fate of its pods.
type livingJob struct {
	group     *schedulingv1beta1.PodGroup
	templates []*corev1.Pod
	late      bool // its pods are created after it is admitted
	most      int  // a quota allows at most that many of its pods
	fails     bool // its first pod fails
	loses     bool // after that, another pod is lost and re-created
	started   bool // its minimum was running
	deleted   bool
}

func (j *livingJob) key() string { return j.group.Namespace + "/" + j.group.Name }

// fullNamespace has a quota that some jobs exceed.
const fullNamespace = "full"

// livingWorld is a cluster in which gangs arrive that can start and gangs that cannot. Running pods end.
type livingWorld struct {
	t       *rapid.T
	cfg     *config.Config
	engine  *Engine
	model   *model.Cluster
	now     time.Time
	objects []model.Delta // nodes, queues, other pods
	jobs    []*livingJob
	pods    map[string]*corev1.Pod
	since   map[string]int // the cycle in which a pod was bound
	cycle   int
	made    int
}

func newLivingWorld(t *rapid.T) *livingWorld {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(clustertest.Configurations))).Draw(t, "configuration")
	cfg, _, err := config.Parse([]byte(clustertest.Configurations[name]))
	if err != nil {
		t.Fatal(err)
	}
	w := &livingWorld{t: t, cfg: cfg, pods: map[string]*corev1.Pod{}, since: map[string]int{}}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		n := make.Node(fmt.Sprintf("n%d", i)).CPU(fmt.Sprint(rapid.IntRange(1, 8).Draw(t, "cpu"))).Memory("64Gi").Resource("pods", "110").
			Label("zone", rapid.SampledFrom([]string{"x", "y"}).Draw(t, "zone")).Label(corev1.LabelHostname, fmt.Sprintf("n%d", i))
		w.objects = append(w.objects, model.NodeFrom(n.Obj()))
		if rapid.IntRange(0, 3).Draw(t, "agent") == 0 {
			p := make.Pod(fmt.Sprintf("agent-%d", i)).On(n.Obj().Name).Phase(corev1.PodRunning).CPU("500m")
			p.Obj().Spec.SchedulerName = "default-scheduler"
			w.objects = append(w.objects, model.TaskFrom(p.Obj(), false))
		}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "queues") {
		q := make.Queue(fmt.Sprintf("q%d", i)).Weight(int32(rapid.IntRange(1, 3).Draw(t, "weight")))
		if rapid.IntRange(0, 2).Draw(t, "capped") == 0 {
			q.Capability("cpu", fmt.Sprint(rapid.IntRange(1, 12).Draw(t, "cap")))
		}
		if rapid.IntRange(0, 3).Draw(t, "strict") == 0 {
			q.Fifo()
		}
		w.objects = append(w.objects, model.QueueFrom(q.Obj()))
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "quota", Namespace: fullNamespace}}
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse(fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "hard")))}
	quota.Status.Hard, quota.Status.Used = quota.Spec.Hard, corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("0")}
	w.objects = append(w.objects, model.QuotaFrom(quota))
	w.objects = append(w.objects, model.QueueFrom(make.Queue("root").Reclaimable(false).Obj()))
	for name, value := range map[string]int32{"low": 1, "high": 10} {
		w.objects = append(w.objects, model.PriorityClassFrom(&schedulingk8s.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}))
	}
	w.start()
	return w
}

// start resets the world to nodes and queues.
func (w *livingWorld) start() {
	e, err := New(w.cfg, WithAttacher(kube.New()))
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine, w.model, w.now = e, model.New(), make.Epoch
	w.model.Apply(w.objects...)
}

// alone returns the same cluster with only one of the jobs, in its original state.
func (w *livingWorld) alone(j *livingJob) bool {
	one := &livingWorld{t: w.t, cfg: w.cfg, objects: w.objects, pods: map[string]*corev1.Pod{}, since: map[string]int{}}
	one.start()
	only := *j
	only.started, only.fails, only.loses, only.deleted = false, false, false, false
	one.submit(&only)
	for range 8 {
		one.step()
	}
	return only.started
}

// draw draws a job that may or may not be able to start.
func (w *livingWorld) draw() *livingJob {
	t := w.t
	w.made++
	name := fmt.Sprintf("g%d", w.made)
	tasks := rapid.IntRange(1, 5).Draw(t, "tasks")
	least := rapid.IntRange(1, tasks).Draw(t, "min")
	j := &livingJob{late: rapid.Bool().Draw(t, "late"), most: tasks}
	b := make.Gang(name).Min(least).Queue(fmt.Sprintf("q%d", rapid.IntRange(0, 2).Draw(t, "queue"))).Age(-time.Duration(w.made) * time.Second)
	if class := rapid.SampledFrom([]string{"", "low", "high"}).Draw(t, "class"); class != "" {
		b.PriorityClass(class)
	}
	if rapid.IntRange(0, 2).Draw(t, "estimated") == 0 { // resources are reserved, and jobs are admitted in advance
		b.Annotation(keys.RunningEstimate, fmt.Sprintf("%ds", rapid.IntRange(4, 20).Draw(t, "estimate")))
	}
	kind := rapid.IntRange(0, 18).Draw(t, "kind")
	cpu, alike, sum := rapid.IntRange(1, 4).Draw(t, "cpu"), rapid.Bool().Draw(t, "alike"), 0
	for i := range tasks {
		p := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).Role([]string{"a", "b"}[i%2])
		if !alike {
			cpu = rapid.IntRange(1, 4).Draw(t, "cpu")
		}
		asked := cpu
		if kind == 8 && i == 0 {
			asked = 9
		}
		if i < least {
			sum += asked
		}
		shapeOf(p.CPU(fmt.Sprint(asked)), kind)
		if kind == 18 {
			p.Obj().Namespace = fullNamespace
		}
		j.templates = append(j.templates, p.Obj())
	}
	switch kind {
	case 7:
		j.most = rapid.IntRange(0, tasks-1).Draw(t, "quota")
	case 9:
		sum = 1 // less than its pods request
	case 10, 11:
		j.fails, j.loses = true, kind == 11
	case 12:
		b.MinTask("a", (least+1)/2).MinTask("b", least/2)
	}
	if rapid.IntRange(0, 4).Draw(t, "bare") > 0 {
		b.MinResource("cpu", fmt.Sprint(sum))
	}
	j.group = b.Obj()
	j.group.UID = types.UID(name)
	j.group.Namespace = j.templates[0].Namespace
	return j
}

// shapeOf sets a pod's request and rules according to the kind of its job.
func shapeOf(p *make.PodBuilder, kind int) {
	label := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	switch kind {
	case 3:
		p.Select("zone", "x")
	case 17: // past the gate of its queue, for a node that does not exist
		p.Select("zone", "nowhere").Annotation(keys.QueueAllocationGate, "true").Gate(keys.QueueAllocationGate)
	case 4:
		p.Select("zone", "nowhere")
	case 5:
		p.Gate("example.com/wait")
	case 6:
		p.Obj().Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "missing"}}}}
	case 13:
		p.HostPort(80)
	case 14:
		p.Label("app", "a").Affinity(&corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: label}}}})
	case 15:
		p.Affinity(&corev1.Affinity{PodAffinity: &corev1.PodAffinity{ // only pods of kind 14 match
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: label}}}})
	case 16:
		p.Label("app", "b").Spread("zone", 1)
	}
}

func (w *livingWorld) submit(j *livingJob) {
	w.jobs = append(w.jobs, j)
	w.model.Apply(model.GangFrom(j.group))
	if !j.late {
		w.makePods(j)
	}
}

// makePods creates the pods of a job that a controller would create now.
func (w *livingWorld) makePods(j *livingJob) {
	exist := 0
	for _, p := range j.templates {
		if w.pods[p.Name] != nil {
			exist++
		}
	}
	for _, p := range j.templates {
		if w.pods[p.Name] == nil && exist < j.most {
			w.again(p)
			exist++
		}
	}
}

// again creates a pod, or replaces a deleted one.
func (w *livingWorld) again(template *corev1.Pod) {
	w.made++
	p := template.DeepCopy()
	p.UID, p.Spec.NodeName, p.Status = types.UID(fmt.Sprintf("%s-%d", p.Name, w.made)), "", corev1.PodStatus{Phase: corev1.PodPending}
	w.pods[p.Name] = p
	delete(w.since, p.Name)
	w.model.Apply(model.TaskFrom(p, true))
}

// lose deletes a pod. Its controller re-creates it.
func (w *livingWorld) lose(name string) {
	p := w.pods[name]
	w.model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
	w.again(p)
}

// step runs a cycle, carries it out, and reports whether anything changed.
func (w *livingWorld) step() (happened bool) {
	w.cycle++
	w.now = w.now.Add(2 * time.Second)
	d := w.engine.Cycle(w.now, w.model)
	decision.Assume(w.model, &d)
	happened = len(d.Binds)+len(d.Evicts) > 0
	for _, e := range d.Evicts {
		w.lose(e.Pod.Name)
	}
	for _, u := range d.Ungates {
		p := w.pods[u.Name]
		p.Spec.SchedulingGates = nil
		w.model.Apply(model.TaskFrom(p, true))
	}
	for _, b := range d.Binds {
		p := w.pods[b.Pod.Name]
		if p.UID != b.Pod.UID {
			continue
		}
		p.Spec.NodeName, p.Status.Phase = b.Node, corev1.PodRunning
		w.since[p.Name] = w.cycle
		w.model.Apply(model.TaskFrom(p, true))
	}
	for _, j := range w.jobs {
		happened = w.live(j) || happened
	}
	return happened
}

// live advances the pods of a job.
func (w *livingWorld) live(j *livingJob) (happened bool) {
	g := w.model.Gangs[j.key()]
	if j.deleted || g == nil {
		return false
	}
	j.started = j.started || g.CountReady() >= g.MinMember && g.AllocatedTasks() > 0
	if j.late && g.Status.Phase != "" && g.Status.Phase != schedulingv1beta1.PodGroupPending {
		w.makePods(j)
	}
	for i, template := range j.templates {
		p := w.pods[template.Name]
		if p == nil || p.Status.Phase != corev1.PodRunning {
			continue
		}
		happened = true
		switch age := w.cycle - w.since[p.Name]; {
		case age == 1 && i == 0 && j.fails:
			w.end(p, corev1.PodFailed)
		case age == 1 && i == 1 && j.loses:
			j.loses = false
			w.lose(p.Name)
		case age >= podCycles:
			w.end(p, corev1.PodSucceeded)
		}
	}
	return happened
}

func (w *livingWorld) end(p *corev1.Pod, phase corev1.PodPhase) {
	p.Status.Phase = phase
	w.model.Apply(model.TaskFrom(p, true))
}

// remove deletes a job with its pods.
func (w *livingWorld) remove(j *livingJob) {
	j.deleted = true
	for _, template := range j.templates {
		if p := w.pods[template.Name]; p != nil {
			w.model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
		}
	}
	w.model.Apply(model.GangGone{Namespace: j.group.Namespace, Name: j.group.Name, UID: j.group.UID})
}

// disturb makes an unrelated change.
func (w *livingWorld) disturb() {
	switch rapid.IntRange(0, 9).Draw(w.t, "event") {
	case 0:
		if j := w.jobs[rapid.IntRange(0, len(w.jobs)-1).Draw(w.t, "job")]; !j.deleted {
			w.remove(j)
		}
	case 1, 2:
		j := w.jobs[rapid.IntRange(0, len(w.jobs)-1).Draw(w.t, "job")]
		if name := j.templates[0].Name; !j.deleted && w.pods[name] != nil && w.pods[name].Status.Phase == corev1.PodRunning {
			w.lose(name)
		}
	}
}

// waiting describes why jobs have not started.
func (w *livingWorld) waiting() (text string) {
	for _, j := range w.jobs {
		if g := w.model.Gangs[j.key()]; !j.started && !j.deleted && g.Status.Explanation != nil {
			text += fmt.Sprintf("%s in %s %s: %s\n", g.Name, g.Queue.Name, g.Status.Phase, g.Status.Explanation.Message)
		}
	}
	return text
}

// TestWhoCouldStartAloneStarts mixes jobs that can start with jobs that cannot, for various causes, and ends
// everything that runs. Each job that starts in a cluster of its own must start here, too, after a limited number
// of cycles.
func TestWhoCouldStartAloneStarts(t *testing.T) {
	propertytest.Check(t, 300, func(t *rapid.T) {
		w := newLivingWorld(t)
		for range rapid.IntRange(2, 7).Draw(t, "jobs") {
			w.submit(w.draw())
			for range rapid.IntRange(0, 3).Draw(t, "cycles") {
				w.step()
			}
			w.disturb()
		}
		for rest := 0; rest < restCycles; rest++ {
			if w.step() {
				rest = 0
			}
			if w.cycle > mostCycles {
				t.Fatalf("after %d cycles pods are still being started or evicted", w.cycle)
			}
		}
		for _, j := range w.jobs {
			if !j.started && !j.deleted && w.alone(j) {
				t.Errorf("%s would start alone, and has not:\n%s", j.group.Name, w.waiting())
			}
		}
	})
}
