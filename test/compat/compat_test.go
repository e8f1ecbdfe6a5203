package compat

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/randfill"
	volcanobatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	volcanobus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	volcanoflow "volcano.sh/apis/pkg/apis/flow/v1alpha1"
	volcanonodeinfo "volcano.sh/apis/pkg/apis/nodeinfo/v1alpha1"
	volcanoscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	volcanotopology "volcano.sh/apis/pkg/apis/topology/v1alpha1"

	"github.com/vc-batch/vc/api"
	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// kind pairs one of our types with Volcano's.
type kind struct {
	ours, theirs reflect.Type
	// added lists the fields that Volcano v1.14.0 does not have.
	added []string
}

func kinds() map[string]kind {
	return map[string]kind{
		"Job": {ours: reflect.TypeFor[batchv1alpha1.Job](), theirs: reflect.TypeFor[volcanobatch.Job](), added: []string{
			"status.gate", "status.array", "status.finished", "status.userRestarts", // ours: start conditions, arrays, finished work that is kept, restarts by hand
			"status.refusedPods", // pods that nodes rejected and that were created again
			"status.failure",     // the first pod that failed
			"status.attempts",    // earlier attempts, for the accounting
			"status.evictions",   // how often and by whom its pods were evicted
			"status.nodes",       // the nodes of pods that have ended
			"status.reports",     // termination messages of pods that were deleted
		}},
		"JobList": {ours: reflect.TypeFor[batchv1alpha1.JobList](), theirs: reflect.TypeFor[volcanobatch.JobList](), added: []string{
			"items[].status.gate", "items[].status.array", "items[].status.finished", "items[].status.userRestarts", "items[].status.refusedPods", "items[].status.failure",
			"items[].status.attempts", "items[].status.evictions", "items[].status.nodes", "items[].status.reports",
		}},
		"CronJob":         {ours: reflect.TypeFor[batchv1alpha1.CronJob](), theirs: reflect.TypeFor[volcanobatch.CronJob]()},
		"CronJobList":     {ours: reflect.TypeFor[batchv1alpha1.CronJobList](), theirs: reflect.TypeFor[volcanobatch.CronJobList]()},
		"JobFlow":         {ours: reflect.TypeFor[flowv1alpha1.JobFlow](), theirs: reflect.TypeFor[volcanoflow.JobFlow]()},
		"JobFlowList":     {ours: reflect.TypeFor[flowv1alpha1.JobFlowList](), theirs: reflect.TypeFor[volcanoflow.JobFlowList]()},
		"JobTemplate":     {ours: reflect.TypeFor[flowv1alpha1.JobTemplate](), theirs: reflect.TypeFor[volcanoflow.JobTemplate]()},
		"JobTemplateList": {ours: reflect.TypeFor[flowv1alpha1.JobTemplateList](), theirs: reflect.TypeFor[volcanoflow.JobTemplateList]()},
		"Command":         {ours: reflect.TypeFor[busv1alpha1.Command](), theirs: reflect.TypeFor[volcanobus.Command]()},
		"CommandList":     {ours: reflect.TypeFor[busv1alpha1.CommandList](), theirs: reflect.TypeFor[volcanobus.CommandList]()},
		"Numatopology": {ours: reflect.TypeFor[nodeinfov1alpha1.Numatopology](), theirs: reflect.TypeFor[volcanonodeinfo.Numatopology](), added: []string{
			"spec.podAllocations", // in Volcano's main branch: pods whose CPUs are already subtracted from numares
		}},
		"NumatopologyList": {ours: reflect.TypeFor[nodeinfov1alpha1.NumatopologyList](), theirs: reflect.TypeFor[volcanonodeinfo.NumatopologyList](), added: []string{
			"items[].spec.podAllocations",
		}},
		"HyperNode":     {ours: reflect.TypeFor[topologyv1alpha1.HyperNode](), theirs: reflect.TypeFor[volcanotopology.HyperNode]()},
		"HyperNodeList": {ours: reflect.TypeFor[topologyv1alpha1.HyperNodeList](), theirs: reflect.TypeFor[volcanotopology.HyperNodeList]()},
		"PodGroup": {ours: reflect.TypeFor[schedulingv1beta1.PodGroup](), theirs: reflect.TypeFor[volcanoscheduling.PodGroup](), added: []string{
			"status.explanation", // ours: the reason why a gang waits
		}},
		"PodGroupList": {ours: reflect.TypeFor[schedulingv1beta1.PodGroupList](), theirs: reflect.TypeFor[volcanoscheduling.PodGroupList](), added: []string{
			"items[].status.explanation",
		}},
		"Queue": {ours: reflect.TypeFor[schedulingv1beta1.Queue](), theirs: reflect.TypeFor[volcanoscheduling.Queue](), added: []string{
			"status.deserved", "status.terminating", "status.sharePercent", "status.waiting", "status.conditions", // ours
			"spec.jobLimits", // limits of each job
		}},
		"QueueList": {ours: reflect.TypeFor[schedulingv1beta1.QueueList](), theirs: reflect.TypeFor[volcanoscheduling.QueueList](), added: []string{
			"items[].status.deserved", "items[].status.terminating", "items[].status.sharePercent", "items[].status.waiting", "items[].status.conditions",
			"items[].spec.jobLimits",
		}},
	}
}

func TestEveryFieldOfVolcanoIsInOursWithTheSameType(t *testing.T) {
	t.Parallel()
	for name, k := range kinds() {
		ours, theirs := jsonFields(k.ours), jsonFields(k.theirs)
		for _, path := range slices.Sorted(maps.Keys(theirs)) {
			if ours[path] != theirs[path] {
				t.Errorf("%s: %s is %q in Volcano and %q in ours", name, path, theirs[path], ours[path])
			}
		}
		for _, path := range slices.Sorted(maps.Keys(ours)) {
			_, known := theirs[path]
			if !known && !slices.ContainsFunc(k.added, func(added string) bool { return strings.HasPrefix(path, added) }) {
				t.Errorf("%s: %s is in ours only, and not in the test's list of additions", name, path)
			}
		}
	}
}

func TestGroupsVersionsAndKindsAreVolcanos(t *testing.T) {
	t.Parallel()
	ours, theirs := runtime.NewScheme(), runtime.NewScheme()
	for _, err := range []error{
		api.AddToScheme(ours),
		volcanobatch.AddToScheme(theirs), volcanobus.AddToScheme(theirs), volcanoflow.AddToScheme(theirs), volcanonodeinfo.AddToScheme(theirs), volcanoscheduling.AddToScheme(theirs),
		volcanotopology.AddToScheme(theirs),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for kind := range ours.AllKnownTypes() {
		isOnlyHere := kind.Group == insightv1alpha1.GroupName || kind.Group == accountv1alpha1.GroupName
		if isOnlyHere {
			continue
		}
		if kind.Version != runtime.APIVersionInternal && !theirs.Recognizes(kind) {
			t.Errorf("%s is not Volcano's", kind)
		}
	}
}

func TestConstantsAreVolcanos(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{string(batchv1alpha1.Pending), string(volcanobatch.Pending)},
		{string(batchv1alpha1.Aborting), string(volcanobatch.Aborting)},
		{string(batchv1alpha1.Aborted), string(volcanobatch.Aborted)},
		{string(batchv1alpha1.Running), string(volcanobatch.Running)},
		{string(batchv1alpha1.Restarting), string(volcanobatch.Restarting)},
		{string(batchv1alpha1.Completing), string(volcanobatch.Completing)},
		{string(batchv1alpha1.Completed), string(volcanobatch.Completed)},
		{string(batchv1alpha1.Terminating), string(volcanobatch.Terminating)},
		{string(batchv1alpha1.Terminated), string(volcanobatch.Terminated)},
		{string(batchv1alpha1.Failed), string(volcanobatch.Failed)},
		{string(busv1alpha1.AnyEvent), string(volcanobus.AnyEvent)},
		{string(busv1alpha1.PodPendingEvent), string(volcanobus.PodPendingEvent)},
		{string(busv1alpha1.PodFailedEvent), string(volcanobus.PodFailedEvent)},
		{string(busv1alpha1.PodEvictedEvent), string(volcanobus.PodEvictedEvent)},
		{string(busv1alpha1.JobUnknownEvent), string(volcanobus.JobUnknownEvent)},
		{string(busv1alpha1.TaskCompletedEvent), string(volcanobus.TaskCompletedEvent)},
		{string(busv1alpha1.TaskFailedEvent), string(volcanobus.TaskFailedEvent)},
		{string(busv1alpha1.AbortJobAction), string(volcanobus.AbortJobAction)},
		{string(busv1alpha1.RestartJobAction), string(volcanobus.RestartJobAction)},
		{string(busv1alpha1.RestartTaskAction), string(volcanobus.RestartTaskAction)},
		{string(busv1alpha1.RestartPodAction), string(volcanobus.RestartPodAction)},
		{string(busv1alpha1.TerminateJobAction), string(volcanobus.TerminateJobAction)},
		{string(busv1alpha1.CompleteJobAction), string(volcanobus.CompleteJobAction)},
		{string(busv1alpha1.ResumeJobAction), string(volcanobus.ResumeJobAction)},
		{string(busv1alpha1.OpenQueueAction), string(volcanobus.OpenQueueAction)},
		{string(busv1alpha1.CloseQueueAction), string(volcanobus.CloseQueueAction)},
		{string(schedulingv1beta1.PodGroupPending), string(volcanoscheduling.PodGroupPending)},
		{string(schedulingv1beta1.PodGroupInqueue), string(volcanoscheduling.PodGroupInqueue)},
		{string(schedulingv1beta1.PodGroupRunning), string(volcanoscheduling.PodGroupRunning)},
		{string(schedulingv1beta1.PodGroupUnknown), string(volcanoscheduling.PodGroupUnknown)},
		{string(schedulingv1beta1.PodGroupCompleted), string(volcanoscheduling.PodGroupCompleted)},
		{string(schedulingv1beta1.QueueStateOpen), string(volcanoscheduling.QueueStateOpen)},
		{string(schedulingv1beta1.QueueStateClosed), string(volcanoscheduling.QueueStateClosed)},
		{string(schedulingv1beta1.QueueStateClosing), string(volcanoscheduling.QueueStateClosing)},
		{string(schedulingv1beta1.QueueStateUnknown), string(volcanoscheduling.QueueStateUnknown)},
		{schedulingv1beta1.NotEnoughResourcesReason, volcanoscheduling.NotEnoughResourcesReason},
		{schedulingv1beta1.NotEnoughPodsReason, volcanoscheduling.NotEnoughPodsReason},
		{string(schedulingv1beta1.DequeueStrategyFIFO), string(volcanoscheduling.DequeueStrategyFIFO)},
		{string(schedulingv1beta1.DequeueStrategyTraverse), string(volcanoscheduling.DequeueStrategyTraverse)},
	} {
		if ours, theirs := pair[0], pair[1]; ours != theirs {
			t.Errorf("ours is %q, Volcano's is %q", ours, theirs)
		}
	}
}

// TestObjectsSurviveTheRoundTrip converts random objects of Volcano's types to ours and back. The encoding must not
// change.
func TestObjectsSurviveTheRoundTrip(t *testing.T) {
	t.Parallel()
	for name, k := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				seed := rapid.Int64().Draw(t, "seed")
				throughOurs := roundTrip(t, fill(seed, k.theirs), k.ours, k.theirs)
				if throughOurs != "" {
					t.Fatalf("Volcano's %s changes on the way through ours: %s", name, throughOurs)
				}
				if len(k.added) > 0 {
					return // Volcano drops these fields
				}
				if throughTheirs := roundTrip(t, fill(seed, k.ours), k.theirs, k.ours); throughTheirs != "" {
					t.Fatalf("our %s changes on the way through Volcano's: %s", name, throughTheirs)
				}
			})
		})
	}
}

// roundTrip encodes object, decodes it as via, encodes that, and compares the encodings. It decodes strictly, so that a
// field that via does not have is an error. back is the type of object.
func roundTrip(t *rapid.T, object any, via, back reflect.Type) string {
	first := encode(t, object)
	other := reflect.New(via).Interface()
	decodeStrictly(t, first, other)
	second := encode(t, other)
	again := reflect.New(back).Interface()
	decodeStrictly(t, second, again)
	if third := encode(t, again); third != first {
		return cmp.Diff(first, third)
	}
	return cmp.Diff(canonical(t, first), canonical(t, second))
}

// canonical decodes JSON, so that the order of an object's members does not matter.
func canonical(t *rapid.T, text string) any {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func encode(t *rapid.T, object any) string {
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decodeStrictly(t *rapid.T, text string, into any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// fill creates an object of a type with random members.
func fill(seed int64, of reflect.Type) any {
	filler := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(14).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1_000_000), resource.DecimalSI)
			_ = q.String() // sets the cached string, as a decoder does
		},
		func(tm *metav1.Time, c randfill.Continue) {
			*tm = metav1.Unix(c.Int63n(4_000_000_000), 0).Rfc3339Copy()
		},
		func(d *metav1.Duration, c randfill.Continue) { d.Duration = time.Duration(c.Int63n(1e15)) },
		func(o *metav1.ObjectMeta, c randfill.Continue) { o.Name, o.UID = c.String(10), "u" },
		func(p *corev1.PodTemplateSpec, c randfill.Continue) {
			p.Spec.Containers = []corev1.Container{{Name: c.String(5)}}
		},
		// Never nil: a pointer to a nil list is encoded as null, which a decoder cannot distinguish from a nil pointer.
		func(l *corev1.ResourceList, c randfill.Continue) {
			*l = corev1.ResourceList{corev1.ResourceName(c.String(6)): *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)}
		},
		func(s *string, c randfill.Continue) { *s = c.String(8) },
	)
	object := reflect.New(of).Interface()
	filler.Fill(object)
	return object
}
