package whatif

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
	"github.com/vc-batch/vc/test/propertytest"
)

// configurations are the configurations of the worlds in these tests.
var configurations = map[string]string{
	"the built-in one": config.DefaultText,
	"with preemption and reclaim": `
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: overcommit}, {name: drf, enablePreemptable: false}, {name: predicates}, {name: proportion}, {name: nodeorder}, {name: binpack}]
`,
	"placing before letting in": `
actions: "allocate, backfill, enqueue"
tiers:
- plugins: [{name: priority}, {name: gang}]
- plugins: [{name: predicates}, {name: capacity}, {name: nodeorder}]
`,
}

// world is a cluster in which decisions are carried out at once.
type world struct {
	t       *rapid.T
	cfg     *config.Config
	engine  *scheduler.Engine
	model   *model.Cluster
	now     time.Time
	queues  []*schedulingv1beta1.Queue
	classes []*schedulingv1.PriorityClass
	pods    map[types.UID]*corev1.Pod
	jobs    int
}

func newWorld(t *rapid.T) *world {
	names := []string{"placing before letting in", "the built-in one", "with preemption and reclaim"}
	cfg, _, err := config.Parse([]byte(configurations[rapid.SampledFrom(names).Draw(t, "configuration")]))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := scheduler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, cfg: cfg, engine: engine, model: model.New(), now: make.Epoch, pods: map[types.UID]*corev1.Pod{}}
	w.addQueue(make.Queue("root").Reclaimable(false).Obj())
	for i := range rapid.IntRange(1, 3).Draw(t, "queues") {
		q := make.Queue(fmt.Sprintf("q%d", i)).Weight(int32(rapid.IntRange(1, 4).Draw(t, "weight")))
		if rapid.IntRange(0, 3).Draw(t, "capped") == 0 {
			q.Capability("cpu", strconv.Itoa(rapid.IntRange(1, 12).Draw(t, "cap")))
		}
		w.addQueue(q.Obj())
	}
	for name, value := range map[string]int32{"low": 1, "high": 100} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		w.classes = append(w.classes, class)
		w.model.Apply(model.PriorityClassFrom(class))
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		node := make.Node(fmt.Sprintf("n%d", i)).CPU(strconv.Itoa(rapid.IntRange(2, 8).Draw(t, "cpu"))).Memory("64Gi")
		if rapid.IntRange(0, 4).Draw(t, "tainted") == 0 {
			node.Taint("team", "prod", corev1.TaintEffectNoSchedule)
		}
		w.model.Apply(model.NodeFrom(node.Obj()))
	}
	for range rapid.IntRange(0, 8).Draw(t, "jobs before") {
		w.submit(w.draw())
		w.settle()
	}
	return w
}

func (w *world) addQueue(q *schedulingv1beta1.Queue) {
	q.Status.State = schedulingv1beta1.QueueStateOpen
	w.queues = append(w.queues, q)
	w.model.Apply(model.QueueFrom(q))
}

// draw draws a job.
func (w *world) draw() *batchv1alpha1.Job {
	t := w.t
	w.jobs++
	job := &batchv1alpha1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: fmt.Sprintf("job%d", w.jobs)},
	}
	if rapid.IntRange(0, 9).Draw(t, "stray") > 0 {
		job.Spec.Queue = rapid.SampledFrom(w.queues[1:]).Draw(t, "queue").Name
	} else {
		job.Spec.Queue = "nowhere"
	}
	job.Spec.PriorityClassName = rapid.SampledFrom([]string{"", "low", "high"}).Draw(t, "class")
	for i := range rapid.IntRange(1, 2).Draw(t, "tasks") {
		task := batchv1alpha1.TaskSpec{Name: fmt.Sprintf("t%d", i), Replicas: int32(rapid.IntRange(1, 4).Draw(t, "replicas"))}
		container := corev1.Container{Name: "c", Image: "i"}
		container.Resources.Requests = corev1.ResourceList{
			"cpu": resource.MustParse(strconv.Itoa(rapid.IntRange(1, 5).Draw(t, "asks"))),
		}
		task.Template.Spec.Containers = []corev1.Container{container}
		task.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		if rapid.IntRange(0, 3).Draw(t, "tolerant") == 0 {
			task.Template.Spec.Tolerations = []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpExists}}
		}
		job.Spec.Tasks = append(job.Spec.Tasks, task)
		job.Spec.MinAvailable += task.Replicas
	}
	if rapid.Bool().Draw(t, "elastic") {
		job.Spec.MinAvailable = int32(rapid.IntRange(1, int(job.Spec.MinAvailable)).Draw(t, "least"))
	}
	return job
}

func (w *world) prepare(uid string, objects ...runtime.Object) *Simulation {
	p := &insightv1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "plan", UID: types.UID(uid)}}
	for _, o := range objects {
		raw, err := json.Marshal(o)
		if err != nil {
			w.t.Fatal(err)
		}
		p.Spec.Objects = append(p.Spec.Objects, runtime.RawExtension{Raw: raw})
	}
	return PrepareSimulation(&Question{Plan: p, Queues: w.queues, Classes: w.classes, SchedulerNames: []string{"volcano"}, Now: w.now})
}

// happened is the outcome for a job.
type happened struct {
	Placements []insightv1alpha1.Placement
	Evicted    []string
}

// submit submits a job as the controller would: first the PodGroup, then the pods when it is admitted, and runs
// cycles until they are scheduled.
func (w *world) submit(job *batchv1alpha1.Job) (h happened) {
	made := w.prepare("real-"+job.Name, job).items[0].job
	if made == nil {
		return h
	}
	w.model.Apply(model.GangFrom(made.group))
	places := newPlacements(made.pods)
	in := false
	for range 6 {
		d := w.engine.Cycle(w.now, w.model)
		decision.Assume(w.model, &d)
		p := scheduler.OutcomeOf(&d, made.group.UID)
		for _, b := range p.Binds {
			places.addPlacedPod(b.Pod.UID, b.Node, false)
		}
		for _, n := range d.Nominations {
			if n.Node != "" {
				places.addPlacedPod(n.Pod.UID, n.Node, true)
			}
		}
		for _, e := range p.Evicts {
			h.Evicted = append(h.Evicted, e.Pod.Name)
		}
		if in || len(p.Binds)+len(p.Evicts) > 0 { // the decision is made; later effects of other gangs are not part of the forecast
			h.Placements = places.sortedPlacements()
			slices.Sort(h.Evicted)
			w.carryOut(&d)
			return h
		}
		w.carryOut(&d)
		if g := w.model.Gangs[made.group.Namespace+"/"+made.group.Name]; !in && g != nil && g.Status.Phase == schedulingv1beta1.PodGroupInqueue {
			in = true
			for _, pod := range made.pods {
				w.pods[pod.UID] = pod
				w.model.Apply(model.TaskFrom(pod, true))
			}
		}
	}
	h.Placements = places.sortedPlacements()
	return h
}

// carryOut makes pods run and end at once.
func (w *world) carryOut(d *decision.Decisions) {
	for _, b := range d.Binds {
		if pod := w.pods[b.Pod.UID]; pod != nil {
			pod.Spec.NodeName, pod.Status.Phase = b.Node, corev1.PodRunning
			w.model.Apply(model.TaskFrom(pod, true))
		}
	}
	for _, e := range d.Evicts {
		w.model.Apply(model.TaskGone{Namespace: e.Pod.Namespace, Name: e.Pod.Name, UID: e.Pod.UID})
		delete(w.pods, e.Pod.UID)
	}
}

// settle runs cycles until nothing changes. It reports whether that happened.
func (w *world) settle() bool {
	for range 20 {
		d := w.engine.Cycle(w.now, w.model)
		decision.Assume(w.model, &d)
		w.carryOut(&d)
		if len(d.Binds)+len(d.Evicts)+len(d.Nominations) == 0 && !d.Again {
			return true
		}
	}
	return false
}

// TestWhatAPlanSaysIsWhatHappens simulates a job on a random cluster and then submits it as the job controller
// would.
func TestWhatAPlanSaysIsWhatHappens(t *testing.T) {
	seen, tried := map[string]int{}, 0
	propertytest.Check(t, 400, func(t *rapid.T) {
		tried++
		w := newWorld(t)
		w.now = w.now.Add(time.Minute)
		if !w.settle() {
			return
		}
		thinker, err := scheduler.New(w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		job := w.draw()
		status := w.prepare("simulated", job).RunAllSlices(w.now, thinker, w.model)
		answer := status.Answers[0]
		foretold := happened{Placements: answer.Placements}
		for _, v := range answer.Victims {
			foretold.Evicted = append(foretold.Evicted, v.Pod)
		}
		slices.Sort(foretold.Evicted)
		if d := w.engine.Cycle(w.now, w.model); len(d.Binds)+len(d.Evicts) > 0 {
			t.Fatalf("a simulation changed the decisions: %+v", d)
		}
		came := w.submit(job)
		if len(foretold.Placements) == 0 {
			foretold.Placements = nil
		}
		if len(came.Placements) == 0 {
			came.Placements = nil
		}
		if diff := cmp.Diff(foretold, came); diff != "" {
			t.Fatalf("%s: %q; then it came otherwise (-foretold +happened):\n%s", job.Name, answer.Message, diff)
		}
		kind := string(answer.Verdict)
		if answer.VictimCount > 0 {
			kind += " by evictions"
		}
		if (answer.Verdict == insightv1alpha1.VerdictStarts) != (len(came.Placements) > 0) {
			t.Fatalf("verdict %s, but %+v", answer.Verdict, came)
		}
		if answer.Verdict == insightv1alpha1.VerdictWaits && answer.Explanation == nil {
			t.Fatalf("nobody says why it waits: %+v", answer)
		}
		seen[kind]++
	})
	t.Logf("foretold: %v", seen)
	enough(t, tried, 200, seen, "Starts", "Starts by evictions", "Waits", "Never")
}

// enough fails if a property checked too few cases: fewer than half of the cases tried, or in a whole run fewer
// than want, or fewer than one in a hundred of any of these kinds.
func enough(t *testing.T, tried, want int, seen map[string]int, kinds ...string) {
	t.Helper()
	if t.Failed() {
		return
	}
	judged := 0
	for _, n := range seen {
		judged += n
	}
	if 2*judged < tried || tried >= 2*want && judged < want {
		t.Errorf("%d of %d were judged", judged, tried)
	}
	for _, kind := range kinds {
		if tried >= 2*want && 100*seen[kind] < tried {
			t.Errorf("of %d cases only %d are of the kind %q", tried, seen[kind], kind)
		}
	}
}
