package jobflow

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
	"github.com/vc-batch/vc/test/propertytest"
)

// site is a cluster whose controller crashes and reads outdated objects.
type site struct {
	t      *rapid.T
	server *apiserver.Server
	api    *apiserver.Connection // the controller's connection to the server
	seen   *apiserver.Cache      // the controller's caches
	r      *Reconciler
	// looked is the length of the checked history; made counts how often each job was created.
	looked int
	made   map[string]int
}

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), api.AddToScheme(s)); err != nil {
		panic(err)
	}
	return s
}()

var kindOfJobs = batchv1alpha1.GroupVersion.WithKind("Job")

func newSite(t *rapid.T, f *flowv1alpha1.JobFlow) *site {
	s := &site{t: t, seen: apiserver.NewCache(), made: map[string]int{}}
	s.server = apiserver.New(scheme, func() time.Time { return epoch })
	s.server.KeepCopies = true
	s.api = apiserver.NewConnection(s.server)
	w := newWorld(nil, f.Spec.Flows...)
	for _, template := range w.in.Templates {
		s.server.Save(template)
	}
	s.server.Save(f)
	s.catchUp(flowv1alpha1.GroupVersion.WithKind("JobTemplate"))
	s.start()
	s.sync(true, true)
	return s
}

// start starts a new process.
func (s *site) start() {
	s.api.WritesLeft = -1
	s.r = New(Options{Cache: s.seen, API: s.api.Client(), Recorder: &record.FakeRecorder{}, Now: func() time.Time { return epoch }})
}

// dependenciesMet fails unless all dependencies of a job have completed.
func (s *site) mayBegin(name string) {
	f := s.flow()
	for i := range f.Spec.Flows {
		step := &f.Spec.Flows[i]
		if flowv1alpha1.JobName(f, step.Name) != name || step.DependsOn == nil {
			continue
		}
		for _, target := range step.DependsOn.Targets {
			job := apiserver.Find[*batchv1alpha1.Job](s.server, f.Namespace, flowv1alpha1.JobName(f, target))
			if job == nil || job.Status.State.Phase != batchv1alpha1.Completed {
				s.t.Fatalf("job %s is made while %s is %+v", name, target, job)
			}
		}
	}
}

func (s *site) flow() *flowv1alpha1.JobFlow {
	return apiserver.Find[*flowv1alpha1.JobFlow](s.server, "default", "f")
}

func (s *site) jobs() []*batchv1alpha1.Job { return apiserver.All[*batchv1alpha1.Job](s.server) }

// catchUp updates the cache of one kind. It returns the changes.
func (s *site) catchUp(kind schema.GroupVersionKind) []apiserver.Change {
	return s.seen.Replace(kind, s.server.Objects(kind))
}

// nobody is a queue without effect, because the test decides when the controller runs.
type nobody struct{ queue }

func (nobody) Add(reconcile.Request) {}

// sync updates the caches of flows, jobs, or both.
func (s *site) sync(flows, jobs bool) {
	if flows {
		s.catchUp(flowv1alpha1.GroupVersion.WithKind("JobFlow"))
	}
	if jobs {
		for _, c := range s.catchUp(kindOfJobs) {
			if c.Object == nil {
				s.r.jobHandler().Delete(context.Background(), event.DeleteEvent{Object: c.Old}, nobody{})
			}
		}
	}
}

// reconcile runs the controller once; it may crash.
func (s *site) reconcile(left int, lost bool) {
	s.api.WritesLeft, s.api.LoseLastResponse, s.api.HasFailed = left, lost, false
	_, err := s.r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "f"}})
	switch {
	case s.api.WritesLeft == 0:
		s.start()
	case err != nil && !apierrors.IsConflict(err) && !s.api.HasFailed:
		s.t.Fatalf("reconcile: %v", err)
	}
	s.api.WritesLeft = -1
	for ; s.looked < len(s.server.History); s.looked++ {
		if c := s.server.History[s.looked]; c.Kind == kindOfJobs && c.Old == nil {
			s.made[c.Object.GetName()]++
			s.mayBegin(c.Object.GetName())
		}
	}
}

// advance changes the phase of some or all jobs; ends returns the final phase of a job.
func (s *site) advance(all bool, ends func() batchv1alpha1.JobPhase) {
	for _, job := range s.jobs() {
		if isEndedPhase(job.Status.State.Phase) || !all && rapid.Bool().Draw(s.t, "stays") {
			continue
		}
		next := batchv1alpha1.Running
		if all || job.Status.State.Phase == batchv1alpha1.Running {
			next = ends()
		}
		job = job.DeepCopy()
		job.Status.State = batchv1alpha1.JobState{Phase: next, LastTransitionTime: metav1.NewTime(epoch)}
		s.server.Save(job)
	}
}

// graph draws steps that depend on earlier ones.
func graph(t *rapid.T) []flowv1alpha1.Flow {
	names := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "steps")]
	steps := make([]flowv1alpha1.Flow, len(names))
	for i, name := range names {
		steps[i].Name = name
		for _, target := range names[:i] {
			if rapid.Bool().Draw(t, name+" waits for "+target) {
				if steps[i].DependsOn == nil {
					steps[i].DependsOn = &flowv1alpha1.DependsOn{}
				}
				steps[i].DependsOn.Targets = append(steps[i].DependsOn.Targets, target)
			}
		}
	}
	if rapid.Bool().Draw(t, "backwards") {
		slices.Reverse(steps)
	}
	return steps
}

// TestNoStepRunsTwiceOrTooEarlyWhateverCrashes crashes the controller around any write and gives it outdated flows and
// jobs. No job may be created twice, or before its dependencies have completed, and the flow must end with the correct
// result.
func TestNoStepRunsTwiceOrTooEarlyWhateverCrashes(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		f := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f", Namespace: "default"}}
		f.Spec.Flows = graph(t)
		f.Spec.JobRetainPolicy = rapid.SampledFrom([]flowv1alpha1.RetainPolicy{flowv1alpha1.Retain, flowv1alpha1.Delete}).Draw(t, "retain")
		mayFail := rapid.Bool().Draw(t, "jobs may fail")
		failed := false
		ends := func() batchv1alpha1.JobPhase {
			if mayFail && rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
				failed = true
				return rapid.SampledFrom([]batchv1alpha1.JobPhase{batchv1alpha1.Failed, batchv1alpha1.Terminated}).Draw(t, "how")
			}
			return batchv1alpha1.Completed
		}
		s := newSite(t, f)
		for range rapid.IntRange(1, 30).Draw(t, "happenings") {
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				s.advance(false, ends)
			case 1:
				s.sync(rapid.Bool().Draw(t, "flows"), rapid.Bool().Draw(t, "jobs"))
			case 2:
				s.api.Faults = append(s.api.Faults, rapid.SampledFrom(apiserver.PossibleFaults()).Draw(t, "fault"))
			default:
				s.reconcile(rapid.IntRange(-1, 2).Draw(t, "writes"), rapid.Bool().Draw(t, "lost"))
			}
		}
		s.api.Faults = nil
		for range 4 * len(f.Spec.Flows) {
			s.advance(true, ends)
			s.sync(true, true)
			s.reconcile(-1, false)
		}
		for name, n := range s.made {
			if n > 1 {
				t.Errorf("job %s was made %d times", name, n)
			}
		}
		if err := s.server.CheckUnmodified(); err != nil {
			t.Error(err)
		}
		want := flowv1alpha1.Succeed
		if failed {
			want = flowv1alpha1.Failed
		}
		if got := s.flow().Status.State.Phase; got != want {
			t.Errorf("the flow is %s, want %s: %+v", got, want, s.flow().Status)
		}
		if n := len(s.jobs()); want == flowv1alpha1.Succeed && (n == 0) != (f.Spec.JobRetainPolicy == flowv1alpha1.Delete) {
			t.Errorf("%d jobs are there, jobRetainPolicy is %s", n, f.Spec.JobRetainPolicy)
		}
	})
}
