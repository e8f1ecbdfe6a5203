package real

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

const (
	// compilers is the number of pods that compile. With the master, the gang has twelve pods.
	compilers = 11
	// compilerCPU is what each pod of the gang requests: a node has room for five.
	compilerCPU = "3"
)

// compileScript compiles the C library of Zstandard on the other pods. A file that cannot be compiled there is not
// compiled at all, because DISTCC_FALLBACK is 0. At the end, a program that was linked with the object files compresses
// and decompresses a text.
const compileScript = `set -e
export DISTCC_HOSTS="$(sed 's,$,/1,' /etc/volcano/worker.host | tr '\n' ' ')" DISTCC_FALLBACK=0 DISTCC_DIR=/tmp/distcc
mkdir -p $DISTCC_DIR
for host in $(cat /etc/volcano/worker.host); do
	until python3 -c "import socket; socket.create_connection(('$host', 3632), 1)" 2>/dev/null; do sleep 0.2; done
done
cd /tmp
cat >main.c <<END
#include <stdio.h>
#include <string.h>
#include "zstd.h"
int main(void) {
	char packed[1000], text[1000];
	size_t n = ZSTD_compress(packed, sizeof packed, "compiled on eleven pods", 24, 3);
	n = ZSTD_decompress(text, sizeof text, packed, n);
	printf("%s, Zstandard %s\n", ZSTD_isError(n) ? ZSTD_getErrorName(n) : text, ZSTD_versionString());
	return 0;
}
END
ls /usr/src/zstd/*.c | sed 's,.*/\(.*\)\.c,\1.o,' >objects
printf 'main.o: main.c\n\tdistcc gcc -O1 -I/usr/src/zstd -c -o $@ $<\n%%.o: /usr/src/zstd/%%.c\n\tdistcc gcc -O1 -DZSTD_MULTITHREAD -DZSTD_DISABLE_ASM -c -o $@ $<\n' >Makefile
make --silent -j11 main.o $(cat objects)
for object in main.o $(cat objects); do
	readelf -h $object | grep -q 'Type: *REL' || { echo "$object is not an object file"; exit 1; }
done
gcc -o hello main.o $(cat objects) -lpthread
echo "objects: $(ls *.o | wc -l) of $(($(wc -l <objects) + 1))"
./hello
# The gang stays until the test has seen it.
while [ ! -e /tmp/finish ]; do sleep 0.2; done
`

// TestDistccCompilesOnAGang runs twelve pods as a gang, of which eleven compile a C library for the first.
func TestDistccCompilesOnAGang(t *testing.T) {
	c := installVC(t)
	namespace := newNamespace(t, "distcc")
	requests := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(compilerCPU)}}
	container := func(script string) corev1.Container {
		main := shell(script)
		main.Image, main.Resources = "docker.io/library/distcc:local", requests
		return main
	}
	job := newJob(namespace, "distcc", 1, corev1.PodSpec{Containers: []corev1.Container{container(compileScript)}})
	worker := newJob(namespace, "", compilers, corev1.PodSpec{Containers: []corev1.Container{
		container("exec distccd --no-detach --daemon --allow 10.71.0.0/16 --jobs 2 --log-stderr --log-level info"),
	}}).Spec.Tasks[0]
	worker.Name, job.Spec.Tasks[0].Name = "worker", "master"
	job.Spec.MinAvailable = compilers + 1
	job.Spec.Plugins = map[string][]string{"svc": {}, "env": {}}
	job.Spec.Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.TerminateJobAction}}
	job.Spec.Tasks[0].Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.TaskCompletedEvent, Action: busv1alpha1.CompleteJobAction}}
	job.Spec.Tasks = append(job.Spec.Tasks, worker)
	createJob(t, c, job)
	waitForJob(t, c, job, "has twelve pods that run", func(s *batchv1alpha1.JobStatus) bool { return s.Running == compilers+1 })
	checkTop(t, namespace)

	log := waitForLog(t, namespace, "distcc-master-0", "Zstandard")
	t.Logf("the master printed:\n%s", log)
	if !strings.Contains(log, "compiled on eleven pods") || !objectsAreComplete(log) {
		t.Errorf("the master printed:\n%s", log)
	}
	pods := podsOf(t, namespace, "distcc")
	sum := 0
	for name := range pods {
		if !strings.Contains(name, "worker") {
			continue
		}
		n := strings.Count(logOf(t, namespace, name), "COMPILE_OK")
		if n == 0 {
			t.Errorf("%s on %s has compiled nothing", name, pods[name].Spec.NodeName)
		}
		sum += n
	}
	t.Logf("%d files were compiled by %d pods on %d nodes", sum, compilers, len(nodesOf(pods)))
	if len(nodesOf(pods)) != nodeCount {
		t.Errorf("the pods are on %v, want %d nodes", nodesOf(pods), nodeCount)
	}
	master := pods["distcc-master-0"]
	if _, err := execInPod(t.Context(), &master, "touch", "/tmp/finish"); err != nil {
		t.Error(err)
	}
	waitForJob(t, c, job, "is completed", hasPhase(batchv1alpha1.Completed))
}

// objectsAreComplete reports whether the log says that there are as many object files as source files.
func objectsAreComplete(log string) bool {
	found := regexp.MustCompile(`objects: (\d+) of (\d+)`).FindStringSubmatch(log)
	return found != nil && found[1] == found[2]
}

// checkTop compares the nodes in the output of `vcctl top --once` with the requests of all pods, and looks for the job and
// its pods.
func checkTop(t *testing.T, namespace string) {
	t.Helper()
	output, err := vcctl(t.Context(), "top", "--once", "--namespace", namespace)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("vcctl top --once:\n%s", output)
	for _, n := range shared.nodes {
		idle := idleCPU(t, n)
		row := regexp.MustCompile(`(?m)^` + n.name + ` +Ready +\S+ +(\S+)`).FindStringSubmatch(output)
		if row == nil || row[1] != idle {
			t.Errorf("%s must be ready and have %s CPUs idle, but the row is %q", n.name, idle, row)
		}
	}
	if running := len(regexp.MustCompile(`(?m)^distcc-\S+ .*Running`).FindAllString(output, -1)); running != compilers+1 {
		t.Errorf("%d pods of the job are listed as running, want %d", running, compilers+1)
	}
}

// idleCPU returns the CPUs of a node that no pod requests, as the dashboard prints them.
func idleCPU(t *testing.T, n *node) string {
	t.Helper()
	found, err := shared.client.CoreV1().Nodes().Get(t.Context(), n.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	free := found.Status.Allocatable.Cpu().DeepCopy()
	pods, err := shared.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + n.name})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if phase := pods.Items[i].Status.Phase; phase == corev1.PodSucceeded || phase == corev1.PodFailed {
			continue
		}
		for j := range pods.Items[i].Spec.Containers {
			free.Sub(*pods.Items[i].Spec.Containers[j].Resources.Requests.Cpu())
		}
	}
	return strconv.FormatFloat(float64(free.MilliValue())/1000, 'f', -1, 64)
}

// TestMPIReachesAllNodes runs the unchanged manifest of the MPI scenario. A limit range gives each pod so large a request
// that each node has room for one.
func TestMPIReachesAllNodes(t *testing.T) {
	c := installVC(t)
	namespace := newNamespace(t, "mpi")
	limits := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "one-pod-per-node"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10")},
		}}},
	}
	if _, err := shared.client.CoreV1().LimitRanges(namespace).Create(t.Context(), limits, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	job := &batchv1alpha1.Job{}
	if err := yaml.Unmarshal([]byte(readFile(t, "../../examples/scenarios/mpi.yaml")), job); err != nil {
		t.Fatal(err)
	}
	job.Namespace = namespace
	createJob(t, c, job)
	waitForJob(t, c, job, "is running", hasPhase(batchv1alpha1.Running))
	if nodes := nodesOf(podsOf(t, namespace, job.Name)); len(nodes) != nodeCount {
		t.Errorf("the pods are on %v, want %d nodes", nodes, nodeCount)
	}
	waitForJob(t, c, job, "is completed", hasPhase(batchv1alpha1.Completed))
	log := logOf(t, namespace, job.Name+"-mpimaster-0")
	t.Logf("the master printed:\n%s", log)
	for rank := range 2 {
		want := fmt.Sprintf("Hello world from processor %s-mpiworker-%d, rank %d out of 2 processors", job.Name, rank, rank)
		if !strings.Contains(log, want) {
			t.Errorf("the master did not print %q", want)
		}
	}
}

// waitForLog waits until the log of a pod contains a word, and returns the log.
func waitForLog(t *testing.T, namespace, pod, word string) string {
	t.Helper()
	var log string
	eventually(t, fmt.Sprintf("the log of %s contains %q", pod, word), func(ctx context.Context) error {
		content, err := shared.client.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(ctx)
		log = string(content)
		if err == nil && !strings.Contains(log, word) {
			err = fmt.Errorf("it is:\n%s", log)
		}
		return err
	})
	return log
}

func logOf(t *testing.T, namespace, pod string) string {
	t.Helper()
	return waitForLog(t, namespace, pod, "")
}
