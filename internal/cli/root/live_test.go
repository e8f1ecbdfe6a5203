package root

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/clitest"
	"github.com/vc-batch/vc/internal/cli/iostreams"
)

// screen is a buffer that can be waited on.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newScreen() *screen { return &screen{more: make(chan struct{}, 1)} }

func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(text)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait returns when the screen shows want.
func (s *screen) wait(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for !strings.Contains(s.String(), want) {
		select {
		case <-s.more:
		case <-deadline:
			t.Fatalf("the screen never shows %q:\n%s", want, s)
		}
	}
}

// start runs a command in the background; stop ends it and returns its exit code.
func start(t *testing.T, server *clitest.Server, args ...string) (out *screen, stop func() int, done <-chan int) {
	t.Helper()
	streams, _, _ := iostreams.Test("", 0)
	out = newScreen()
	streams.Out, streams.Err = out, out
	f := cli.NewFactory("vcctl", &streams)
	f.Now = func() time.Time { return now }
	cache := t.TempDir()
	f.Config.CacheDir = &cache
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	argv := append([]string{"--kubeconfig", server.Kubeconfig("nlp")}, args...)
	go func() { ended <- Run(ctx, f, argv) }()
	t.Cleanup(cancel)
	return out, func() int { cancel(); return <-ended }, ended
}

func TestWatchAppendsRowsThatChanged(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, cluster()...)
	out, stop, _ := start(t, server, "job", "list", "-w")
	out.wait(t, "train")
	plain := newJob("plain", "default", batchv1alpha1.Running, 30*time.Second)
	plain.Status.Running = 1
	server.Set(plain)
	out.wait(t, "plain    default    Running     1/1")
	lines := strings.Count(out.String(), "\n")
	server.Set(plain) // nothing that a row shows has changed
	fresh := newJob("zz", "default", batchv1alpha1.Pending, 0)
	server.Set(fresh)
	out.wait(t, "zz       default    Pending")
	if got := strings.Count(out.String(), "\n"); got != lines+1 {
		t.Errorf("%d lines were added, want 1:\n%s", got-lines, out)
	}
	if strings.Count(out.String(), "NAME") != 1 {
		t.Errorf("the titles are printed again:\n%s", out)
	}
	if code := stop(); code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d", code, cli.ExitInterrupted)
	}
}

func TestWatchSeesAReasonThatChangedInThePodGroup(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, cluster()...)
	out, stop, _ := start(t, server, "job", "list", "plain", "-w")
	out.wait(t, "NotEnoughResources")
	plain := newJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
	server.Set(group(plain, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue default is closed"}))
	out.wait(t, "QueueClosed: queue default is closed")
	stop()
}

func TestWatchOfNothingBeginsWithTheTitles(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args  []string
		first client.Object
	}{
		"queues":                  {[]string{"queue", "list", "-w"}, newQueue("default", 1, schedulingv1beta1.QueueStateOpen, nil)},
		"jobs":                    {[]string{"job", "list", "-w"}, newJob("plain", "default", batchv1alpha1.Pending, 0)},
		"jobs in all namespaces":  {[]string{"job", "list", "-A", "-w"}, newJob("plain", "default", batchv1alpha1.Pending, 0)},
		"jobs, only what changes": {[]string{"job", "list", "--watch-only"}, newJob("plain", "default", batchv1alpha1.Pending, 0)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t)
			out, stop, _ := start(t, server, c.args...)
			for len(server.Requests()) < 2 { // list, then watch
				time.Sleep(time.Millisecond)
			}
			server.Set(c.first)
			out.wait(t, "default")
			if !strings.HasPrefix(out.String(), "NAME") {
				t.Errorf("no titles:\n%s", out)
			}
			stop()
		})
	}
}

func TestLogsFollowPodsThatComeLater(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, cluster()...)
	logs(server)
	out, _, done := start(t, server, "job", "logs", "train", "-f")
	out.wait(t, "worker-0 | epoch 2\n")
	train := newJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	server.Log("nlp/train-worker-7", "late\n")
	server.Set(pod(train, 7, "192.168.63.50"))
	out.wait(t, "worker-7 | late\n")
	server.Set(pod(train, 7, "192.168.63.50")) // news about a pod that is followed already
	train.Status.State.Phase = batchv1alpha1.Completed
	server.Set(train)
	select {
	case code := <-done:
		if code != 0 || strings.Count(out.String(), "late") != 1 {
			t.Errorf("exit %d, and what worker-7 said is printed %d times:\n%s", code, strings.Count(out.String(), "late"), out)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("logs -f does not end with the job")
	}
}

// ends waits for a command that runs until its job has ended.
func ends(t *testing.T, server *clitest.Server, out *screen, done <-chan int, job client.Object) int {
	t.Helper()
	server.Set(job)
	select {
	case code := <-done:
		return code
	case <-time.After(10 * time.Second):
		t.Fatalf("the command does not end:\n%s", out)
		return 0
	}
}

// created waits until the command has created the job, and returns it.
func created(t *testing.T, server *clitest.Server, out *screen, name string) *batchv1alpha1.Job {
	t.Helper()
	out.wait(t, "job.batch.volcano.sh/"+name+" created")
	job := newJob(name, "default", batchv1alpha1.Running, 0)
	for _, object := range server.Objects(jobPath) {
		if meta := object["metadata"].(map[string]any); meta["name"] == name {
			job.SetUID(uidOf(meta))
		}
	}
	return job
}

func TestRunWaitFollowsTheJobToItsEnd(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		phase batchv1alpha1.JobPhase
		flag  string
		want  int
		says  string
	}{
		"a job that completes":                                     {batchv1alpha1.Completed, "--wait", 0, `job "hello" completed`},
		"a job that fails":                                         {batchv1alpha1.Failed, "--wait", 1, `job "hello" ended as Failed`},
		"attached, the exit code is that of the pod":               {batchv1alpha1.Failed, "--attach", 42, "worker-0 | bye"},
		"attached to a job that completes":                         {batchv1alpha1.Completed, "--attach", 0, "worker-0 | bye"},
		"a job that is suspended has not ended, but ends the wait": {batchv1alpha1.Aborted, "--wait", 1, `ended as Aborted`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, cluster()...)
			out, _, done := start(t, server, "job", "run", "hello", tc.flag)
			job := created(t, server, out, "hello")
			server.Log("nlp/hello-worker-0", "bye\n")
			one := pod(job, 0, "192.168.23.24")
			if tc.phase == batchv1alpha1.Failed {
				one.Status.Phase = corev1.PodFailed
				one.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 42}}
			}
			server.Set(one)
			job.Status.State.Phase = tc.phase
			if code := ends(t, server, out, done, job); code != tc.want || !strings.Contains(out.String(), tc.says) {
				t.Errorf("exit %d, want %d with %q:\n%s", code, tc.want, tc.says, out)
			}
		})
	}
}

func TestWaitTimesOutWithItsOwnCode(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, cluster()...)
	got := run{args: "job run hello --wait --timeout 50ms"}.do(t, server)
	if got.code != cli.ExitPending || !strings.Contains(got.err, "not there yet after 50ms") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

func TestSuspendWaitsForThePhase(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, cluster()...)
	out, _, done := start(t, server, "job", "suspend", "train", "--wait")
	out.wait(t, "train suspended")
	train := newJob("train", "research", batchv1alpha1.Aborting, 2*time.Hour)
	server.Set(train)
	train.Status.State.Phase = batchv1alpha1.Aborted
	if code := ends(t, server, out, done, train); code != 0 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestViewWatchShowsTheJobUntilItHasEnded(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, cluster()...)
	out, _, done := start(t, server, "job", "view", "train", "-w", "--events=false")
	out.wait(t, "Phase:       Running")
	train := newJob("train", "research", batchv1alpha1.Completed, 2*time.Hour)
	if code := ends(t, server, out, done, train); code != 0 || !strings.Contains(out.String(), "Phase:       Completed") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestLogsGoToAFile(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, cluster()...)
	logs(server)
	path := filepath.Join(t.TempDir(), "log")
	got := run{argv: []string{"job", "logs", "train", "-t", "worker-0", "-o", path}, color: true}.do(t, server)
	text, err := os.ReadFile(path)
	if err != nil || got.code != 0 || got.out != "" || string(text) != "worker-0 | epoch 1\nworker-0 | epoch 2\n" {
		t.Errorf("exit %d, %v, printed %q, the file holds %q", got.code, err, got.out, text)
	}
	if got = (run{args: "job logs train -o /nosuch/log"}).do(t, server); got.code != 1 || !strings.Contains(got.err, "/nosuch/log") {
		t.Errorf("exit %d: %s", got.code, got.err)
	}
}

// Ten thousand jobs are listed within a second, in pages.
func TestTenThousandJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds ten thousand objects")
	}
	var objects []client.Object
	for i := range 10000 {
		objects = append(objects, newJob(fmt.Sprintf("job-%05d", i), "default", batchv1alpha1.Completed, time.Hour))
	}
	server := clitest.Start(t, objects...)
	start := time.Now()
	got := run{args: "job list"}.do(t, server)
	if lines := strings.Count(got.out, "\n"); got.code != 0 || lines != 10001 {
		t.Fatalf("exit %d, %d lines: %s", got.code, lines, got.err)
	}
	if n := len(server.Requests()); n != 20 {
		t.Errorf("%d requests, want 20 pages", n)
	}
	t.Logf("10000 jobs in %s, this test's server included", time.Since(start))
}
