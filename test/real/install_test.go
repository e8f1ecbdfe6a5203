package real

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	c := newClient(t)
	begun := time.Now()
	installCharts(t, c)
	waitForDeployments(t)
	t.Logf("all Deployments are available after %.1f s", time.Since(begun).Seconds())

	namespace := newNamespace(t, "gang")
	job := newGang(namespace)
	begun = time.Now()
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

// installCharts applies the objects of both charts with the image that the nodes have.
func installCharts(t *testing.T, c client.Client) {
	t.Helper()
	err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: deploy.Namespace}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	for name, values := range map[string]string{"vc-crds": "{}", "vc": "{size: small, image: {pullPolicy: IfNotPresent}}"} {
		loaded, err := charttest.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		release, err := charttest.Render(loaded, values)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := charttest.Objects(release.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetAnnotations()["helm.sh/hook"] != "" {
				continue
			}
			if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("helm"), client.ForceOwnership); err != nil {
				t.Fatalf("chart %s: %s %s: %v", name, object.GetKind(), object.GetName(), err)
			}
		}
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
			if d.Status.AvailableReplicas != *d.Spec.Replicas {
				return fmt.Errorf("%s has %d of %d replicas: %s", d.Name, d.Status.AvailableReplicas, *d.Spec.Replicas, describePods(ctx, d))
			}
		}
		return nil
	})
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
