package recorder

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/podmeasure"
	"github.com/vc-batch/vc/internal/accounting/spool"
	"github.com/vc-batch/vc/internal/accounting/store"
	"github.com/vc-batch/vc/internal/podusage"
	"github.com/vc-batch/vc/test/apiserver"
)

var created = metav1.NewTime(time.Unix(1_700_000_000, 0))

// world is an API server with a recorder.
type world struct {
	*testing.T
	server *apiserver.Server
	spool  *spool.Spool
	*Reconciler
}

func newWorld(t *testing.T, maxSpoolBytes int64, jobs ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(api.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	server := apiserver.New(scheme, time.Now)
	for _, job := range jobs {
		server.Save(job)
	}
	w := &world{T: t, server: server}
	w.spool = openSpool(t, t.TempDir(), maxSpoolBytes)
	w.restart()
	return w
}

func openSpool(t *testing.T, dir string, maxBytes int64) *spool.Spool {
	t.Helper()
	s, err := spool.Open(dir, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// restart replaces the recorder by a new one, which knows nothing about the past.
func (w *world) restart() {
	w.Reconciler = New(Options{Cache: w.server.Cache(), API: w.server.Client(), Cluster: "prod", Spool: w.spool, Tracker: podmeasure.New(time.Minute)})
}

// reconcile reconciles the job train.
func (w *world) reconcile() reconcile.Result {
	w.Helper()
	result, err := w.Reconcile(w.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "train"}})
	if err != nil {
		w.Fatal(err)
	}
	return result
}

// job returns the job train, or nil if it does not exist.
func (w *world) job() *batchv1alpha1.Job {
	w.Helper()
	job := &batchv1alpha1.Job{}
	err := w.server.Client().Get(w.Context(), client.ObjectKey{Namespace: "default", Name: "train"}, job)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return job
}

// change changes the job train.
func (w *world) change(change func(job *batchv1alpha1.Job)) {
	w.Helper()
	job := w.job()
	change(job)
	w.server.Save(job)
}

// addPod adds a running pod of the first attempt of the job train.
func (w *world) addPod() *corev1.Pod {
	w.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train-main-0", UID: "pod", Annotations: map[string]string{keys.JobVersion: "0"}}}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w.job(), batchv1alpha1.GroupVersion.WithKind("Job"))}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "none"}}
	pod.Status.Phase = corev1.PodRunning
	w.server.Save(pod)
	if err := w.server.Client().Get(w.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		w.Fatal(err)
	}
	return pod
}

// spooledAttempts returns the numbers of the attempts in the spool.
func (w *world) spooledAttempts() []int32 {
	w.Helper()
	var attempts []int32
	for {
		batch, ok, err := w.spool.Oldest()
		if err != nil {
			w.Fatal(err)
		}
		if !ok {
			return attempts
		}
		for i := range batch.Records {
			attempts = append(attempts, batch.Records[i].Attempt)
		}
		if err := w.spool.Remove(batch); err != nil {
			w.Fatal(err)
		}
	}
}

// newJob returns the job train, which has entered a phase.
func newJob(phase batchv1alpha1.JobPhase) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "1234", CreationTimestamp: created}}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "main", Replicas: 1}}
	job.Status.State = batchv1alpha1.JobState{Phase: phase, LastTransitionTime: created}
	return job
}

func TestAJobKeepsTheFinalizerUntilItIsDeletedAndRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1<<20, newJob(batchv1alpha1.Running))
	w.reconcile()
	if !hasFinalizer(w.job()) || w.spooledAttempts() != nil {
		t.Fatal("a running job lacks the finalizer, or was recorded")
	}
	w.change(func(job *batchv1alpha1.Job) { job.Status.State.Phase = batchv1alpha1.Completed })
	w.reconcile()
	w.reconcile()
	if got := w.spooledAttempts(); !cmp.Equal(got, []int32{0}) || !hasFinalizer(w.job()) {
		t.Fatalf("attempts %v were recorded, finalizers %v", got, w.job().Finalizers)
	}
	w.change(func(job *batchv1alpha1.Job) {
		job.Status.State.Phase, job.Status.UserRestarts = batchv1alpha1.Failed, 1
	})
	w.reconcile()
	if got := w.spooledAttempts(); !cmp.Equal(got, []int32{1}) {
		t.Fatalf("attempts %v were recorded after a restart", got)
	}
	if err := w.server.Client().Delete(t.Context(), w.job()); err != nil {
		t.Fatal(err)
	}
	if w.job() == nil {
		t.Fatal("the job is gone before the recorder saw its deletion")
	}
	w.reconcile()
	if w.job() != nil || w.spooledAttempts() != nil {
		t.Error("the deleted job still exists, or was recorded again")
	}
}

// The attempts of a job that was restarted while the recorder was down are in its status.
func TestEarlierAttemptsAreRecordedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1<<20, newJob(batchv1alpha1.Running))
	w.change(func(job *batchv1alpha1.Job) { job.Spec.MaxRetry = 5 })
	restartJob := func(job *batchv1alpha1.Job) {
		job.Status.Attempts = append(job.Status.Attempts, batchv1alpha1.JobAttempt{Number: job.Status.RetryCount, EndTime: created, Phase: batchv1alpha1.Restarting})
		job.Status.RetryCount++
	}
	w.change(restartJob)
	w.change(restartJob)
	w.reconcile()
	w.change(restartJob)
	w.reconcile()
	w.reconcile()
	w.change(func(job *batchv1alpha1.Job) { job.Status.State.Phase = batchv1alpha1.Failed })
	w.reconcile()
	if got := w.spooledAttempts(); !cmp.Equal(got, []int32{0, 1, 2, 3}) {
		t.Errorf("attempts %v were recorded", got)
	}
}

func TestARunningJobThatIsDeletedIsRecordedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1<<20, newJob(batchv1alpha1.Running))
	w.reconcile()
	if err := w.server.Client().Delete(t.Context(), w.job()); err != nil {
		t.Fatal(err)
	}
	w.restart() // while the recorder is down
	w.reconcile()
	if got := w.spooledAttempts(); !cmp.Equal(got, []int32{0}) || w.job() != nil {
		t.Errorf("attempts %v were recorded; the job is %v", got, w.job())
	}
	w.reconcile() // a job that is gone
}

func TestAJobStaysWhileTheSpoolIsFull(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10, newJob(batchv1alpha1.Running))
	w.reconcile()
	if err := w.server.Client().Delete(t.Context(), w.job()); err != nil {
		t.Fatal(err)
	}
	if result := w.reconcile(); result.RequeueAfter == 0 || w.job() == nil {
		t.Fatalf("with a full spool, the result is %+v, and the job is %v", result, w.job())
	}
	w.spool = openSpool(t, t.TempDir(), 1<<20)
	w.restart()
	if w.reconcile(); w.job() != nil || len(w.spooledAttempts()) != 1 {
		t.Error("the job was not recorded and released when there was space")
	}
}

// failingStore is a database whose Add fails a number of times.
type failingStore struct {
	accounting.Store
	failures int
}

func (s *failingStore) Add(ctx context.Context, records []accounting.Record) (int, error) {
	if s.failures--; s.failures >= 0 {
		return 0, fmt.Errorf("test: %w", accounting.ErrUnavailable)
	}
	return s.Store.Add(ctx, records)
}

// A database that cannot be opened, and then fails, stores each record once, although a restarted recorder appends the
// record again.
func TestARecordIsStoredOnceWhenTheDatabaseIsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1<<20, newJob(batchv1alpha1.Completed))
	w.reconcile()
	w.restart()
	w.reconcile()
	if batches := w.spool.Stats().Batches; batches != 2 {
		t.Fatalf("%d batches, want 2", batches)
	}
	dir, opened := t.TempDir(), 0
	storage := NewStorage(w.spool, func(ctx context.Context) (accounting.Store, error) {
		if opened++; opened <= 2 {
			return nil, fmt.Errorf("test: %w", accounting.ErrUnavailable)
		}
		s, err := store.Open(ctx, "sqlite:"+dir)
		return &failingStore{s, 2}, err
	}, Retention{}, logr.Discard())
	if _, err := storage.Store(); !errors.Is(err, accounting.ErrUnavailable) {
		t.Errorf("before the database is open: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		storage.StoreUntilDone(ctx)
	}()
	deadline := time.After(time.Minute)
	for w.spool.Stats().Batches > 0 {
		select {
		case <-deadline:
			t.Fatal("the records were not stored")
		case <-time.After(10 * time.Millisecond):
		}
	}
	cancel()
	<-done
	open, err := storage.Store()
	if err != nil {
		t.Fatal(err)
	}
	var keysOfRecords []accounting.Key
	for record, err := range open.Records(t.Context(), accounting.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		keysOfRecords = append(keysOfRecords, record.Key)
	}
	want := []accounting.Key{{Cluster: "prod", JobUID: string(w.job().UID), Element: accounting.NoElement}}
	if diff := cmp.Diff(want, keysOfRecords); diff != "" {
		t.Errorf("-want +stored:\n%s", diff)
	}
	if err := storage.Close(); err != nil {
		t.Error(err)
	}
}

// The record of an attempt that a restart ended waits for the end of its pods, and then contains what they used.
func TestTheUseOfAnEarlierAttemptIsRecorded(t *testing.T) {
	t.Parallel()
	job := newJob(batchv1alpha1.Running)
	job.Spec.MaxRetry = 5
	w := newWorld(t, 1<<20, job)
	pod := w.addPod()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	w.observePod(t.Context(), pod, false, queue)
	w.change(func(job *batchv1alpha1.Job) {
		job.Status.Attempts = []batchv1alpha1.JobAttempt{{EndTime: metav1.Now(), Phase: batchv1alpha1.Restarting}}
		job.Status.RetryCount, job.Status.Version = 1, 1
	})
	if result := w.reconcile(); result.RequeueAfter == 0 || w.spool.Stats().Batches != 0 || queue.Len() != 0 {
		t.Fatalf("result %+v, %d batches, although the pod still runs", result, w.spool.Stats().Batches)
	}
	pod.Annotations[keys.Used] = podusage.Use{CPUMilliseconds: 1500, PeakMemoryBytes: 1 << 20}.Encode()
	if err := w.server.Client().Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	w.observePod(t.Context(), pod, true, queue)
	if queue.Len() != 1 {
		t.Error("the end of the pod did not enqueue the job")
	}
	w.reconcile()
	batch, ok, err := w.spool.Oldest()
	if err != nil || !ok {
		t.Fatalf("no batch: %v", err)
	}
	if r := batch.Records[0]; len(batch.Records) != 1 || r.CPUTime != 1500*time.Millisecond || r.PeakMemoryBytes != 1<<20 {
		t.Errorf("records %+v", batch.Records)
	}
	if uses := w.Tracker.UsesOf(w.job().UID); len(uses) != 0 {
		t.Errorf("the uses %v are kept after they were recorded", uses)
	}
}

// Users may create pods that look like pods of a job. Only the UID of a Job that controls the pod counts.
func TestPodsThatOnlyResembleThoseOfAJobAreNotRecorded(t *testing.T) {
	t.Parallel()
	controller := func(change func(owner *metav1.OwnerReference)) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { change(&pod.OwnerReferences[0]) }
	}
	for name, c := range map[string]struct {
		change func(pod *corev1.Pod)
		want   time.Duration
	}{
		"the pod of the job":                  {func(*corev1.Pod) {}, 1500 * time.Millisecond},
		"without an owner":                    {func(pod *corev1.Pod) { pod.OwnerReferences = nil }, 0},
		"an owner that is not the controller": {controller(func(owner *metav1.OwnerReference) { owner.Controller = nil }), 0},
		"a job with the same name":            {controller(func(owner *metav1.OwnerReference) { owner.UID = "other" }), 0},
		"a job with the same UID":             {controller(func(owner *metav1.OwnerReference) { owner.Name = "other" }), 0},
		"another kind with the same UID":      {controller(func(owner *metav1.OwnerReference) { owner.APIVersion = "batch/v1" }), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1<<20, newJob(batchv1alpha1.Completed))
			pod := w.addPod()
			pod.Labels = map[string]string{keys.JobName: "train", keys.TaskSpec: "main"}
			pod.Annotations[keys.Used] = podusage.Use{CPUMilliseconds: 1500, PeakMemoryBytes: 1 << 20}.Encode()
			c.change(pod)
			w.server.Save(pod)
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			w.observePod(t.Context(), pod, false, queue)
			w.reconcile()
			batch, ok, err := w.spool.Oldest()
			if err != nil || !ok {
				t.Fatalf("no batch: %v", err)
			}
			if len(batch.Records) != 1 {
				t.Fatalf("records %+v, want one", batch.Records)
			}
			if got := batch.Records[0].CPUTime; got != c.want {
				t.Errorf("CPU time %v, want %v", got, c.want)
			}
		})
	}
}

// A job that is deleted in the foreground stays after it was recorded, until its pods are gone.
func TestAJobThatIsDeletedInTheForegroundIsForgotten(t *testing.T) {
	t.Parallel()
	job := newJob(batchv1alpha1.Running)
	job.Finalizers = []string{keys.Recorded, metav1.FinalizerDeleteDependents}
	w := newWorld(t, 1<<20, job)
	pod := w.addPod()
	if err := w.server.Client().Delete(t.Context(), w.job()); err != nil {
		t.Fatal(err)
	}
	w.reconcile()
	last := w.job()
	if got := w.spooledAttempts(); !cmp.Equal(got, []int32{0}) || last == nil {
		t.Fatalf("attempts %v were recorded, and the job is %v", got, last)
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	pod.Annotations[keys.Used] = podusage.Use{CPUMilliseconds: 1500}.Encode()
	w.observePod(t.Context(), pod, true, queue)
	w.change(func(job *batchv1alpha1.Job) { job.Finalizers = nil })
	w.deletedJobHandler().Delete(t.Context(), event.DeleteEvent{Object: last}, queue)
	if uses := w.Tracker.UsesOf(last.UID); len(uses) != 0 {
		t.Errorf("the uses %v of a deleted job are kept", uses)
	}
}

// A lost node delays the record of an attempt only for a while.
func TestTheRecordOfAnAttemptDoesNotWaitLongForAPod(t *testing.T) {
	t.Parallel()
	job := newJob(batchv1alpha1.Running)
	job.Spec.MaxRetry, job.Status.RetryCount, job.Status.Version = 5, 1, 1
	job.Status.Attempts = []batchv1alpha1.JobAttempt{{EndTime: created, Phase: batchv1alpha1.Restarting}}
	w := newWorld(t, 1<<20, job)
	w.addPod()
	w.reconcile()
	if got := w.spooledAttempts(); !cmp.Equal(got, []int32{0}) {
		t.Errorf("attempts %v were recorded", got)
	}
}
