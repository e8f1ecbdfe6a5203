package job

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// quotaUsedUp rejects creations and counts them.
type quotaUsedUp struct {
	client.Client
	asked atomic.Int64
}

func (q *quotaUsedUp) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	q.asked.Add(1)
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, o.GetName(), errors.New("exceeded quota"))
}

// TestAJobThatIsRefusedAsksForOnePodATry verifies that only the first attempt requests as many pods as there are
// writers, so that retries of thousands of such jobs cause little load.
func TestAJobThatIsRefusedAsksForOnePodATry(t *testing.T) {
	t.Parallel()
	const writers, pods = 8, 100
	places := make([]plan.Place, pods)
	for i := range places {
		places[i].Index = int32(i)
	}
	for name, test := range map[string]struct {
		trouble *plan.Trouble
		most    int64
	}{
		"the first try":        {nil, writers},
		"after it was refused": {&plan.Trouble{Reason: failedCreate}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &quotaUsedUp{}
			job := simpleJob(pods)
			r := New(Options{API: api, Writers: writers, Now: time.Now})
			a := &application{Reconciler: r, job: job, in: &plan.Input{Job: job, Trouble: test.trouble}, plan: &plan.Plan{Job: job}, known: r.states.ensureState(client.ObjectKeyFromObject(job), job.UID)}
			if err := a.createPods(t.Context(), places); !apierrors.IsForbidden(err) {
				t.Errorf("%v", err)
			}
			if n := api.asked.Load(); n == 0 || n > test.most {
				t.Errorf("%d pods were asked for, want 1 to %d", n, test.most)
			}
		})
	}
}

// TestAPodThatIsSeenWhileThePodsAreReadIsNotMadeAgain covers a watch event for a pod that arrives between the list from
// the cache and the check of created pods.
func TestAPodThatIsSeenWhileThePodsAreReadIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	job := simpleJob(1)
	job.UID = "job"
	r := New(Options{Now: func() time.Time { return now }})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "pod", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}}}
	known := r.states.ensureState(client.ObjectKeyFromObject(job), job.UID)
	known.recordCreatedPod(pod, now)

	events := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer events.ShutDown()
	for _, step := range []struct {
		name string
		do   func()
		list []*corev1.Pod
		want int
	}{
		{"seen after the list", func() { r.podHandler().Create(t.Context(), event.CreateEvent{Object: pod}, events) }, nil, 1},
		{"in the list", func() {}, []*corev1.Pod{pod}, 1},
		{"in no list any more", func() {}, nil, 0},
	} {
		step.do()
		in := plan.Input{Job: job, Now: now, Pods: step.list}
		if known.completeInput(&in); len(in.Pods) != step.want {
			t.Errorf("%s: the plan is made from %d pods, not %d", step.name, len(in.Pods), step.want)
		}
	}
}

// TestAPodThatIsGoneBeforeItsCreationIsAnsweredIsNotRecorded covers a pod that is bound, evicted and deleted while the
// response to its creation is on its way.
func TestAPodThatIsGoneBeforeItsCreationIsAnsweredIsNotRecorded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	job := simpleJob(1)
	job.UID = "job"
	known := newStateStore().ensureState(client.ObjectKeyFromObject(job), job.UID)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "pod"}}
	known.beginCreation()
	known.recordGonePod(pod, now)
	known.recordCreatedPod(pod, now)
	known.endCreation()
	in := plan.Input{Job: job, Now: now}
	if known.completeInput(&in); len(in.Pods) != 0 {
		t.Errorf("the plan is made from %d pods, want none", len(in.Pods))
	}
	if len(known.gone) > 0 {
		t.Errorf("%v is kept although no pod is being created", known.gone)
	}
}

// TestAJobIsPlannedAgainWhenACreatedPodStaysUnseen covers a pod that was created and deleted while the watch of pods was
// interrupted: no event reports its end.
func TestAJobIsPlannedAgainWhenACreatedPodStaysUnseen(t *testing.T) {
	t.Parallel()
	created := time.Unix(1_700_000_000, 0)
	known := newStateStore().ensureState(client.ObjectKey{Name: "job"}, "job")
	if _, ok := known.createdPodsExpireAfter(created); ok {
		t.Error("another plan is wanted although no pod was created")
	}
	known.recordCreatedPod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "pod"}}, created)
	now := created.Add(20 * time.Second)
	wait, ok := known.createdPodsExpireAfter(now)
	if !ok {
		t.Fatal("no other plan is wanted")
	}
	in := plan.Input{Now: now.Add(wait)}
	if known.completeInput(&in); len(in.Pods) != 0 {
		t.Errorf("after %s, the plan is still made from %d pods that no list contained", wait, len(in.Pods))
	}
}

// TestChangesOfContainersWakeTheJob checks which changes of a running pod make the controller plan again.
func TestChangesOfContainersWakeTheJob(t *testing.T) {
	t.Parallel()
	ofInit := func(change func(*corev1.ContainerStatus)) func(*corev1.Pod) {
		return func(p *corev1.Pod) { change(&p.Status.InitContainerStatuses[0]) }
	}
	ofMain := func(change func(*corev1.ContainerStatus)) func(*corev1.Pod) {
		return func(p *corev1.Pod) { change(&p.Status.ContainerStatuses[0]) }
	}
	restart := func(c *corev1.ContainerStatus) { c.RestartCount++ }
	end := func(c *corev1.ContainerStatus) { c.State.Terminated = &corev1.ContainerStateTerminated{} }
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a container is ready":        {ofMain(func(c *corev1.ContainerStatus) { c.Ready = true }), true},
		"a container restarts":        {ofMain(restart), true},
		"a container ends":            {ofMain(end), true},
		"an init container restarts":  {ofInit(restart), true},
		"an init container ends":      {ofInit(end), true},
		"a container has another ID":  {ofMain(func(c *corev1.ContainerStatus) { c.ContainerID = "other" }), false},
		"the pod has another address": {func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, InitContainerStatuses: make([]corev1.ContainerStatus, 1), ContainerStatuses: make([]corev1.ContainerStatus, 1)}}
			pod := old.DeepCopy()
			test.change(pod)
			if got := affectsPlan(old, pod); got != test.want {
				t.Errorf("wakes the job: %v, want %v", got, test.want)
			}
		})
	}
}
