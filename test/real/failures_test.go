package real

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
)

// debianImage is an image with the programs that jobs of the tests run.
const debianImage = "docker.io/library/none:local"

// shell returns a container that runs a script.
func shell(script string) corev1.Container {
	return corev1.Container{Name: "main", Image: debianImage, Command: []string{"sh", "-c", script}}
}

// newJob returns a job with one task whose pods are not restarted by their kubelets.
func newJob(namespace, name string, replicas int32, pod corev1.PodSpec) *batchv1alpha1.Job {
	pod.RestartPolicy = corev1.RestartPolicyNever
	pod.TerminationGracePeriodSeconds = new(int64(2))
	return &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: batchv1alpha1.JobSpec{
			MinAvailable: replicas,
			Tasks:        []batchv1alpha1.TaskSpec{{Name: "main", Replicas: replicas, Template: corev1.PodTemplateSpec{Spec: pod}}},
		},
	}
}

// createJob creates a job. It tries again while the namespace has no service account yet.
func createJob(t *testing.T, c client.Client, job *batchv1alpha1.Job) {
	t.Helper()
	eventually(t, "create job "+job.Name, func(ctx context.Context) error { return c.Create(ctx, job) })
}

// waitForJob waits until a job meets a condition, and returns it.
func waitForJob(t *testing.T, c client.Client, job *batchv1alpha1.Job, what string, condition func(*batchv1alpha1.JobStatus) bool) *batchv1alpha1.Job {
	t.Helper()
	found := &batchv1alpha1.Job{}
	eventually(t, fmt.Sprintf("job %s %s", job.Name, what), func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), found); err != nil {
			return err
		}
		if !condition(&found.Status) {
			return fmt.Errorf("its status is %+v, failure %+v", found.Status.State, found.Status.Failure)
		}
		return nil
	})
	return found
}

// hasPhase returns a condition for waitForJob.
func hasPhase(phase batchv1alpha1.JobPhase) func(*batchv1alpha1.JobStatus) bool {
	return func(s *batchv1alpha1.JobStatus) bool { return s.State.Phase == phase }
}

// TestFailuresOfContainersAreReported runs a job with each kind of container failure.
func TestFailuresOfContainersAreReported(t *testing.T) {
	c := installVC(t)
	namespace := newNamespace(t, "failures")
	const allocates = `python3 -c 'x = bytearray(300 << 20)'`
	failingProbe := &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"false"}}},
		PeriodSeconds: 1, FailureThreshold: 1,
	}
	withMemoryLimit := shell(allocates)
	withMemoryLimit.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Mi")}
	notAlive := shell("exec sleep 600")
	notAlive.LivenessProbe = failingProbe
	neverStarted := shell("exec sleep 600")
	neverStarted.StartupProbe = failingProbe
	noProgram := shell("")
	noProgram.Command = []string{"/no/such/program"}
	failingInit := shell("exit 4")
	failingInit.Name = "prepare"
	for name, test := range map[string]struct {
		pod      corev1.PodSpec
		policies []batchv1alpha1.LifecyclePolicy
		phase    batchv1alpha1.JobPhase
		reason   reason.Code
		exit     int32
		message  string
	}{
		"exit-code":      {pod: corev1.PodSpec{Containers: []corev1.Container{shell("exit 3")}}, phase: batchv1alpha1.Failed, reason: reason.PodFailed, exit: 3, message: "main-0 exited with code 3"},
		"signal":         {pod: corev1.PodSpec{Containers: []corev1.Container{shell(`python3 -c 'import os; os.kill(os.getpid(), 9)'; exit $?`)}}, phase: batchv1alpha1.Failed, reason: reason.PodFailed, exit: 137, message: "main-0 exited with code 137"},
		"memory":         {pod: corev1.PodSpec{Containers: []corev1.Container{withMemoryLimit}}, phase: batchv1alpha1.Failed, reason: reason.OOMKilled, exit: 137, message: "its limit of 100Mi"},
		"no-program":     {pod: corev1.PodSpec{Containers: []corev1.Container{noProgram}}, phase: batchv1alpha1.Failed, reason: reason.StartError, exit: 128, message: "/no/such/program"},
		"init-container": {pod: corev1.PodSpec{InitContainers: []corev1.Container{failingInit}, Containers: []corev1.Container{shell("true")}}, phase: batchv1alpha1.Failed, reason: reason.PodFailed, exit: 4, message: "main-0 container prepare exited with code 4"},
		"liveness":       {pod: corev1.PodSpec{Containers: []corev1.Container{notAlive}}, phase: batchv1alpha1.Failed, reason: reason.PodFailed, exit: 137, message: "main-0 exited with code 137"},
		"startup":        {pod: corev1.PodSpec{Containers: []corev1.Container{neverStarted}}, phase: batchv1alpha1.Failed, reason: reason.PodFailed, exit: 137, message: "main-0 exited with code 137"},
		"deadline":       {pod: corev1.PodSpec{ActiveDeadlineSeconds: new(int64(2)), Containers: []corev1.Container{shell("exec sleep 600")}}, phase: batchv1alpha1.Failed, reason: reason.DeadlineExceeded, exit: 137, message: "main-0 exceeded its time limit of 2s"},
		"policy-completes": {
			pod: corev1.PodSpec{Containers: []corev1.Container{shell("exit 3")}}, phase: batchv1alpha1.Completed,
			policies: []batchv1alpha1.LifecyclePolicy{{ExitCode: new(int32(3)), Action: busv1alpha1.CompleteJobAction}},
		},
		"policy-aborts": {
			pod: corev1.PodSpec{Containers: []corev1.Container{shell("exit 3")}}, phase: batchv1alpha1.Aborted, reason: reason.PodFailed, exit: 3, message: "main-0 exited with code 3",
			policies: []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.AbortJobAction}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := newJob(namespace, name, 1, test.pod)
			job.Spec.Policies = test.policies
			createJob(t, c, job)
			job = waitForJob(t, c, job, fmt.Sprintf("is %s", test.phase), hasPhase(test.phase))
			checkFailure(t, job, test.reason, test.exit, test.message)
		})
	}
}

// checkFailure compares the failure of a job. An empty code means that there must be no failure.
func checkFailure(t *testing.T, job *batchv1alpha1.Job, code reason.Code, exit int32, message string) {
	t.Helper()
	failure := job.Status.Failure
	switch {
	case code == "" && failure == nil:
	case failure == nil:
		t.Errorf("there is no failure; want %s", code)
	case failure.ExitCode == nil:
		t.Errorf("failure %s %q has no exit code; want %d", failure.Reason, failure.Message, exit)
	case failure.Reason != string(code), *failure.ExitCode != exit, !strings.Contains(failure.Message, message):
		t.Errorf("failure %s %q, exit code %d; want %s %q, exit code %d", failure.Reason, failure.Message, *failure.ExitCode, code, message, exit)
	}
}

// TestAMissingImageIsNamed runs a job whose image does not exist. Its pod has a node but cannot start.
func TestAMissingImageIsNamed(t *testing.T) {
	c := installVC(t)
	namespace := newNamespace(t, "image")
	container := shell("true")
	container.Image = "localhost/no-such-image:1"
	job := newJob(namespace, "image", 1, corev1.PodSpec{Containers: []corev1.Container{container}})
	createJob(t, c, job)
	eventually(t, "vcctl says that the image cannot be pulled", func(ctx context.Context) error {
		output, _ := vcctl(ctx, "job", "explain", "image", "-n", namespace) // a waiting job is an exit code of its own
		for _, want := range []string{"ImagePullBackOff", "localhost/no-such-image:1"} {
			if !strings.Contains(output, want) {
				return fmt.Errorf("%q is not in:\n%s", want, output)
			}
		}
		return nil
	})
	waitForJob(t, c, job, "is pending", hasPhase(batchv1alpha1.Pending))
}
