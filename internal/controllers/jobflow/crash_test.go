package jobflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	flow "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/test/seeds"
)

var errDead = errors.New("the process is dead")

// site is a cluster in which the controller dies and reads what is old.
type site struct {
	t     *rapid.T
	store client.WithWatch // what is true
	seen  client.Client    // what the controller's watches have told it
	r     *Reconciler
	// left is how many writes succeed before the process dies, -1: all; lost: the last of them succeeds, and nobody hears of it.
	left int
	lost bool
	made map[string]int // how often each job was made
}

func storeBuilder() *fake.ClientBuilder {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), api.AddToScheme(scheme)); err != nil {
		panic(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&batch.Job{}, &flow.JobFlow{})
	for _, i := range index.All() {
		b = b.WithIndex(i.Object, i.Name, i.Values)
	}
	return b
}

func newSite(t *rapid.T, f *flow.JobFlow) *site {
	s := &site{t: t, store: storeBuilder().Build(), left: -1, made: map[string]int{}}
	w := newWorld(nil, f.Spec.Flows...)
	for _, template := range w.in.Templates {
		s.must(s.store.Create(t.Context(), template))
	}
	s.must(s.store.Create(t.Context(), f))
	s.sync(true, true)
	s.start()
	return s
}

func (s *site) must(err error) {
	if err != nil {
		s.t.Fatal(err)
	}
}

// write carries out a write, or dies.
func (s *site) write(do func() error) error {
	if s.left == 0 {
		return errDead
	}
	s.left--
	err := do()
	if s.left == 0 && s.lost {
		return errDead
	}
	return err
}

// start begins a new life of the process.
func (s *site) start() {
	s.left = -1
	mine := interceptor.NewClient(s.store, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return s.write(func() error {
				o.SetUID(types.UID(fmt.Sprintf("%s-%d", o.GetName(), s.made[o.GetName()])))
				o.SetCreationTimestamp(metav1.NewTime(epoch))
				err := c.Create(ctx, o, options...)
				if err == nil {
					s.made[o.GetName()]++
					s.mayBegin(o.GetName())
				}
				return err
			})
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, _ ...client.DeleteOption) error {
			return s.write(func() error { return c.Delete(ctx, o) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption) error {
			return s.write(func() error { return c.SubResource(sub).Update(ctx, o, options...) })
		},
	})
	s.r = New(Options{Cache: s.seen, API: mine, Recorder: &record.FakeRecorder{}, Now: func() time.Time { return epoch }})
}

// mayBegin fails unless everything that a job waits for has completed.
func (s *site) mayBegin(name string) {
	f := s.flow()
	for i := range f.Spec.Flows {
		step := &f.Spec.Flows[i]
		if flow.JobName(f, step.Name) != name || step.DependsOn == nil {
			continue
		}
		for _, target := range step.DependsOn.Targets {
			job := &batch.Job{}
			if err := s.store.Get(context.Background(), types.NamespacedName{Namespace: f.Namespace, Name: flow.JobName(f, target)}, job); err != nil || job.Status.State.Phase != batch.Completed {
				s.t.Fatalf("job %s is made while %s is %q (%v)", name, target, job.Status.State.Phase, err)
			}
		}
	}
}

func (s *site) flow() *flow.JobFlow {
	f := &flow.JobFlow{}
	s.must(s.store.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: "f"}, f))
	return f
}

func (s *site) jobs() []batch.Job {
	var jobs batch.JobList
	s.must(s.store.List(context.Background(), &jobs))
	return jobs.Items
}

// sync brings what the controller sees up to date, either kind or both.
func (s *site) sync(flows, jobs bool) {
	from := func(fresh bool) client.Reader {
		if fresh || s.seen == nil {
			return s.store
		}
		return s.seen
	}
	var f flow.JobFlowList
	var templates flow.JobTemplateList
	var j batch.JobList
	s.must(errors.Join(from(flows).List(context.Background(), &f), from(true).List(context.Background(), &templates), from(jobs).List(context.Background(), &j)))
	var objects []client.Object
	for i := range f.Items {
		objects = append(objects, &f.Items[i])
	}
	for i := range templates.Items {
		objects = append(objects, &templates.Items[i])
	}
	for i := range j.Items {
		objects = append(objects, &j.Items[i])
	}
	s.seen = storeBuilder().WithObjects(objects...).Build()
	if s.r != nil {
		s.r.cache = s.seen
	}
}

// reconcile runs the controller once; it may die.
func (s *site) reconcile(left int, lost bool) {
	s.left, s.lost = left, lost
	_, err := s.r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "f"}})
	switch {
	case errors.Is(err, errDead) || s.left == 0:
		s.start()
	case err != nil && !apierrors.IsConflict(err):
		s.t.Fatalf("reconcile: %v", err)
	}
	s.left = -1
}

// advance moves jobs on, each maybe; fails says whether they may fail.
func (s *site) advance(all bool, ends func() batch.JobPhase) {
	for _, job := range s.jobs() {
		if ended(job.Status.State.Phase) || !all && rapid.Bool().Draw(s.t, "stays") {
			continue
		}
		next := batch.Running
		if all || job.Status.State.Phase == batch.Running {
			next = ends()
		}
		job.Status.State = batch.JobState{Phase: next, LastTransitionTime: metav1.NewTime(epoch)}
		s.must(s.store.Status().Update(context.Background(), &job))
	}
}

// graph draws steps that wait for earlier ones.
func graph(t *rapid.T) []flow.Flow {
	names := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "steps")]
	steps := make([]flow.Flow, len(names))
	for i, name := range names {
		steps[i].Name = name
		for _, target := range names[:i] {
			if rapid.Bool().Draw(t, name+" waits for "+target) {
				if steps[i].DependsOn == nil {
					steps[i].DependsOn = &flow.DependsOn{}
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

// TestNoStepRunsTwiceOrTooEarlyWhateverCrashes lets the controller die around any write and see flows and jobs late. No job is made twice, none before
// what it waits for has completed, and in the end the flow says how it went.
func TestNoStepRunsTwiceOrTooEarlyWhateverCrashes(t *testing.T) {
	t.Parallel()
	seeds.Check(t, 2000, func(t *rapid.T) {
		f := &flow.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f", Namespace: "default", UID: "flow"}}
		f.Spec.Flows = graph(t)
		f.Spec.JobRetainPolicy = rapid.SampledFrom([]flow.RetainPolicy{flow.Retain, flow.Delete}).Draw(t, "retain")
		mayFail := rapid.Bool().Draw(t, "jobs may fail")
		failed := false
		ends := func() batch.JobPhase {
			if mayFail && rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
				failed = true
				return rapid.SampledFrom([]batch.JobPhase{batch.Failed, batch.Terminated}).Draw(t, "how")
			}
			return batch.Completed
		}
		s := newSite(t, f)
		for range rapid.IntRange(1, 30).Draw(t, "happenings") {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				s.advance(false, ends)
			case 1:
				s.sync(rapid.Bool().Draw(t, "flows"), rapid.Bool().Draw(t, "jobs"))
			default:
				s.reconcile(rapid.IntRange(-1, 2).Draw(t, "writes"), rapid.Bool().Draw(t, "lost"))
			}
		}
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
		want := flow.Succeed
		if failed {
			want = flow.Failed
		}
		if got := s.flow().Status.State.Phase; got != want {
			t.Errorf("the flow is %s, want %s: %+v", got, want, s.flow().Status)
		}
		if n := len(s.jobs()); want == flow.Succeed && (n == 0) != (f.Spec.JobRetainPolicy == flow.Delete) {
			t.Errorf("%d jobs are there, jobRetainPolicy is %s", n, f.Spec.JobRetainPolicy)
		}
	})
}
