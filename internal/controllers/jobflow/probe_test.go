package jobflow

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/apiserver"
)

func TestProbesAskEveryPodOfATask(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/nowhere", http.StatusFound)
		case r.URL.Path == "/secret" && r.Header.Get("X-Key") != "open":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/nowhere", r.URL.Path == "/query" && r.URL.RawQuery != "a=b":
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	host, text, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "f-a", Namespace: "default", UID: "job"}}
	job.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "server", Replicas: 2}}
	pod := func(name string, phase corev1.PodPhase, ip string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{keys.TaskSpec: "server"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "f-a", UID: "job", Controller: new(true)}}},
			Status: corev1.PodStatus{Phase: phase, PodIP: ip},
		}
	}
	both := []*corev1.Pod{pod("0", corev1.PodRunning, host), pod("1", corev1.PodRunning, host)}
	for name, c := range map[string]struct {
		pods  []*corev1.Pod
		probe Probe
		want  bool
	}{
		"all answer":                 {both, Probe{Network: "http", Port: port, Path: "ready"}, true},
		"a redirection is an answer": {both, Probe{Network: "http", Port: port, Path: "/moved"}, true},
		"a query is sent":            {both, Probe{Network: "http", Port: port, Path: "/query?a=b"}, true},
		"404 is none":                {both, Probe{Network: "http", Port: port, Path: "/nowhere"}, false},
		"without the header":         {both, Probe{Network: "http", Port: port, Path: "/secret"}, false},
		"with the header":            {both, Probe{Network: "http", Port: port, Path: "/secret", Header: "X-Key", Value: "open"}, true},
		"a socket":                   {both, Probe{Network: "tcp", Port: port}, true},
		"nobody listens":             {both, Probe{Network: "tcp", Port: 1}, false},
		"one pod is missing":         {both[:1], Probe{Network: "tcp", Port: port}, false},
		"one pod does not run":       {[]*corev1.Pod{both[0], pod("1", corev1.PodPending, "")}, Probe{Network: "tcp", Port: port}, false},
		"one pod does not answer":    {[]*corev1.Pod{both[0], pod("1", corev1.PodRunning, "127.0.0.9")}, Probe{Network: "tcp", Port: port}, false},
	} {
		t.Run(name, func(t *testing.T) {
			cache := apiserver.NewCache()
			for _, p := range c.pods {
				cache.Apply(apiserver.Change{Object: p})
			}
			c.probe.Job, c.probe.Task = "f-a", "server"
			held, _, err := newProber(cache).runAllProbes(t.Context(), map[string]*batchv1alpha1.Job{"f-a": job}, []Probe{c.probe})
			if err != nil || held[c.probe] != c.want {
				t.Errorf("holds: %v, %v; want %v", held[c.probe], err, c.want)
			}
		})
	}
}

// TestAStepStartsWhenTheProbeOfItsTargetSucceeds verifies that the reconciler runs probes and uses their results.
func TestAStepStartsWhenTheProbeOfItsTargetSucceeds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	port := listener.Addr().(*net.TCPAddr).Port
	probe := &flowv1alpha1.Probe{TCPSocketList: []flowv1alpha1.TCPSocket{{TaskName: "server", Port: port}}}
	w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, flowv1alpha1.Flow{Name: "b", DependsOn: &flowv1alpha1.DependsOn{Targets: []string{"a"}, Probe: probe}})
	server := apiserver.New(scheme, func() time.Time { return epoch })
	for _, o := range []client.Object{w.in.Flow, w.in.Templates["a"], w.in.Templates["b"]} {
		server.Save(o)
	}
	r := New(Options{Cache: server.Cache(), API: server.Client(), Recorder: record.NewFakeRecorder(20), Now: func() time.Time { return epoch }})
	reconcileFlow := func() reconcile.Result {
		t.Helper()
		result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w.in.Flow)})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	hasStarted := func(name string) bool { return apiserver.Find[*batchv1alpha1.Job](server, "default", name) != nil }
	reconcileFlow()
	if result := reconcileFlow(); !hasStarted("f-a") || hasStarted("f-b") || result.RequeueAfter != probeEvery {
		t.Errorf("before the pods run: started a: %v, b: %v; next probe in %s", hasStarted("f-a"), hasStarted("f-b"), result.RequeueAfter)
	}
	job := apiserver.Find[*batchv1alpha1.Job](server, "default", "f-a")
	for _, name := range []string{"f-a-server-0", "f-a-server-1"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{keys.TaskSpec: "server"}}}
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
		pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "none"}}
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "127.0.0.1"}
		server.Save(pod)
	}
	if reconcileFlow(); !hasStarted("f-b") {
		t.Error("step b has not started, although the pods of step a respond")
	}
}

func TestOnePodThatDoesNotAnswerEndsAProbe(t *testing.T) {
	// The server accepts connections but does not respond, as if a NetworkPolicy dropped the packets.
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-r.Context().Done()
	}))
	defer server.Close()
	host, text, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	if newProber(nil).probeAllAddresses(t.Context(), Probe{Network: "http", Port: port}, slices.Repeat([]string{host}, 1000)) {
		t.Error("it holds")
	}
	if n := asked.Load(); n > 2*probesAtOnce {
		t.Errorf("%d of 1000 pods were asked, %d at once", n, probesAtOnce)
	}
}

func TestAProbeThatIsNotAnsweredForAWhileIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		plugins map[string][]string
		says    string
	}{
		"a job whose names resolve":             {map[string][]string{"svc": nil}, "pass --disable-network-policy to the svc plugin"},
		"a job with svc that lets everybody in": {map[string][]string{"svc": {"--disable-network-policy=true"}}, "correct the probe's port and path"},
		"a job without svc":                     {nil, "correct the probe's port and path"},
	} {
		t.Run(name, func(t *testing.T) {
			b := after("b", "a")
			b.DependsOn.Probe = &flowv1alpha1.Probe{TCPSocketList: []flowv1alpha1.TCPSocket{{TaskName: "server", Port: 22}}}
			w := newWorld(t, flowv1alpha1.Flow{Name: "a"}, b)
			w.in.Templates["a"].Spec.Plugins = c.plugins
			w.look()
			w.look()
			probe := Probe{Job: "f-a", Task: "server", Network: "tcp", Port: 22}
			flowName := types.NamespacedName{Namespace: "default", Name: "f"}
			var l listener
			told := 0
			for n := 1; n <= silentAfter+1; n++ {
				w.in.Held, w.in.Silent = map[Probe]bool{}, l.countUnanswered(flowName, []Probe{probe})
				p := Compute(w.in)
				if n < silentAfter && len(p.Events) > 0 {
					t.Fatalf("told after %d times: %v", n, p.Events)
				}
				if told += len(p.Events); told > 0 && !strings.Contains(p.Events[0].Message, c.says) {
					t.Errorf("it says %q", p.Events[0].Message)
				}
			}
			if told == 0 {
				t.Error("nobody was told")
			}
			if l.countUnanswered(flowName, nil); l.countUnanswered(flowName, []Probe{probe})[probe] {
				t.Error("after an answer it is told at the next silence")
			}
		})
	}
}
