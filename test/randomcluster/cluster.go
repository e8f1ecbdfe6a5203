// Package randomcluster is a random cluster with an engine for property tests of the scheduler. It changes the cluster as
// users and the API server would, carries out the engine's decisions, and compares every decision with the state of the
// API.
package randomcluster

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

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/clustertest"
	"github.com/vc-batch/vc/test/make"
)

// Cluster is a cluster with random changes, as the API would report them.
type Cluster struct {
	T      *rapid.T
	Config *config.Config // of Engine
	// unlimited is true if no policy enforces the limits of queues.
	unlimited bool
	// CapsGuarantees is true if the guarantee of a queue is at most its capability.
	CapsGuarantees bool
	Engine         *scheduler.Engine
	Model          *model.Cluster
	Now            time.Time
	Nodes          map[string]*corev1.Node
	Pods           map[string]*corev1.Pod
	// Foreign holds the pods of another scheduler. Coming holds our pods that are being bound, with their nodes.
	Foreign map[string]*corev1.Pod
	Coming  map[types.UID]string
	Gangs   map[string]*schedulingv1beta1.PodGroup
	// queueOf holds the queues of all gangs by name, including deleted gangs.
	queueOf map[string]string
	Queues  []*schedulingv1beta1.Queue
	// Classes holds the values of the priority classes by name.
	Classes map[string]int32
	made    int // number of created objects; it makes their names unique
	// Rich is true if gangs may name a queue that does not exist, have roles with minimums, and have topologies;
	// pods may have run times.
	Rich bool
	// Timed is true if every pod of a rich world has a run time, and some gangs have volumes.
	Timed bool
	// Accounts holds the accounts by name. If there are any, gangs name an account, and their limits change.
	Accounts map[string]*accountv1alpha1.Account
	// QOS holds the QOS by name. If there are any, gangs name a QOS, and their limits change.
	QOS map[string]*accountv1alpha1.QOS
	// HeldBack counts how often CheckHeldBack has found a gang that a limit holds back.
	HeldBack int
	budgets  budgetTimes
	// hyper holds the HyperNodes of a rich world.
	hyper []model.Delta
	// DescribeEngine, if set, describes an engine's state of the gangs in failure messages.
	DescribeEngine func(*scheduler.Engine) string
}

// New draws a cluster with a configuration of the scheduler, queues and nodes, but without pods.
func New(t *rapid.T) *Cluster {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(clustertest.Configurations))).Draw(t, "configuration")
	cfg, warnings, err := config.Parse([]byte(clustertest.Configurations[name]))
	if err != nil || len(warnings) > 0 {
		t.Fatal(name, err, warnings)
	}
	e, err := scheduler.New(cfg)
	if err != nil || len(e.Warnings) > 0 {
		t.Fatal(name, err, e.Warnings)
	}
	r := &Cluster{
		Config: cfg, unlimited: name == "dominant shares", T: t, Engine: e, Model: model.New(), Now: make.Epoch,
		Nodes: map[string]*corev1.Node{}, Pods: map[string]*corev1.Pod{}, Gangs: map[string]*schedulingv1beta1.PodGroup{},
		Foreign: map[string]*corev1.Pod{}, Coming: map[types.UID]string{}, queueOf: map[string]string{},
	}
	r.CapsGuarantees = name == "capacity" || name == "a tree of queues"
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
		r.Queues = append(r.Queues, b.Obj())
		r.Model.Apply(model.QueueFrom(b.Obj()))
	}
	r.Model.Apply(model.QueueFrom(make.Queue("root").Reclaimable(false).Obj()))
	r.Classes = map[string]int32{"low": 1, "high": 10}
	for name, value := range r.Classes {
		class := &schedulingk8s.PriorityClass{Value: value}
		class.Name = name
		r.Model.Apply(model.PriorityClassFrom(class))
	}
	for range rapid.IntRange(1, 5).Draw(t, "nodes") {
		r.addNode()
	}
	return r
}

func (r *Cluster) addNode() {
	r.made++
	b := make.Node(fmt.Sprintf("n%d", r.made%7)).
		CPU(fmt.Sprint(rapid.IntRange(0, 8).Draw(r.T, "cpu"))).
		Memory(fmt.Sprintf("%dGi", rapid.IntRange(1, 8).Draw(r.T, "memory"))).
		Resource("pods", fmt.Sprint(rapid.IntRange(1, 9).Draw(r.T, "slots"))).
		Label("zone", rapid.SampledFrom([]string{"x", "y"}).Draw(r.T, "zone"))
	if rapid.IntRange(0, 4).Draw(r.T, "tainted") == 0 {
		b.Taint("dedicated", "", corev1.TaintEffectNoSchedule)
	}
	if rapid.IntRange(0, 2).Draw(r.T, "cards") == 0 {
		b.GPU(rapid.IntRange(1, 4).Draw(r.T, "gpu"))
	}
	r.Nodes[b.Obj().Name] = b.Obj()
	r.Model.Apply(model.NodeFrom(b.Obj()))
}

// AddGang adds a gang with its pods, and returns its name.
func (r *Cluster) AddGang() (name string) {
	r.made++
	t := r.T
	name = fmt.Sprintf("g%d", r.made)
	tasks := rapid.IntRange(1, 6).Draw(t, "tasks")
	b := make.Gang(name)
	if class := rapid.SampledFrom([]string{"", "low", "high"}).Draw(t, "class"); class != "" {
		b.PriorityClass(class)
	}
	user := rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user")
	if user != "" {
		b.Annotation(keys.User, user)
	}
	account := r.drawAccount()
	if account != "" {
		b.Label(keys.Account, account)
	}
	qos := r.drawQOS()
	if qos != "" {
		b.Label(keys.QOS, qos)
	}
	queue := r.Queues[rapid.IntRange(0, len(r.Queues)-1).Draw(t, "queue")].Name
	var limit *int64
	if r.Rich {
		if rapid.IntRange(0, 9).Draw(t, "astray") == 0 {
			queue = "nowhere"
		}
		most := 2
		if r.Timed {
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
	if len(r.Accounts) > 0 {
		limit = r.drawTimeLimit()
		if limit != nil && rapid.Bool().Draw(t, "described") {
			b.Annotation(keys.TimeLimit, (time.Duration(*limit) * time.Second).String())
		}
	}
	if promised := rapid.IntRange(0, 8).Draw(t, "minResources"); promised > 0 {
		b.MinResource("cpu", fmt.Sprint(promised))
	}
	g := b.Min(rapid.IntRange(1, tasks).Draw(t, "min")).
		Queue(queue).Age(time.Duration(r.made) * time.Second).Obj()
	g.UID = types.UID(name)
	if r.Rich && rapid.Bool().Draw(t, "of a job") {
		g.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job", Name: name}}
	}
	r.Gangs[name], r.queueOf[name] = g, queue
	r.Model.Apply(model.GangFrom(g))
	shapes := rapid.IntRange(1, 2).Draw(t, "shapes")
	attaches := r.Timed && rapid.IntRange(0, 5).Draw(t, "attaches") == 0
	for i := range tasks {
		b := make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name)
		if account != "" {
			b.Label(keys.JobName, g.Name).Label(keys.Account, account).Annotation(keys.User, user)
		}
		if qos != "" {
			b.Label(keys.JobName, g.Name).Label(keys.QOS, qos).Annotation(keys.User, user)
		}
		if r.Rich {
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
		r.Pods[b.Obj().Name] = b.Obj()
		r.Model.Apply(model.TaskFrom(b.Obj(), true))
	}
	return name
}

// asksNothing is the kind of pods that action backfill places.
const asksNothing = 6

// PlaceForeign makes another scheduler place a pod somewhere, whether or not there is room, or ends one.
func (r *Cluster) PlaceForeign() {
	if names := slices.Sorted(maps.Keys(r.Foreign)); len(names) > 0 && rapid.Bool().Draw(r.T, "leaves again") {
		name := rapid.SampledFrom(names).Draw(r.T, "foreign")
		delete(r.Foreign, name)
		r.Model.Apply(model.TaskGone{Namespace: "default", Name: name})
		return
	}
	r.made++
	b := make.Pod(fmt.Sprintf("f%d", r.made)).On(rapid.SampledFrom(slices.Sorted(maps.Keys(r.Nodes))).Draw(r.T, "on")).Phase(corev1.PodRunning)
	if cpu := rapid.IntRange(0, 4).Draw(r.T, "cpu"); cpu > 0 {
		b.CPU(fmt.Sprint(cpu))
	}
	if rapid.IntRange(0, 3).Draw(r.T, "listens") == 0 {
		b.HostPort(80)
	}
	b.Obj().Spec.SchedulerName = "default-scheduler"
	r.Foreign[b.Obj().Name] = b.Obj()
	r.Model.Apply(model.TaskFrom(b.Obj(), false))
}

// PodNames returns the names of the pods, sorted.
func (r *Cluster) PodNames() []string {
	var out []string
	for name := range r.Pods {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Change makes an outside change.
func (r *Cluster) Change() {
	if len(r.Accounts) > 0 && rapid.IntRange(0, 7).Draw(r.T, "limits change") == 0 {
		r.setAccount(rapid.SampledFrom(slices.Sorted(maps.Keys(r.Accounts))).Draw(r.T, "changed account"))
		return
	}
	if len(r.QOS) > 0 && rapid.IntRange(0, 7).Draw(r.T, "limits of a QOS change") == 0 {
		r.setQOS(rapid.SampledFrom(slices.Sorted(maps.Keys(r.QOS))).Draw(r.T, "changed QOS"))
		return
	}
	switch rapid.IntRange(0, 12).Draw(r.T, "event") {
	case 0:
		r.addNode()
	case 1:
		if len(r.Nodes) > 1 {
			name := rapid.SampledFrom(slices.Sorted(maps.Keys(r.Nodes))).Draw(r.T, "node")
			delete(r.Nodes, name)
			r.Model.Apply(model.NodeGone{Name: name})
		}
	case 2, 3:
		if names := r.PodNames(); len(names) > 0 {
			p := r.Pods[rapid.SampledFrom(names).Draw(r.T, "pod")]
			if p.Spec.NodeName != "" {
				p.Status.Phase = corev1.PodSucceeded
				r.Model.Apply(model.TaskFrom(p, true))
			}
		}
	case 4:
		if names := r.PodNames(); len(names) > 0 {
			name := rapid.SampledFrom(names).Draw(r.T, "pod")
			lost := r.Pods[name]
			r.DropPod(name)
			if rapid.Bool().Draw(r.T, "again") { // its controller re-creates it
				r.made++
				p := lost.DeepCopy()
				p.UID, p.DeletionTimestamp = types.UID(fmt.Sprintf("pod-%s-%d", name, r.made)), nil
				p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
				r.Pods[name] = p
				r.Model.Apply(model.TaskFrom(p, true))
			}
		}
	case 5:
		r.PlaceForeign()
	case 11:
		if names := r.PodNames(); len(names) > 0 {
			r.terminate(rapid.SampledFrom(names).Draw(r.T, "pod"))
		}
	case 12:
		r.deleteGang()
	default:
		r.AddGang()
	}
}

// terminate deletes a pod that takes some time to end, up to days. A pod without a node is deleted at once.
func (r *Cluster) terminate(name string) {
	p := r.Pods[name]
	if p.Spec.NodeName == "" {
		r.DropPod(name)
		return
	}
	seconds := rapid.SampledFrom([]int{-60, 5, 60, 86400}).Draw(r.T, "grace")
	by := metav1.NewTime(r.Now.Add(time.Duration(seconds) * time.Second))
	p.DeletionTimestamp = &by
	r.Model.Apply(model.TaskFrom(p, true))
}

// deleteGang deletes a PodGroup and all its pods, which may take some time to end.
func (r *Cluster) deleteGang() {
	if len(r.Gangs) == 0 {
		return
	}
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(r.Gangs))).Draw(r.T, "deleted")
	delete(r.Gangs, name)
	for _, pod := range r.PodNames() {
		if keys.PodGroupOf(r.Pods[pod].Annotations) == name {
			r.terminate(pod)
		}
	}
	r.Model.Apply(model.GangGone{Namespace: "default", Name: name, UID: types.UID(name)})
}

// DropPod deletes a pod at once.
func (r *Cluster) DropPod(name string) {
	p := r.Pods[name]
	delete(r.Pods, name)
	delete(r.Coming, p.UID)
	r.Model.Apply(model.TaskGone{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
}
