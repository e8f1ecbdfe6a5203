package cli

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watches answers the Watch calls in order and records the resource version of each.
type watches struct {
	client.WithWatch
	answers []func() (watch.Interface, error)
	since   []string
}

func (w *watches) Watch(_ context.Context, _ client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	w.since = append(w.since, asked.Raw.ResourceVersion)
	answer := w.answers[0]
	w.answers = w.answers[1:]
	return answer()
}

// tells returns a watch with the given events about pods, which the server then ends.
func tells(events ...watch.Event) func() (watch.Interface, error) {
	return func() (watch.Interface, error) {
		w := watch.NewFakeWithChanSize(len(events), false)
		for _, event := range events {
			w.Action(event.Type, event.Object)
		}
		w.Stop()
		return w, nil
	}
}

func podAt(version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod-" + version, ResourceVersion: version}}
}

// A watch that the server ends continues at the same version; if that version has expired, everything is read again.
func TestWatchOnOutlivesTheServersWatches(t *testing.T) {
	t.Parallel()
	expired := apierrors.NewResourceExpired("too old")
	status := expired.Status()
	w := &watches{answers: []func() (watch.Interface, error){
		tells(watch.Event{Type: watch.Added, Object: podAt("5")}, watch.Event{Type: watch.Bookmark, Object: podAt("6")}),
		tells(watch.Event{Type: watch.Error, Object: &status}),
		func() (watch.Interface, error) { return nil, expired },
		tells(watch.Event{Type: watch.Deleted, Object: podAt("8")}, watch.Event{Type: watch.Added, Object: podAt("9")}),
		func() (watch.Interface, error) { return nil, apierrors.NewUnauthorized("gone") },
	}}
	var seen []string
	again := 0
	err := WatchChanges(t.Context(), w, func() client.ObjectList { return &corev1.PodList{} }, "4",
		func(context.Context) (string, error) { again++; return "7", nil },
		func(kind watch.EventType, pod *corev1.Pod) bool {
			seen = append(seen, string(kind)+" "+pod.Name)
			return true
		})
	if !apierrors.IsUnauthorized(err) || again != 2 {
		t.Errorf("error %v after reading anew %d times, want the server's after 2", err, again)
	}
	if diff := cmp.Diff([]string{"4", "6", "7", "7", "9"}, w.since); diff != "" {
		t.Errorf("watched since (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ADDED pod-5", "DELETED pod-8", "ADDED pod-9"}, seen); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

func TestWatchOnEndsWhenEnoughIsSeen(t *testing.T) {
	t.Parallel()
	w := &watches{answers: []func() (watch.Interface, error){tells(watch.Event{Type: watch.Added, Object: podAt("5")}, watch.Event{Type: watch.Added, Object: podAt("6")})}}
	seen := 0
	err := WatchChanges(t.Context(), w, func() client.ObjectList { return &corev1.PodList{} }, "", nil, func(watch.EventType, *corev1.Pod) bool { seen++; return false })
	if err != nil || seen != 1 {
		t.Errorf("error %v, %d changes seen, want 1", err, seen)
	}
	broken := &watches{answers: []func() (watch.Interface, error){func() (watch.Interface, error) { return nil, errors.New("no") }}}
	if err := WatchChanges(t.Context(), broken, func() client.ObjectList { return &corev1.PodList{} }, "", nil, func(watch.EventType, *corev1.Pod) bool { return true }); err == nil {
		t.Error("a watch that cannot begin is no error")
	}
}
