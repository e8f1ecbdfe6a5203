package controllers

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/registration"
	"github.com/vc-batch/vc/test/apiserver"
)

// requests is a work queue that lists the names of the objects whose requests were added.
type requests struct {
	registration.Queue
	names []string
}

func (r *requests) Add(request reconcile.Request) {
	r.names = append(r.names, request.String())
}

func (r *requests) AddAfter(request reconcile.Request, _ time.Duration) { r.Add(request) }

func TestEventsAndTheRequestsThatTheyCause(t *testing.T) {
	t.Parallel()
	job := func(owner *metav1.OwnerReference, labels map[string]string) *batchv1alpha1.Job {
		j := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", Labels: labels}}
		if owner != nil {
			j.OwnerReferences = []metav1.OwnerReference{*owner}
		}
		return j
	}
	pod := func(scheduler string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: corev1.PodSpec{SchedulerName: scheduler}}
	}
	group := func(phase schedulingv1beta1.PodGroupPhase, owner string, members int32) *schedulingv1beta1.PodGroup {
		g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "podgroup-u"}, Status: schedulingv1beta1.PodGroupStatus{Phase: phase}}
		g.Spec.Queue, g.Spec.MinMember = "q", members
		version := appsv1.SchemeGroupVersion
		if owner == "Pod" {
			version = corev1.SchemeGroupVersion
		}
		g.OwnerReferences = []metav1.OwnerReference{*controllerOf(version, owner, "o")}
		g.OwnerReferences[0].UID = "u"
		return g
	}
	hyperNode := func(generation int64, labels map[string]string) *topologyv1alpha1.HyperNode {
		return &topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: "h", Generation: generation, Labels: labels}}
	}
	ours, template := batchv1alpha1.GroupVersion, map[string]string{keys.CreatedByJobTemplate: "ns.t"}
	discovered := map[string]string{keys.TopologySource: "label"}
	replicas := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "r"}}
	for name, c := range map[string]struct {
		controller    string
		before, after client.Object
		want          []string
	}{
		"a CronJob is created":                        {"cronjob-controller", nil, &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}, []string{"ns/c"}},
		"a job of a CronJob is created":               {"cronjob-controller", nil, job(controllerOf(ours, "CronJob", "c"), nil), []string{"ns/c"}},
		"a job of a CronJob changes":                  {"cronjob-controller", job(controllerOf(ours, "CronJob", "c"), nil), job(controllerOf(ours, "CronJob", "c"), template), []string{"ns/c"}},
		"a job of a CronJob is deleted":               {"cronjob-controller", job(controllerOf(ours, "CronJob", "c"), nil), nil, []string{"ns/c"}},
		"a job changes its CronJob":                   {"cronjob-controller", job(controllerOf(ours, "CronJob", "a"), nil), job(controllerOf(ours, "CronJob", "b"), nil), []string{"ns/a", "ns/b"}},
		"a CronJob of another version of the API":     {"cronjob-controller", nil, job(controllerOf(schema.GroupVersion{Group: ours.Group, Version: "v9"}, "CronJob", "c"), nil), []string{"ns/c"}},
		"a CronJob of Kubernetes":                     {"cronjob-controller", nil, job(controllerOf(schema.GroupVersion{Group: "batch", Version: "v1"}, "CronJob", "c"), nil), nil},
		"a job of a JobFlow":                          {"cronjob-controller", nil, job(controllerOf(schema.GroupVersion{Group: "flow.volcano.sh", Version: "v1alpha1"}, "JobFlow", "f"), nil), nil},
		"an owner that is not the controller":         {"cronjob-controller", nil, job(&metav1.OwnerReference{APIVersion: ours.String(), Kind: "CronJob", Name: "c"}, nil), nil},
		"a job without an owner":                      {"cronjob-controller", nil, job(nil, nil), nil},
		"a job of a template is created":              {"jobtemplate-controller", nil, job(nil, template), []string{"ns/t"}},
		"a job of a template changes":                 {"jobtemplate-controller", job(nil, template), job(nil, template), nil},
		"a job gets a template":                       {"jobtemplate-controller", job(nil, nil), job(nil, template), []string{"ns/t"}},
		"a job of a template is deleted":              {"jobtemplate-controller", job(nil, template), nil, []string{"ns/t"}},
		"a pod is created":                            {"pg-controller", nil, pod(keys.DefaultSchedulerName), []string{"ns/p"}},
		"a pod of another scheduler is created":       {"pg-controller", nil, pod("default-scheduler"), nil},
		"a pod is deleted":                            {"pg-controller", pod(keys.DefaultSchedulerName), nil, nil},
		"the PodGroup of a pod is deleted":            {"pg-controller", group("", "Pod", 1), nil, []string{"ns/o"}},
		"the PodGroup of a pod changes":               {"pg-controller", group("", "Pod", 1), group("Running", "Pod", 1), nil},
		"a PodGroup is created":                       {"pg-controller", nil, group("", "ReplicaSet", 1), nil},
		"a ReplicaSet changes":                        {"pg-replicaset-controller", replicas, replicas, []string{"ns/r"}},
		"a ReplicaSet is deleted":                     {"pg-replicaset-controller", replicas, nil, nil},
		"the PodGroup of a ReplicaSet changes":        {"pg-replicaset-controller", group("", "ReplicaSet", 1), group("", "ReplicaSet", 2), []string{"ns/o"}},
		"the status of its PodGroup changes":          {"pg-replicaset-controller", group("", "ReplicaSet", 1), group("Running", "ReplicaSet", 1), nil},
		"the PodGroup of a ReplicaSet is deleted":     {"pg-replicaset-controller", group("", "ReplicaSet", 1), nil, nil},
		"the PodGroup of a StatefulSet changes":       {"pg-replicaset-controller", group("", "StatefulSet", 1), group("", "StatefulSet", 2), nil},
		"the PodGroup of its own StatefulSet changes": {"pg-statefulset-controller", group("", "StatefulSet", 1), group("", "StatefulSet", 2), []string{"ns/o"}},
		"a PodGroup enters a phase":                   {"queue-controller", group("", "ReplicaSet", 1), group("Running", "ReplicaSet", 1), []string{"/q", "/q"}},
		"a PodGroup only gets more members":           {"queue-controller", group("", "ReplicaSet", 1), group("", "ReplicaSet", 2), nil},
		"a discovered HyperNode changes":              {"hyperNode-controller", hyperNode(1, discovered), hyperNode(2, discovered), []string{"/"}},
		"the status of a HyperNode changes":           {"hyperNode-controller", hyperNode(1, discovered), hyperNode(1, discovered), nil},
		"a HyperNode of a user changes":               {"hyperNode-controller", hyperNode(1, nil), hyperNode(2, nil), nil},
		"the configuration is deleted":                {"hyperNode-controller", &corev1.ConfigMap{}, nil, []string{"/"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := &requests{}
			for _, one := range All(apiserver.NewCache(), nil, nil, Options{}) {
				if one.Name == c.controller {
					deliver(t, &one, c.before, c.after, queue)
				}
			}
			if diff := cmp.Diff(c.want, queue.names); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// controllerOf returns a reference to the controller of an object.
func controllerOf(version schema.GroupVersion, kind, name string) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: version.String(), Kind: kind, Name: name, Controller: new(true)}
}

// deliver passes a change to the watches of a controller. At least one of them must watch the kind.
func deliver(t *testing.T, c *registration.Controller, before, after client.Object, queue registration.Queue) {
	t.Helper()
	object, watched := after, false
	if object == nil {
		object = before
	}
	for _, w := range c.AllWatches() {
		if reflect.TypeOf(w.Kind) == reflect.TypeOf(object) {
			w.Deliver(t.Context(), before, after, queue)
			watched = true
		}
	}
	if !watched {
		t.Errorf("%s does not watch %T", c.Name, object)
	}
}
