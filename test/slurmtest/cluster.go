package slurmtest

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/submission"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// NewJob returns a job of a user as sbatch creates it, with its number, that entered a phase some minutes ago.
func NewJob(id int, name, user, queue string, phase batchv1alpha1.JobPhase, age time.Duration, change ...func(*batchv1alpha1.Job)) *batchv1alpha1.Job {
	j := golden.NewJob(name, queue, phase, age)
	j.UID = types.UID(fmt.Sprintf("uid-%d", id))
	j.Labels = map[string]string{keys.JobID: fmt.Sprint(id)}
	j.Annotations = map[string]string{keys.User: user, keys.JobTitle: name}
	j.Spec.Tasks[0].Name = "head"
	submission.StoreOptions(j, submission.Options{WorkDir: "/home/" + user, Command: "/home/" + user + "/" + name, StdOut: "/home/" + user + "/slurm-%j.out", SubmitLine: "sbatch " + name, Requeue: true})
	j.Status.State.LastTransitionTime = golden.TimeAgo(age / 4)
	if phase != batchv1alpha1.Pending {
		j.Status.Conditions = []batchv1alpha1.JobCondition{golden.NewCondition(batchv1alpha1.Running, age/2)}
	}
	for _, c := range change {
		c(j)
	}
	return j
}

func limited(d time.Duration) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) {
		j.Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds = new(int64(d / time.Second))
	}
}

// WithReason returns a change that sets the reason and the message of a job's state.
func WithReason(reason, message string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Status.State.Reason, j.Status.State.Message = reason, message }
}

// WithFourNodes returns a job with a head and three nodes of eight GPUs each.
func WithFourNodes(j *batchv1alpha1.Job) {
	node := *j.Spec.Tasks[0].DeepCopy()
	node.Name, node.Replicas = "node", 3
	j.Spec.Tasks = append(j.Spec.Tasks, node)
	for i := range j.Spec.Tasks {
		j.Spec.Tasks[i].Template.Spec.Containers[0].Resources.Limits = golden.NewResources("cpu", "32", "memory", "200Gi", "nvidia.com/gpu", "8")
		j.Spec.Tasks[i].Template.Spec.Containers[0].Resources.Requests = nil
	}
	j.Spec.MinAvailable, j.Status.Running = 4, 4
	o := submission.OptionsOf(j)
	j.Labels[keys.Account] = "nlp-a" // as sbatch -A does
	o.Gres, o.Tasks, o.CPUsPerTask, o.MemPerNode, o.Account = "gpu:a100:8", 32, 4, 200<<10, "nlp-a"
	submission.StoreOptions(j, o)
}

// NewPod returns a pod of a job on a node.
func NewPod(j *batchv1alpha1.Job, task string, index int, node string, phase corev1.PodPhase, change ...func(*corev1.Pod)) *corev1.Pod {
	p := golden.NewPod(j, index, node)
	p.Name = fmt.Sprintf("%s-%s-%d", j.Name, task, index)
	p.Labels[keys.TaskSpec] = task
	p.Status.Phase = phase
	for _, c := range change {
		c(p)
	}
	return p
}

// WithExit returns a change that ends the container of a pod with an exit code.
func WithExit(code int32, why, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: why, Message: message, StartedAt: golden.TimeAgo(40 * time.Minute), FinishedAt: golden.TimeAgo(30 * time.Minute)}}}}
	}
}

func element(n string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[keys.ArrayIndex] = n }
}

// WithMixedArray changes the array of a run: its elements ended in different ways, pods of most of these were deleted, and two
// users cancelled some elements.
func WithMixedArray(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		sweep := NewJob(42, "sweep", "mei", "default", batchv1alpha1.Running, time.Hour, limited(30*time.Minute), func(j *batchv1alpha1.Job) {
			j.Annotations[keys.Array], j.Annotations[keys.ArrayLimit] = "0-15", "4"
			j.Annotations[keys.ArrayCancelled], j.Annotations[keys.ArrayCancelledBy] = "2,5", `{"ann":"2,5"}`
			j.Spec.Tasks[0].Replicas = 16
			j.Status.Array = &batchv1alpha1.ArrayStatus{Running: "3-4", Succeeded: "0", Failed: "1,6-13", Cancelled: "2,5,14",
				ExitCodes: map[string]string{"3": "1", "143": "6,13", "137": "7", "-1": "8-11", "235": "12"},
				Causes:    map[string]string{"DeadlineExceeded": "6", "OOMKilled": "7", "NodeStopped": "8", "Preempted": "9", "PodRefused": "10"}}
		})
		server.SetObjects(sweep, NewPod(sweep, "head", 11, "r05n08", corev1.PodFailed, element("11"), func(p *corev1.Pod) { p.Status.Reason = "DeadlineExceeded" }))
	}
	return r
}

// AddJobs adds objects that Slurm's commands show to the cluster of all golden files.
func AddJobs(server *clitest.Server) {
	train := NewJob(36, "train.sh", "mei", "research", batchv1alpha1.Running, 2*time.Hour, WithFourNodes, limited(4*time.Hour))
	train.Name = "train-sh-x7k2p"
	eval := NewJob(37, "eval", "mei", "research", batchv1alpha1.Pending, 18*time.Minute, limited(time.Hour))
	eval.Name = "eval-b8d2c"
	held := NewJob(38, "held", "ann", "default", batchv1alpha1.Pending, 10*time.Minute, WithReason("JobHeldUser", ""), func(j *batchv1alpha1.Job) { j.Annotations[keys.Hold] = keys.HoldUser })
	after := NewJob(39, "after", "ann", "default", batchv1alpha1.Pending, 10*time.Minute, WithReason("Dependency", ""), func(j *batchv1alpha1.Job) { j.Annotations[keys.Dependency] = "afterok:36" })
	closed := NewJob(40, "old", "ann", "archive", batchv1alpha1.Pending, 10*time.Minute)
	done := NewJob(41, "prepare", "mei", "default", batchv1alpha1.Completed, 3*time.Hour)
	sweep := NewJob(42, "sweep", "mei", "default", batchv1alpha1.Running, time.Hour, limited(30*time.Minute), func(j *batchv1alpha1.Job) {
		j.Annotations[keys.Array], j.Annotations[keys.ArrayLimit] = "0-15", "4"
		j.Spec.Tasks[0].Replicas = 16
		j.Status.Array = &batchv1alpha1.ArrayStatus{Running: "3-4", Succeeded: "0", Failed: "1", Cancelled: "2", ExitCodes: map[string]string{"3": "1"}, Reason: "JobArrayTaskLimit"}
	})
	failed := NewJob(58, "broken.sh", "ann", "default", batchv1alpha1.Terminated, 2*time.Hour, WithReason("TerminateJob", "pod broken.sh-head-0 failed with exit code 3"))
	cancelled := NewJob(59, "stopped", "ann", "default", batchv1alpha1.Terminated, 2*time.Hour, func(j *batchv1alpha1.Job) {
		j.Annotations[keys.CancelledBy] = "mei"
		j.Status.Nodes = []batchv1alpha1.JobNode{{Name: "r05n07", Tasks: map[string]string{"node": "0"}}, {Name: "r05n08", Tasks: map[string]string{"head": "0"}}}
		j.Status.Reports = []batchv1alpha1.PodReport{{Task: "head", Message: launchconfig.Report{Signal: 15, Usage: launchconfig.Usage{CPUMillis: 1200}, Steps: []launchconfig.Step{
			{ID: 0, Name: "prepare", Nodes: "stopped-head-0,stopped-node-0", Tasks: 2, Start: golden.TimeAgo(time.Hour).Unix(), End: golden.TimeAgo(55 * time.Minute).Unix()},
			{ID: 1, Name: "train", Nodes: "stopped-head-0", Tasks: 1, Start: golden.TimeAgo(55 * time.Minute).Unix(), End: golden.TimeAgo(30 * time.Minute).Unix(), Signal: 15, Cancelled: true},
		}}.EncodeText()}}
	})
	late := NewJob(60, "slow", "ann", "default", batchv1alpha1.Failed, 5*time.Hour, WithReason("DeadlineExceeded", "head-0 exceeded its time limit of 1h"), limited(time.Hour))
	paused := NewJob(61, "paused2", "mei", "default", batchv1alpha1.Aborted, time.Hour)

	explained := golden.WaitingExplanation()
	explained.EstimatedStart = &metav1.Time{Time: golden.Now.Add(3 * time.Hour)}
	began := golden.TimeAgo(40 * time.Minute).Unix()
	report := launchconfig.Report{Usage: launchconfig.Usage{CPUMillis: 95_500, MaxRSS: 301_000}, Steps: []launchconfig.Step{
		{ID: 0, Name: "hostname", Nodes: "prepare-head-0", Tasks: 1, Start: began, End: began + 2},
		{ID: 1, Name: "python", Nodes: "prepare-head-0", Tasks: 2, CPUs: 2, Start: began + 2, End: began + 600, Code: 3, Usage: launchconfig.Usage{CPUMillis: 90_000, MaxRSS: 300_032}},
		{ID: 2, Name: "sleep", Nodes: "prepare-head-0", Tasks: 1, Start: began + 2, End: began + 600, Signal: 15, Cancelled: true},
	}}.EncodeText()
	broken := launchconfig.Report{Code: 3}.EncodeText()
	server.SetObjects(train, eval, held, after, closed, done, sweep, failed, cancelled, late, paused,
		golden.NewGroup(train, schedulingv1beta1.PodGroupRunning, nil), golden.NewGroup(eval, schedulingv1beta1.PodGroupPending, explained),
		golden.NewGroup(sweep, schedulingv1beta1.PodGroupRunning, nil), golden.NewGroup(closed, schedulingv1beta1.PodGroupPending, nil),
		NewPod(train, "head", 0, "r05n07", corev1.PodRunning), NewPod(train, "node", 0, "r05n08", corev1.PodRunning), NewPod(train, "node", 1, "r05n09", corev1.PodRunning), NewPod(train, "node", 2, "r05n11", corev1.PodRunning),
		NewPod(done, "head", 0, "r05n07", corev1.PodSucceeded, WithExit(0, "Completed", report)),
		NewPod(failed, "head", 0, "r05n08", corev1.PodFailed, WithExit(3, "Error", broken)),
		NewPod(sweep, "head", 0, "r05n07", corev1.PodSucceeded, element("0"), WithExit(0, "Completed", "")),
		NewPod(sweep, "head", 1, "r05n07", corev1.PodFailed, element("1"), WithExit(3, "Error", "")),
		NewPod(sweep, "head", 3, "r05n08", corev1.PodRunning, element("3")), NewPod(sweep, "head", 4, "r05n09", corev1.PodPending, element("4")),
	)
}
