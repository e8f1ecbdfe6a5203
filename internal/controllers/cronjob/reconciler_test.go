package cronjob

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
	"github.com/vc-batch/vc/test/propertytest"
)

// site consists of an API server, a cache that may be outdated, and a controller that may crash before or after any
// write.
type site struct {
	t      *rapid.T
	server *apiserver.Server
	api    *apiserver.Connection // the controller's connection to the server
	seen   *apiserver.Cache
	now    time.Time
}

var (
	kindOfCronJobs = batchv1alpha1.GroupVersion.WithKind("CronJob")
	kindOfJobs     = batchv1alpha1.GroupVersion.WithKind("Job")
)

// jobTemplate is the template of a job that the API server accepts.
var jobTemplate = batchv1alpha1.JobTemplateSpec{Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "t", Replicas: 1}}}}

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := api.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}()

func newSite(t *rapid.T, c *batchv1alpha1.CronJob) *site {
	s := &site{t: t, seen: apiserver.NewCache(), now: epoch}
	s.server = apiserver.New(scheme, func() time.Time { return s.now })
	s.server.KeepCopies = true
	s.api = apiserver.NewConnection(s.server)
	s.server.Save(c)
	s.now = epoch.Add(2 * time.Minute)
	s.sync(true, true)
	return s
}

// made returns how often each job was created, by name.
func (s *site) made() map[string]int {
	made := map[string]int{}
	for _, c := range s.server.History {
		if c.Kind == kindOfJobs && c.Old == nil {
			made[c.Object.GetName()]++
		}
	}
	return made
}

// sync updates the cache for CronJobs, jobs, or both.
func (s *site) sync(cronJobs, jobs bool) {
	if cronJobs {
		s.seen.Replace(kindOfCronJobs, s.server.Objects(kindOfCronJobs))
	}
	if jobs {
		s.seen.Replace(kindOfJobs, s.server.Objects(kindOfJobs))
	}
}

// reconcile runs a new controller once; it may crash.
func (s *site) reconcile(writes int, lostReply bool) {
	s.api.WritesLeft, s.api.LoseLastResponse, s.api.HasFailed = writes, lostReply, false
	r := New(Options{Cache: s.seen, API: s.api.Client(), Recorder: &record.FakeRecorder{}, Now: func() time.Time { return s.now }})
	_, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "c"}})
	if err != nil && !apierrors.IsConflict(err) && s.api.WritesLeft != 0 && !s.api.HasFailed {
		s.t.Fatalf("reconcile: %v", err)
	}
	s.api.WritesLeft = -1
}

// end makes a random job end.
func (s *site) end() {
	for _, j := range apiserver.All[*batchv1alpha1.Job](s.server) {
		if IsEndedPhase(j.Status.State.Phase) || rapid.Bool().Draw(s.t, "runs on") {
			continue
		}
		j = j.DeepCopy()
		j.Status.State = batchv1alpha1.JobState{Phase: rapid.SampledFrom([]batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated}).Draw(s.t, "phase"),
			LastTransitionTime: metav1.NewTime(s.now)}
		s.server.Save(j)
	}
}

// TestNoTimeHasTwoJobsWhateverCrashes crashes the controller around any write and gives it outdated caches, while jobs
// end and are deleted. No scheduled time may get two jobs; with concurrencyPolicy Allow and a running controller each
// time gets one.
func TestNoTimeHasTwoJobsWhateverCrashes(t *testing.T) {
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		c := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}}
		c.Spec = batchv1alpha1.CronJobSpec{
			Schedule: "*/2 * * * *", TimeZone: new("UTC"), JobTemplate: jobTemplate,
			ConcurrencyPolicy:          rapid.SampledFrom([]batchv1alpha1.ConcurrencyPolicy{batchv1alpha1.AllowConcurrent, batchv1alpha1.ForbidConcurrent, batchv1alpha1.ReplaceConcurrent}).Draw(t, "policy"),
			SuccessfulJobsHistoryLimit: new(int32(rapid.IntRange(0, 1).Draw(t, "successful"))), FailedJobsHistoryLimit: new(int32(rapid.IntRange(0, 1).Draw(t, "failed"))),
		}
		s := newSite(t, c)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 8).Draw(t, "what") {
			case 0:
				s.now = s.now.Add(time.Minute)
			case 1, 2:
				s.end()
			case 3:
				s.sync(rapid.Bool().Draw(t, "CronJobs"), rapid.Bool().Draw(t, "Jobs"))
			case 4:
				s.sync(true, true)
			case 5:
				s.api.Faults = append(s.api.Faults, rapid.SampledFrom(apiserver.PossibleFaults()).Draw(t, "fault"))
			default:
				s.reconcile(rapid.IntRange(-1, 2).Draw(t, "writes"), rapid.Bool().Draw(t, "lost reply"))
			}
		}
		if err := s.server.CheckUnmodified(); err != nil {
			t.Fatal(err)
		}
		for name, n := range s.made() {
			if n > 1 {
				t.Fatalf("job %s was made %d times", name, n)
			}
		}
		if c.Spec.ConcurrencyPolicy != batchv1alpha1.AllowConcurrent {
			return
		}
		s.now = s.now.Truncate(2 * time.Minute).Add(2 * time.Minute)
		s.sync(true, true)
		s.api.Faults = nil
		s.reconcile(-1, false)
		if due := scheduledJobName(c, s.now); s.made()[due] != 1 {
			t.Fatalf("job %s of the last time was made %d times: %v", due, s.made()[due], s.made())
		}
	})
}
