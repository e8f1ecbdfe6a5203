package admission

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

var (
	jobKind   = batchv1alpha1.GroupVersion.WithKind("Job")
	groupKind = schedulingv1beta1.GroupVersion.WithKind("PodGroup")
	queueKind = schedulingv1beta1.GroupVersion.WithKind("Queue")
	podKind   = corev1.SchemeGroupVersion.WithKind("Pod")
)

// fakeQueues is a cache of queues that lags behind the API server.
type fakeQueues struct {
	cached, live []*schedulingv1beta1.Queue
	down         error
}

func (f *fakeQueues) lookup(context.Context) *queueLookup {
	known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{byParent: parentIndexValue})
	for _, q := range f.cached {
		if err := known.Add(q); err != nil {
			panic(err)
		}
	}
	return &queueLookup{known: known, live: map[string]*schedulingv1beta1.Queue{}, read: func(name string) (*schedulingv1beta1.Queue, error) {
		for _, q := range f.live {
			if q.Name == name {
				return q, nil
			}
		}
		return nil, f.down
	}}
}

// currentLookup returns the live queues, or the cached ones if no live ones are given.
func (f *fakeQueues) currentLookup(ctx context.Context) *queueLookup {
	current := *f
	if len(f.live) > 0 {
		current.cached = f.live
	}
	lookup := current.lookup(ctx)
	lookup.err = f.down
	return lookup
}

func queue(name string, state schedulingv1beta1.QueueState) *schedulingv1beta1.Queue {
	return &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: schedulingv1beta1.QueueStatus{State: state}}
}

// namespaces maps names to the queue in their annotation.
type namespaces map[string]string

func (n namespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	queue, ok := n[name]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"scheduling.volcano.sh/queue-name": queue}}}, nil
}

func request(operation admissionv1.Operation, kind, object, old string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: operation, Kind: metav1.GroupVersionKind{Kind: kind}, Namespace: "nlp", Name: "x",
		Object: runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
	}}
}

const goodTask = `{"name":"a","replicas":2,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}`

func TestThePatchOfADefaultedObjectKeepsWhatWeDoNotKnow(t *testing.T) {
	t.Parallel()
	h := &hooks{schedulers: []string{"volcano"}, namespaces: namespaces{"nlp": "research"}}
	for name, test := range map[string]struct {
		handle       admission.HandlerFunc
		kind, object string
		want         string
	}{
		"a job": {h.mutateJob, "Job", `{"metadata":{"name":"x"},"spec":{"future":1,"plugins":{"mpi":[]},"tasks":[{"replicas":2,"new":true}]}}`,
			`{"metadata":{"name":"x"},"spec":{"future":1,"maxRetry":3,"minAvailable":2,"plugins":{"mpi":[],"ssh":[],"svc":[]},"queue":"default","schedulerName":"volcano",` +
				`"tasks":[{"maxRetry":3,"minAvailable":2,"name":"default0","new":true,"replicas":2}]}}`},
		"a job without anything": {h.mutateJob, "Job", `{"metadata":{"name":"x"}}`, `{"metadata":{"name":"x"}}`},
		"a queue without a spec": {h.mutateQueue, "Queue", `{"metadata":{"name":"x"}}`, `{"metadata":{"name":"x"},"spec":{"reclaimable":true,"weight":1}}`},
		"a group in a namespace with a queue": {h.mutatePodGroup, "PodGroup", `{"spec":{"minMember":2}}`,
			`{"spec":{"minMember":2,"queue":"research"}}`},
		"a group with a queue of its own": {h.mutatePodGroup, "PodGroup", `{"spec":{"queue":"own"}}`, `{"spec":{"queue":"own"}}`},
	} {
		response := test.handle(t.Context(), request(admissionv1.Create, test.kind, test.object, ""))
		if !response.Allowed {
			t.Errorf("%s: %v", name, response.Result)
			continue
		}
		operations, err := json.Marshal(response.Patches)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(operations)
		if err != nil {
			t.Fatal(err)
		}
		got, err := patch.Apply([]byte(test.object))
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, operations)
			continue
		}
		if !jsonpatch.Equal(got, []byte(test.want)) {
			t.Errorf("%s: want %s, got %s", name, test.want, got)
		}
	}
}

func TestJobsAtTheDoor(t *testing.T) {
	t.Parallel()
	open, closed := schedulingv1beta1.QueueStateOpen, schedulingv1beta1.QueueStateClosed
	for name, test := range map[string]struct {
		queues   *fakeQueues
		spec     string
		code     int32 // 0 if it is allowed
		what     string
		warnings int
	}{
		"a good one":                        {&fakeQueues{cached: []*schedulingv1beta1.Queue{queue("default", open)}}, `{"tasks":[` + goodTask + `]}`, 0, "", 0},
		"one whose queue was made just now": {&fakeQueues{live: []*schedulingv1beta1.Queue{queue("default", "")}}, `{"tasks":[` + goodTask + `]}`, 0, "", 0},
		"one whose queue was opened just now": {&fakeQueues{
			cached: []*schedulingv1beta1.Queue{queue("default", closed)}, live: []*schedulingv1beta1.Queue{queue("default", open)},
		}, `{"tasks":[` + goodTask + `]}`, 0, "", 0},
		"one whose queue is not there":    {&fakeQueues{}, `{"tasks":[` + goodTask + `]}`, 422, `spec.queue: Invalid value: "default": unable to find job queue`, 0},
		"one whose queue cannot be read":  {&fakeQueues{down: errors.New("gone fishing")}, `{"tasks":[` + goodTask + `]}`, 500, "gone fishing", 0},
		"one that asks for odd things":    {&fakeQueues{live: []*schedulingv1beta1.Queue{queue("default", open)}}, `{"minSuccess":5,"tasks":[` + goodTask + `]}`, 0, "", 1},
		"one of which nothing will run":   {&fakeQueues{live: []*schedulingv1beta1.Queue{queue("default", open)}}, `{"tasks":[` + strings.Replace(goodTask, `"replicas":2`, `"replicas":0`, 1) + `]}`, 0, "", 1},
		"one with a plugin of nobody's":   {&fakeQueues{live: []*schedulingv1beta1.Queue{queue("default", open)}}, `{"plugins":{"horovod":[]},"tasks":[` + goodTask + `]}`, 422, "unable to find job plugin: horovod; valid plugins are env, hcclrank, mpi, pytorch, ray, ssh, svc, tensorflow", 0},
		"one whose pods Kubernetes hates": {&fakeQueues{live: []*schedulingv1beta1.Queue{queue("default", open)}}, `{"tasks":[` + strings.Replace(goodTask, `"image":"i"`, `"image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]`, 1) + `]}`, 422, "spec.tasks[0].template.spec.containers[0].volumeMounts[0].name: Not found", 0},
		"no object at all":                {&fakeQueues{}, `7`, 422, "spec: Invalid value: \"7\": must be an object", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hooks{queues: test.queues, schedulers: []string{"volcano"}}
			response := h.validateHandler(jobKind)(t.Context(), request(admissionv1.Create, "Job", `{"metadata":{"name":"x"},"spec":`+test.spec+`}`, ""))
			requireResponse(t, response, test.code, test.what)
			if len(response.Warnings) != test.warnings {
				t.Errorf("want %d warnings, got %q", test.warnings, response.Warnings)
			}
		})
	}
}

func TestARefusalNamesItsFieldsForClients(t *testing.T) {
	t.Parallel()
	h := &hooks{queues: &fakeQueues{}, schedulers: []string{"volcano"}}
	response := h.validateHandler(jobKind)(t.Context(), request(admissionv1.Create, "Job", `{"metadata":{"name":"x"},"spec":{"minAvailable":9,"tasks":[`+goodTask+`]}}`, ""))
	details := response.Result.Details
	if details == nil || len(details.Causes) != 2 || details.Causes[0].Field != "spec.minAvailable" || details.Causes[1].Field != "spec.queue" {
		t.Errorf("%+v", details)
	}
}

func TestQueuesGroupsAndPodsAtTheDoor(t *testing.T) {
	t.Parallel()
	busy := queue("busy", "")
	busy.Status.Allocated = corev1.ResourceList{}
	busy.Status.Allocated[corev1.ResourcePods] = resource.MustParse("2")
	h := &hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{cached: []*schedulingv1beta1.Queue{queue("default", ""), busy}}}
	remove := request(admissionv1.Delete, "Queue", "", `{}`)
	remove.Name = "default"
	requireResponse(t, h.validateHandler(queueKind)(t.Context(), remove), 422, "`default` queue can not be deleted")
	remove.Name = "busy"
	response := h.validateHandler(queueKind)(t.Context(), remove)
	requireResponse(t, response, 0, "")
	if len(response.Warnings) != 1 {
		t.Errorf("want a warning that pods still run, got %q", response.Warnings)
	}
	requireResponse(t, h.validateHandler(queueKind)(t.Context(), request(admissionv1.Create, "Queue", `{"metadata":{"name":"x"},"spec":{"parent":"x"}}`, "")), 422, "spec.parent")
	requireResponse(t, h.validateHandler(queueKind)(t.Context(), request(admissionv1.Update, "Queue", `{"metadata":{"name":"x"},"spec":{"weight":2}}`, `{"metadata":{"name":"x"},"spec":{"weight":1}}`)), 0, "")
	requireResponse(t, h.validateHandler(groupKind)(t.Context(), request(admissionv1.Create, "PodGroup", `{"spec":{"queue":"nowhere"}}`, "")), 422, "unable to find queue")
	pod := `{"metadata":{"annotations":{"volcano.sh/jdb-min-available":"0"}},"spec":{"schedulerName":"volcano"}}`
	requireResponse(t, h.validateHandler(podKind)(t.Context(), request(admissionv1.Create, "Pod", pod, "")), 422, "positive integer")
}

// TestAQueueIsComparedWithTheCurrentQueuesBeforeItIsRejected covers a manifest that lowers the amounts of a child and then of
// its parent, while the cache still contains the earlier child.
func TestAQueueIsComparedWithTheCurrentQueuesBeforeItIsRejected(t *testing.T) {
	t.Parallel()
	withDeserved := func(name, parent, cpu string) *schedulingv1beta1.Queue {
		q := queue(name, "")
		q.Spec.Parent, q.Spec.Deserved = parent, corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		return q
	}
	cached := []*schedulingv1beta1.Queue{withDeserved("research", "", "8"), withDeserved("nlp", "research", "6"), withDeserved("cv", "research", "2")}
	update := request(admissionv1.Update, "Queue", `{"metadata":{"name":"research"},"spec":{"weight":1,"deserved":{"cpu":"6"}}}`,
		`{"metadata":{"name":"research"},"spec":{"weight":1,"deserved":{"cpu":"8"}}}`)
	for name, test := range map[string]struct {
		live []*schedulingv1beta1.Queue
		down error
		code int32
		says string
	}{
		"the child has been lowered":      {live: []*schedulingv1beta1.Queue{cached[0], withDeserved("nlp", "research", "4"), cached[2]}},
		"the child has its amount":        {live: cached, code: 422, says: "the child queues of this queue have 8 in total for deserved"},
		"the queues cannot be read again": {down: errors.New("down"), code: 500, says: "down"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{cached: cached, live: test.live, down: test.down}}
			requireResponse(t, h.validateHandler(queueKind)(t.Context(), update), test.code, test.says)
		})
	}
}

// TestAParentMayGoRightAfterItsChildren covers a cache that still contains a deleted child, or a child that has another
// parent now.
func TestAParentMayGoRightAfterItsChildren(t *testing.T) {
	t.Parallel()
	below := func(name, parent string) *schedulingv1beta1.Queue {
		q := queue(name, "")
		q.Spec.Parent = parent
		return q
	}
	cached := []*schedulingv1beta1.Queue{queue("team", ""), below("a", "team"), below("b", "team")}
	remove := request(admissionv1.Delete, "Queue", "", `{}`)
	remove.Name = "team"
	for name, test := range map[string]struct {
		live []*schedulingv1beta1.Queue
		code int32
		says string
		down error
	}{
		"both are gone":                 {live: cached[:1]},
		"one is gone, the other is not": {live: []*schedulingv1beta1.Queue{cached[0], cached[2]}, code: 422, says: "1 child queues: b"},
		"one stands elsewhere now":      {live: []*schedulingv1beta1.Queue{cached[0], below("b", "other")}},
		"the server cannot be asked":    {code: 500, says: "down", down: errors.New("down")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hooks{schedulers: []string{"volcano"}, queues: &fakeQueues{cached: cached, live: test.live, down: test.down}}
			requireResponse(t, h.validateHandler(queueKind)(t.Context(), remove), test.code, test.says)
		})
	}
}

func requireResponse(t *testing.T, response admission.Response, code int32, what string) {
	t.Helper()
	switch {
	case code == 0 && !response.Allowed:
		t.Errorf("refused: %v", response.Result)
	case code != 0 && (response.Allowed || response.Result.Code != code || !strings.Contains(response.Result.Message, what)):
		t.Errorf("want %d with %q, got allowed %v, %+v", code, what, response.Allowed, response.Result)
	}
}
