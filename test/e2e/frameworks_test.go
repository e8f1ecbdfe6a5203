package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
)

// TestScenario17APyTorchJobWhoseOperatorMakesNoGroup submits the unchanged PyTorchJob of the seed. The test creates its
// two pods as a training operator without Volcano integration does, with only the scheduler's name in them. Both pods
// form one group because of their owner.
func TestScenario17APyTorchJobWhoseOperatorMakesNoGroup(t *testing.T) {
	c := startCluster(t, "--process-nodes=0", "--simulated-nodes=1")
	i := &integrating{cluster: c, namespace: "kubeflow", uids: map[string]types.UID{}}
	i.createNamespace()
	submitted := i.read("../../examples/scenarios/pytorch-simple.yaml")[0]
	i.standIn(submitted)
	i.make(submitted)
	for _, role := range []string{"Master", "Worker"} {
		i.make(podOfReplica(t, submitted, role))
	}
	i.eventually(60*time.Second, "master and worker run", func() error { return i.allRun(2) })

	groups := i.groups()
	if len(groups) != 1 || len(groups[0].OwnerReferences) != 1 || groups[0].OwnerReferences[0].UID != submitted.GetUID() {
		t.Fatalf("want one group, which the PyTorchJob owns: %+v", groups)
	}
	for name, pod := range i.pods(i.namespace, nil) {
		if got := keys.PodGroupOf(pod.Annotations); got != groups[0].Name {
			t.Errorf("%s is in group %q, want %s", name, got, groups[0].Name)
		}
		i.eventually(20*time.Second, name+" is said to be assigned", func() error { return i.assigned(&pod) })
	}
}

// replaceContainers makes the containers of a pod, or of the pods in templates, sleep in an image that the nodes have.
func replaceContainers(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	specs := []any{object.Object["spec"]}
	if template, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "spec"); found && err == nil {
		specs = append(specs, template)
	}
	tasks, _, err := unstructured.NestedSlice(object.Object, "spec", "tasks")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		template, _, err := unstructured.NestedFieldNoCopy(task.(map[string]any), "template", "spec")
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, template)
	}
	for _, spec := range specs {
		fields, _ := spec.(map[string]any)
		containers, _ := fields["containers"].([]any)
		for _, container := range containers {
			fields := container.(map[string]any)
			fields["image"], fields["imagePullPolicy"] = "none:local", "IfNotPresent"
			fields["command"], fields["args"] = []any{"sleep", "600"}, []any{}
		}
	}
	if len(tasks) == 0 {
		return
	}
	if err := unstructured.SetNestedSlice(object.Object, tasks, "spec", "tasks"); err != nil {
		t.Fatal(err)
	}
}

// podOfReplica returns the pod that the training operator creates for a role with one replica.
func podOfReplica(t *testing.T, job *unstructured.Unstructured, role string) *unstructured.Unstructured {
	t.Helper()
	template, found, err := unstructured.NestedMap(job.Object, "spec", "pytorchReplicaSpecs", role, "template")
	if err != nil || !found {
		t.Fatalf("%s has no role %s (%v)", job.GetName(), role, err)
	}
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, &pod); err != nil {
		t.Fatal(err)
	}
	lower := map[string]string{"Master": "master", "Worker": "worker"}[role]
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	pod.Name = job.GetName() + "-" + lower + "-0"
	pod.Labels = map[string]string{"training.kubeflow.org/job-name": job.GetName(), "training.kubeflow.org/replica-type": lower, "training.kubeflow.org/replica-index": "0"}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: job.GetName(), Controller: new(true), BlockOwnerDeletion: new(true)}}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod)
	if err != nil {
		t.Fatal(err)
	}
	delete(content, "status")
	return &unstructured.Unstructured{Object: content}
}

// assigned checks the event with which Volcano reports that a pod is bound.
func (i *integrating) assigned(pod *corev1.Pod) error {
	want := fmt.Sprintf("Successfully assigned kubeflow/%s to %s", pod.Name, pod.Spec.NodeName)
	var events corev1.EventList
	if err := i.List(context.Background(), &events, client.InNamespace(i.namespace)); err != nil {
		return err
	}
	for n := range events.Items {
		e := &events.Items[n]
		if e.InvolvedObject.UID == pod.UID && e.Reason == "Scheduled" && e.Message == want && (e.Source.Component == "volcano" || e.ReportingController == "volcano") {
			return nil
		}
	}
	return fmt.Errorf("no event of %d says %q", len(events.Items), want)
}
