package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
)

// The tests of scenarios can use a cluster that runs already, with nodes that can be resized: test/real starts one.
const (
	// kubeconfigVariable names the kubeconfig of the cluster.
	kubeconfigVariable = "VC_E2E_KUBECONFIG"
	// nodesVariable names the socket at which requests that resize the nodes are served.
	nodesVariable = "VC_E2E_NODES"
)

// usesExistingCluster reports whether the tests use a cluster that runs already.
func usesExistingCluster() bool { return os.Getenv(kubeconfigVariable) != "" }

// useExistingCluster returns the cluster that runs already, with nodes as the arguments of `vc-local up` require. When
// the test ends, it deletes what the test has created.
func useExistingCluster(t *testing.T, args []string) *cluster {
	t.Helper()
	sizes, configuration, err := parseClusterFlags(args)
	if err != nil {
		t.Skipf("SKIPPED: the existing cluster cannot be started with %s: %v", strings.Join(args, " "), err)
	}
	c := &cluster{t: t, dir: t.TempDir(), kubeconfig: os.Getenv(kubeconfigVariable)}
	c.connect()
	if configuration != "" {
		c.configureScheduler(configuration)
	}
	c.resizeNodes(sizes)
	t.Cleanup(func() {
		if t.Failed() {
			c.dump()
		}
		c.removeAll()
	})
	return c
}

// parseClusterFlags returns the CPUs of each node that arguments of `vc-local up` describe, and the path of the
// scheduler's configuration, which is empty for the default one. It returns an error if there are other arguments.
func parseClusterFlags(args []string) (sizes []int, configuration string, err error) {
	flags := pflag.NewFlagSet("up", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	processNodes := flags.Int("process-nodes", 0, "")
	simulatedNodes := flags.Int("simulated-nodes", 0, "")
	cpus := flags.Int("node-cpu", 4, "")
	flags.String("node-memory", "", "")
	flags.StringVar(&configuration, "scheduler-conf", "", "")
	if err := flags.Parse(args); err != nil {
		return nil, "", err
	}
	for range *processNodes + *simulatedNodes {
		sizes = append(sizes, *cpus)
	}
	return sizes, configuration, nil
}

// schedulerConfigMap is the name of the ConfigMap from which the scheduler's pods read their configuration.
const schedulerConfigMap = "volcano-scheduler-configmap"

// configureScheduler makes the scheduler of the existing cluster use a configuration file until the test ends.
func (c *cluster) configureScheduler(path string) {
	c.t.Helper()
	c.kubectl("create", "configmap", schedulerConfigMap, "-n", deploy.Namespace, "--from-file=volcano-scheduler.conf="+path)
	c.t.Cleanup(func() {
		c.kubectl("delete", "configmap", schedulerConfigMap, "-n", deploy.Namespace)
		c.restartScheduler()
	})
	c.restartScheduler()
}

// restartScheduler replaces the scheduler's pods, so that they read their configuration at once. A kubelet can take a
// minute to update the files of a running pod.
func (c *cluster) restartScheduler() {
	c.t.Helper()
	c.kubectl("rollout", "restart", "deployment/vc-scheduler", "-n", deploy.Namespace)
	c.kubectl("rollout", "status", "deployment/vc-scheduler", "-n", deploy.Namespace, "--timeout=2m")
}

// resizeNodes sets the CPUs of the nodes of the existing cluster. Further nodes are cordoned.
func (c *cluster) resizeNodes(sizes []int) {
	c.t.Helper()
	c.sizes = sizes
	body, err := json.Marshal(sizes)
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPut, "http://nodes/nodes", bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", os.Getenv(nodesVariable))
	}
	response, err := (&http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}).Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		message, _ := io.ReadAll(response.Body)
		c.t.Fatalf("resize the nodes to %v: %s: %s", sizes, response.Status, message)
	}
}

// addNode adds a node with a number of CPUs.
func (c *cluster) addNode(cpus int, memory string) {
	c.t.Helper()
	if usesExistingCluster() {
		c.resizeNodes(append(c.sizes, cpus))
		return
	}
	c.must("", "vc-local", "nodes", "add", "--dir", c.dir, "--process", "1", "--cpu", strconv.Itoa(cpus), "--memory", memory)
}

// removeAll deletes the jobs, groups, pods and queues of an existing cluster, and waits until they are gone.
func (c *cluster) removeAll() {
	c.t.Helper()
	ctx := context.Background()
	inDefault := client.InNamespace(corev1.NamespaceDefault)
	for _, kind := range []client.Object{&batchv1alpha1.Job{}, &schedulingv1beta1.PodGroup{}, &corev1.Pod{}, &corev1.Service{}} {
		// Many containers of the tests ignore the signal to end.
		if err := c.DeleteAllOf(ctx, kind, inDefault, client.GracePeriodSeconds(0)); err != nil {
			c.t.Error(err)
		}
	}
	c.eventually(time.Minute, "no jobs, groups and pods are left", func() error {
		return c.checkEmpty(ctx, &batchv1alpha1.JobList{}, &schedulingv1beta1.PodGroupList{}, &corev1.PodList{})
	})
	c.eventually(time.Minute, "no queues of the test are left", func() error { return c.deleteQueues(ctx) })
}

// checkEmpty returns an error if the default namespace contains an object of some lists.
func (c *cluster) checkEmpty(ctx context.Context, lists ...client.ObjectList) error {
	for _, list := range lists {
		if err := c.List(ctx, list, client.InNamespace(corev1.NamespaceDefault), client.Limit(1)); err != nil {
			return err
		}
		if n := meta.LenList(list); n > 0 {
			return fmt.Errorf("%d of %T", n, list)
		}
	}
	return nil
}

// deleteQueues deletes all queues except the two that vc creates, and returns an error until they are gone.
func (c *cluster) deleteQueues(ctx context.Context) error {
	var queues schedulingv1beta1.QueueList
	if err := c.List(ctx, &queues); err != nil {
		return err
	}
	for i := range queues.Items {
		queue := &queues.Items[i]
		if queue.Name == "default" || queue.Name == "root" {
			continue
		}
		if err := client.IgnoreNotFound(c.Delete(ctx, queue)); err != nil {
			return err
		}
		return fmt.Errorf("queue %s", queue.Name)
	}
	return nil
}
