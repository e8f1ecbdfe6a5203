package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// fakeAPI records calls as lines. answer returns the result of each call.
type fakeAPI struct {
	mu     sync.Mutex
	calls  []string
	takes  time.Duration
	answer func(call string, nth int) error
	bound  map[string]string // pod to node, as stored in the server
	events map[string]string // name to message, as stored in the server
	groups map[string]*schedulingv1beta1.PodGroup
	flying int
	most   int // greatest number of calls in flight
}

func (f *fakeAPI) call(ctx context.Context, line string) error {
	f.mu.Lock()
	f.calls = append(f.calls, line)
	nth := 0
	for _, c := range f.calls {
		if c == line {
			nth++
		}
	}
	f.flying++
	f.most = max(f.most, f.flying)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.flying--
		f.mu.Unlock()
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(f.takes):
	}
	if f.answer == nil {
		return nil
	}
	return f.answer(line, nth)
}

func (f *fakeAPI) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...)
}

func (f *fakeAPI) Bind(ctx context.Context, b *corev1.Binding) error {
	return f.call(ctx, "bind "+b.Name+" "+b.Target.Name)
}

func (f *fakeAPI) PodNode(ctx context.Context, _, name string) (types.UID, string, error) {
	err := f.call(ctx, "get "+name)
	return types.UID(name), f.bound[name], err
}

func (f *fakeAPI) PatchPodStatus(ctx context.Context, _, name string, _ []byte) error {
	return f.call(ctx, "condition "+name)
}

func (f *fakeAPI) PatchPod(ctx context.Context, _, name string, patch []byte) error {
	return f.call(ctx, "patch "+name+" "+string(patch))
}

func (f *fakeAPI) DeletePod(ctx context.Context, _, name string, uid types.UID) error {
	return f.call(ctx, "delete "+name+" "+string(uid))
}

func (f *fakeAPI) PodGroup(ctx context.Context, namespace, name string) (*schedulingv1beta1.PodGroup, error) {
	if err := f.call(ctx, "get podgroup "+name); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	pg, ok := f.groups[name]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "podgroups"}, name)
	}
	return pg.DeepCopy(), nil
}

func (f *fakeAPI) PatchPodGroup(ctx context.Context, _, name string, patch []byte) error {
	var ops []struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(patch, &ops); err != nil {
		return err
	}
	return f.call(ctx, fmt.Sprintf("podgroup %s %s", name, ops[1].Value))
}

func (f *fakeAPI) ApplyQueueStatus(ctx context.Context, name string, patch []byte) error {
	return f.call(ctx, "queue "+name+" "+string(patch))
}

func (f *fakeAPI) ApplyHyperNodeStatus(ctx context.Context, name string, patch []byte) error {
	return f.call(ctx, "hypernode "+name+" "+string(patch))
}

func (f *fakeAPI) CreateEvent(ctx context.Context, e *corev1.Event) error {
	if err := f.call(ctx, "event "+e.InvolvedObject.Name+" "+e.Reason); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, exists := f.events[e.Name]; exists {
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "events"}, e.Name)
	}
	if f.events == nil {
		f.events = map[string]string{}
	}
	f.events[e.Name] = e.Message
	return nil
}

func (f *fakeAPI) PatchEvent(ctx context.Context, _, _ string, patch []byte) error {
	var p struct{ Count int }
	if err := json.Unmarshal(patch, &p); err != nil {
		return err
	}
	return f.call(ctx, fmt.Sprintf("event again %d", p.Count))
}

// rig is a running outbox in a synctest bubble.
type rig struct {
	*Outbox
	api    *fakeAPI
	stop   context.CancelFunc
	mu     sync.Mutex
	deltas []model.Delta
	open   error // result of the fence
}

func (r *rig) reports() []model.Delta {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]model.Delta(nil), r.deltas...)
}

func (r *rig) closeFence(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = err
}

// inBubble runs test with a running outbox and stops the outbox afterwards.
func inBubble(t *testing.T, api *fakeAPI, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		r := &rig{api: api, stop: stop}
		r.Outbox = New(Options{
			API: api, SchedulerName: "volcano",
			Report: func(d model.Delta) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.deltas = append(r.deltas, d)
			},
			Fence: func() error {
				r.mu.Lock()
				defer r.mu.Unlock()
				return r.open
			},
		})
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		test(t, r)
		stop()
		running.Wait()
	})
}

// after advances the time in the bubble and waits until all work due is done.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func object(name string) decision.Object {
	return decision.Object{Namespace: "ns", Name: name, UID: types.UID(name)}
}

func binds(gang string, count int) []decision.Bind {
	var all []decision.Bind
	for i := range count {
		all = append(all, decision.Bind{
			Pod: object(fmt.Sprintf("%s-%d", gang, i)), Node: "n1", Gang: object(gang), GangRemaining: count - 1 - i,
		})
	}
	return all
}

var (
	pods      = schema.GroupResource{Resource: "pods"}
	busy      = apierrors.NewTooManyRequests("later", 0)
	conflict  = apierrors.NewConflict(pods, "x", fmt.Errorf("pod is already assigned"))
	missing   = apierrors.NewNotFound(pods, "x")
	forbidden = apierrors.NewForbidden(pods, "x", nil)
)
