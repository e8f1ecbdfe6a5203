package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// scale changes the replicas and the minimum of the first task of a job.
func (c *cluster) scale(name string, replicas int) {
	c.t.Helper()
	c.kubectl("patch", "vcjob", name, "--type=json", "-p", fmt.Sprintf(
		`[{"op":"replace","path":"/spec/tasks/0/replicas","value":%d},{"op":"replace","path":"/spec/tasks/0/minAvailable","value":%d},{"op":"replace","path":"/spec/minAvailable","value":%d}]`,
		replicas, replicas, replicas))
}

func TestAJobIsScaledUpAndDownWhileItRuns(t *testing.T) {
	c := bigNode(t)
	c.create(job{name: "elastic", min: 2, plugins: "{svc: [], ssh: []}",
		policies: "[{event: PodEvicted, action: RestartJob}, {event: PodFailed, action: AbortJob}]",
		tasks:    []task{{name: "main", replicas: 2, cpu: "1", command: "exec sleep 600"}}}.String())
	first := c.running("elastic", 2, 30*time.Second)
	c.specOwnedBy("elastic", filepath.Base(os.Args[0])) // the manager name that client-go uses for this program

	for _, replicas := range []int{4, 1, 3} {
		c.scale("elastic", replicas)
		c.eventually(40*time.Second, fmt.Sprintf("%d pods, the hosts of as many, the group and the status, too", replicas), func() error {
			return c.scaledTo("elastic", replicas)
		})
	}

	j := c.job("elastic")
	if j.Status.RetryCount != 0 || j.Status.Version != 0 || j.Status.State.Phase != batchv1alpha1.Running {
		t.Errorf("%s, retried %d times, version %d: a pod that is scaled away is neither evicted nor failed", j.Status.State.Phase, j.Status.RetryCount, j.Status.Version)
	}
	if now := c.jobPods("elastic"); now["elastic-main-0"].UID != first["elastic-main-0"].UID {
		t.Error("the first pod was replaced")
	}
}

// specOwnedBy checks the field manager of a job's spec in the API server: the controller sends its status without a
// spec.
func (c *cluster) specOwnedBy(name, manager string) {
	c.t.Helper()
	fields := func(condition string) string {
		return c.kubectl("get", "vcjob", name, "--show-managed-fields", "-o", fmt.Sprintf("jsonpath={.metadata.managedFields[?(@.%s)].fieldsV1}", condition))
	}
	if owned := fields(fmt.Sprintf(`manager==%q`, manager)); !strings.Contains(owned, `"f:tasks"`) {
		c.t.Errorf("%s does not own the spec of %s any more: %s", manager, name, owned)
	}
	if status := fields(`subresource=="status"`); !strings.Contains(status, `"f:status"`) || strings.Contains(status, `"f:spec"`) {
		c.t.Errorf("who writes the status of %s owns %s", name, status)
	}
}

// scaledTo returns an error until a job has the expected state for this number of replicas.
func (c *cluster) scaledTo(name string, replicas int) error {
	var want, hosts []string
	for i := range replicas {
		want = append(want, fmt.Sprintf("%s-main-%d", name, i))
		hosts = append(hosts, fmt.Sprintf("%s-main-%d.%s", name, i, name))
	}
	pods := c.jobPods(name)
	if got := slices.Sorted(maps.Keys(pods)); !slices.Equal(got, want) {
		return fmt.Errorf("pods %v", got)
	}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
			return fmt.Errorf("%s is %s", pod.Name, pod.Status.Phase)
		}
	}
	if got := strings.Fields(c.kubectl("get", "configmap", name+"-svc", "-o", `jsonpath={.data.main\.host}`)); !slices.Equal(got, hosts) {
		return fmt.Errorf("hosts %v", got)
	}
	group, err := c.podGroupOf(name)
	if err != nil {
		return err
	}
	s := c.job(name).Status
	if int(group.Spec.MinMember) != replicas || int(group.Spec.MinTaskMember["main"]) != replicas || int(s.Running) != replicas || s.Terminating != 0 || int(s.MinAvailable) != replicas {
		return fmt.Errorf("the group is of %d, %d of main; %d run, %d terminate, minAvailable is %d", group.Spec.MinMember, group.Spec.MinTaskMember["main"],
			s.Running, s.Terminating, s.MinAvailable)
	}
	return nil
}

func TestSuspendingAndResumingUsesUpNoRetry(t *testing.T) {
	c := bigNode(t)
	c.create(job{name: "often", min: 1, policies: "[{event: PodFailed, action: RestartJob}]",
		tasks: []task{{name: "main", replicas: 1, cpu: "1", command: "exec sleep 600"}}}.String())
	c.running("often", 1, 30*time.Second)
	for range 4 {
		c.vcctl("job", "suspend", "often")
		c.jobPhase("often", batchv1alpha1.Aborted, 30*time.Second)
		c.vcctl("job", "resume", "often")
		c.running("often", 1, 30*time.Second)
	}
	j := c.jobPhase("often", batchv1alpha1.Running, 30*time.Second)
	if j.Status.RetryCount != 0 || j.Status.UserRestarts != 4 {
		t.Errorf("%d retries, %d restarts by hand", j.Status.RetryCount, j.Status.UserRestarts)
	}
}

func TestAPartitionRestartsAndTheOthersRunOn(t *testing.T) {
	c := bigNode(t)
	// The pod of index 2 fails when a file exists.
	flag := t.TempDir() + "/fail"
	manifest := job{name: "parts", min: 4, tasks: []task{{name: "main", replicas: 4, cpu: "1",
		command:  fmt.Sprintf("[ $HOSTNAME = parts-main-2 ] || exec sleep 600; until [ -e %s ]; do sleep 0.1; done; exit 3", flag),
		policies: "[{event: PodFailed, action: RestartPartition}]"}}}.String()
	manifest = strings.Replace(manifest, "replicas: 4", "replicas: 4\n    partitionPolicy: {totalPartitions: 2, partitionSize: 2}", 1)
	c.create(manifest)
	before := c.running("parts", 4, 30*time.Second)
	group, err := c.podGroupOf("parts")
	if err != nil {
		t.Fatal(err)
	}
	c.kubectl("exec", "parts-main-2", "--", "touch", flag)

	c.eventually(60*time.Second, "the second partition is new, the first and the group are as they were", func() error {
		after := c.jobPods("parts")
		for name, pod := range before {
			second := name >= "parts-main-2"
			if now := after[name]; (now.UID != pod.UID) != second || now.Status.Phase != corev1.PodRunning {
				return fmt.Errorf("%s is %s, new: %v", name, now.Status.Phase, now.UID != pod.UID)
			}
		}
		if now, err := c.podGroupOf("parts"); err != nil || now.UID != group.UID {
			return fmt.Errorf("the group was replaced: %v", err)
		}
		if j := c.job("parts"); j.Status.RetryCount != 1 || j.Status.State.Phase != batchv1alpha1.Running {
			return fmt.Errorf("%s after %d retries", j.Status.State.Phase, j.Status.RetryCount)
		}
		return nil
	})
}
