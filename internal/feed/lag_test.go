package feed

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

func TestTheLagOfABindIsMeasured(t *testing.T) {
	bound, waiting := pod("p", "u", "volcano", "n"), pod("p", "u", "volcano", "")
	for _, tc := range []struct {
		name string
		run  func(*Feed, cache.ReflectorStore)
		want []time.Duration
	}{
		{"the watch is behind", func(f *Feed, s cache.ReflectorStore) {
			f.BeginBind("u")
			time.Sleep(time.Second)
			f.EndBind("u", true)
			time.Sleep(3 * time.Second)
			_ = s.Update(bound)
			_ = s.Update(bound) // a later change is not counted
		}, []time.Duration{3 * time.Second}},
		{"the watch is faster than the answer", func(f *Feed, s cache.ReflectorStore) {
			f.BeginBind("u")
			time.Sleep(time.Second)
			_ = s.Update(bound)
			time.Sleep(time.Second)
			f.EndBind("u", true)
			_ = s.Update(bound)
		}, []time.Duration{0}},
		{"an older state of the pod", func(f *Feed, s cache.ReflectorStore) {
			f.BeginBind("u")
			f.EndBind("u", true)
			time.Sleep(time.Second)
			_ = s.Update(waiting)
			time.Sleep(time.Second)
			_ = s.Update(bound)
		}, []time.Duration{2 * time.Second}},
		{"a new list", func(f *Feed, s cache.ReflectorStore) {
			f.BeginBind("u")
			f.EndBind("u", true)
			time.Sleep(time.Second)
			_ = s.Replace([]any{bound}, "")
		}, []time.Duration{time.Second}},
		{"a rejected bind", func(f *Feed, s cache.ReflectorStore) {
			f.BeginBind("u")
			f.EndBind("u", false)
			_ = s.Update(bound)
		}, nil},
		{"a bind of another scheduler", func(_ *Feed, s cache.ReflectorStore) { _ = s.Update(bound) }, nil},
		{"a pod that is deleted", func(f *Feed, s cache.ReflectorStore) {
			_ = s.Add(waiting)
			f.BeginBind("u")
			f.EndBind("u", true)
			_ = s.Delete(bound)
			_ = s.Update(bound)
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, store := podFeed()
				var lags []time.Duration
				f.binds.observe = func(lag time.Duration) { lags = append(lags, lag) }
				tc.run(f, store)
				if diff := cmp.Diff(tc.want, lags); diff != "" {
					t.Errorf("lags (-want +got):\n%s", diff)
				}
				if n := len(f.binds.pending); n != 0 {
					t.Errorf("%d binds are still pending", n)
				}
			})
		})
	}
}

func TestPendingBindsAreBounded(t *testing.T) {
	t.Parallel()
	f, _ := podFeed()
	f.binds.observe = func(time.Duration) {}
	for i := range 2 * maxPendingBinds {
		f.BeginBind(types.UID(fmt.Sprint(i)))
	}
	if n := len(f.binds.pending); n != maxPendingBinds {
		t.Errorf("%d binds are pending, want %d", n, maxPendingBinds)
	}
}

func TestEventsAndBookmarksShowThatAWatchIsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, store := podFeed()
		missing := &optionalKind{log: logr.Discard()}
		missing.missing.Store(true)
		f.addKindWatch("HyperNode", missing, nil, hyperNodeSink(f))
		f.addKindWatch("Node", nil, &corev1.Node{}, nodeSink(f))
		bookmarks, ok := store.(cache.ReflectorBookmarkStore)
		if !ok {
			t.Fatal("the reflector passes on no bookmarks")
		}
		for name, act := range map[string]func() error{
			"list":     func() error { return store.Replace(nil, "1") },
			"add":      func() error { return store.Add(pod("p", "u", "volcano", "")) },
			"update":   func() error { return store.Update(pod("p", "u", "volcano", "n")) },
			"delete":   func() error { return store.Delete(pod("p", "u", "volcano", "n")) },
			"bookmark": func() error { return bookmarks.Bookmark("2") },
		} {
			time.Sleep(time.Minute)
			must(t, act())
			if diff := cmp.Diff(map[string]time.Time{"Pod": time.Now()}, f.LastEvents()); diff != "" {
				t.Errorf("after %s (-want +got):\n%s", name, diff)
			}
		}
	})
}
