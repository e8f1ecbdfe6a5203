package cronjob

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/test/seeds"
)

var errCrash = errors.New("crash")

// site is an API server, a cache that may be late, and a controller that may crash before or after any write.
type site struct {
	t     *rapid.T
	store client.WithWatch // what is true
	cache client.Client    // what was true once
	now   time.Time
	// crashIn is after how many writes the controller dies, before or after the last of them; 0: it does not.
	crashIn int
	after   bool
	// made counts the jobs that were ever made, by name.
	made map[string]int
}

func builder() *fake.ClientBuilder {
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		panic(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&batch.Job{}, &batch.CronJob{})
	for _, i := range index.All() {
		if i.Name == index.JobController {
			b = b.WithIndex(i.Object, i.Name, i.Values)
		}
	}
	return b
}

// writes lets the controller die around one write.
func (s *site) write(do func() error) error {
	if s.crashIn > 0 {
		if s.crashIn--; s.crashIn == 0 {
			if s.after {
				if err := do(); err != nil {
					return err
				}
			}
			panic(errCrash)
		}
	}
	return do()
}

func (s *site) client() client.Client {
	return interceptor.NewClient(s.store, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return s.write(func() error {
				o.SetUID(types.UID(fmt.Sprintf("%s-%d", o.GetName(), s.made[o.GetName()])))
				o.SetCreationTimestamp(metav1.NewTime(s.now))
				err := c.Create(ctx, o, options...)
				if err == nil {
					s.made[o.GetName()]++
				}
				return err
			})
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return s.write(func() error { return c.Delete(ctx, o) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption) error {
			return s.write(func() error { return c.SubResource(sub).Update(ctx, o, options...) })
		},
	})
}

// sync brings the cache up to date, either kind or both.
func (s *site) sync(cronJobs, jobs bool) {
	from := func(fresh bool) client.Reader {
		if fresh || s.cache == nil {
			return s.store
		}
		return s.cache
	}
	var crons batch.CronJobList
	var all batch.JobList
	if err := errors.Join(from(cronJobs).List(context.Background(), &crons), from(jobs).List(context.Background(), &all)); err != nil {
		s.t.Fatal(err)
	}
	objects := []client.Object{}
	for i := range crons.Items {
		objects = append(objects, &crons.Items[i])
	}
	for i := range all.Items {
		objects = append(objects, &all.Items[i])
	}
	s.cache = builder().WithObjects(objects...).Build()
}

// reconcile runs the controller once; it may die.
func (s *site) reconcile() {
	defer func() {
		if why := recover(); why != nil && !errors.Is(why.(error), errCrash) {
			panic(why)
		}
		s.crashIn = 0
	}()
	r := New(Options{Cache: s.cache, API: s.client(), Recorder: &record.FakeRecorder{}, Now: func() time.Time { return s.now }})
	_, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "c"}})
	if err != nil && !apierrors.IsConflict(err) {
		s.t.Fatalf("reconcile: %v", err)
	}
}

// end lets a random job end.
func (s *site) end() {
	var jobs batch.JobList
	if err := s.store.List(context.Background(), &jobs); err != nil {
		s.t.Fatal(err)
	}
	for i := range jobs.Items {
		j := &jobs.Items[i]
		if Ended(j.Status.State.Phase) || rapid.Bool().Draw(s.t, "runs on") {
			continue
		}
		j.Status.State = batch.JobState{Phase: rapid.SampledFrom([]batch.JobPhase{batch.Completed, batch.Failed, batch.Terminated}).Draw(s.t, "phase"),
			LastTransitionTime: metav1.NewTime(s.now)}
		if err := s.store.Status().Update(context.Background(), j); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestNoTimeHasTwoJobsWhateverCrashes lets the controller die around any write and read caches that are late, while jobs end and are cleared away: no time of the schedule has
// two jobs, and with Allow and a controller that is let live each has one.
func TestNoTimeHasTwoJobsWhateverCrashes(t *testing.T) {
	seeds.Check(t, 4000, func(t *rapid.T) {
		s := &site{t: t, store: builder().Build(), now: epoch.Add(2 * time.Minute), made: map[string]int{}}
		c := &batch.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default", UID: "cron", CreationTimestamp: metav1.NewTime(epoch)}}
		c.Spec = batch.CronJobSpec{
			Schedule: "*/2 * * * *", TimeZone: new("UTC"),
			ConcurrencyPolicy:          rapid.SampledFrom([]batch.ConcurrencyPolicy{batch.AllowConcurrent, batch.ForbidConcurrent, batch.ReplaceConcurrent}).Draw(t, "policy"),
			SuccessfulJobsHistoryLimit: new(int32(rapid.IntRange(0, 1).Draw(t, "successful"))), FailedJobsHistoryLimit: new(int32(rapid.IntRange(0, 1).Draw(t, "failed"))),
		}
		if err := s.store.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		s.sync(true, true)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				s.now = s.now.Add(time.Minute)
			case 1, 2:
				s.end()
			case 3:
				s.sync(rapid.Bool().Draw(t, "CronJobs"), rapid.Bool().Draw(t, "Jobs"))
			case 4:
				s.sync(true, true)
			default:
				s.crashIn, s.after = rapid.IntRange(0, 3).Draw(t, "crash in"), rapid.Bool().Draw(t, "after")
				s.reconcile()
			}
		}
		for name, n := range s.made {
			if n > 1 {
				t.Fatalf("job %s was made %d times", name, n)
			}
		}
		if c.Spec.ConcurrencyPolicy != batch.AllowConcurrent {
			return
		}
		s.now = s.now.Truncate(2 * time.Minute).Add(2 * time.Minute)
		s.sync(true, true)
		s.reconcile()
		if due := jobName(c, s.now); s.made[due] != 1 {
			t.Fatalf("job %s of the last time was made %d times: %v", due, s.made[due], s.made)
		}
	})
}
