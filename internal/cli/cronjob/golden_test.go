package cronjob_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// crons adds cron jobs to the cluster: one with jobs, one suspended, one with an interval, one with an invalid
// schedule.
func crons(s *clitest.Server) {
	nightly := newCron("nightly", "30 2 * * 1-5", 100*time.Hour)
	zone, late, last, well := "Europe/Berlin", int64(600), golden.TimeAgo(58*time.Hour+30*time.Minute), golden.TimeAgo(9*time.Hour)
	nightly.Labels = map[string]string{"team": "nlp"}
	nightly.Spec.TimeZone, nightly.Spec.StartingDeadlineSeconds, nightly.Spec.ConcurrencyPolicy = &zone, &late, batchv1alpha1.ForbidConcurrent
	nightly.Status.LastScheduleTime, nightly.Status.LastSuccessfulTime = &last, &well
	nightly.Status.Active = []corev1.ObjectReference{{Name: "nightly-29536890"}}
	yes := true
	paused := newCron("paused", "@hourly", 2*time.Hour)
	paused.Spec.Suspend = &yes
	often := newCron("often", "@every 7m", 10*time.Minute)
	broken := newCron("broken", "61 * * * *", time.Minute)
	s.SetObjects(nightly, paused, often, broken, owned("nightly-29536890", nightly, batchv1alpha1.Running, "2026-02-27T02:30:00+01:00", 58*time.Hour),
		owned("nightly-now-x", nightly, batchv1alpha1.Completed, "", time.Hour),
		&corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "n.1", Namespace: "nlp"}, InvolvedObject: corev1.ObjectReference{Kind: "CronJob", Name: "nightly", UID: nightly.UID},
			Type: "Normal", Reason: "SuccessfulCreate", Message: "Created job nightly-29536890", LastTimestamp: golden.TimeAgo(10 * time.Hour), Count: 1})
}

func newCron(name, schedule string, age time.Duration) *batchv1alpha1.CronJob {
	job := golden.NewJob("x", "research", "", 0)
	return &batchv1alpha1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "nlp", UID: types.UID("uid-cron-" + name), CreationTimestamp: golden.TimeAgo(age)},
		Spec:       batchv1alpha1.CronJobSpec{Schedule: schedule, JobTemplate: batchv1alpha1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"made": "so"}}, Spec: job.Spec}},
	}
}

func owned(name string, by *batchv1alpha1.CronJob, phase batchv1alpha1.JobPhase, madeFor string, age time.Duration) *batchv1alpha1.Job {
	job := golden.NewJob(name, "research", phase, age)
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(by, batchv1alpha1.GroupVersion.WithKind("CronJob"))}
	if madeFor != "" {
		job.Annotations = map[string]string{keys.CronJobScheduled: madeFor}
	}
	return job
}

const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs"

func TestCronJobGoldens(t *testing.T) {
	runs := golden.RunsForCommands(
		golden.Command{Args: "cronjob list", Wrong: "cronjob list -o yml", Prepare: crons},
		golden.Command{Args: "cronjob get nightly", Wrong: "cronjob get nigtly", Prepare: crons},
		golden.Command{Args: "cronjob view nightly", Wrong: "cronjob view nightly -w -o yaml", Prepare: crons},
		golden.Command{Args: "cronjob create -f testdata/cron.yaml", Wrong: "cronjob create -f testdata/bad.yaml", Prepare: crons},
		golden.Command{Args: "cronjob delete nightly", Wrong: "cronjob delete", Prepare: crons},
		golden.Command{Args: "cronjob suspend nightly", Wrong: "cronjob suspend nigtly", Prepare: crons},
		golden.Command{Args: "cronjob resume paused", Wrong: "cronjob resume --all paused", Prepare: crons},
		golden.Command{Args: "cronjob trigger nightly --job-name again", Wrong: "cronjob trigger --all --job-name again", Prepare: crons},
	)
	more := func(about, args string, check func(*testing.T, *clitest.Server)) {
		runs = append(runs, golden.Run{About: about, Args: args, Prepare: crons, Check: check})
	}
	more("all columns, the next one first", "cronjob list -A -o wide --sort-by next", nil)
	more("one that is suspended", "cronjob view paused", nil)
	more("one by intervals, without a zone", "cronjob view often --events=false", nil)
	more("one whose schedule cannot be read", "cronjob view broken", nil)
	more("already so", "cronjob suspend paused", nil)
	more("not so", "cronjob resume nightly", nil)
	more("all that are not yet", "cronjob suspend --all -y", nil)
	more("only tried", "cronjob suspend nightly --dry-run=server", nil)
	more("without a name for the job", "cronjob trigger nightly", golden.CheckStored(jobs, 9))
	more("one of a name that is there", "cronjob trigger nightly --job-name train", nil)
	more("only tried, as it would be", "cronjob trigger nightly --dry-run=client -o yaml", golden.CheckStored(jobs, 8))
	runs = append(runs, golden.Run{About: "into a queue that is closed", Args: "cronjob trigger shut", Check: golden.CheckStored(jobs, 8), Prepare: func(s *clitest.Server) {
		crons(s)
		shut := newCron("shut", "@hourly", time.Hour)
		shut.Spec.JobTemplate.Spec.Queue = "archive"
		s.SetObjects(shut)
	}})
	runs = append(runs, golden.Run{About: "one that the server would warn of, only tried", Args: "cronjob trigger odd --dry-run=client", Check: golden.CheckStored(jobs, 8), Prepare: func(s *clitest.Server) {
		crons(s)
		odd, more := newCron("odd", "@hourly", time.Hour), int32(5)
		odd.Spec.JobTemplate.Spec.MinSuccess = &more
		s.SetObjects(odd)
	}})
	more("Kubernetes' own", "cronjob create -f testdata/kubernetes.yaml --dry-run=client", nil)
	golden.CompareRuns(t, "cronjob", runs)
}
