package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Options configures a run.
type Options struct {
	Binaries string // the directory of vc-local and vcd
	Dir      string // for logs and state
	Seed     uint64
	Time     time.Duration // how long faults occur; the final wait is not included
	Memory   int64         // memory limit of a replica of vcd, in bytes
}

// Run executes the plan of a seed and reports every violation to t.
func Run(t *testing.T, o Options) {
	t.Helper()
	plan := NewPlan(o.Seed, o.Time)
	t.Logf("chaos: seed %d, %s, %d faults, %d jobs; to repeat the plan: make chaos SEED=%d TIME=%s", o.Seed, o.Time, len(plan.Faults), len(plan.Stories), o.Seed, o.Time)
	w, err := newWorld(t.Context(), o.Dir, o.Binaries)
	defer w.close()
	if err != nil {
		t.Fatalf("the cluster does not start: %v", err)
	}
	began := time.Now()
	var users sync.WaitGroup
	for _, s := range plan.Stories {
		users.Go(func() { w.live(t.Context(), s, began) })
	}
	w.disturb(t, plan.Faults, began)
	t.Logf("%5.1f s  the faults are over", time.Since(began).Seconds())
	users.Wait()
	w.finish(t.Context(), plan.Stories)
	t.Logf("%5.1f s  the jobs are gone", time.Since(began).Seconds())
	w.panics()
	for _, p := range w.all() {
		t.Logf("memory of %s: %d MiB", p.name, p.Peak()>>20)
		if p.Peak() > o.Memory {
			w.rules.Broken("%s needed %d MiB, the limit is %d", p.name, p.Peak()>>20, o.Memory>>20)
		}
	}
	t.Logf("seen: %+v", w.rules.Counts())
	for _, v := range w.rules.Violations() {
		t.Error(v)
	}
}

// disturb executes the faults and returns when all have ended.
func (w *World) disturb(t *testing.T, faults []Fault, began time.Time) {
	t.Helper()
	undo := make([]func(), len(faults))
	var ends sync.WaitGroup
	for _, turn := range turns(faults) {
		select {
		case <-t.Context().Done():
			return
		case <-time.After(time.Until(began.Add(turn.at))):
		}
		if !turn.begins {
			ends.Go(undo[turn.fault])
			continue
		}
		t.Log(faults[turn.fault])
		undo[turn.fault] = w.begin(t.Context(), faults[turn.fault])
	}
	ends.Wait()
	for _, l := range w.lines { // for overlapping faults of one line
		l.gate.set(open, false)
		l.setLosing(false)
	}
	w.webhooks.gate.set(open, false)
}

// begin starts a fault and returns a function that ends it.
func (w *World) begin(ctx context.Context, f Fault) (end func()) {
	switch f.Kind {
	case KillAll:
		return w.kill(w.all()...)
	case CutWebhooks:
		w.webhooks.gate.set(cut, true)
		return func() { w.webhooks.gate.set(open, false) }
	case HoldWebhooks:
		w.webhooks.gate.set(holding, false)
		return func() { w.webhooks.gate.set(open, false) }
	case RestartAPI:
		return w.kill(w.api)
	case KillPods:
		w.killPods(ctx, f.Draw)
		return func() {}
	}
	p := w.target(f)
	gate := w.lines[p.name].gate
	switch f.Kind {
	case Kill:
		return w.kill(p)
	case Freeze:
		return p.Freeze()
	case LoseAnswers:
		w.lines[p.name].setLosing(true)
		return func() { w.lines[p.name].setLosing(false) }
	case Cut:
		gate.set(cut, true)
	case Hold, HoldAndReset:
		gate.set(holding, false)
	case Delay:
		gate.set(slow, false)
	}
	return func() { gate.set(open, f.Kind == HoldAndReset) }
}

// kill kills processes and returns a function that starts them again.
func (w *World) kill(processes ...*Process) (start func()) {
	for _, p := range processes {
		p.Kill()
	}
	return func() {
		for _, p := range processes {
			if err := p.Start(); err != nil {
				w.rules.Broken("%v", err)
			}
		}
	}
}

// target returns the replica that a fault hits: the leader, if one is known.
func (w *World) target(f Fault) *Process {
	replicas := w.replicas[f.Component]
	leader := w.rules.Leader(f.Component)
	for _, p := range replicas {
		if p.name == leader {
			return p
		}
	}
	return replicas[f.Draw%uint64(len(replicas))]
}

// killPods deletes all pods of one node at once, as if the node had lost them.
func (w *World) killPods(ctx context.Context, draw uint64) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	node := fmt.Sprintf("sim-%d", rand.New(rand.NewPCG(draw, 0)).IntN(nodeCount)+1) //nolint:gosec // part of the plan
	pods := &corev1.PodList{}
	if err := w.client.List(ctx, pods, client.InNamespace(namespace), client.MatchingFields{"spec.nodeName": node}); err != nil {
		return // the API server is being restarted
	}
	for i := range pods.Items {
		_ = w.client.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0))
	}
}

// finish waits until every job that can end has ended, deletes all jobs, and waits until all their objects are deleted.
func (w *World) finish(ctx context.Context, stories []Story) {
	if err := w.settle(ctx, stories); err != nil {
		w.dump(ctx)
		w.rules.Broken("%s after the faults, not all jobs have ended that can: %v", patience, err)
	}
	if err := patiently(ctx, func(ctx context.Context) error {
		return w.client.DeleteAllOf(ctx, &batchv1alpha1.Job{}, client.InNamespace(namespace), client.PropagationPolicy("Background"))
	}); err != nil {
		w.rules.Broken("jobs cannot be deleted: %v", err)
	}
	if err := patiently(ctx, w.leftovers); err != nil {
		w.dump(ctx)
		w.rules.Broken("left over %s after all jobs were deleted: %v", patience, err)
	}
	if err := w.rest(ctx); err != nil {
		w.rules.Broken("with nothing left to do: %v", err)
	}
}

// restTime is how long a system at rest must write nothing.
const restTime = 5 * time.Second

// rest waits until the replicas stop writing.
func (w *World) rest(ctx context.Context) error {
	before, since := w.rules.Counts().Writes, time.Now()
	return patiently(ctx, func(context.Context) error {
		if now := w.rules.Counts().Writes; now != before {
			err := fmt.Errorf("%d writes within %s, the last is %s", now-before, time.Since(since).Round(time.Second), w.rules.LastWrite())
			before, since = now, time.Now()
			return err
		}
		if time.Since(since) < restTime {
			return errors.New("it was quiet for too short a time")
		}
		return nil
	})
}

// dump writes all objects to a file in the directory of the logs.
func (w *World) dump(ctx context.Context) {
	var all []runtime.Object
	for _, list := range []client.ObjectList{&batchv1alpha1.JobList{}, &schedulingv1beta1.PodGroupList{}, &corev1.PodList{}, &busv1alpha1.CommandList{}, &schedulingv1beta1.QueueList{}, &corev1.EventList{}} {
		objects, err := listed(ctx, w.client, list)
		if err != nil {
			continue
		}
		all = append(all, objects...)
	}
	data, err := yaml.Marshal(all)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, "objects.yaml"), data, 0o600)
	}
	if err != nil {
		w.rules.Broken("what there is cannot be written: %v", err)
	}
}

// settle waits until the jobs have ended in the phases of their shapes. Jobs that do not exist any more were deleted.
func (w *World) settle(ctx context.Context, stories []Story) error {
	shapeOf := map[string]Shape{}
	for _, s := range stories {
		shapeOf[s.Name] = s.Shape
	}
	return patiently(ctx, func(ctx context.Context) error {
		jobs := &batchv1alpha1.JobList{}
		if err := w.client.List(ctx, jobs, client.InNamespace(namespace)); err != nil {
			return err
		}
		var open error
		for _, job := range jobs.Items {
			shape, state := shapeOf[job.Name], job.Status.State
			switch end := shape.end(); {
			case shape == tooLarge && job.Status.Running > 0:
				open = errors.Join(open, fmt.Errorf("%s (%s) runs %d pods and can never start", job.Name, shape, job.Status.Running))
			case end != "" && state.Phase != end:
				open = errors.Join(open, fmt.Errorf("%s (%s) is %s (%s: %s), want %s", job.Name, shape, state.Phase, state.Reason, state.Message, end))
			case end != "" && job.Labels[keys.JobID] == "":
				open = errors.Join(open, fmt.Errorf("%s (%s) has no number", job.Name, shape))
			case end == "" && shape != tooLarge && job.DeletionTimestamp == nil:
				open = errors.Join(open, fmt.Errorf("%s (%s) was deleted and is there", job.Name, shape))
			}
		}
		return open
	})
}

// leftovers returns an error if objects of deleted jobs still exist.
func (w *World) leftovers(ctx context.Context) error {
	var left error
	lists := []client.ObjectList{&corev1.PodList{}, &batchv1alpha1.JobList{}, &schedulingv1beta1.PodGroupList{}, &busv1alpha1.CommandList{}, &corev1.ServiceList{}, &corev1.SecretList{}, &corev1.ConfigMapList{}}
	for _, list := range lists {
		objects, err := listed(ctx, w.client, list)
		if err != nil {
			return err
		}
		for _, o := range objects {
			m, ok := o.(metav1.Object)
			if !ok || m.GetNamespace() != namespace || m.GetName() == "kube-root-ca.crt" {
				continue
			}
			left = errors.Join(left, fmt.Errorf("%T %s", o, m.GetName()))
		}
	}
	queues := &schedulingv1beta1.QueueList{}
	if err := w.client.List(ctx, queues); err != nil {
		return err
	}
	for _, q := range queues.Items {
		if cpu := q.Status.Allocated.Cpu().MilliValue(); cpu != 0 {
			left = errors.Join(left, fmt.Errorf("queue %s says that %d milli-cpu are allocated", q.Name, cpu))
		}
	}
	return left
}
