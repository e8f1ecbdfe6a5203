package feed

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
)

func pod(name, uid, scheduler, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)},
		Spec:       corev1.PodSpec{SchedulerName: scheduler, NodeName: node},
	}
}

func podFeed() (*Feed, cache.ReflectorStore) {
	f := newFeed(logr.Discard())
	store := podSink(f, func(p *corev1.Pod) bool { return p.Spec.SchedulerName == "volcano" })
	f.addKindWatch("Pod", nil, &corev1.Pod{}, store)
	return f, store
}

// words returns a short text for each delta of a pod.
func words(deltas []model.Delta) []string {
	var all []string
	for _, d := range deltas {
		switch d := d.(type) {
		case model.TaskSet:
			all = append(all, fmt.Sprintf("set %s/%s node=%q ours=%t", d.Name, d.UID, d.Node, d.Ours))
		case model.TaskGone:
			all = append(all, fmt.Sprintf("gone %s/%s", d.Name, d.UID))
		default:
			all = append(all, fmt.Sprintf("%T", d))
		}
	}
	return all
}

func must(t interface{ Fatal(...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func TestPods(t *testing.T) {
	cases := map[string]struct {
		happens func(t *testing.T, s cache.ReflectorStore)
		want    []string
	}{
		"a pod of ours is told from its creation to its end": {
			happens: func(t *testing.T, s cache.ReflectorStore) {
				must(t, s.Add(pod("a", "1", "volcano", "")))
				must(t, s.Update(pod("a", "1", "volcano", "n1")))
				must(t, s.Delete(pod("a", "1", "volcano", "n1")))
			},
			want: []string{`set a/1 node="" ours=true`, `set a/1 node="n1" ours=true`, "gone a/1"},
		},
		"a stranger counts from when it holds room on a node": {
			happens: func(t *testing.T, s cache.ReflectorStore) {
				must(t, s.Add(pod("a", "1", "default-scheduler", "")))
				must(t, s.Update(pod("a", "1", "default-scheduler", "n1")))
				must(t, s.Delete(pod("a", "1", "default-scheduler", "n1")))
			},
			want: []string{`set a/1 node="n1" ours=false`, "gone a/1"},
		},
		"a stranger that never had a node is never spoken of": {
			happens: func(t *testing.T, s cache.ReflectorStore) {
				must(t, s.Add(pod("a", "1", "default-scheduler", "")))
				must(t, s.Delete(pod("a", "1", "default-scheduler", "")))
			},
		},
		"what a new list lacks is gone": {
			happens: func(t *testing.T, s cache.ReflectorStore) {
				must(t, s.Replace([]any{pod("a", "1", "volcano", ""), pod("b", "2", "volcano", "")}, "1"))
				must(t, s.Replace([]any{pod("b", "2", "volcano", "n1")}, "9"))
			},
			want: []string{`set a/1 node="" ours=true`, `set b/2 node="" ours=true`, "gone a/1", `set b/2 node="n1" ours=true`},
		},
		"a successor of the same name ends its predecessor first": {
			happens: func(t *testing.T, s cache.ReflectorStore) {
				must(t, s.Add(pod("a", "1", "volcano", "n1")))
				must(t, s.Replace([]any{pod("a", "2", "volcano", "")}, "9"))
			},
			want: []string{`set a/1 node="n1" ours=true`, "gone a/1", `set a/2 node="" ours=true`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, store := podFeed()
			c.happens(t, store)
			if diff := cmp.Diff(c.want, words(f.Drain(nil))); diff != "" {
				t.Errorf("deltas (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAListThatStreamsIn verifies that objects converted early give the same deltas as whole objects.
func TestAListThatStreamsIn(t *testing.T) {
	list := []*corev1.Pod{pod("a", "1", "volcano", "n1"), pod("b", "2", "default-scheduler", ""), pod("c", "3", "default-scheduler", "n1")}
	f, store := podFeed()
	must(t, store.Add(pod("z", "9", "volcano", "")))
	streamed := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.WithTransformer(store.(cache.TransformingStore).Transformer()))
	for _, p := range list {
		must(t, streamed.Add(p))
	}
	for _, obj := range streamed.List() {
		if _, whole := obj.(*corev1.Pod); whole {
			t.Error("a whole pod is kept until the list is complete")
		}
	}
	must(t, store.Replace(streamed.List(), "1"))
	want := []string{`set z/9 node="" ours=true`, "gone z/9", `set a/1 node="n1" ours=true`, `set c/3 node="n1" ours=false`}
	got := words(f.Drain(nil))
	slices.Sort(got[2:])
	slices.Sort(want[2:])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}

func TestSyncedOnlyAfterTheFirstListOfEveryKind(t *testing.T) {
	f, pods := podFeed()
	nodes := nodeSink(f)
	f.addKindWatch("Node", nil, &corev1.Node{}, nodes)
	synced := func() bool {
		select {
		case <-f.Synced():
			return true
		default:
			return false
		}
	}
	must(t, pods.Replace(nil, "1"))
	must(t, pods.Replace(nil, "2"))
	if synced() {
		t.Error("synced though nodes were never listed")
	}
	must(t, nodes.Replace(nil, "1"))
	if !synced() {
		t.Error("not synced though every kind was listed")
	}
}

// TestWhatIsToldIsWhatIs verifies for random watch events: the deltas, applied in order, give exactly the pods that
// exist in the API server at the end.
func TestWhatIsToldIsWhatIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, store := podFeed()
		truth := map[string]*corev1.Pod{}
		told := map[string]string{}
		uid := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
			p, lives := truth[name]
			switch what := rapid.SampledFrom([]string{"create", "bind", "delete", "relist"}).Draw(t, "what"); {
			case what == "create" && !lives:
				uid++
				truth[name] = pod(name, fmt.Sprint(uid), "volcano", "")
				must(t, store.Add(truth[name]))
			case what == "bind" && lives:
				truth[name] = pod(name, string(p.UID), "volcano", "n1")
				must(t, store.Update(truth[name]))
			case what == "delete" && lives:
				delete(truth, name)
				if rapid.Bool().Draw(t, "seen") {
					must(t, store.Delete(p))
				}
			case what == "relist":
				must(t, store.Replace(objects(truth), "9"))
			}
		}
		must(t, store.Replace(objects(truth), "9"))
		for _, d := range f.Drain(nil) {
			switch d := d.(type) {
			case model.TaskSet:
				told[d.Name] = string(d.UID) + d.Node
			case model.TaskGone:
				delete(told, d.Name)
			}
		}
		want := map[string]string{}
		for name, p := range truth {
			want[name] = string(p.UID) + p.Spec.NodeName
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Fatalf("(-truth +told):\n%s", diff)
		}
	})
}

func objects(pods map[string]*corev1.Pod) []any {
	var names []string
	for name := range pods {
		names = append(names, name)
	}
	slices.Sort(names)
	var all []any
	for _, name := range names {
		all = append(all, pods[name])
	}
	return all
}

func TestDrainHandsOverEachDeltaOnce(t *testing.T) {
	f := newFeed(logr.Discard())
	f.Put(model.NodeGone{Name: "a"})
	first := f.Drain(nil)
	f.Put(model.NodeGone{Name: "b"})
	second := f.Drain(first[:0])
	if len(first) != 1 || len(second) != 1 || second[0] != (model.NodeGone{Name: "b"}) {
		t.Errorf("drained %v, then %v", first, second)
	}
	select {
	case <-f.Signal():
	default:
		t.Error("no signal though deltas were put")
	}
	f.Put(model.NodeGone{Name: "c"})
	if third := f.Drain(second[:0]); len(third) != 1 || third[0] != (model.NodeGone{Name: "c"}) {
		t.Errorf("drained %v", third)
	}
}

// TestDrainedSinceIsTheArrivalOfTheFirstDelta verifies that later deltas of a batch do not change the time.
func TestDrainedSinceIsTheArrivalOfTheFirstDelta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := podFeed()
		if f.Drain(nil); !f.DrainedSince().IsZero() {
			t.Errorf("an empty inbox has had deltas since %s", f.DrainedSince())
		}
		first := time.Now()
		for range 3 {
			f.Put(model.NodeGone{Name: "a"})
			time.Sleep(time.Second)
		}
		if f.Drain(nil); !f.DrainedSince().Equal(first) {
			t.Errorf("the first delta arrived at %s, want %s", f.DrainedSince(), first)
		}
		if f.Drain(nil); !f.DrainedSince().IsZero() {
			t.Errorf("the inbox is empty, but has had deltas since %s", f.DrainedSince())
		}
	})
}
