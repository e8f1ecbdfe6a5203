package livesnapshot

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/feed"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/snapshot"
)

// newSources returns the sources of all kinds that the dashboard shows.
func newSources(l *Live) ([]*source, error) {
	to := l.options.Config
	core, err := feed.CoreClients(to)
	if err != nil {
		return nil, err
	}
	batch, err := feed.GroupClient(to, batchv1alpha1.GroupVersion, batchv1alpha1.AddToScheme)
	if err != nil {
		return nil, err
	}
	scheduling, err := feed.GroupClient(to, schedulingv1beta1.GroupVersion, schedulingv1beta1.AddToScheme)
	if err != nil {
		return nil, err
	}
	topology, err := feed.GroupClient(to, topologyv1alpha1.GroupVersion, topologyv1alpha1.AddToScheme)
	if err != nil {
		return nil, err
	}
	l.door = core.CoreV1().RESTClient()
	return []*source{
		{live: l, kind: "nodes", client: core.CoreV1().RESTClient(), sample: &corev1.Node{}, store: newNodeStore(l)},
		{live: l, kind: "queues", client: scheduling, sample: &schedulingv1beta1.Queue{}, store: newQueueStore(l)},
		{live: l, kind: "jobs", client: batch, sample: &batchv1alpha1.Job{}, store: newJobStore(l), own: true},
		{live: l, kind: snapshot.PodGroups, client: scheduling, sample: &schedulingv1beta1.PodGroup{}, store: newGroupStore(l), own: true},
		{live: l, kind: snapshot.Pods, client: core.CoreV1().RESTClient(), sample: &corev1.Pod{}, store: newPodStore(l), own: true},
		{live: l, kind: "hypernodes", client: topology, sample: &topologyv1alpha1.HyperNode{}, store: newHyperNodeStore(l), optional: true},
		{live: l, kind: "priorityclasses", client: core.SchedulingV1().RESTClient(), sample: &schedulingv1.PriorityClass{}, store: newPriorityStore(l), optional: true},
		{live: l, kind: "events", client: core.CoreV1().RESTClient(), sample: &corev1.Event{}, store: newEventStore(l, "events"), own: true, selector: excludePodEvents()},
		{live: l, kind: "warnings", resource: "events", client: core.CoreV1().RESTClient(), sample: &corev1.Event{}, store: newEventStore(l, "warnings"), own: true, optional: true, selector: selectPodWarnings()},
		{live: l, kind: "configuration", resource: "configmaps", client: core.CoreV1().RESTClient(), sample: &corev1.ConfigMap{}, store: newConfigurationStore(l), in: schedulerNamespace, optional: true,
			selector: fields.OneTermEqualSelector("metadata.name", keys.ConfigurationName)},
	}, nil
}

// schedulerNamespace is the namespace in which the scheduler publishes its configuration.
const schedulerNamespace = "volcano-system"

// newConfigurationStore returns the store for the configuration that the scheduler publishes. It keeps only the name of
// the plugin that divides resources among queues.
func newConfigurationStore(l *Live) store {
	return newSink(l, "configuration", sharerFrom, func(_ *snapshot.Board, policy string) { l.policy = policy },
		func(*snapshot.Board, types.NamespacedName, types.UID) { l.policy = "" })
}

// sharerFrom returns the plugin that divides resources among queues: capacity, capacity (hierarchical) or proportion.
// It returns "" if there is no such plugin or the configuration cannot be parsed.
func sharerFrom(said *corev1.ConfigMap) string {
	conf, _, err := config.Parse([]byte(said.Data[keys.ConfigurationText]))
	if err != nil {
		return ""
	}
	for _, tier := range conf.Tiers {
		for i := range tier.Plugins {
			switch p := &tier.Plugins[i]; {
			case p.Name == "capacity" && p.Enabled("enableHierarchy"):
				return "capacity (hierarchical)"
			case p.Name == "capacity", p.Name == "proportion":
				return p.Name
			}
		}
	}
	return ""
}

// excludePodEvents excludes events about pods, which make up most of the events on a large cluster. Of these events,
// only those selected by selectPodWarnings are watched. When the user opens a job, all events about its pods are read.
func excludePodEvents() fields.Selector {
	return fields.OneTermNotEqualSelector("involvedObject.kind", "Pod")
}

// selectPodWarnings selects warnings about pods, except FailedScheduling. FailedScheduling is not needed, because the
// gang's explanation contains the same information once instead of once per pod.
func selectPodWarnings() fields.Selector {
	return fields.AndSelectors(fields.OneTermEqualSelector("involvedObject.kind", "Pod"), fields.OneTermEqualSelector("type", corev1.EventTypeWarning),
		fields.OneTermNotEqualSelector("reason", "FailedScheduling"))
}

func newSink[T metav1.Object, R any](l *Live, kind string, cut func(T) R, set func(*snapshot.Board, R), gone func(*snapshot.Board, types.NamespacedName, types.UID)) store {
	return &sink[T, R]{live: l, kind: kind, cut: cut, set: set, gone: gone, seen: map[types.NamespacedName]version{}}
}

func newNodeStore(l *Live) store {
	return newSink(l, "nodes", snapshot.FromNode, (*snapshot.Board).SetNode,
		func(b *snapshot.Board, n types.NamespacedName, _ types.UID) { b.DropNode(n.Name) })
}

func newPodStore(l *Live) store {
	return newSink(l, snapshot.Pods, snapshot.FromPod, (*snapshot.Board).SetPod,
		func(b *snapshot.Board, _ types.NamespacedName, uid types.UID) { b.DropPod(uid) })
}

func newJobStore(l *Live) store {
	return newSink(l, "jobs", func(job *batchv1alpha1.Job) *batchv1alpha1.Job {
		snapshot.SlimJob(job)
		l.sharer.ShareJobLists(job)
		return job
	}, (*snapshot.Board).SetJob, func(b *snapshot.Board, _ types.NamespacedName, uid types.UID) { b.DropJob(uid) })
}

func newGroupStore(l *Live) store {
	return newSink(l, snapshot.PodGroups, func(g *schedulingv1beta1.PodGroup) *schedulingv1beta1.PodGroup {
		snapshot.SlimGroup(g)
		l.sharer.ShareGroupLists(g)
		return g
	}, (*snapshot.Board).SetGroup, func(b *snapshot.Board, n types.NamespacedName, _ types.UID) { b.DropGroup(n) })
}

func newQueueStore(l *Live) store {
	return newSink(l, "queues", func(q *schedulingv1beta1.Queue) *schedulingv1beta1.Queue {
		q.ManagedFields = nil
		return q
	}, (*snapshot.Board).SetQueue, func(b *snapshot.Board, n types.NamespacedName, _ types.UID) { b.DropQueue(n.Name) })
}

func newHyperNodeStore(l *Live) store {
	return newSink(l, "hypernodes", func(h *topologyv1alpha1.HyperNode) *topologyv1alpha1.HyperNode {
		h.ManagedFields = nil
		return h
	}, (*snapshot.Board).SetHyperNode, func(b *snapshot.Board, n types.NamespacedName, _ types.UID) { b.DropHyperNode(n.Name) })
}

// class holds the name and value of a priority class.
type class struct {
	name  string
	value int32
}

func newPriorityStore(l *Live) store {
	return newSink(l, "priorityclasses", func(p *schedulingv1.PriorityClass) class { return class{p.Name, p.Value} },
		func(b *snapshot.Board, c class) { b.SetPriority(c.name, c.value) },
		func(b *snapshot.Board, n types.NamespacedName, _ types.UID) { b.DropPriority(n.Name) })
}

// newEventStore returns a store for events. Events are never removed individually, so only the board stores them.
func newEventStore(l *Live, kind string) store {
	return &sink[*corev1.Event, *snapshot.Event]{live: l, kind: kind, cut: snapshot.FromEvent, add: (*snapshot.Board).AddEvent,
		clear: func(b *snapshot.Board) { b.ForgetEvents(kind == "warnings") }}
}
