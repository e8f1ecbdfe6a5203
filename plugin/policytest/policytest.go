// Package policytest runs a policy in tests. It uses a cluster in memory and the real scheduling engine, but no API
// server. Nodes and gangs are described by words:
//
//	w := policytest.New(t, conf, map[string]plugin.Builder{"licence": licence.New})
//	w.Node("a", "cpu=8", "memory=8Gi", "label:zone=x")
//	w.Gang("train", 2, "cpu=1", "nvidia.com/gpu=1")
//	w.Settle()
package policytest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/plugin"
)

// World is a cluster in memory. Its clock starts at a fixed time and advances by two seconds in each cycle.
type World struct {
	t       testing.TB
	engine  *scheduler.Engine
	cluster *model.Cluster
	now     time.Time
	pods    map[string][]*corev1.Pod // by gang
	gangs   map[string]*schedulingv1beta1.PodGroup
}

// registered holds the names of the policies that have been registered. It is needed because a name can be registered
// only once per process.
var registered sync.Map

// New returns an empty cluster with a queue named default and the specified configuration, which may refer to the
// policies. The test fails if any part of the configuration has no effect.
func New(t testing.TB, conf string, policies map[string]plugin.Builder) *World {
	t.Helper()
	for name, build := range policies {
		if _, known := registered.LoadOrStore(name, true); known {
			continue
		}
		if err := scheduler.Register(name, scheduler.Builder(build)); err != nil {
			t.Fatal(err)
		}
	}
	cfg, warnings, err := config.Parse([]byte(conf))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := scheduler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if all := append(warnings, engine.Warnings...); len(all) > 0 {
		t.Fatalf("the configuration has parts without effect: %s", strings.Join(all, "; "))
	}
	w := &World{
		t: t, engine: engine, cluster: model.New(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		pods: map[string][]*corev1.Pod{}, gangs: map[string]*schedulingv1beta1.PodGroup{},
	}
	w.Queue(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: keys.DefaultQueue}, Spec: schedulingv1beta1.QueueSpec{Weight: 1}})
	return w
}

// Queue adds or replaces a queue.
func (w *World) Queue(q *schedulingv1beta1.Queue) {
	q.UID = types.UID("queue-" + q.Name)
	w.cluster.Apply(model.QueueFrom(q))
}

// Node adds or replaces a node. The words have the form RESOURCE=AMOUNT or label:KEY=VALUE.
func (w *World) Node(name string, words ...string) {
	w.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name), Labels: map[string]string{corev1.LabelHostname: name}}}
	node.Status.Allocatable = w.words(words, node.Labels)
	if _, ok := node.Status.Allocatable[corev1.ResourcePods]; !ok {
		node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
	}
	w.cluster.Apply(model.NodeFrom(node))
}

// Gang submits a gang to the queue named default. The gang consists of equal pods that must start together. Each word
// sets a request of the pods, RESOURCE=AMOUNT, or a label, label:KEY=VALUE.
func (w *World) Gang(name string, members int, words ...string) {
	w.t.Helper()
	created := metav1.NewTime(w.now.Add(time.Duration(len(w.gangs)) * time.Millisecond))
	group := &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("gang-" + name), CreationTimestamp: created},
		Spec:       schedulingv1beta1.PodGroupSpec{MinMember: int32(members), Queue: keys.DefaultQueue},
	}
	w.gangs[name] = group
	w.cluster.Apply(model.GangFrom(group))
	for i := range members {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprintf("%s-%d", name, i), UID: types.UID(fmt.Sprintf("pod-%s-%d", name, i)), CreationTimestamp: created,
			Labels: map[string]string{}, Annotations: map[string]string{keys.GroupName: name},
		}}
		pod.Spec.SchedulerName = keys.DefaultSchedulerName
		pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: w.words(words, pod.Labels)}}}
		w.pods[name] = append(w.pods[name], pod)
		w.cluster.Apply(model.TaskFrom(pod, true))
	}
}

func (w *World) words(words []string, labels map[string]string) corev1.ResourceList {
	w.t.Helper()
	list := corev1.ResourceList{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if label, ok := strings.CutPrefix(key, "label:"); ok {
			labels[label] = value
			continue
		}
		amount, err := resource.ParseQuantity(value)
		if err != nil {
			w.t.Fatalf("%q: want RESOURCE=AMOUNT or label:KEY=VALUE: %v", word, err)
		}
		list[corev1.ResourceName(key)] = amount
	}
	return list
}

// Cycle runs one scheduling cycle, applies its decisions to the cluster, and returns them.
func (w *World) Cycle() decision.Decisions {
	w.now = w.now.Add(2 * time.Second)
	d := w.engine.Cycle(w.now, w.cluster)
	decision.Assume(w.cluster, &d)
	for i := range d.Gangs {
		w.gangs[d.Gangs[i].Gang.Name].Status = d.Gangs[i].Status
	}
	return d
}

// Settle runs cycles until there are no more decisions. It marks bound pods as running and removes evicted pods.
func (w *World) Settle() {
	w.t.Helper()
	for range 100 {
		d := w.Cycle()
		for _, bind := range d.Binds {
			pod := w.pod(bind.Gang.Name, bind.Pod.Name)
			pod.Spec.NodeName, pod.Status.Phase = bind.Node, corev1.PodRunning
			w.cluster.Apply(model.TaskFrom(pod, true))
		}
		for _, evict := range d.Evicts {
			w.cluster.Apply(model.TaskGone{Namespace: evict.Pod.Namespace, Name: evict.Pod.Name, UID: evict.Pod.UID})
		}
		if len(d.Binds)+len(d.Evicts)+len(d.Gangs)+len(d.Nominations) == 0 {
			return
		}
	}
	w.t.Fatal("the cluster does not reach a stable state: every cycle makes new decisions")
}

func (w *World) pod(gang, name string) *corev1.Pod {
	for _, pod := range w.pods[gang] {
		if pod.Name == name {
			return pod
		}
	}
	w.t.Fatalf("no pod %s in gang %s", name, gang)
	return nil
}

// Finish marks a gang's pods as succeeded.
func (w *World) Finish(gang string) {
	for _, pod := range w.pods[gang] {
		pod.Status.Phase = corev1.PodSucceeded
		w.cluster.Apply(model.TaskFrom(pod, true))
	}
}

// Delete deletes a gang's pods with a grace period of one minute. The pods keep their nodes until they end.
func (w *World) Delete(gang string) {
	by := metav1.NewTime(w.now.Add(time.Minute))
	for _, pod := range w.pods[gang] {
		pod.DeletionTimestamp = &by
		w.cluster.Apply(model.TaskFrom(pod, true))
	}
}

// Running returns the number of the gang's pods that have a node.
func (w *World) Running(gang string) int {
	n := 0
	for _, pod := range w.pods[gang] {
		if task := w.cluster.Task(pod.UID); task != nil && task.Status.IsAllocated() {
			n++
		}
	}
	return n
}

// Why returns the explanation for a waiting gang, or "" if the gang is not waiting.
func (w *World) Why(gang string) string {
	if e := w.gangs[gang].Status.Explanation; e != nil {
		return e.Message
	}
	return ""
}
