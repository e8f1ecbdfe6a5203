package real

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/test/charttest"
)

// TestChartRunsAGangOnRealNodes installs the charts, waits until all Deployments are available, and runs a job whose pods
// start together, one on each node.
func TestChartRunsAGangOnRealNodes(t *testing.T) {
	c := installVC(t)
	namespace := newNamespace(t, "gang")
	job := newGang(namespace)
	begun := time.Now()
	eventually(t, "create the job", func(ctx context.Context) error { return c.Create(ctx, job) })
	eventually(t, "the job is completed", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		if job.Status.State.Phase != batchv1alpha1.Completed {
			return fmt.Errorf("its phase is %q: %s", job.Status.State.Phase, job.Status.State.Message)
		}
		return nil
	})
	t.Logf("the gang ended %.1f s after its creation", time.Since(begun).Seconds())
	if job.Status.Succeeded != nodeCount {
		t.Errorf("%d pods have succeeded, want %d", job.Status.Succeeded, nodeCount)
	}
	if len(batchv1alpha1.NodesOfPods(job.Status.Nodes)) != nodeCount {
		t.Errorf("the nodes of the pods are %v, want one on each of %d nodes", job.Status.Nodes, nodeCount)
	}
}

// newGang returns a job with one pod for each node.
func newGang(namespace string) *batchv1alpha1.Job {
	apart := &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"gang": "apart"}}, TopologyKey: corev1.LabelHostname,
	}}}}
	return &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "apart", Namespace: namespace},
		Spec: batchv1alpha1.JobSpec{
			MinAvailable: nodeCount,
			Tasks: []batchv1alpha1.TaskSpec{{
				Name: "main", Replicas: nodeCount,
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"gang": "apart"}},
					Spec: corev1.PodSpec{
						Affinity: apart, RestartPolicy: corev1.RestartPolicyNever,
						Containers: []corev1.Container{{
							Name: "main", Image: busyboxImage, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"sh", "-c", "sleep 2"},
						}},
					},
				},
			}},
		},
	}
}

// isInstalled is true after a test has installed vc.
var isInstalled bool

// installVC installs the charts if no test has done this yet, and waits until all Deployments are available. It also resets each
// node to nodeCPUs CPUs for jobs.
func installVC(t *testing.T) client.Client {
	t.Helper()
	c := newClient(t)
	if err := shared.resize(t.Context(), []int{nodeCPUs, nodeCPUs, nodeCPUs}); err != nil {
		t.Fatal(err)
	}
	if isInstalled {
		return c
	}
	begun := time.Now()
	installCharts(t, c)
	waitForDeployments(t)
	t.Logf("all Deployments are available after %.1f s", time.Since(begun).Seconds())
	isInstalled = true
	return c
}

func newClient(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), api.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(shared.plane.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// chartValues returns the values for a chart of a source tree. The nodes have the images already.
func chartValues(t *testing.T, tree, chart string) string {
	t.Helper()
	switch {
	case chart == "vc-crds":
		return "{}"
	case tree == thisTree:
		return "{size: small, image: {pullPolicy: IfNotPresent}, doctor: {args: [--image=" + debianImage + "]}}"
	}
	version, err := versionOf(tree)
	if err != nil {
		t.Fatal(err)
	}
	return "{size: small, image: {pullPolicy: IfNotPresent, tag: " + version + "}}"
}

// thisTree is the source tree of this test.
var thisTree = filepath.Join("..", "..")

// installCharts applies the objects of both charts of this source tree.
func installCharts(t *testing.T, c client.Client) {
	t.Helper()
	installChart(t, c, thisTree, "vc-crds")
	installChart(t, c, thisTree, "vc")
}

// installChart applies the objects of a chart of a source tree.
func installChart(t *testing.T, c client.Client, tree, chart string) {
	t.Helper()
	err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: deploy.Namespace}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	for _, object := range objectsOf(t, tree, chart) {
		if isHook(object) {
			continue
		}
		if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("helm"), client.ForceOwnership); err != nil {
			t.Fatalf("chart %s: %s %s: %v", chart, object.GetKind(), object.GetName(), err)
		}
	}
}

// objectsOf returns the objects of a chart of a source tree.
func objectsOf(t *testing.T, tree, chart string) []*unstructured.Unstructured {
	t.Helper()
	loaded, err := charttest.LoadFrom(tree, chart)
	if err != nil {
		t.Fatal(err)
	}
	release, err := charttest.Render(loaded, chartValues(t, tree, chart))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := charttest.Objects(release.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// isHook reports whether Helm creates an object only for a test.
func isHook(object *unstructured.Unstructured) bool {
	return object.GetAnnotations()["helm.sh/hook"] != ""
}

// TestDoctorFindsNothingInAPod runs the pod of `helm test`, which runs `vcctl doctor` in the cluster.
func TestDoctorFindsNothingInAPod(t *testing.T) {
	c := installVC(t)
	var doctor *unstructured.Unstructured
	for _, object := range objectsOf(t, thisTree, "vc") {
		if !isHook(object) {
			continue
		}
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
		t.Cleanup(func() { _ = c.Delete(context.Background(), object) })
		if object.GetKind() == "Pod" {
			doctor = object
		}
	}
	pod := &corev1.Pod{}
	eventually(t, "the pod of helm test has ended", func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(doctor), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			return fmt.Errorf("it is %s: %+v", pod.Status.Phase, pod.Status.ContainerStatuses)
		}
		return nil
	})
	log := logOf(t, pod.Namespace, pod.Name)
	t.Logf("vcctl doctor:\n%s", log)
	if pod.Status.Phase != corev1.PodSucceeded || strings.Contains(log, "warning") {
		t.Errorf("the pod is %s, and its log contains findings", pod.Status.Phase)
	}
	logMemory(t)
}

// logMemory prints the memory that the first process of each pod of vc uses.
func logMemory(t *testing.T) {
	t.Helper()
	pods, err := shared.client.CoreV1().Pods(deploy.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase != corev1.PodRunning {
			continue
		}
		pid, err := shared.nodeOf(pod).containerPID(pod.Status.ContainerStatuses[0].ContainerID)
		if err != nil {
			t.Error(err)
			continue
		}
		resident := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(readFile(t, fmt.Sprintf("/proc/%d/status", pid)))
		if resident == nil {
			t.Errorf("the memory of %s is unknown", pod.Name)
			continue
		}
		kib, _ := strconv.Atoi(resident[1])
		t.Logf("%s uses %d MiB", pod.Name, kib/1024)
	}
}

// waitForDeployments waits until all replicas of all Deployments of vc are available.
func waitForDeployments(t *testing.T) {
	t.Helper()
	eventually(t, "all Deployments are available", func(ctx context.Context) error {
		list, err := shared.client.AppsV1().Deployments(deploy.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return fmt.Errorf("namespace %s has no Deployment", deploy.Namespace)
		}
		for i := range list.Items {
			d := &list.Items[i]
			if !isRolledOut(d) {
				return fmt.Errorf("%s: %d of %d replicas are up to date, %d are available: %s",
					d.Name, d.Status.UpdatedReplicas, *d.Spec.Replicas, d.Status.AvailableReplicas, describePods(ctx, d))
			}
		}
		return nil
	})
}

// isRolledOut reports whether a Deployment has only pods of its current template, and all of them are available.
func isRolledOut(d *appsv1.Deployment) bool {
	want := *d.Spec.Replicas
	isObserved := d.Status.ObservedGeneration >= d.Generation
	return isObserved && d.Status.Replicas == want && d.Status.UpdatedReplicas == want && d.Status.AvailableReplicas == want
}

// describePods returns the states of the containers of a Deployment.
func describePods(ctx context.Context, d *appsv1.Deployment) string {
	pods, err := shared.client.CoreV1().Pods(d.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(d.Spec.Selector)})
	if err != nil {
		return err.Error()
	}
	var text string
	for i := range pods.Items {
		text += fmt.Sprintf("\n%s on %s: %s %+v %+v", pods.Items[i].Name, pods.Items[i].Spec.NodeName, pods.Items[i].Status.Phase, pods.Items[i].Status.Conditions, pods.Items[i].Status.ContainerStatuses)
	}
	return text
}
