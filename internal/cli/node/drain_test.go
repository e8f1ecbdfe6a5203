package node_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// owned returns a pod on a node with a controller of the given kind, which would re-create it.
func owned(name, kind string, change func(*corev1.Pod)) *corev1.Pod {
	controller := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kube-system", UID: types.UID("uid-" + name)},
		Spec:       corev1.PodSpec{NodeName: "192.168.51.67"}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "agent", UID: "uid-agent", Controller: &controller}}
	if change != nil {
		change(pod)
	}
	return pod
}

// managed is the golden cluster with a controller for each pod: the job train for its own pods, missing controllers
// for the others.
func managed(s *clitest.Server) {
	for _, object := range golden.ClusterObjects() {
		pod, is := object.(*corev1.Pod)
		switch {
		case is && pod.Labels[keys.JobName] != "":
			job := golden.NewJob(pod.Labels[keys.JobName], "", "", 0)
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
			s.SetObjects(pod)
		case is:
			s.RemoveObject(pod)
		}
	}
}

// agents adds a pod of a DaemonSet, a pod with an emptyDir volume and a completed pod.
func agents(s *clitest.Server) {
	managed(s)
	s.SetObjects(&appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "kube-system"}},
		owned("agent-1", "DaemonSet", nil),
		owned("cache-1", "ReplicaSet", func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}),
		owned("ended-1", "ReplicaSet", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }))
}

func TestNodeCordonGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "cordon", append(golden.RunsForCommands(
		golden.Command{Args: "node cordon 192.168.51.67", Wrong: "node cordon 192.168.51.68"},
		golden.Command{Args: "node uncordon 192.168.63.50", Wrong: "node uncordon", Prepare: devices}),
		golden.Run{About: "one is cordoned already", Args: "node cordon node/192.168.63.50 192.168.51.67", Prepare: devices},
		golden.Run{About: "by label", Args: "node cordon -l gpu=a100 --dry-run", Prepare: devices},
		golden.Run{About: "the server only checks", Args: "node cordon 192.168.51.67 --dry-run=server"},
		golden.Run{About: "no node has the label", Args: "node uncordon -l gpu=h100"},
		golden.Run{About: "one of two does not exist: none is changed", Args: "node cordon 192.168.51.67 nope", Check: func(t *testing.T, s *clitest.Server) {
			if n := writes(s); n != 0 {
				t.Errorf("%d writes", n)
			}
		}},
		golden.Run{About: "nodes may not be changed", Args: "node cordon 192.168.51.67", Prepare: func(s *clitest.Server) {
			s.RejectRequests(http.MethodPatch, "/api/v1/nodes", 403, metav1.StatusReasonForbidden, `nodes "192.168.51.67" is forbidden: User "mei" cannot patch resource "nodes" in API group "" at the cluster scope`)
		}},
		golden.Run{About: "names to complete", Args: "__complete node uncordon 192.168.5"},
	))
}

func TestNodeDrainGolden(t *testing.T) {
	t.Parallel()
	stays := func(t *testing.T, s *clitest.Server) {
		if n := writes(s); n != 0 {
			t.Errorf("%d writes", n)
		}
	}
	golden.CompareRuns(t, "drain", append(golden.RunsForCommands(golden.Command{Args: "node drain 192.168.23.24 --yes", Wrong: "node drain 192.168.23.42", Prepare: managed}),
		golden.Run{About: "it asks, and there is no terminal to ask on", Args: "node drain 192.168.23.24", Prepare: managed, Check: stays},
		golden.Run{About: "what would happen", Args: "node drain 192.168.51.67 192.168.23.24 --dry-run", Prepare: managed, Check: stays},
		golden.Run{About: "the server only checks", Args: "node drain 192.168.23.24 --dry-run=server", Prepare: managed},
		golden.Run{About: "nothing is there to be evicted", Args: "node drain -l gpu=a100", Prepare: func(s *clitest.Server) {
			free := golden.NewNode("free")
			free.Labels = map[string]string{"gpu": "a100"}
			s.SetObjects(free)
		}},
		golden.Run{About: "pods that need a flag", Args: "node drain 192.168.51.67 --yes", Prepare: agents, Check: stays},
		golden.Run{About: "the same with the flags", Args: "node drain 192.168.51.67 --ignore-daemonsets --delete-emptydir-data --dry-run", Prepare: agents},
		golden.Run{About: "pods that nothing creates again", Args: "node drain 192.168.23.24 --yes", Check: stays},
		golden.Run{About: "the same by force", Args: "node drain 192.168.23.24 --dry-run --force"},
		golden.Run{About: "jobs may not be read", Args: "node drain 192.168.23.24 --yes", Prepare: func(s *clitest.Server) {
			managed(s)
			s.RejectRequests(http.MethodGet, "/apis/batch.volcano.sh", 403, metav1.StatusReasonForbidden, "jobs is forbidden")
		}},
		golden.Run{About: "a disruption budget protects a pod for longer than the timeout", Args: "node drain 192.168.23.24 --yes --timeout 100ms", Prepare: func(s *clitest.Server) {
			managed(s)
			s.RejectRequests(http.MethodPost, "/api/v1/namespaces/nlp/pods/train-worker-0/eviction", 429, metav1.StatusReasonTooManyRequests, "Cannot evict pod as it would violate the pod's disruption budget.")
		}},
		golden.Run{About: "pods may not be evicted", Report: true, Args: "node drain 192.168.23.24 --yes", Prepare: func(s *clitest.Server) {
			managed(s)
			s.RejectRequests(http.MethodPost, "/api/v1/namespaces/nlp/pods", 403, metav1.StatusReasonForbidden, "pods is forbidden")
		}},
		golden.Run{About: "odd numbers", Args: "node drain 192.168.23.24 --grace-period -5", Check: stays},
		golden.Run{About: "a time that is over before it begins", Args: "node drain 192.168.23.24 --timeout -5s", Check: stays},
	))
}

// writes counts the requests that change objects.
func writes(s *clitest.Server) int {
	n := 0
	for _, request := range s.Requests() {
		if !strings.HasPrefix(request, http.MethodGet) {
			n++
		}
	}
	return n
}

func TestADrainEvictsWhatItSaysAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, golden.ClusterObjects()...)
	agents(s)
	got := golden.Run{Args: "node drain 192.168.51.67 --yes --ignore-daemonsets --delete-emptydir-data --grace-period 7"}.RunAgainst(t, s)
	if got.Code != cli.ExitOK {
		t.Fatalf("exit %d: %s", got.Code, got.Err)
	}
	var evicted []string
	for i, request := range s.Requests() {
		if path, found := strings.CutSuffix(request, "/eviction"); found {
			evicted = append(evicted, path[strings.LastIndex(path, "/")+1:])
			if body := s.Bodies()[i]; !strings.Contains(body, "gracePeriodSeconds") {
				t.Errorf("the grace period is not sent: %s", body)
			}
		}
	}
	slices.Sort(evicted)
	if want := []string{"cache-1", "train-worker-1", "train-worker-2"}; !slices.Equal(evicted, want) {
		t.Errorf("evicted: %v, want %v", evicted, want)
	}
}

func TestADrainAsksOnceAndYesIsEnough(t *testing.T) {
	t.Parallel()
	for answer, writesSomething := range map[string]bool{"y\n": true, "n\n": false, "": false} {
		s := clitest.Start(t, golden.ClusterObjects()...)
		managed(s)
		streams, out, errOut := iostreams.TestStreams(answer, 80)
		streams.InTTY = true
		f := cli.NewFactory("vcctl", &streams)
		cache := t.TempDir()
		f.Config.CacheDir = &cache
		code := root.Run(t.Context(), f, []string{"--kubeconfig", s.WriteKubeconfig("nlp"), "node", "drain", "192.168.51.67"})
		if got := writes(s) > 0; got != writesSomething {
			t.Errorf("answer %q: writes %t, exit %d: %s%s", answer, got, code, out, errOut)
		}
		if want := "drain 192.168.51.67:\n  job nlp/train (Running) loses 2 of 3 pods: worker-1, worker-2\nContinue? [y/N] "; !strings.HasPrefix(errOut.String(), want) {
			t.Errorf("it asks %q, want %q", errOut, want)
		}
	}
}

func TestADrainWithoutTimeStillCordonsTheNode(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, golden.ClusterObjects()...)
	managed(s)
	s.RejectRequests(http.MethodPost, "/api/v1/namespaces/nlp/pods", 429, metav1.StatusReasonTooManyRequests, "the budget needs it")
	got := golden.Run{Args: "node drain 192.168.23.24 --yes --timeout 1ns"}.RunAgainst(t, s)
	if got.Code != cli.ExitPending || !strings.Contains(got.Out, "node/192.168.23.24 cordoned") || !strings.Contains(got.Err, "remaining pods: nlp/train-worker-0") {
		t.Errorf("exit %d, want %d:\n%s%s", got.Code, cli.ExitPending, got.Out, got.Err)
	}
}

func TestADrainTriesAProtectedPodAgainAndSaysSoOnce(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, golden.ClusterObjects()...)
	managed(s)
	const eviction = "/api/v1/namespaces/nlp/pods/train-worker-0/eviction"
	asked := 0
	s.HandlePath(eviction, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 4 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"message":"the budget needs it"}`))
			return
		}
		for _, object := range golden.ClusterObjects() {
			if object.GetName() == "train-worker-0" {
				s.RemoveObject(object)
			}
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{}`))
	}))
	got := golden.Run{Args: "node drain 192.168.23.24 --yes"}.RunAgainst(t, s)
	if got.Code != cli.ExitOK || asked != 4 || strings.Count(got.Err, "cannot be evicted yet") != 1 || !strings.Contains(got.Out, "pod nlp/train-worker-0 evicted\n") {
		t.Errorf("exit %d after %d attempts:\n%s%s", got.Code, asked, got.Out, got.Err)
	}
}
