package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// podWatch counts pods by namespace. It uses its own watch, which runs during all measurements in the same way.
type podWatch struct {
	mu   sync.Mutex
	pods map[types.NamespacedName]string // node
	by   map[string]*counts
}

type counts struct {
	exist, bound int
	// firstBound and lastBound are the times of the first and the last observed bind.
	firstBound, lastBound time.Time
	// lastCreated is the time when the last new pod was observed.
	lastCreated time.Time
	nodes       map[string]int
}

func watchPods(ctx context.Context, t *testing.T, config *rest.Config) *podWatch {
	t.Helper()
	own := rest.CopyConfig(config)
	client := kubernetes.NewForConfigOrDie(own)
	w := &podWatch{pods: map[types.NamespacedName]string{}, by: map[string]*counts{}}
	source := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything())
	go cache.NewReflector(source, &corev1.Pod{}, w, 0).RunWithContext(ctx)
	return w
}

func (w *podWatch) count(namespace string) counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.by[namespace]; c != nil {
		return *c
	}
	return counts{}
}

// Add, Update, Delete, Replace and Resync implement the store of a reflector.
func (w *podWatch) Add(obj any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set(obj.(*corev1.Pod))
	return nil
}

func (w *podWatch) Update(obj any) error { return w.Add(obj) }

func (w *podWatch) Delete(obj any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := obj.(*corev1.Pod)
	w.remove(types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
	return nil
}

func (w *podWatch) Replace(all []any, _ string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name := range w.pods {
		w.remove(name)
	}
	for _, obj := range all {
		w.set(obj.(*corev1.Pod))
	}
	return nil
}

func (w *podWatch) Resync() error { return nil }

func (w *podWatch) set(p *corev1.Pod) {
	name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
	c := w.by[p.Namespace]
	if c == nil {
		c = &counts{nodes: map[string]int{}}
		w.by[p.Namespace] = c
	}
	before, known := w.pods[name]
	if !known {
		c.exist++
		c.lastCreated = time.Now()
	}
	if before == "" && p.Spec.NodeName != "" {
		c.bound++
		c.lastBound = time.Now()
		if c.firstBound.IsZero() {
			c.firstBound = c.lastBound
		}
		c.nodes[p.Spec.NodeName]++
	}
	w.pods[name] = p.Spec.NodeName
}

func (w *podWatch) remove(name types.NamespacedName) {
	node, known := w.pods[name]
	if !known {
		return
	}
	delete(w.pods, name)
	c := w.by[name.Namespace]
	c.exist--
	if node != "" {
		c.bound--
		c.nodes[node]--
	}
}

// overCommitted returns the name of a node with more pods of a namespace than fit, or "".
func (w *podWatch) overCommitted(namespace string, most int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for node, pods := range w.by[namespace].nodes {
		if pods > most {
			return fmt.Sprintf("%s holds %d pods, %d fit", node, pods, most)
		}
	}
	return ""
}

// cpuTime returns the processor time that a process has used, user and system.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		t.Fatalf("/proc/%d/stat: %v %v", pid, err1, err2)
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs on Linux
	return time.Duration(user+system) * tick
}

// cpuOf returns the processor time of this process, which contains the control plane, and of vcd.
func cpuOf(t *testing.T, daemon *vcd) time.Duration {
	t.Helper()
	return cpuTime(t, os.Getpid()) + cpuTime(t, daemon.process.Process.Pid)
}

// profile writes a CPU profile of vcd during a measurement to the directory in VC_BENCH_PROFILE, if that is set.
func (v *vcd) profile(t *testing.T, name string) (wait func()) {
	dir := os.Getenv("VC_BENCH_PROFILE")
	if dir == "" {
		return func() {}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	own, err := os.Create(filepath.Join(dir, name+".cluster.pprof"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(own); err != nil {
		t.Errorf("profile of the cluster: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		response, err := http.Get("http://" + v.listen + "/debug/pprof/profile?seconds=20")
		if err != nil {
			t.Errorf("profile: %v", err)
			return
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".pprof"), data, 0o600)
		}
		if err != nil {
			t.Errorf("profile: %v", err)
		}
	}()
	return func() {
		pprof.StopCPUProfile()
		_ = own.Close()
		<-done
	}
}

// heap writes a heap profile of vcd to the directory in VC_BENCH_PROFILE, if that is set.
func (v *vcd) heap(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("VC_BENCH_PROFILE")
	if dir == "" {
		return
	}
	response, err := http.Get("http://" + v.listen + "/debug/pprof/heap?gc=1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".heap"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// resident returns the resident memory of a process in MiB, and residentPeak its peak.
func resident(pid int) int { return statusMiB(pid, "VmRSS:") }

func residentPeak(pid int) int { return statusMiB(pid, "VmHWM:") }

func statusMiB(pid int, field string) int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kib / 1024
		}
	}
	return 0
}

func healthy(url string) bool {
	client := http.Client{Timeout: time.Second}
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}
