package usagemetrics

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/test/prometheus"
)

// gapBegin and gapEnd are the ages between which Prometheus has no samples of the pod gap-0.
const gapBegin, gapEnd = 3 * time.Hour, 170 * time.Minute

// gpuHistory returns samples of a GPU that was busy until two hours ago, of one that is always busy, and of one with a gap.
func gpuHistory(now time.Time) string {
	var text bytes.Buffer
	text.WriteString("# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n")
	for age := 4 * time.Hour; age >= 0; age -= 30 * time.Second {
		at, idleGPU := now.Add(-age).Unix(), 0
		if age > 2*time.Hour {
			idleGPU = 93
		}
		fmt.Fprintf(&text, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-0\",Hostname=\"n1\",exported_namespace=\"nlp\",exported_pod=\"train-0\"} %d %d\n", idleGPU, at)
		fmt.Fprintf(&text, "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-1\",Hostname=\"n1\",exported_namespace=\"nlp\",exported_pod=\"train-0\"} 80 %d\n", at)
		if isInGap := age < gapBegin && age > gapEnd; !isInGap {
			fmt.Fprintf(&text, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-2\",Hostname=\"n3\",exported_namespace=\"nlp\",exported_pod=\"gap-0\"} 60 %d\n", at)
		}
	}
	text.WriteString("# EOF\n")
	return text.String()
}

func TestUseOfGPUsComesFromPrometheus(t *testing.T) {
	t.Parallel()
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-7\",Hostname=\"n2\",namespace=\"bio\",pod=\"fold-0\"} 42\n"+
			"DCGM_FI_DEV_FB_USED{gpu=\"0\",UUID=\"GPU-7\",Hostname=\"n2\",namespace=\"bio\",pod=\"fold-0\"} 1024\n")
	}))
	defer exporter.Close()
	now := time.Now()
	url := prometheus.Start(t, gpuHistory(now), exporter.Listener.Addr().String())
	kubernetes, _ := startServer(t, nil)
	deadline := time.Now().Add(time.Minute)
	for {
		usage := readOnce(t, Options{Config: kubernetes, Prometheus: url})
		train, fold := usage.Pods[snapshot.KeyOfPod("nlp", "train-0")].GPU, usage.Pods[snapshot.KeyOfPod("bio", "fold-0")].GPU
		if train != nil && fold != nil {
			if train.Count != 2 || train.Percent != 40 || now.Sub(train.LastBusy) > 11*time.Minute {
				t.Errorf("train-0: %+v, want 2 GPUs, 40 %%, busy in the last ten minutes", *train)
			}
			if fold.Count != 1 || fold.Percent != 42 || fold.MemoryBytes != 1<<30 {
				t.Errorf("fold-0: %+v, want 1 GPU, 42 %%, 1 GiB", *fold)
			}
			if n := usage.Nodes["n2"].GPU; n == nil || n.Percent != 42 || usage.Nodes["n1"].GPU.Count != 2 {
				t.Errorf("nodes: %+v", usage.Nodes)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no use of both pods after a minute: %+v", usage)
		}
		time.Sleep(100 * time.Millisecond)
	}
	checkLastUse(t, url, kubernetes, now)
	checkPastUse(t, url, kubernetes, now)
	checkGap(t, url, kubernetes, now)
}

// checkGap verifies that the last sample before a gap is used for a limited time.
func checkGap(t *testing.T, url string, kubernetes *rest.Config, now time.Time) {
	t.Helper()
	past, err := NewGPUHistory(url, kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	last, next := time.Unix(now.Add(-gapBegin).Unix(), 0), time.Unix(now.Add(-gapEnd).Unix(), 0)
	var got, want []time.Duration
	err = past.Read(t.Context(), last, next, 10*time.Second, func(u GPUUtilization) {
		if u.Pod == "gap-0" {
			got = append(got, u.At.Sub(last))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for age := time.Duration(0); age <= maxSampleSeconds*time.Second; age += 10 * time.Second {
		want = append(want, age)
	}
	if diff := cmp.Diff(append(want, next.Sub(last)), got); diff != "" {
		t.Errorf("times after the last sample (-want +got):\n%s", diff)
	}
}

// checkPastUse verifies the utilization of a pod's GPUs in the past.
func checkPastUse(t *testing.T, url string, kubernetes *rest.Config, now time.Time) {
	t.Helper()
	past, err := NewGPUHistory(url, kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	from := now.Truncate(time.Minute).Add(-3 * time.Hour)
	times, sums := map[time.Time]int{}, map[uint64]float64{}
	err = past.Read(t.Context(), from, from.Add(time.Minute), 10*time.Second, func(u GPUUtilization) {
		if u.Namespace != "nlp" || u.Pod != "train-0" {
			return
		}
		times[u.At.UTC()]++
		sums[u.GPU] += u.Percent
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 7 {
		if at := from.UTC().Add(time.Duration(i) * 10 * time.Second); times[at] != 2 {
			t.Errorf("%d GPUs were measured at %v, want 2", times[at], at)
		}
	}
	got := slices.Sorted(maps.Values(sums))
	if want := []float64{7 * 80, 7 * 93}; len(times) != 7 || !slices.Equal(got, want) {
		t.Errorf("%d times, sums of percent %v; want 7 and %v", len(times), got, want)
	}
}

// checkLastUse verifies that the last use of each GPU is found, in steps of ten minutes.
func checkLastUse(t *testing.T, url string, kubernetes *rest.Config, now time.Time) {
	t.Helper()
	source, err := newGPUSource(url, kubernetes, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.readLastBusy(t.Context()); err != nil {
		t.Fatal(err)
	}
	labels := func(gpu string) *gpuLabels {
		return &gpuLabels{Hostname: text("n1"), UUID: text(gpu), Namespace: text("nlp"), Pod: text("train-0")}
	}
	idle := now.Sub(source.lastBusyTime(labels("GPU-0")))
	if isTwoHours := idle > 100*time.Minute && idle < 130*time.Minute; !isTwoHours {
		t.Errorf("the GPU that has been idle for 2h was last busy %v ago", idle)
	}
	if busy := now.Sub(source.lastBusyTime(labels("GPU-1"))); busy > 11*time.Minute {
		t.Errorf("the busy GPU was last busy %v ago", busy)
	}
}
