package real

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
)

// TestUpgradeAndBackUnderLoad changes from the previous version to this one and back while gangs are created. A job that
// runs all the time keeps its pods, no gang loses a pod, and queues and the configuration of the scheduler stay.
func TestUpgradeAndBackUnderLoad(t *testing.T) {
	previous := filepath.Join(os.Getenv(binVariable), previousTree)
	if _, err := os.Stat(previous); err != nil {
		t.Skip("SKIPPED: the clone of the repository is shallow, so it has no previous version")
	}
	c := installVC(t)
	kept := createKept(t, c, "upgrade")
	change := func(version, tree string) {
		installChart(t, c, tree, "vc-crds")
		installChart(t, c, tree, "vc")
		waitForDeployments(t)
		t.Logf("%s is running", version)
		kept.check(t, c)
	}
	change("the previous version", previous)
	if err := shared.resize(t.Context(), []int{loadedCPUs, loadedCPUs, loadedCPUs}); err != nil {
		t.Fatal(err)
	}
	load := startLoad(t, c)
	load.waitForNext(t, time.Now(), podPatience)
	change("this version", thisTree)
	load.waitForNext(t, time.Now(), podPatience)
	change("the previous version", previous)
	load.waitForNext(t, time.Now(), podPatience)
	change("this version", thisTree)
	load.waitForNext(t, time.Now(), podPatience)
	load.finish(t, c)
	kept.end(t, c)
}

// TestUninstallKeepsJobsAndQueues deletes all objects of the chart vc and installs it again. The CRDs are in another
// chart.
func TestUninstallKeepsJobsAndQueues(t *testing.T) {
	c := installVC(t)
	kept := createKept(t, c, "uninstall")
	for _, object := range slices.Backward(objectsOf(t, thisTree, "vc")) {
		if isHook(object) {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(t.Context(), object)); err != nil {
			t.Fatalf("delete %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
	eventually(t, "no pods of vc are left", func(ctx context.Context) error {
		pods, err := shared.client.CoreV1().Pods(deploy.Namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d pods are left", len(pods.Items))
		}
		return err
	})
	kept.check(t, c)
	installChart(t, c, thisTree, "vc")
	waitForDeployments(t)
	kept.check(t, c)
	later := newJob(kept.job.Namespace, "later", nodeCount, corev1.PodSpec{Containers: []corev1.Container{shell("true")}})
	later.Spec.Queue = kept.queue
	createJob(t, c, later)
	waitForJob(t, c, later, "is completed", hasPhase(batchv1alpha1.Completed))
	kept.end(t, c)
}

// kept holds the objects that a change of the installation must not change: a queue, the configuration of the scheduler, and a job that
// runs in the queue.
type kept struct {
	queue string
	job   *batchv1alpha1.Job
	pods  map[string]corev1.Pod
}

const (
	// configName is the ConfigMap with the configuration of the scheduler.
	configName = "volcano-scheduler-configmap"
	configKey  = "volcano-scheduler.conf"
	// keptConfig differs from the built-in configuration.
	keptConfig = "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n- plugins:\n  - name: predicates\n  - name: proportion\n  - name: nodeorder\n"
)

// createKept creates a queue, a configuration, and a job that runs until a file exists in each pod.
func createKept(t *testing.T, c client.Client, name string) *kept {
	t.Helper()
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.QueueSpec{Weight: 3}}
	if err := c.Create(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), queue) })
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configName, Namespace: deploy.Namespace}, Data: map[string]string{configKey: keptConfig}}
	if err := c.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), config) })
	job := newJob(newNamespace(t, "kept-"+name), "kept", 2, corev1.PodSpec{Containers: []corev1.Container{shell("while [ ! -e /tmp/finish ]; do sleep 0.2; done")}})
	job.Spec.Queue = name
	createJob(t, c, job)
	job = waitForJob(t, c, job, "is running", hasPhase(batchv1alpha1.Running))
	k := &kept{queue: name, job: job, pods: podsOf(t, job.Namespace, job.Name)}
	for pod := range k.pods {
		waitForRunning(t, job.Namespace, pod)
	}
	return k
}

// check compares the objects with what they were.
func (k *kept) check(t *testing.T, c client.Client) {
	t.Helper()
	var job batchv1alpha1.Job
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(k.job), &job); err != nil {
		t.Fatal(err)
	}
	if job.UID != k.job.UID || job.Status.State.Phase != batchv1alpha1.Running || job.Status.RetryCount != 0 {
		t.Errorf("the job is %s after %d retries", job.Status.State.Phase, job.Status.RetryCount)
	}
	pods := podsOf(t, k.job.Namespace, k.job.Name)
	for name, before := range k.pods {
		after := pods[name]
		if after.UID != before.UID || after.Status.Phase != corev1.PodRunning || after.Status.ContainerStatuses[0].RestartCount > 0 {
			t.Errorf("pod %s did not run on: it is %+v", name, after.Status)
		}
	}
	var queue schedulingv1beta1.Queue
	if err := c.Get(t.Context(), client.ObjectKey{Name: k.queue}, &queue); err != nil || queue.Spec.Weight != 3 {
		t.Errorf("queue: %v, %+v", err, queue.Spec)
	}
	var config corev1.ConfigMap
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: deploy.Namespace, Name: configName}, &config); err != nil || config.Data[configKey] != keptConfig {
		t.Errorf("configuration of the scheduler: %v, %v", err, config.Data)
	}
}

// end lets the pods of the job end, and waits until the job is completed.
func (k *kept) end(t *testing.T, c client.Client) {
	t.Helper()
	for name := range k.pods {
		pod := k.pods[name]
		if _, err := execInPod(t.Context(), &pod, "touch", "/tmp/finish"); err != nil {
			t.Error(err)
		}
	}
	waitForJob(t, c, k.job, "is completed", hasPhase(batchv1alpha1.Completed))
}
