package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingk8s "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
)

// random is a cluster with random changes, as the API would report them.
type random struct {
	t   *rapid.T
	cfg *config.Config
	// unlimited is true if no policy enforces the limits of queues.
	unlimited bool
	// capsGuarantees is true if the guarantee of a queue is at most its capability.
	capsGuarantees bool
	engine         *Engine
	model          *model.Cluster
	now            time.Time
	nodes          map[string]*corev1.Node
	pods           map[string]*corev1.Pod
	// foreign holds the pods of another scheduler. coming holds our pods that are being bound, with their nodes.
	foreign map[string]*corev1.Pod
	coming  map[types.UID]string
	gangs   map[string]*schedulingv1beta1.PodGroup
	// queueOf holds the queues of all gangs by name, including deleted gangs.
	queueOf map[string]string
	queues  []*schedulingv1beta1.Queue
	classes map[string]int32
	made    int
	// rich is true if gangs may name a queue that does not exist, have roles with minimums, and have topologies;
	// pods may have run times.
	rich bool
	// timed is true if every pod of a rich world has a run time, and some gangs have volumes.
	timed bool
	// hyper holds the HyperNodes of a rich world.
	hyper []model.Delta
}

func newRandom(t *rapid.T) *random {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(clustertest.Configurations))).Draw(t, "configuration")
	cfg, warnings, err := config.Parse([]byte(clustertest.Configurations[name]))
	if err != nil || len(warnings) > 0 {
		t.Fatal(name, err, warnings)
	}
	e, err := New(cfg)
	if err != nil || len(e.Warnings) > 0 {
		t.Fatal(name, err, e.Warnings)
	}
	r := &random{
		cfg: cfg, unlimited: name == "dominant shares", t: t, engine: e, model: model.New(), now: make.Epoch,
		nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{}, gangs: map[string]*schedulingv1beta1.PodGroup{},
		foreign: map[string]*corev1.Pod{}, coming: map[types.UID]string{}, queueOf: map[string]string{},
	}
	r.capsGuarantees = name == "capacity" || name == "a tree of queues"
	for i := range rapid.IntRange(1, 3).Draw(t, "queues") {
		b := make.Queue(fmt.Sprintf("q%d", i)).Weight(int32(rapid.IntRange(1, 3).Draw(t, "weight"))).
			Reclaimable(rapid.IntRange(0, 3).Draw(t, "gives") > 0)
		if rapid.IntRange(0, 2).Draw(t, "capped") == 0 {
			b.Capability("cpu", fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "cap")))
		}
		switch rapid.IntRange(0, 3).Draw(t, "amounts") {
		case 0:
			b.Deserved("cpu", fmt.Sprint(rapid.IntRange(0, 8).Draw(t, "deserved")))
		case 1:
			b.Guarantee("cpu", fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "guarantee")))
		}
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "below") == 0 {
			b.Parent("root")
		}
		r.queues = append(r.queues, b.Obj())
		r.model.Apply(model.QueueFrom(b.Obj()))
	}
	r.model.Apply(model.QueueFrom(make.Queue("root").Reclaimable(false).Obj()))
	r.classes = map[string]int32{"low": 1, "high": 10}
	for name, value := range r.classes {
		class := &schedulingk8s.PriorityClass{Value: value}
		class.Name = name
		r.model.Apply(model.PriorityClassFrom(class))
	}
	for range rapid.IntRange(1, 5).Draw(t, "nodes") {
		r.addNode()
	}
	return r
}

func (r *random) addNode() {
	r.made++
	b := make.Node(fmt.Sprintf("n%d", r.made%7)).
		CPU(fmt.Sprint(rapid.IntRange(0, 8).Draw(r.t, "cpu"))).
		Memory(fmt.Sprintf("%dGi", rapid.IntRange(1, 8).Draw(r.t, "memory"))).
		Resource("pods", fmt.Sprint(rapid.IntRange(1, 9).Draw(r.t, "slots"))).
		Label("zone", rapid.SampledFrom([]string{"x", "y"}).Draw(r.t, "zone"))
	if rapid.IntRange(0, 4).Draw(r.t, "tainted") == 0 {
		b.Taint("dedicated", "", corev1.TaintEffectNoSchedule)
	}
	if rapid.IntRange(0, 2).Draw(r.t, "cards") == 0 {
		b.GPU(rapid.IntRange(1, 4).Draw(r.t, "gpu"))
	}
	r.nodes[b.Obj().Name] = b.Obj()
	r.model.Apply(model.NodeFrom(b.Obj()))
}

func (r *random) addGang() {
	r.made++
	t := r.t
	name := fmt.Sprintf("g%d", r.made)
	tasks := rapid.IntRange(1, 6).Draw(t, "tasks")
	b := make.Gang(name)
	if class := rapid.SampledFrom([]string{"", "low", "high"}).Draw(t, "class"); class != "" {
		b.PriorityClass(class)
	}
	if user := rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user"); user != "" {
		b.Annotation(keys.User, user)
	}
	queue := r.queues[rapid.IntRange(0, len(r.queues)-1).Draw(t, "queue")].Name
	var limit *int64
	if r.rich {
		if rapid.IntRange(0, 9).Draw(t, "astray") == 0 {
			queue = "nowhere"
		}
		most := 2
		if r.timed {
			most = 1
		}
		switch rapid.IntRange(0, most).Draw(t, "timed") {
		case 0:
			b.Annotation(keys.RunningEstimate, fmt.Sprintf("%dm", rapid.IntRange(1, 30).Draw(t, "estimate")))
		case 1:
			seconds := int64(rapid.IntRange(60, 1800).Draw(t, "limit"))
			limit = &seconds
		}
		switch rapid.IntRange(0, 5).Draw(t, "shaped") {
		case 0:
			b.MinTask("a", rapid.IntRange(0, 2).Draw(t, "min a")).MinTask("b", rapid.IntRange(0, 2).Draw(t, "min b"))
		case 1:
			b.Topology(clustertest.DrawTopology(t))
		case 2:
			size, least := int32(rapid.IntRange(1, 2).Draw(t, "size")), int32(rapid.IntRange(0, 2).Draw(t, "least"))
			b.SubGroups(schedulingv1beta1.SubGroupPolicySpec{Name: "part", SubGroupSize: &size, MinSubGroups: &least, MatchLabelKeys: []string{"part"}, NetworkTopology: clustertest.DrawTopology(t)})
		}
	}
	if promised := rapid.IntRange(0, 8).Draw(t, "minResources"); promised > 0 {
		b.MinResource("cpu", fmt.Sprint(promised))
	}
	g := b.Min(rapid.IntRange(1, tasks).Draw(t, "min")).
		Queue(queue).Age(time.Duration(r.made) * time.Second).Obj()
	g.UID = types.UID(name)
	if r.rich && rapid.Bool().Draw(t, "of a job") {
		g.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job", Name: name}}
	}
	r.gangs[name], r.queueOf[name] = g, queue
	r.model.Apply(model.GangFrom(g))
	shapes := rapid.IntRange(1, 2).Draw(t, "shapes")
	attaches := r.timed && rapid.IntRange(0, 5).Draw(t, "attaches") == 0
	for i := range tasks {
		b := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name)
		if r.rich {
			b.Role([]string{"a", "b"}[i%2]).Label("part", strconv.Itoa(i/2))
		}
		kind := rapid.IntRange(0, 11).Draw(t, "kind")
		switch cpu := rapid.IntRange(0, 4).Draw(t, "cpu"); {
		case kind == asksNothing:
		case cpu > 0 && i%shapes == 0:
			b.CPU(fmt.Sprint(cpu))
		default:
			b.CPU("1").Memory("1Gi")
		}
		switch kind {
		case 0:
			b.Select("zone", "x")
		case 1:
			b.HostPort(80)
		case 2:
			b.Tolerate("dedicated")
		case 3:
			b.Label("app", "a").Spread("zone", 1)
		case 4:
			b.Annotation(keys.QueueAllocationGate, "true").Gate(keys.QueueAllocationGate)
		case 5:
			b.GPU(rapid.IntRange(1, 2).Draw(t, "cards"))
		}
		b.Obj().Spec.ActiveDeadlineSeconds = limit
		if attaches {
			b.Obj().Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		}
		r.pods[b.Obj().Name] = b.Obj()
		r.model.Apply(model.TaskFrom(b.Obj(), true))
	}
}

// asksNothing is the kind of pods that action backfill places.
const asksNothing = 6

// land makes another scheduler place a pod somewhere, whether or not there is room, or ends one.
func (r *random) land() {
	if names := slices.Sorted(maps.Keys(r.foreign)); len(names) > 0 && rapid.Bool().Draw(r.t, "leaves again") {
		name := rapid.SampledFrom(names).Draw(r.t, "foreign")
		delete(r.foreign, name)
		r.model.Apply(model.TaskGone{Namespace: "default", Name: name})
		return
	}
	r.made++
	b := make.Pod(fmt.Sprintf("f%d", r.made)).On(rapid.SampledFrom(slices.Sorted(maps.Keys(r.nodes))).Draw(r.t, "on")).Phase(corev1.PodRunning)
	if cpu := rapid.IntRange(0, 4).Draw(r.t, "cpu"); cpu > 0 {
		b.CPU(fmt.Sprint(cpu))
	}
	if rapid.IntRange(0, 3).Draw(r.t, "listens") == 0 {
		b.HostPort(80)
	}
	b.Obj().Spec.SchedulerName = "default-scheduler"
	r.foreign[b.Obj().Name] = b.Obj()
	r.model.Apply(model.TaskFrom(b.Obj(), false))
}

func (r *random) names() []string {
	var out []string
	for name := range r.pods {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// happen makes an outside change.
func (r *random) happen() {
	switch rapid.IntRange(0, 12).Draw(r.t, "event") {
	case 0:
		r.addNode()
	case 1:
		if len(r.nodes) > 1 {
			name := rapid.SampledFrom(slices.Sorted(maps.Keys(r.nodes))).Draw(r.t, "node")
			delete(r.nodes, name)
			r.model.Apply(model.NodeGone{Name: name})
		}
	case 2, 3:
		if names := r.names(); len(names) > 0 {
			p := r.pods[rapid.SampledFrom(names).Draw(r.t, "pod")]
			if p.Spec.NodeName != "" {
				p.Status.Phase = corev1.PodSucceeded
				r.model.Apply(model.TaskFrom(p, true))
			}
		}
	case 4:
		if names := r.names(); len(names) > 0 {
			name := rapid.SampledFrom(names).Draw(r.t, "pod")
			lost := r.pods[name]
			r.drop(name)
			if rapid.Bool().Draw(r.t, "again") { // its controller re-creates it
				r.made++
				p := lost.DeepCopy()
				p.UID, p.DeletionTimestamp = types.UID(fmt.Sprintf("pod-%s-%d", name, r.made)), nil
				p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
				r.pods[name] = p
				r.model.Apply(model.TaskFrom(p, true))
			}
		}
	case 5:
		r.land()
	case 11:
		if names := r.names(); len(names) > 0 {
			r.terminate(rapid.SampledFrom(names).Draw(r.t, "pod"))
		}
	case 12:
		r.deleteGang()
	default:
		r.addGang()
	}
}

// terminate deletes a pod that takes some time to end, up to days. A pod without a node is deleted at once.
func (r *random) terminate(name string) {
	p := r.pods[name]
	if p.Spec.NodeName == "" {
		r.drop(name)
		return
	}
	seconds := rapid.SampledFrom([]int{-60, 5, 60, 86400}).Draw(r.t, "grace")
	by := metav1.NewTime(r.now.Add(time.Duration(seconds) * time.Second))
	p.DeletionTimestamp = &by
	r.model.Apply(model.TaskFrom(p, true))
}

// deleteGang deletes a PodGroup and all its pods, which may take some time to end.
func (r *random) deleteGang() {
	if len(r.gangs) == 0 {
		return
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(r.gangs))).Draw(r.t, "deleted")
	delete(r.gangs, name)
	for _, pod := range r.names() {
		if keys.PodGroupOf(r.pods[pod].Annotations) == name {
			r.terminate(pod)
		}
	}
	r.model.Apply(model.GangGone{Namespace: "default", Name: name, UID: types.UID(name)})
}

func (r *random) drop(name string) {
	p := r.pods[name]
	delete(r.pods, name)
	delete(r.coming, p.UID)
	r.model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
}
