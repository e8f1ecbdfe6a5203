package gpustats

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting/podmeasure"
	"github.com/vc-batch/vc/internal/podusage"
	"github.com/vc-batch/vc/internal/usagemetrics"
	"github.com/vc-batch/vc/internal/usererror"
)

// history has one GPU of the pod train-0, which is half busy at all times.
type history struct {
	// fails is true while requests fail after the first half of the response.
	fails bool
	// longest is the longest interval that can be read in time. 0 means that there is no limit.
	longest time.Duration
	// requests lists the lengths of the intervals that were requested.
	requests []time.Duration
}

func (h *history) Read(_ context.Context, from, until time.Time, step time.Duration, add func(usagemetrics.GPUUtilization)) error {
	h.requests = append(h.requests, until.Sub(from)+step)
	for at := from; !at.After(until); at = at.Add(step) {
		add(usagemetrics.GPUUtilization{Namespace: "default", Pod: "train-0", GPU: 1, At: at, Percent: 50})
	}
	if h.fails {
		return usererror.Errorf("start it", "prometheus: connection refused")
	}
	if isTooLong := h.longest > 0 && until.Sub(from)+step > h.longest; isTooLong {
		return context.DeadlineExceeded
	}
	return nil
}

// newTracker returns a Tracker with the pod train-0, which started at a time.
func newTracker(begin time.Time) *podmeasure.Tracker {
	tracker := podmeasure.New(time.Minute)
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "job"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train-0", UID: "pod"}}
	started := metav1.NewTime(begin)
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &started
	tracker.Observe(job, pod, time.Now())
	return tracker
}

// useOf returns the use of the only pod, or none.
func useOf(tracker *podmeasure.Tracker) (use podusage.Use) {
	for _, one := range tracker.UsesOf("job") {
		use = one.Use
	}
	return use
}

// After an outage of Prometheus, the samples of that time are added, and only the first failure is logged.
func TestAnOutageOfPrometheusLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var logged []string
		log := funcr.New(func(_, text string) { logged = append(logged, text) }, funcr.Options{})
		source := &history{}
		s := &Sampler{Interval: 30 * time.Second, Prometheus: source, Tracker: newTracker(begin), Log: log}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = s.Start(ctx) }()
		expect := func(after time.Duration, seconds int64, logs int) {
			t.Helper()
			time.Sleep(time.Until(begin.Add(after)) + time.Second)
			synctest.Wait()
			if use := useOf(s.Tracker); use.GPUMilliseconds != seconds*500 || use.GPUMeasuredMilliseconds != seconds*1000 {
				t.Errorf("after %v: %+v, want half of %d s", after, use, seconds)
			}
			if len(logged) != logs {
				t.Errorf("after %v, the log has %d lines, want %d: %q", after, len(logged), logs, logged)
			}
		}
		expect(60*time.Second, 60, 0)
		source.fails = true
		expect(180*time.Second, 60, 1)
		source.fails = false
		expect(210*time.Second, 210, 2)
		for _, part := range []string{"connection refused", "start it", "--accounting-prometheus"} {
			if !strings.Contains(strings.Join(logged, "\n"), part) {
				t.Errorf("the log does not contain %q: %q", part, logged)
			}
		}
	})
}

func TestALongPauseIsReadInRoundsOfLimitedLength(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	source := &history{}
	s := &Sampler{Interval: 30 * time.Second, Prometheus: source, Tracker: newTracker(now.Add(-5 * time.Hour))}
	if err := s.measure(t.Context(), now.Add(7*time.Second)); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{longestRound, longestRound, longestRound, longestRound, longestRound, longestRound}
	if diff := cmp.Diff(want, source.requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if use := useOf(s.Tracker); use.GPUMeasuredMilliseconds != longestCatchUp.Milliseconds() || use.GPUMeasuredUntil != now.Unix() {
		t.Errorf("use %+v, want one hour until %d", use, now.Unix())
	}
	if err := s.measure(t.Context(), now.Add(8*time.Second)); err != nil || len(source.requests) != len(want) {
		t.Errorf("%d requests, %v; want no request before the next step", len(source.requests), err)
	}
}

// On a large cluster, Prometheus may be too slow for the samples of a long interval.
func TestAfterAFailureAShorterIntervalIsRead(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	source := &history{longest: 100 * time.Second}
	s := &Sampler{Interval: 30 * time.Second, Prometheus: source, Tracker: newTracker(now.Add(-10 * time.Minute))}
	measure := func(want ...time.Duration) {
		t.Helper()
		source.requests = nil
		_ = s.measure(t.Context(), now)
		if diff := cmp.Diff(want, source.requests); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	}
	measure(600 * time.Second)
	measure(300 * time.Second)
	measure(150 * time.Second)
	measure(70*time.Second, 140*time.Second)
	measure(70*time.Second, 140*time.Second)
	if use := useOf(s.Tracker); use.GPUMeasuredMilliseconds != 140_000 {
		t.Errorf("use %+v, want that of 140 s", use)
	}
	source.fails = true
	for _, seconds := range []time.Duration{70, 30, 10, 10} {
		measure(seconds * time.Second)
	}
	source.fails, source.longest = false, 0
	measure(10*time.Second, 20*time.Second, 40*time.Second, 80*time.Second, 160*time.Second, 150*time.Second)
	if use := useOf(s.Tracker); use.GPUMeasuredMilliseconds != 600_000 {
		t.Errorf("use %+v, want that of ten minutes", use)
	}
}
