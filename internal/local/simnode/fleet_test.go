package simnode

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
)

// withFleet runs a fleet against a fake API in a bubble of fake time.
func withFleet(t *testing.T, config Config, test func(t *testing.T, client *fake.Clientset, fleet *Fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		config.Client, config.Logger = client, logr.Discard()
		fleet, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- fleet.Run(ctx) }()
		<-fleet.Ready()
		synctest.Wait()
		test(t, client, fleet)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

func create(t *testing.T, client kubernetes.Interface, pod *corev1.Pod) {
	t.Helper()
	if _, err := client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	settle()
}

// settle completes everything that is due now.
func settle() { time.Sleep(time.Millisecond); synctest.Wait() }

func pass(d time.Duration) { time.Sleep(d); synctest.Wait() }

func phase(t *testing.T, client kubernetes.Interface, name string) string {
	t.Helper()
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return "gone"
	}
	return string(pod.Status.Phase)
}

func want(t *testing.T, client kubernetes.Interface, name, phases string) {
	t.Helper()
	if got := phase(t, client, name); got != phases {
		t.Errorf("pod %s: want %s, got %s", name, phases, got)
	}
}

func TestAPodLivesByItsAnnotations(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		create(t, client, testPod(corev1.RestartPolicyNever, map[string]string{AnnotationRunTime: "30s", AnnotationStartDelay: "5s"}))
		want(t, client, "p", "Pending")
		pass(5 * time.Second)
		want(t, client, "p", "Running")
		pod, _ := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
		if pod.Status.PodIP == "" || pod.Status.HostIP == "" {
			t.Errorf("addresses missing: %+v", pod.Status)
		}
		pass(30 * time.Second)
		want(t, client, "p", "Succeeded")
	})
}

func TestAFleetThatNeverStartsLeavesPodsPendingButFinishesDeletions(t *testing.T) {
	withFleet(t, Config{Count: 1, StartDelay: Never}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		pod := testPod(corev1.RestartPolicyNever, map[string]string{AnnotationRunTime: "1s"})
		create(t, client, pod)
		pass(time.Hour)
		want(t, client, "p", "Pending")
		pod.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(30 * time.Second)}
		if _, err := client.CoreV1().Pods("default").Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		settle()
		want(t, client, "p", "gone")
	})
}

func TestADeletedPodStopsWithinItsGracePeriod(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		create(t, client, testPod(corev1.RestartPolicyNever, map[string]string{AnnotationStopTime: "1m"}))
		pod, _ := client.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{})
		pod.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(30 * time.Second)}
		if _, err := client.CoreV1().Pods("default").Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(20 * time.Second)
		want(t, client, "p", "Running")
		pass(11 * time.Second)
		want(t, client, "p", "gone")
	})
}

func TestPodsOfOtherNodesAreLeftAlone(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		pod := testPod(corev1.RestartPolicyNever, nil)
		pod.Spec.NodeName = "node-1"
		create(t, client, pod)
		pass(time.Hour)
		want(t, client, "p", "Pending")
	})
}

func TestANodeAddedLaterServesPodsThatCameBeforeIt(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, fleet *Fleet) {
		pod := testPod(corev1.RestartPolicyNever, nil)
		pod.Spec.NodeName = "late"
		create(t, client, pod)
		want(t, client, "p", "Pending")
		if err := fleet.Add(t.Context(), Spec{Name: "late"}); err != nil {
			t.Fatal(err)
		}
		settle()
		want(t, client, "p", "Running")
		if err := fleet.RemoveNodes(t.Context(), "late", "was-never-there"); err != nil {
			t.Fatal(err)
		}
		settle()
		want(t, client, "p", "gone")
		if nodes := fleet.ServedNodeNames(); len(nodes) != 1 || nodes[0] != "sim-1" {
			t.Errorf("nodes: %v", nodes)
		}
	})
}

func TestABadAnnotationIsAnEventOnThePod(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		create(t, client, testPod(corev1.RestartPolicyNever, map[string]string{AnnotationExitCode: "many"}))
		pass(time.Minute)
		want(t, client, "p", "Running")
		events, _ := client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
		if len(events.Items) != 1 || events.Items[0].Type != corev1.EventTypeWarning ||
			!strings.Contains(events.Items[0].Message, `vc-batch.dev/sim-exit-code is ignored: "many" is not a whole number`) {
			t.Errorf("events: %+v", events.Items)
		}
	})
}

func TestHeartbeatsAreLeasesSpreadOverTheInterval(t *testing.T) {
	const nodes = 200
	withFleet(t, Config{Count: nodes}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		client.ClearActions()
		worst := 0
		for range HeartbeatInterval / time.Second * 2 {
			client.ClearActions()
			pass(time.Second)
			beats := 0
			for _, action := range client.Actions() {
				switch {
				case action.GetResource().Resource == "leases" && action.GetVerb() != "get":
					beats++
				case action.GetResource().Resource == "nodes":
					t.Fatalf("a heartbeat touched a node: %s", action.GetVerb())
				}
			}
			worst = max(worst, beats)
		}
		if worst > 10 { // one a second on average
			t.Errorf("%d leases were written in one second", worst)
		}
		leases, _ := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).List(t.Context(), metav1.ListOptions{})
		if len(leases.Items) != nodes {
			t.Errorf("want %d leases, got %d", nodes, len(leases.Items))
		}
		for _, lease := range leases.Items {
			if age := time.Since(lease.Spec.RenewTime.Time); age > HeartbeatInterval+2*time.Second {
				t.Errorf("lease %s is %s old", lease.Name, age)
			}
		}
	})
}

func TestNodeThatAUserMadeNotReadyRecovers(t *testing.T) {
	withFleet(t, Config{Count: 1}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		bare := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "bare", Labels: map[string]string{KindLabel: KindSimulated}}}
		if _, err := client.CoreV1().Nodes().Create(t.Context(), bare, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Second)
		node, _ := client.CoreV1().Nodes().Get(t.Context(), "bare", metav1.GetOptions{})
		if !IsReady(node) || node.Status.Capacity.Cpu().String() != "8" || node.Status.Capacity.Pods().Value() != 110 {
			t.Errorf("node: %+v", node.Status)
		}
	})
}

func TestANodeIsFreeOfTheNotReadyTaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "sim-1", Labels: nodeObject(Config{}.completeSpec(Spec{Name: "sim-1"}), time.Now()).Labels},
			Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}},
		}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "real"}})
		own := corev1.Taint{Key: "own", Effect: corev1.TaintEffectNoSchedule}
		if err := AddNodes(t.Context(), client, nil, Spec{Name: "sim-1", Taints: []corev1.Taint{own}}); err != nil {
			t.Fatal(err)
		}
		node, _ := client.CoreV1().Nodes().Get(t.Context(), "sim-1", metav1.GetOptions{})
		if len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Key != "own" || !IsReady(node) {
			t.Errorf("node: %+v", node)
		}
		err := AddNodes(t.Context(), client, nil, Spec{Name: "real"})
		if err == nil || !strings.Contains(err.Error(), "simulated node real: already exists and is not a simulated node") {
			t.Errorf("a real node was taken over: %v", err)
		}
		if err := RemoveNodes(t.Context(), client, "real"); err == nil {
			t.Error("a real node was removed")
		}
	})
}

func TestManyPodsAtOnceAllRun(t *testing.T) {
	withFleet(t, Config{Count: 10}, func(t *testing.T, client *fake.Clientset, _ *Fleet) {
		addresses := map[string]string{}
		for i := range 300 {
			pod := testPod(corev1.RestartPolicyNever, map[string]string{AnnotationRunTime: "10s"})
			pod.Name, pod.UID, pod.Spec.NodeName = fmt.Sprintf("p-%d", i), types.UID(fmt.Sprint(i)), fmt.Sprintf("sim-%d", i%10+1)
			if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Second)
		pods, _ := client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
		for _, pod := range pods.Items {
			if other := addresses[pod.Status.PodIP]; other != "" || pod.Status.Phase != corev1.PodRunning {
				t.Errorf("pod %s: %s, address %s also of %q", pod.Name, pod.Status.Phase, pod.Status.PodIP, other)
			}
			addresses[pod.Status.PodIP] = pod.Name
		}
	})
}

func TestNewRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"no client":        {Config{Count: 1}, "specify a client or a REST configuration"},
		"a negative count": {Config{Client: fake.NewClientset(), Count: -1}, "count -1 is negative"},
		"a bad name":       {Config{Client: fake.NewClientset(), Nodes: []Spec{{Name: "A_b"}}}, `simulated node "A_b"`},
		"a name twice":     {Config{Client: fake.NewClientset(), Nodes: []Spec{{Name: "a"}, {Name: "a"}}}, "listed twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want %q, got %v", c.want, err)
			}
		})
	}
}

func TestAFleetThatIsReadyKnowsItsNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet, err := New(Config{Client: fake.NewClientset(), Logger: logr.Discard(), Count: 50})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- fleet.Run(ctx) }()
		<-fleet.Ready()
		if known := len(fleet.ServedNodeNames()); known != 50 {
			t.Errorf("the fleet is ready and knows %d of its 50 nodes", known)
		}
		cancel()
		<-done
	})
}
