package real

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
)

// newSpreadJob returns a job with pods that are so large that each node has room for one.
func newSpreadJob(namespace, name string, replicas int32, policies ...batchv1alpha1.LifecyclePolicy) *batchv1alpha1.Job {
	container := shell("exec sleep 600")
	container.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10")}
	pod := corev1.PodSpec{
		Containers: []corev1.Container{container},
		// The default is five minutes.
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(2))},
		},
	}
	job := newJob(namespace, name, replicas, pod)
	job.Spec.Policies = policies
	return job
}

// TestAStoppedKubelet kills the kubelet of a node. If it starts again in time, nothing happens. If it does not, the pods
// of the node are evicted, and the policy of the job restarts it.
func TestAStoppedKubelet(t *testing.T) {
	c := installVC(t)
	restartJob := batchv1alpha1.LifecyclePolicy{Event: busv1alpha1.PodEvictedEvent, Action: busv1alpha1.RestartJobAction}
	job := newSpreadJob(newNamespace(t, "kubelet"), "spread", 2, restartJob)
	createJob(t, c, job)
	waitForJob(t, c, job, "is running", hasPhase(batchv1alpha1.Running))
	before := podsOf(t, job.Namespace, job.Name)
	victim := before["spread-main-1"]
	node := shared.nodeOf(&victim)

	if err := node.killKubelet(); err != nil {
		t.Fatal(err)
	}
	if err := node.startKubelet(); err != nil {
		t.Fatal(err)
	}
	waitForCondition(t, node.name, corev1.ConditionTrue)
	for name, pod := range podsOf(t, job.Namespace, job.Name) {
		if pod.UID != before[name].UID || pod.Status.Phase != corev1.PodRunning {
			t.Errorf("pod %s did not run on while the kubelet started again: %+v", name, pod.Status)
		}
	}

	if err := node.killKubelet(); err != nil {
		t.Fatal(err)
	}
	waitForCondition(t, node.name, corev1.ConditionUnknown)
	restarting := waitForJob(t, c, job, "is restarting", hasPhase(batchv1alpha1.Restarting))
	if failure := restarting.Status.Failure; failure == nil || failure.Reason != string(reason.NodeStopped) {
		t.Errorf("failure %+v, want %s", failure, reason.NodeStopped)
	}
	if err := node.startKubelet(); err != nil {
		t.Fatal(err)
	}
	waitForJob(t, c, job, "is running again", func(s *batchv1alpha1.JobStatus) bool {
		return s.State.Phase == batchv1alpha1.Running && s.RetryCount == 1
	})
	waitForCondition(t, node.name, corev1.ConditionTrue)
	for name, pod := range podsOf(t, job.Namespace, job.Name) {
		if pod.UID == before[name].UID {
			t.Errorf("pod %s is the one from before the restart", name)
		}
	}
}

// killKubelet kills the kubelet of a node. Its containers run on.
func (n *node) killKubelet() error {
	if err := n.kubelet.Process.Kill(); err != nil {
		return err
	}
	_ = n.kubelet.Wait() // ended by the signal
	return nil
}

// waitForCondition waits until the Ready condition of a node has a status.
func waitForCondition(t *testing.T, node string, status corev1.ConditionStatus) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is ready: %s", node, status), func(ctx context.Context) error {
		found, err := shared.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if condition := readyCondition(found); condition.Status != status {
			return fmt.Errorf("its condition is %+v", condition)
		}
		return nil
	})
}

// TestADrainRespectsABudget drains two nodes at the same time. The budget permits one missing pod, so the second eviction
// waits until the job has a new pod for the first.
func TestADrainRespectsABudget(t *testing.T) {
	c := installVC(t)
	restartPod := batchv1alpha1.LifecyclePolicy{Event: busv1alpha1.PodEvictedEvent, Action: busv1alpha1.RestartPodAction}
	job := newSpreadJob(newNamespace(t, "drain"), "drained", 2, restartPod)
	job.Spec.MinAvailable = 1
	// Two nodes have room for one pod each, and the third has room for both.
	job.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("8")
	if err := shared.resize(t.Context(), []int{8, 8}); err != nil {
		t.Fatal(err)
	}
	createJob(t, c, job)
	waitForJob(t, c, job, "is running", func(s *batchv1alpha1.JobStatus) bool { return s.Running == 2 })
	if err := shared.resize(t.Context(), []int{8, 8, 16}); err != nil {
		t.Fatal(err)
	}
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: job.Namespace},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{keys.JobName: job.Name}},
		},
	}
	if err := c.Create(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	before := podsOf(t, job.Namespace, job.Name)
	nodes := nodesOf(before)
	if len(nodes) != 2 {
		t.Fatalf("the pods are on %v, want two nodes", nodes)
	}
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { watchAvailable(ctx, t, job) })
	var drains sync.WaitGroup
	for _, node := range nodes {
		drains.Go(func() {
			output, err := kubectl(t.Context(), "drain", node, "--pod-selector="+keys.JobName+"="+job.Name, "--timeout=100s")
			if err != nil {
				t.Errorf("drain %s: %v", node, err)
			}
			t.Log(strings.TrimSpace(output))
		})
	}
	drains.Wait()
	found := waitForJob(t, c, job, "has two pods that run", func(s *batchv1alpha1.JobStatus) bool { return s.Running == 2 })
	stop()
	watching.Wait()
	t.Cleanup(func() {
		for _, node := range nodes {
			if err := shared.cordon(context.Background(), node, false); err != nil {
				t.Error(err)
			}
		}
	})
	for name, pod := range podsOf(t, job.Namespace, job.Name) {
		if pod.UID == before[name].UID {
			t.Errorf("pod %s was not evicted", name)
		}
	}
	evictions := found.Status.Evictions
	if evictions == nil || evictions.Pods != 2 {
		t.Errorf("evictions %+v, want 2 pods", evictions)
	}
	t.Logf("evictions: %+v, retries: %d", evictions, found.Status.RetryCount)
}

// watchAvailable fails the test if no pod of a job is ready, until ctx is done.
func watchAvailable(ctx context.Context, t *testing.T, job *batchv1alpha1.Job) {
	_ = wait.PollUntilContextCancel(ctx, poll, true, func(ctx context.Context) (bool, error) {
		list, err := shared.client.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: keys.JobName + "=" + job.Name})
		if err != nil {
			return false, nil // ctx is done, or the next attempt succeeds
		}
		ready := 0
		for i := range list.Items {
			if isReady(&list.Items[i]) {
				ready++
			}
		}
		if ready == 0 {
			t.Error("the budget requires one pod, and none is ready")
			return true, nil
		}
		return false, nil
	})
}

// isReady reports whether a pod is ready and is not being deleted.
func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}
