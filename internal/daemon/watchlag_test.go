package daemon

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/feed"
	"github.com/vc-batch/vc/internal/outbox"
)

// bindAPI is an API that answers binds with an error, or with nil.
type bindAPI struct {
	outbox.API
	err error
}

func (a bindAPI) Bind(context.Context, *corev1.Binding) error { return a.err }

func TestABindIsMeasuredUntilTheWatchShowsIt(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want []time.Duration
	}{
		{"confirmed", nil, []time.Duration{2 * time.Second}},
		{"rejected", errors.New("conflict"), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lags []time.Duration
				in, err := feed.New(feed.Options{
					Config: &rest.Config{Host: "http://127.0.0.1:1"}, SchedulerNames: []string{"volcano"}, NoCSI: true,
					ObserveLag: func(lag time.Duration) { lags = append(lags, lag) },
				})
				if err != nil {
					t.Fatal(err)
				}
				api := measuredAPI{API: bindAPI{err: tc.err}, feed: in}
				if err := api.Bind(t.Context(), &corev1.Binding{ObjectMeta: metav1.ObjectMeta{UID: "u"}}); !errors.Is(err, tc.err) {
					t.Errorf("error %v", err)
				}
				time.Sleep(2 * time.Second)
				for _, store := range in.Stores() {
					if store.Kind != "Pod" {
						continue
					}
					pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u"}, Spec: corev1.PodSpec{SchedulerName: "volcano", NodeName: "n"}}
					if err := store.Update(pod); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(tc.want, lags); diff != "" {
					t.Errorf("lags (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestOnlyALeaderReportsTheLastEventsOfItsWatches(t *testing.T) {
	if times := readLastEvents(); len(times) != 0 {
		t.Errorf("without leadership: %v", times)
	}
	in := feed.NewWithoutWatches(feed.Options{})
	currentFeed.Store(in)
	defer currentFeed.Store(nil)
	for _, store := range in.Stores() {
		if store.Kind == "Queue" {
			if err := store.Replace(nil, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	times := readLastEvents()
	if at := times["Queue"]; len(times) != 1 || time.Since(time.Unix(int64(at), 0)) > time.Minute {
		t.Errorf("times %v, want that of Queue", times)
	}
}
