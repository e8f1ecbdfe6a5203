package dashboard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/feed/livesnapshot"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/explain"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/watchserver"
)

// story is a named job with its related objects.
type story struct {
	name    string
	objects []client.Object
}

func phases() []story {
	alone := func(name string, phase batchv1alpha1.JobPhase, message string) story {
		job := golden.NewJob(name, "default", phase, time.Hour)
		job.Status.State.Message, job.Status.State.LastTransitionTime = message, golden.TimeAgo(time.Minute)
		return story{name, []client.Object{job, golden.NewGroup(job, schedulingv1beta1.PodGroupInqueue, nil)}}
	}
	untaken := golden.NewJob("untaken", "default", "", time.Minute)
	return []story{
		alone("running", batchv1alpha1.Running, ""), alone("completed", batchv1alpha1.Completed, ""), alone("aborted", batchv1alpha1.Aborted, ""),
		alone("terminated", batchv1alpha1.Terminated, "cancelled by hand"), alone("restarting", batchv1alpha1.Restarting, ""), {"untaken", []client.Object{untaken}},
	}
}

// waiting returns jobs with every reason for waiting.
func waiting() []story {
	explained := golden.NewJob("explained", "research", batchv1alpha1.Pending, time.Hour)
	told := golden.WaitingExplanation()
	start := golden.TimeAgo(-time.Hour)
	told.EstimatedStart, told.Estimate, told.Attempts = &start, "when job train ends", 7

	foreign := golden.NewJob("foreign", "default", batchv1alpha1.Pending, time.Hour)
	foreign.Spec.SchedulerName = "default-scheduler"
	nowhere := golden.NewPod(foreign, 0, "")
	nowhere.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/4 nodes are available"}}

	image := golden.NewJob("image", "default", batchv1alpha1.Pending, time.Hour)
	image.Spec.Tasks[0].Replicas, image.Spec.MinAvailable = 3, 3
	pulls, mounts, starts := golden.NewPod(image, 0, "192.168.23.24"), golden.NewPod(image, 1, "192.168.23.24"), golden.NewPod(image, 2, "192.168.23.24")
	for _, pod := range []*corev1.Pod{pulls, mounts, starts} {
		pod.Status.Phase = corev1.PodPending
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	}
	pulls.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "fetch", RestartCount: 2, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"}}}}

	return []story{
		{"explained", []client.Object{explained, golden.NewGroup(explained, schedulingv1beta1.PodGroupPending, told)}},
		{"foreign", []client.Object{foreign, golden.NewGroup(foreign, schedulingv1beta1.PodGroupPending, nil), nowhere,
			golden.NewEvent("f1", nowhere, "Warning", "FailedScheduling", "0/4 nodes are available: 4 Insufficient cpu", time.Minute)}},
		{"image", []client.Object{image, golden.NewGroup(image, schedulingv1beta1.PodGroupRunning, nil), pulls, mounts, starts,
			golden.NewEvent("i1", mounts, "Warning", "FailedMount", "MountVolume.SetUp failed for volume \"data\"", time.Minute),
			golden.NewEvent("i2", starts, "Normal", "Pulling", "Pulling image", time.Minute)}},
	}
}

func failed() story {
	job := golden.NewJob("failed", "default", batchv1alpha1.Failed, time.Hour)
	job.Spec.Tasks[0].Replicas = 2
	job.Status.State.Reason, job.Status.State.Message = "PodFailed", "task worker failed: exit code 3"
	ended, killed := golden.NewPod(job, 0, "192.168.23.24"), golden.NewPod(job, 1, "192.168.23.24")
	for pod, state := range map[*corev1.Pod]corev1.ContainerStateTerminated{ended: {ExitCode: 3, Reason: "Error"}, killed: {ExitCode: 137, Reason: "OOMKilled"}} {
		pod.Status.Phase = corev1.PodFailed
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &state}
	}
	return story{"failed", []client.Object{job, golden.NewGroup(job, schedulingv1beta1.PodGroupRunning, nil), ended, killed}}
}

// seen returns a snapshot of the cluster as the dashboard's watches deliver it.
func seen(t *testing.T, objects []client.Object) *snapshot.Snapshot {
	t.Helper()
	web := httptest.NewServer(watchserver.New(watchserver.Of(objects...)))
	l, err := livesnapshot.New(livesnapshot.Options{Config: &rest.Config{Host: web.URL}, Namespace: "nlp"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	defer func() {
		stop()
		<-ended
		web.CloseClientConnections()
		web.Close()
	}()
	for {
		snap, err := l.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if snap.Connection.Link == snapshot.LinkLive {
			return snap
		}
	}
}

func able(t *testing.T, s *clitest.Server) *hands {
	t.Helper()
	streams, _, _ := iostreams.TestStreams("", 0)
	f := cli.NewFactory("vcctl", &streams)
	config, cache := s.WriteKubeconfig("nlp"), t.TempDir()
	f.Config.KubeConfig, f.Config.CacheDir, f.Now = &config, &cache, func() time.Time { return golden.Now }
	h, err := newHands(f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// For every reason for waiting and every end of a job, "y" on the screen Why copies the output of `vcctl job explain`.
func TestWhyIsWhatTheCommandLineSays(t *testing.T) {
	t.Parallel()
	for _, one := range append(append(phases(), waiting()...), failed()) {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			for i, object := range one.objects {
				if object.GetUID() == "" {
					one.objects[i].SetUID(types.UID("uid-" + object.GetName()))
				}
			}
			s := clitest.Start(t, one.objects...)
			want := golden.Run{Args: "job explain " + one.name}.RunAgainst(t, s)
			if want.Err != "" {
				t.Fatal(want.Err)
			}
			if got := whyOf(t, able(t, s), seen(t, one.objects)); got != want.Out {
				t.Errorf("(-vcctl job explain +dashboard)\n%s", cmp.Diff(want.Out, got))
			}
		})
	}
}

// whyOf returns the text of the screen Why for the only job, after all requested data was read.
func whyOf(t *testing.T, h *hands, snap *snapshot.Snapshot) string {
	t.Helper()
	ctx := &screenapi.Context{Snap: snap, Now: golden.Now, Program: "vcctl", Actions: h}
	why := explain.New(string(snap.Jobs[0].UID))
	for effects := why.Update(ctx, screenapi.Refresh{}); len(effects) > 0; {
		run := effects[0].(screenapi.Run)
		value, err := run.Fetch(t.Context())
		effects = why.Update(ctx, screenapi.Done{Name: run.Name, Value: value, Err: err})
	}
	return why.Twin(ctx)
}

func TestABusyJobIsReadAgainEveryFewSecondsOnly(t *testing.T) {
	t.Parallel()
	h := &hands{}
	if first := h.delayBeforeRead("train"); first != readAfter {
		t.Errorf("the first reading waits %s", first)
	}
	if next := h.delayBeforeRead("train"); next < readAgain {
		t.Errorf("the next one waits %s", next)
	}
	if other := h.delayBeforeRead("eval"); other != readAfter {
		t.Errorf("the first one of another job waits %s", other)
	}
}

func TestASheetOfANamesakeIsNotThatOfTheJob(t *testing.T) {
	t.Parallel()
	job := golden.NewJob("train", "default", batchv1alpha1.Pending, time.Hour)
	h := able(t, clitest.Start(t, job))
	if sheet, err := h.Sheet(t.Context(), &snapshot.Job{Namespace: "nlp", Name: "train", UID: job.UID}); err != nil || sheet.Job.UID != job.UID {
		t.Errorf("%v, %v", sheet, err)
	}
	if sheet, err := h.Sheet(t.Context(), &snapshot.Job{Namespace: "nlp", Name: "train", UID: "before"}); err == nil {
		t.Errorf("%+v", sheet)
	}
}

func TestWhatTheClusterRefusesIsSaidAsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	a, b := golden.NewJob("a", "default", batchv1alpha1.Running, time.Hour), golden.NewJob("b", "default", batchv1alpha1.Running, time.Hour)
	s := clitest.Start(t, a, b)
	s.RejectRequests(http.MethodDelete, "/apis/batch.volcano.sh", http.StatusForbidden, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh "a" is forbidden: User "mei" cannot delete resource "jobs" in API group "batch.volcano.sh" in the namespace "nlp"`)
	_, err := able(t, s).Jobs(t.Context(), screenapi.Delete, []*snapshot.Job{{Object: a}, {Object: b}})
	if err == nil || err.Error() != `forbidden: user "mei" cannot delete jobs.batch.volcano.sh in namespace "nlp" (403) (and 1 more)` {
		t.Errorf("%v", err)
	}
}
