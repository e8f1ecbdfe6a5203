package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/backoff"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/controllers/registration"
	"github.com/vc-batch/vc/test/apiserver"
)

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

// world is a cluster around one job: the API, caches that lag behind, and all other components that act on the job.
type world struct {
	server     *apiserver.Server
	api        *apiserver.Connection // the controller's connection to the server
	cached     *apiserver.Cache
	position   map[string]int // position of the cache in the history, by kind
	reconciler *Reconciler
	clock      time.Time
	job        types.NamespacedName
	watches    []registration.Watch
	trace      []string
	// upsets counts the causes of restarts: evictions, failures, commands.
	upsets int
	events []string
	ids    IDs // nil: jobs have no numbers
	traces Traces
	// made counts the writes. life is the number of writes until this process crashes; -1 means no crash. With
	// lifeEndsUnheard, the process does not see the response to the last write.
	made, life      int
	lifeEndsUnheard bool
	// due is the time of the next reconcile requested by watches and plans; zero means never.
	due time.Time
	// message is the termination message of containers that end.
	message string
}

// bell is the work queue of the world's job: it stores when to reconcile. Most tests reconcile at any time.
type bell struct {
	queue
	w *world
}

func (b bell) Add(r reconcile.Request) { b.AddAfter(r, 0) }

func (b bell) AddAfter(r reconcile.Request, d time.Duration) {
	if r.NamespacedName == b.w.job {
		b.w.wake(d)
	}
}

// wake requests a reconcile after d or earlier.
func (w *world) wake(d time.Duration) {
	if at := w.clock.Add(d); w.due.IsZero() || at.Before(w.due) {
		w.due = at
	}
}

// claimSpec is the specification of a volume claim that the API server accepts.
var claimSpec = corev1.PersistentVolumeClaimSpec{
	AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
	Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
}

// epoch is the start time of worlds.
var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newWorld(job *batchv1alpha1.Job) *world {
	w := &world{cached: apiserver.NewCache(), position: map[string]int{}, life: -1, clock: epoch}
	w.server = apiserver.New(scheme, func() time.Time { return w.clock })
	w.api = apiserver.NewConnection(w.server)
	w.job = client.ObjectKeyFromObject(job)
	w.server.Save(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	w.server.Save(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: "there"}, Spec: claimSpec})
	w.server.Save(job)
	w.start()
	return w
}

// start starts a new process: without memory, and with a cache filled from the last state that the API served.
func (w *world) start() {
	w.api.WritesLeft = -1
	w.reconciler = New(Options{Cache: w.cached, API: w.api.Client(), Recorder: silent{&w.events}, Writers: 1, IDs: w.ids, Traces: w.traces, PerJobMetrics: true, Now: func() time.Time { return w.clock }})
	c := w.reconciler.controller(1)
	w.watches = c.AllWatches()
	w.wake(0) // a new process reconciles all objects that it finds
}

// restart starts a new process whose caches are filled from an API server that lags behind by some changes.
func (w *world) restart(back int) {
	at := len(w.server.History)
	for _, kind := range watched {
		at = min(at, w.position[kind])
	}
	at = max(at-back, 0)
	w.cached = apiserver.NewCache()
	for _, c := range w.server.History[:at] {
		w.cached.Apply(c)
	}
	for _, kind := range watched {
		w.position[kind] = at
	}
	w.start()
	w.note("restart, %d changes back", back)
}

// again repeats the last watch events, as after an interrupted watch.
func (w *world) again(n int) {
	for i := max(w.position["Pod"]-n, 0); i < w.position["Pod"]; i++ {
		c := w.server.History[i]
		isPod := c.Kind.Kind == "Pod" && c.Object != nil
		if !isPod || w.cached.Get(context.Background(), client.ObjectKeyFromObject(c.Object), &corev1.Pod{}) != nil {
			continue
		}
		w.notify(apiserver.Change{Kind: c.Kind, Old: c.Object, Object: c.Object})
	}
}

// silent collects events.
type silent struct{ events *[]string }

func (s silent) Event(_ runtime.Object, kind, reason, message string) {
	*s.events = append(*s.events, kind+" "+reason+": "+message)
}
func (silent) Eventf(runtime.Object, string, string, string, ...any)                             {}
func (silent) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {}

var _ record.EventRecorder = silent{}

// see updates the cache of one kind by n changes.
func (w *world) see(kind string, n int) {
	for i := w.position[kind]; i < len(w.server.History) && n > 0; i++ {
		w.position[kind] = i + 1
		c := w.server.History[i]
		if c.Kind.Kind != kind {
			continue
		}
		n--
		w.observe(c)
	}
}

func (w *world) observe(c apiserver.Change) {
	w.cached.Apply(c)
	w.notify(c)
}

// notify passes a change to the controller's watches.
func (w *world) notify(c apiserver.Change) {
	for _, watch := range w.watches {
		if reflect.TypeOf(watch.Kind) == reflect.TypeOf(cmp.Or(c.Object, c.Old)) {
			watch.Deliver(context.Background(), c.Old, c.Object, bell{w: w})
		}
	}
}

var watched = []string{"Job", "Pod", "PodGroup", "Queue", "Command"}

func (w *world) seeAll() {
	for _, kind := range watched {
		w.see(kind, len(w.server.History))
	}
}

// reconcile runs the controller once. It crashes after the given number of writes, unless that is negative.
func (w *world) reconcile(writes int, lostReply bool) error {
	w.api.Writes, w.api.HasFailed = nil, false
	lives := writes < 0
	if lives {
		writes, lostReply = w.life, w.lifeEndsUnheard
	}
	w.api.WritesLeft, w.api.LoseLastResponse = writes, lostReply
	result, err := w.reconciler.Reconcile(context.Background(), reconcile.Request{NamespacedName: w.job})
	switch {
	case err != nil:
		w.wake(backoff.LongestAfter(err))
	case result.RequeueAfter > 0:
		w.wake(result.RequeueAfter)
	}
	w.note("reconcile: %s: %v", strings.Join(w.api.Writes, ", "), err)
	crashed := w.api.WritesLeft == 0
	if lives {
		w.life = w.api.WritesLeft
	}
	w.made += len(w.api.Writes)
	w.api.WritesLeft = -1
	if crashed {
		w.life = -1
		w.note("crash")
		w.start()
		return nil
	}
	if errors.Is(err, apiserver.ErrDead) || apierrors.IsConflict(err) || w.api.HasFailed {
		return nil
	}
	return err
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

// truth returns the job in the API.
func (w *world) truth() *batchv1alpha1.Job {
	return apiserver.Find[*batchv1alpha1.Job](w.server, w.job.Namespace, w.job.Name).DeepCopy()
}

func (w *world) podNames() []string {
	var names []string
	for _, pod := range apiserver.All[*corev1.Pod](w.server) {
		names = append(names, pod.Name)
	}
	return names
}

func (w *world) pod(name string) *corev1.Pod {
	return apiserver.Find[*corev1.Pod](w.server, w.job.Namespace, name)
}

// kubelet advances a pod by one step: Pending, Running, then the end with this exit code. A pod that is being deleted
// ends and is removed.
func (w *world) kubelet(name string, exitCode int32) {
	pod := w.pod(name)
	if pod == nil {
		return
	}
	update := pod.DeepCopy()
	switch {
	case pod.DeletionTimestamp != nil && finished(pod):
		w.server.Remove(pod)
		w.note("kubelet: %s vanishes", name)
		return
	case pod.Status.Phase == corev1.PodPending:
		update.Spec.NodeName, update.Status.Phase = "node", corev1.PodRunning
		update.Status.ContainerStatuses = []corev1.ContainerStatus{{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	case pod.Status.Phase == corev1.PodRunning:
		update.Status.Phase = corev1.PodSucceeded
		if exitCode != 0 {
			update.Status.Phase = corev1.PodFailed
			if pod.DeletionTimestamp == nil {
				w.upsets++
			}
		}
		update.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, FinishedAt: metav1.NewTime(w.clock), Message: w.message,
		}}}}
	default:
		return
	}
	w.server.Save(update)
	w.note("kubelet: %s is %s", name, update.Status.Phase)
}

// crash makes the container of a running pod fail and restart.
func (w *world) crash(name string) {
	pod := w.pod(name)
	if pod == nil || pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return
	}
	update := pod.DeepCopy()
	for i := range update.Status.ContainerStatuses {
		s := &update.Status.ContainerStatuses[i]
		s.RestartCount++
		s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(w.clock)}
	}
	w.server.Save(update)
	w.upsets++
	w.note("kubelet: %s crashed", name)
}

// refuse makes a node refuse a pod that was bound to it.
func (w *world) refuse(name string) {
	pod := w.pod(name)
	if pod == nil || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodPending {
		return
	}
	update := pod.DeepCopy()
	at := metav1.NewTime(w.clock)
	update.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu", StartTime: &at}
	w.server.Save(update)
	w.note("kubelet: %s is refused", name)
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// evict deletes a pod on behalf of another component.
func (w *world) evict(name string) {
	if pod := w.pod(name); pod != nil && pod.DeletionTimestamp == nil {
		w.upsets++ // also for a finished pod: if the controller has not seen it finish, it counts as evicted
		w.delete(pod)
		w.note("somebody deletes %s", name)
	}
}

// delete deletes an object as users do: a running pod gets its grace period.
func (w *world) delete(o client.Object, options ...client.DeleteOption) {
	if err := w.server.Client().Delete(context.Background(), o, options...); err != nil {
		panic(err) // an error in the test
	}
}

// collectGarbage completes the deletion of the job and its objects, as kube-controller-manager does.
func (w *world) collectGarbage() {
	if job := w.truth(); job == nil || job.DeletionTimestamp == nil {
		return
	}
	for _, r := range append(w.server.GarbageRequests(), w.server.VolumeProtectionRequests()...) {
		if _, err := w.server.Do(r); err != nil {
			panic(err) // an error in the test
		}
		w.note("garbage collector: %s", r)
	}
}

// objects returns the objects of some kinds.
func (w *world) objects(kinds ...string) (objects []client.Object) {
	for _, kind := range w.server.Kinds() {
		if slices.Contains(kinds, kind.Kind) {
			objects = append(objects, w.server.Objects(kind)...)
		}
	}
	return objects
}

// schedule admits the PodGroup.
func (w *world) schedule(phase schedulingv1beta1.PodGroupPhase) {
	job := w.truth()
	if job == nil {
		return
	}
	if group := w.groupOf(job); group != nil && group.Status.Phase != phase {
		update := group.DeepCopy()
		update.Status.Phase = phase
		w.server.Save(update)
		if phase == schedulingv1beta1.PodGroupUnknown {
			w.upsets++
		}
		w.note("scheduler: group is %s", phase)
	}
}

func (w *world) command(n int, action busv1alpha1.Action) {
	w.upsets++
	w.server.Save(&busv1alpha1.Command{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.job.Namespace, Name: fmt.Sprintf("command-%d", n)}, Action: string(action),
		TargetObject: &metav1.OwnerReference{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: w.job.Name},
	})
	w.note("command %s", action)
}

// scale sets the replicas of a task.
func (w *world) scale(task int, replicas int32) {
	job := w.truth()
	if job == nil {
		return
	}
	update := job.DeepCopy()
	update.Spec.Tasks[task].Replicas = replicas
	update.Spec.Tasks[task].MinAvailable = &replicas
	update.Spec.MinAvailable = 0
	for i := range update.Spec.Tasks {
		update.Spec.MinAvailable += update.Spec.Tasks[i].Replicas
	}
	w.server.Save(update)
	w.note("task %d has %d replicas", task, replicas)
}

// annotate sets an annotation of the job; it never removes one.
func (w *world) annotate(key, value string) {
	job := w.truth()
	if job == nil || job.Annotations[key] == value {
		return
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[key] = value
	if value == "" {
		delete(job.Annotations, key)
	}
	w.server.Save(job)
	w.note("%s=%s", key, value)
}

// waits reports whether a pod has no node yet.
func (w *world) waits(name string) bool {
	pod := w.pod(name)
	return pod != nil && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodPending
}

// groupOf returns the PodGroup of a job, or nil.
func (w *world) groupOf(job *batchv1alpha1.Job) *schedulingv1beta1.PodGroup {
	return apiserver.Find[*schedulingv1beta1.PodGroup](w.server, job.Namespace, plan.GroupName(job))
}

// gangIsWhole reports whether a scheduler that places only whole gangs would place the pending pods.
func (w *world) gangIsWhole() bool {
	job := w.truth()
	// Admission rejects a limit below minAvailable, but it is drawn here.
	if job == nil || job.Annotations[keys.ArrayLimit] != "" {
		return true
	}
	group := w.groupOf(job)
	if group == nil {
		return true
	}
	members, tasks := int32(0), map[string]int32{}
	for _, name := range w.podNames() {
		pod := w.pod(name)
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed {
			members++
			tasks[pod.Annotations[keys.TaskSpec]]++
		}
	}
	short := members < group.Spec.MinMember
	for task, least := range group.Spec.MinTaskMember {
		short = short || group.Spec.MinMember >= sumOf(group.Spec.MinTaskMember) && tasks[task] < least
	}
	return !short
}

func sumOf(members map[string]int32) (sum int32) {
	for _, n := range members {
		sum += n
	}
	return sum
}

// calm lets all components act until nothing changes: every pod succeeds, nothing crashes, the API server works, caches
// are up to date.
func (w *world) calm() error {
	w.api.Faults = nil
	for range 200 {
		before := len(w.server.History)
		w.seeAll()
		if err := w.reconcile(-1, false); err != nil {
			return err
		}
		w.collectGarbage()
		w.schedule(schedulingv1beta1.PodGroupInqueue)
		w.clock = w.clock.Add(time.Second)
		whole := w.gangIsWhole()
		for _, name := range w.podNames() {
			if w.waits(name) && !whole {
				continue
			}
			w.kubelet(name, 0)
		}
		if len(w.server.History) == before {
			w.clock = w.clock.Add(2 * ownWriteLifetime) // all delayed actions are due
			w.seeAll()
			if err := w.reconcile(-1, false); err != nil {
				return err
			}
			if len(w.server.History) == before {
				return nil
			}
		}
	}
	return errors.New("it never comes to rest")
}
