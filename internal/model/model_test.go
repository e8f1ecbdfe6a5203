package model

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/test/propertytest"
)

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = apiresource.MustParse(pairs[i+1])
	}
	return list
}

func container(pairs ...string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: quantities(pairs...)}}
}

func TestRequests(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	sidecar := container("cpu", "100m")
	sidecar.RestartPolicy = &always
	cases := map[string]struct {
		spec corev1.PodSpec
		want []resource.Amount
	}{
		"a pod that asks for nothing takes one slot": {
			corev1.PodSpec{Containers: []corev1.Container{{}}}, []resource.Amount{{Name: "pods", Value: 1}},
		},
		"containers add up, in milli-cores and bytes": {
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1", "memory", "1Gi"), container("cpu", "250m")}},
			[]resource.Amount{{Name: "cpu", Value: 1250}, {Name: "memory", Value: 1 << 30}, {Name: "pods", Value: 1}},
		},
		"the largest init container counts, sidecars always": {
			corev1.PodSpec{InitContainers: []corev1.Container{sidecar, container("cpu", "3")}, Containers: []corev1.Container{container("cpu", "1")}},
			[]resource.Amount{{Name: "cpu", Value: 3100}, {Name: "pods", Value: 1}},
		},
		"overhead is added": {
			corev1.PodSpec{Overhead: quantities("cpu", "50m"), Containers: []corev1.Container{container("cpu", "1")}},
			[]resource.Amount{{Name: "cpu", Value: 1050}, {Name: "pods", Value: 1}},
		},
		"devices are pieces, quota spellings are nothing": {
			corev1.PodSpec{Containers: []corev1.Container{container("nvidia.com/gpu", "2", "requests.cpu", "1", "count/pods", "3")}},
			[]resource.Amount{{Name: "nvidia.com/gpu", Value: 2}, {Name: "pods", Value: 1}},
		},
		"absurd amounts are bounded, negative ones are nothing": {
			corev1.PodSpec{Containers: []corev1.Container{container("cpu", "1e30", "memory", "-5Gi")}},
			[]resource.Amount{{Name: "cpu", Value: resource.MaxAmount}, {Name: "pods", Value: 1}},
		},
		"a fraction of a byte is a byte": {
			corev1.PodSpec{Containers: []corev1.Container{container("memory", "100m")}}, []resource.Amount{{Name: "memory", Value: 1}, {Name: "pods", Value: 1}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := TaskFrom(&corev1.Pod{Spec: c.spec}, true).Shape.Requests
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestStatusOfPods(t *testing.T) {
	now := metav1.Now()
	cases := map[string]struct {
		phase   corev1.PodPhase
		node    string
		deleted bool
		want    Status
	}{
		"waiting":                                {corev1.PodPending, "", false, Pending},
		"bound and not started":                  {corev1.PodPending, "a", false, Bound},
		"running":                                {corev1.PodRunning, "a", false, Running},
		"being deleted":                          {corev1.PodRunning, "a", true, Releasing},
		"ended, though being deleted":            {corev1.PodSucceeded, "a", true, Succeeded},
		"failed":                                 {corev1.PodFailed, "a", false, Failed},
		"a node that does not answer, not gone":  {corev1.PodUnknown, "a", false, Unknown},
		"deleted before it was ever bound waits": {corev1.PodPending, "", true, Releasing},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: c.node}, Status: corev1.PodStatus{Phase: c.phase}}
			if c.deleted {
				p.DeletionTimestamp = &now
			}
			if got := TaskFrom(p, true).Status; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func pod(name, gang, node, cpu string) *corev1.Pod {
	p := &corev1.Pod{}
	p.Name, p.Namespace, p.UID = name, "ns", types.UID(name)
	p.Annotations = map[string]string{"scheduling.k8s.io/group-name": gang}
	p.Spec.NodeName = node
	p.Spec.Containers = []corev1.Container{container("cpu", cpu)}
	if node != "" {
		p.Status.Phase = corev1.PodRunning
	}
	return p
}

func group(name, queue string, minimum int32) *schedulingv1beta1.PodGroup {
	g := &schedulingv1beta1.PodGroup{}
	g.Name, g.Namespace, g.UID = name, "ns", types.UID(name)
	g.Spec.Queue, g.Spec.MinMember = queue, minimum
	return g
}

func node(name, cpu string) *corev1.Node {
	n := &corev1.Node{}
	n.Name = name
	n.Status.Allocatable = quantities("cpu", cpu, "pods", "10")
	return n
}

func used(c *Cluster, name string) int64 {
	id, ok := c.Nodes.Find(name)
	if !ok {
		return -1
	}
	return c.Nodes.Row(c.Nodes.Used, id)[resource.CPU]
}

func TestAssumptions(t *testing.T) {
	start := func() *Cluster {
		c := New()
		c.Apply(NodeFrom(node("a", "4")), GangFrom(group("g", "q", 1)), TaskFrom(pod("p", "g", "", "1"), true))
		return c
	}
	t.Run("an older pod does not undo a binding that is decided", func(t *testing.T) {
		c := start()
		c.AssumeBound("p", "a")
		c.Apply(TaskFrom(pod("p", "g", "", "1"), true))
		if got := c.Task("p").Status; got != Binding || used(c, "a") != 1000 {
			t.Errorf("status %v, used %d", got, used(c, "a"))
		}
	})
	t.Run("a binding that failed gives the room back", func(t *testing.T) {
		c := start()
		c.AssumeBound("p", "a")
		c.Apply(BindFailed{UID: "p"})
		if got := c.Task("p").Status; got != Pending || used(c, "a") != 0 {
			t.Errorf("status %v, used %d", got, used(c, "a"))
		}
	})
	t.Run("a failure that comes after the confirmation changes nothing", func(t *testing.T) {
		c := start()
		c.AssumeBound("p", "a")
		c.Apply(TaskFrom(pod("p", "g", "a", "1"), true), BindFailed{UID: "p"})
		if got := c.Task("p").Status; got != Running || used(c, "a") != 1000 {
			t.Errorf("status %v, used %d", got, used(c, "a"))
		}
	})
	t.Run("an eviction stands until the pod is gone or it failed", func(t *testing.T) {
		c := start()
		c.Apply(TaskFrom(pod("p", "g", "a", "1"), true))
		c.AssumeEvicted("p", "")
		c.Apply(TaskFrom(pod("p", "g", "a", "1"), true))
		if got := c.Task("p").Status; got != Releasing {
			t.Errorf("status %v", got)
		}
		c.Apply(EvictFailed{UID: "p"})
		if got := c.Task("p").Status; got != Running {
			t.Errorf("status %v", got)
		}
	})
	t.Run("a promise is given up when its node goes", func(t *testing.T) {
		c := start()
		c.AssumeNominated("p", "a")
		c.Apply(NodeGone{Name: "a"})
		if got := c.Task("p").Status; got != Pending {
			t.Errorf("status %v", got)
		}
	})
	t.Run("a phase that is decided is not undone by an older PodGroup", func(t *testing.T) {
		c := start()
		c.AssumeGangStatus("g", schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupInqueue}, time.Time{})
		c.Apply(GangFrom(group("g", "q", 1)))
		if got := c.Gangs["ns/g"].Status.Phase; got != schedulingv1beta1.PodGroupInqueue {
			t.Errorf("phase %q", got)
		}
		again := group("g", "q", 1)
		again.UID = "another"
		c.Apply(GangFrom(again))
		if got := c.Gangs["ns/g"].Status.Phase; got != "" {
			t.Errorf("phase %q of a new PodGroup of the same name", got)
		}
	})
	t.Run("a pod re-created under the same name replaces the old one", func(t *testing.T) {
		c := start()
		c.Apply(TaskFrom(pod("p", "g", "a", "1"), true))
		again := pod("p", "g", "", "2")
		again.UID = "q"
		c.Apply(TaskFrom(again, true))
		if c.Task("p") != nil || used(c, "a") != 0 || len(c.Gangs["ns/g"].Tasks) != 1 {
			t.Errorf("old %v, used %d, tasks %d", c.Task("p"), used(c, "a"), len(c.Gangs["ns/g"].Tasks))
		}
		c.Apply(TaskGone{Namespace: "ns", Name: "p", UID: "p"}) // a late event about the first pod
		if c.Task("q") == nil {
			t.Error("the new pod is gone with the old one")
		}
	})
}

// TestSums checks after random changes that all sums equal newly computed ones and that nothing is left after
// everything is deleted.
func TestSums(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		c := New()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			name := fmt.Sprintf("p%d", rapid.IntRange(0, 7).Draw(t, "pod"))
			gang := fmt.Sprintf("g%d", rapid.IntRange(0, 2).Draw(t, "gang"))
			host := fmt.Sprintf("n%d", rapid.IntRange(0, 2).Draw(t, "node"))
			queue := fmt.Sprintf("q%d", rapid.IntRange(0, 1).Draw(t, "queue"))
			cpu := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "cpu"))
			switch rapid.IntRange(0, 12).Draw(t, "what") {
			case 0:
				c.Apply(NodeFrom(node(host, cpu)))
			case 1:
				c.Apply(NodeGone{Name: host})
			case 2, 3:
				c.Apply(GangFrom(group(gang, queue, 2)))
			case 4:
				c.Apply(GangGone{Namespace: "ns", Name: gang})
			case 5, 6:
				c.Apply(TaskFrom(pod(name, gang, "", cpu), true))
			case 7:
				c.Apply(TaskFrom(pod(name, gang, host, cpu), true))
			case 8:
				c.Apply(TaskGone{Namespace: "ns", Name: name})
			case 9:
				c.AssumeBound(types.UID(name), host)
				c.RefreshAssumed()
			case 10:
				c.Apply(BindFailed{UID: types.UID(name)})
			case 11:
				c.AssumeNominated(types.UID(name), host)
				c.RefreshAssumed()
			case 12:
				c.AssumeEvicted(types.UID(name), "")
				c.RefreshAssumed()
			}
			checkSums(t, c)
		}
		for i := range 8 {
			c.Apply(TaskGone{Namespace: "ns", Name: fmt.Sprintf("p%d", i)})
		}
		for i := range 3 {
			c.Apply(GangGone{Namespace: "ns", Name: fmt.Sprintf("g%d", i)}, NodeGone{Name: fmt.Sprintf("n%d", i)})
		}
		if len(c.Gangs)+len(c.tasks)+len(c.taskNames)+len(c.shapes)+len(c.Nodes.byName) > 0 {
			t.Fatalf("left: %d gangs, %d tasks, %d shapes, %d nodes", len(c.Gangs), len(c.tasks), len(c.shapes), len(c.Nodes.byName))
		}
	})
}

func checkSums(t *rapid.T, c *Cluster) {
	usedBy, promised := map[NodeID]int64{}, map[NodeID]int64{}
	held := map[*Queue]int64{}
	for _, task := range c.tasks {
		cpu := task.Shape.Request.Get(resource.CPU)
		if task.Node != NoNode && task.Status.CountsOnNode() {
			usedBy[task.Node] += cpu
		}
		if task.Status == Pipelined {
			promised[task.Node] += cpu
		}
		if g := task.Gang; g != nil && g.Known && (task.Status.IsAllocated() || task.Status == Pipelined) {
			held[g.Queue] += cpu
		}
	}
	for id, name := range c.Nodes.Name {
		row := NodeID(id)
		if got := c.Nodes.Row(c.Nodes.Used, row)[resource.CPU]; got != usedBy[row] {
			t.Fatalf("node %s uses %d, want %d", name, got, usedBy[row])
		}
		if got := c.Nodes.Row(c.Nodes.Pipelined, row)[resource.CPU]; got != promised[row] {
			t.Fatalf("node %s promised %d, want %d", name, got, promised[row])
		}
	}
	for name, q := range c.Queues {
		if got := q.Sums.Allocated.Get(resource.CPU); got != held[q] {
			t.Fatalf("queue %s holds %d, want %d", name, got, held[q])
		}
	}
}

// FuzzQuantity converts arbitrary quantities with both roundings. It must not panic or overflow, a request is never
// less than its quantity, and a capacity never more.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"1", "100m", "-1", "1e30", "1Ei", "0.1", "9223372036854775807", "1n", "-1e30"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := apiresource.ParseQuantity(text)
		if err != nil {
			t.Skip()
		}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "x.com/y"} {
			up, down := resource.RoundUp(name, q), resource.RoundDown(name, q)
			if up < 0 || down < 0 || up > resource.MaxAmount || down >= resource.MaxAmount || down > up {
				t.Fatalf("%s of %s: request %d, capacity %d", text, name, up, down)
			}
			if up, down := resource.RoundUpSum(name, q), resource.RoundDownSum(name, q); up < 0 || down < 0 || up > resource.MaxSum || down > up {
				t.Fatalf("%s of %s: minimum %d, limit %d", text, name, up, down)
			}
		}
	})
}
