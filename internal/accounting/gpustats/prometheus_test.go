package gpustats

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/accounting/podmeasure"
	"github.com/vc-batch/vc/internal/usagemetrics"
	"github.com/vc-batch/vc/test/prometheus"
)

// The exporter of a node has the series of the pod while the pod uses its GPUs. A second leader reads the same times from
// Prometheus, without the samples of the first one.
func TestTheUseOfGPUsIsReadFromPrometheus(t *testing.T) {
	t.Parallel()
	var isRunning atomic.Bool
	isRunning.Store(true)
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if isRunning.Load() {
			_, _ = fmt.Fprint(w, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-0\",Hostname=\"n1\",namespace=\"default\",pod=\"train-0\"} 75\n"+
				"DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-1\",Hostname=\"n1\",namespace=\"default\",pod=\"train-0\"} 25\n")
		}
		_, _ = fmt.Fprint(w, "DCGM_FI_DEV_GPU_UTIL{gpu=\"2\",UUID=\"GPU-2\",Hostname=\"n1\",namespace=\"default\",pod=\"other\"} 100\n")
	}))
	defer exporter.Close()
	history, err := usagemetrics.NewGPUHistory(prometheus.Start(t, "# EOF\n", exporter.Listener.Addr().String()), &rest.Config{Host: "https://api.example"})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	first := &Sampler{Interval: time.Second, Prometheus: history, Tracker: newTracker(begin), Log: testr.New(t)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- first.Start(ctx) }()
	waitForUse := func(tracker *podmeasure.Tracker, seconds int64) {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for useOf(tracker).GPUMeasuredMilliseconds < seconds*1000 {
			if time.Now().After(deadline) {
				t.Fatalf("use %+v after a minute, want %d GPU seconds", useOf(tracker), seconds)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	waitForUse(first.Tracker, 6)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	use := useOf(first.Tracker)
	if 2*use.GPUMilliseconds != use.GPUMeasuredMilliseconds {
		t.Errorf("use %+v, want half of the measured time", use)
	}
	if elapsed := time.Since(begin).Milliseconds(); use.GPUMeasuredMilliseconds > 2*elapsed {
		t.Errorf("use %+v of two GPUs in %d ms", use, elapsed)
	}
	second := &Sampler{Interval: time.Second, Prometheus: history, Tracker: newTracker(begin), Log: testr.New(t)}
	if err := second.measure(t.Context(), time.Unix(use.GPUMeasuredUntil, 0)); err != nil {
		t.Fatal(err)
	}
	// Prometheus may have stored the first sample only after the first leader had read its time.
	got := useOf(second.Tracker)
	if difference := got.GPUMeasuredMilliseconds - use.GPUMeasuredMilliseconds; difference < 0 || difference > 2000 {
		t.Errorf("the second leader has the use %+v, the first one %+v", got, use)
	}

	isRunning.Store(false)
	for deadline := time.Now().Add(time.Minute); hasSamples(t, history); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the pod still has samples a minute after its series have ended")
		}
	}
}

// hasSamples reports whether Prometheus has the utilization of the GPUs of train-0 now.
func hasSamples(t *testing.T, history *usagemetrics.GPUHistory) (found bool) {
	t.Helper()
	err := history.Read(t.Context(), time.Now(), time.Now(), time.Second, func(u usagemetrics.GPUUtilization) { found = found || u.Pod == "train-0" })
	if err != nil {
		t.Fatal(err)
	}
	return found
}
