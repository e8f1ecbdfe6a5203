package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// fourCores starts the cluster that scenarios/README describes for queues: one node with 4 CPUs.
func fourCores(t *testing.T) *cluster {
	t.Helper()
	return startCluster(t, "--process-nodes", "1", "--node-cpu", "4", "--node-memory", "8Gi")
}

func TestScenario01TwoQueuesShareByWeight(t *testing.T) {
	c := fourCores(t)
	c.create(queue("test1", "weight: 1") + queue("test2", "weight: 3"))
	c.create(single("job1", "test1", "1").String() + single("job2", "test2", "3").String())
	c.running("job1", 1, 30*time.Second)
	c.running("job2", 1, 30*time.Second)
}

func TestScenario02AQueueTakesBackWhatItDeservesAndNoMore(t *testing.T) {
	c := fourCores(t)
	c.create(queue("test1", "weight: 1"))
	c.create(single("job1", "test1", "1").String() + single("job2", "test1", "3").String())
	c.running("job1", 1, 30*time.Second)
	c.running("job2", 1, 30*time.Second)
	before := c.jobPods("job1")["job1-main-0"].UID
	h := c.record()

	c.create(queue("test2", "weight: 3") + single("job3", "test2", "3").String())
	c.running("job3", 1, 30*time.Second)

	// The victim waits with an explanation. By then, the scheduler could have evicted others.
	c.waits("job2", 30*time.Second, "test1")
	if diff := cmp.Diff([]string{"job2-main-0"}, h.deleted()); diff != "" {
		t.Errorf("victims (-want +got):\n%s", diff)
	}
	job1 := c.running("job1", 1, 10*time.Second)["job1-main-0"]
	if job1.UID != before || job1.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("job1 did not keep running: pod %s became %s", before, job1.UID)
	}
	c.running("job3", 1, 10*time.Second)
}

func TestScenario03CapabilityIsALimitAndTheReasonNamesIt(t *testing.T) {
	c := fourCores(t)
	c.create(queue("test1", "capability: {cpu: 2}"))
	c.create(single("job1", "test1", "1").String())
	c.running("job1", 1, 30*time.Second)
	c.create(single("job2", "test1", "3").String())

	c.waits("job2", 20*time.Second, "test1", "limit", "cpu", "3", "2")
	view := c.vcctl("job", "view", "job2")
	if err := containsAll(view, "Pending", "capability"); err != nil {
		t.Errorf("vcctl job view: %v", err)
	}
	if phase := c.job("job2").Status.State.Phase; phase != batchv1alpha1.Pending {
		t.Errorf("job2 is %s", phase)
	}
	for name := range c.jobPods("job2") {
		t.Errorf("pod %s was made for a job that is not let in", name)
	}
}

func TestScenario04WhatIsNotReclaimableStays(t *testing.T) {
	c := fourCores(t)
	c.create(queue("test1", "weight: 1, reclaimable: false"))
	c.create(single("job1", "test1", "1").String() + single("job2", "test1", "2").String())
	c.running("job1", 1, 30*time.Second)
	c.running("job2", 1, 30*time.Second)
	h := c.record()

	c.create(queue("test2", "weight: 1") + single("job3", "test2", "2").String())
	c.waits("job3", 20*time.Second, "test1", "not reclaimable")
	if got := h.deleted(); len(got) > 0 {
		t.Errorf("evicted: %v", got)
	}
	c.eventually(10*time.Second, "job3 is Pending", func() error {
		if p := c.job("job3").Status.State.Phase; p != batchv1alpha1.Pending {
			return fmt.Errorf("it is %s", p)
		}
		return nil
	})
}

// TestScenario13EqualQueuesEndWithHalfEach submits three jobs to one of two equal queues and one to the other. Each job
// wants half of the cluster.
func TestScenario13EqualQueuesEndWithHalfEach(t *testing.T) {
	c := fourCores(t)
	c.create(queue("small", "weight: 1") + queue("large", "weight: 1"))
	large := []string{"large1", "large2", "large3"}
	for _, name := range large {
		c.create(single(name, "large", "2").String())
	}
	runningOfLarge := func() int {
		running := 0
		for _, name := range large {
			for _, pod := range c.jobPods(name) {
				if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
					running++
				}
			}
		}
		return running
	}
	wantOfLarge := func(want int) {
		t.Helper()
		c.eventually(60*time.Second, fmt.Sprintf("%d jobs of the larger queue run", want), func() error {
			if running := runningOfLarge(); running != want {
				return fmt.Errorf("%d run", running)
			}
			return nil
		})
	}
	wantOfLarge(2)
	c.create(single("small1", "small", "2").String())
	c.running("small1", 1, 60*time.Second)
	wantOfLarge(1)
}

// TestScenario14JobsWithDifferentDominantResourcesGetEqualShares lets pods with 6/21 of the memory compete with pods with
// 1/6 of the CPUs. Two of the first have 12/21 of the memory, and four of the second 4/6 of the CPUs. Without the plugin
// drf, the older job gets all pods that fit: three with much memory, or six with little.
func TestScenario14JobsWithDifferentDominantResourcesGetEqualShares(t *testing.T) {
	c := startCluster(t, "--process-nodes=1", "--node-cpu=6", "--node-memory=21Gi", "--scheduler-conf="+schedulerConf(t, "  - name: drf\n"))
	node := c.usableNodes()[0]
	part := c.freeMemory(&node) / 21
	tasks := func(replicas int, memory int64) []task {
		return []task{{name: "main", replicas: replicas, cpu: "1", memory: fmt.Sprint(memory), command: "exec sleep 600"}}
	}
	c.kubectl("cordon", node.Name)
	c.create(job{name: "memory", min: 1, tasks: tasks(6, 6*part)}.String())
	c.create(job{name: "cpu", min: 1, tasks: tasks(6, part)}.String())
	c.eventually(30*time.Second, "both jobs have pods", func() error {
		if memory, cpu := len(c.jobPods("memory")), len(c.jobPods("cpu")); memory != 6 || cpu != 6 {
			return fmt.Errorf("job memory has %d pods, and job cpu has %d", memory, cpu)
		}
		return nil
	})
	c.kubectl("uncordon", node.Name)
	c.running("cpu", 4, 60*time.Second)
	c.running("memory", 2, 60*time.Second)
}
