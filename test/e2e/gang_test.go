package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func TestScenario05AGangThatDoesNotFitWaitsWholeAndStartsWhole(t *testing.T) {
	c := fourCores(t)
	h := c.record()
	var manifest strings.Builder
	manifest.WriteString("apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: six, namespace: default}\nspec: {minMember: 6}\n---\n")
	for i := range 6 {
		fmt.Fprintf(&manifest, `apiVersion: v1
kind: Pod
metadata:
  name: six-%d
  namespace: default
  labels: {%s: six}
  annotations: {scheduling.k8s.io/group-name: six}
spec:
  schedulerName: volcano
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers: [{name: main, image: none:local, command: [sleep, "600"], resources: {requests: {cpu: 1}}}]
---
`, i, keys.JobName)
	}
	c.create(manifest.String())

	group := func() *schedulingv1beta1.PodGroup {
		var pg schedulingv1beta1.PodGroup
		if err := c.Get(context.Background(), types.NamespacedName{Namespace: "default", Name: "six"}, &pg); err != nil {
			t.Fatal(err)
		}
		return &pg
	}
	c.eventually(20*time.Second, "the group is Unschedulable for 6 of 6", func() error {
		cond, err := condition(group(), schedulingv1beta1.PodGroupUnschedulableType)
		if err != nil {
			return err
		}
		if cond.Reason != schedulingv1beta1.NotEnoughResourcesReason {
			return fmt.Errorf("reason %s: %s", cond.Reason, cond.Message)
		}
		return containsAll(cond.Message, "6/6 tasks in gang unschedulable")
	})
	h.each(func(holding map[string]int) {
		if holding["six"] > 0 {
			t.Fatalf("%d pods of a gang that does not fit hold nodes", holding["six"])
		}
	})

	c.addNode(2, "4Gi")
	c.running("six", 6, 30*time.Second)
	c.eventually(20*time.Second, "the group is Scheduled and Running, and nothing contradicts it", func() error {
		pg := group()
		if pg.Status.Phase != schedulingv1beta1.PodGroupRunning {
			return fmt.Errorf("phase %s", pg.Status.Phase)
		}
		if _, err := condition(pg, schedulingv1beta1.PodGroupUnschedulableType); err == nil {
			return fmt.Errorf("Unschedulable is still True beside %+v", pg.Status.Conditions)
		}
		_, err := condition(pg, schedulingv1beta1.PodGroupScheduledType)
		return err
	})
}

func TestScenario06NoGangHoldsResourcesWhileItWaitsForTheRest(t *testing.T) {
	// There are eight cores on two nodes, and each job needs six: two jobs never fit at the same time.
	c := startCluster(t, "--process-nodes", "2", "--node-cpu", "4", "--node-memory", "8Gi")
	for _, jobs := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("%d jobs at once", jobs), func(t *testing.T) {
			c := *c
			c.t = t
			h := c.record()
			var manifest strings.Builder
			for i := range jobs {
				manifest.WriteString(job{
					name: fmt.Sprintf("tf-%d-%d", jobs, i), min: 6,
					tasks: []task{
						{name: "ps", replicas: 2, cpu: "1", command: "sleep 1"},
						{name: "worker", replicas: 4, cpu: "1", command: "sleep 1"},
					},
				}.String())
			}
			c.create(manifest.String())
			for i := range jobs {
				c.jobPhase(fmt.Sprintf("tf-%d-%d", jobs, i), batchv1alpha1.Completed, 120*time.Second)
			}
			// Two whole gangs never fit together, so at most one may be partly bound.
			h.starting(6, func(partly map[string]int) {
				if len(partly) > 1 {
					t.Fatalf("gangs hold nodes while they wait for the rest: %v", partly)
				}
			})
		})
	}
}

func TestScenario07PodGroupsAreMadeForJobsAndPlainPods(t *testing.T) {
	c := startCluster(t, "--process-nodes", "1", "--node-cpu", "4", "--node-memory", "8Gi")
	c.create(single("lonely", "", "1").String())
	c.running("lonely", 1, 30*time.Second)
	pg, err := c.podGroupOf("lonely")
	if err != nil {
		t.Fatal(err)
	}
	if pg.Spec.MinMember != 1 || pg.Spec.Queue != "default" {
		t.Errorf("pod group of the job: %+v", pg.Spec)
	}

	c.create(`apiVersion: v1
kind: Pod
metadata: {name: plain, namespace: default}
spec:
  schedulerName: volcano
  restartPolicy: Never
  containers: [{name: main, image: none:local, command: [sh, -c, "echo here I am"], resources: {requests: {cpu: 1}}}]
`)
	c.eventually(30*time.Second, "the plain pod succeeded in a group of its own", func() error {
		var p corev1.Pod
		if err := c.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "plain"}, &p); err != nil {
			return err
		}
		if want := keys.PodGroupNamePrefix + string(p.UID); p.Annotations[keys.GroupName] != want {
			return fmt.Errorf("group %q, want %q", p.Annotations[keys.GroupName], want)
		}
		if p.Status.Phase != corev1.PodSucceeded {
			return fmt.Errorf("it is %s", p.Status.Phase)
		}
		return nil
	})
	if got := c.logs("default", "plain"); got != "here I am\n" {
		t.Errorf("log %q", got)
	}
}
