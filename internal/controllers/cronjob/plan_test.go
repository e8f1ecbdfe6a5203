package cronjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the machine may have no time zone data

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

var epoch = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// world carries out plans with its own clock. Jobs run for a fixed time.
type world struct {
	cron  *batchv1alpha1.CronJob
	jobs  []*batchv1alpha1.Job
	now   time.Time
	runs  time.Duration // run time of a job
	ends  batchv1alpha1.JobPhase
	log   []string
	reset bool // set by a test: the status was lost
}

func newWorld(schedule string, change func(*batchv1alpha1.CronJobSpec)) *world {
	c := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default", UID: "cron", CreationTimestamp: metav1.NewTime(epoch)}}
	c.Spec.Schedule = schedule
	c.Spec.TimeZone = new("UTC")
	if change != nil {
		change(&c.Spec)
	}
	return &world{cron: c, now: epoch, runs: time.Minute, ends: batchv1alpha1.Completed}
}

func (w *world) say(format string, args ...any) {
	w.log = append(w.log, w.now.UTC().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

// look computes a plan once and carries it out.
func (w *world) look() time.Duration {
	for _, j := range w.jobs {
		if began := j.CreationTimestamp; !IsEndedPhase(j.Status.State.Phase) && !w.now.Before(began.Add(w.runs)) {
			j.Status.State.Phase, j.Status.State.LastTransitionTime = w.ends, metav1.NewTime(began.Add(w.runs))
		}
	}
	p := Compute(Input{CronJob: w.cron, Jobs: w.jobs, Now: w.now})
	for _, e := range p.Events {
		if e.Reason != successfulCreate {
			w.say("event %s", e.Reason)
		}
	}
	for _, gone := range p.Delete {
		w.say("delete %s", w.short(gone))
		w.jobs = slices.DeleteFunc(w.jobs, func(j *batchv1alpha1.Job) bool { return j.UID == gone.UID })
	}
	if j := p.Create; j != nil {
		if slices.ContainsFunc(w.jobs, func(o *batchv1alpha1.Job) bool { return o.Name == j.Name }) {
			w.say("error: %s is there", w.short(j))
		}
		j.UID, j.CreationTimestamp = types.UID(j.Name), metav1.NewTime(w.now)
		w.jobs = append(w.jobs, j)
		w.say("create %s", w.short(j))
	}
	if p.Status != nil && !w.reset {
		if p.Create != nil {
			p.Status.Active = append(p.Status.Active, referenceTo(p.Create))
		}
		w.cron.Status = *p.Status
	}
	return p.RequeueAfter
}

// short returns the time in the name of a job.
func (w *world) short(j *batchv1alpha1.Job) string { return scheduledTime(j).UTC().Format("15:04") }

// until reconciles at the times that plans request, and at a regular interval.
func (w *world) until(end time.Time, besides time.Duration) {
	for w.now.Before(end) {
		wait := w.look()
		if wait == 0 || wait > besides {
			wait = besides
		}
		w.now = w.now.Add(wait).Truncate(time.Second)
		if wait < time.Second {
			w.now = w.now.Add(time.Second)
		}
	}
}

func TestThePoliciesOfConcurrency(t *testing.T) {
	for name, c := range map[string]struct {
		policy batchv1alpha1.ConcurrencyPolicy
		runs   time.Duration
		want   []string
	}{
		"Allow lets a job begin while another runs": {batchv1alpha1.AllowConcurrent, 15 * time.Minute, []string{
			"08:10:00 create 08:10", "08:20:00 create 08:20", "08:25:00 event SawCompletedJob", "08:30:00 create 08:30",
		}},
		"Forbid lets it wait for the end of the other": {batchv1alpha1.ForbidConcurrent, 15 * time.Minute, []string{
			"08:10:00 create 08:10", "08:20:00 event ForbidConcurrent", "08:25:00 event SawCompletedJob", "08:25:00 create 08:20", "08:30:00 event ForbidConcurrent",
		}},
		"Replace ends the other": {batchv1alpha1.ReplaceConcurrent, 15 * time.Minute, []string{
			"08:10:00 create 08:10", "08:20:00 event ReplaceConcurrent", "08:20:00 delete 08:10", "08:20:00 create 08:20",
			"08:30:00 event ReplaceConcurrent", "08:30:00 delete 08:20", "08:30:00 create 08:30",
		}},
		"short jobs never meet": {batchv1alpha1.ForbidConcurrent, 5 * time.Minute, []string{
			"08:10:00 create 08:10", "08:15:00 event SawCompletedJob", "08:20:00 create 08:20", "08:25:00 event SawCompletedJob", "08:30:00 create 08:30",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld("*/10 * * * *", func(s *batchv1alpha1.CronJobSpec) { s.ConcurrencyPolicy = c.policy })
			w.runs = c.runs
			w.until(epoch.Add(34*time.Minute), 5*time.Minute)
			got := slices.Compact(w.log)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("what happened (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHistoryIsKeptToItsLimits(t *testing.T) {
	for _, ends := range []batchv1alpha1.JobPhase{batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated} {
		w := newWorld("* * * * *", func(s *batchv1alpha1.CronJobSpec) {
			s.SuccessfulJobsHistoryLimit, s.FailedJobsHistoryLimit = new(int32(2)), new(int32(2))
		})
		w.ends, w.runs = ends, 10*time.Second
		w.until(epoch.Add(20*time.Minute), time.Minute)
		var ended int
		for _, j := range w.jobs {
			if IsEndedPhase(j.Status.State.Phase) {
				ended++
			}
		}
		if ended > 3 || len(w.jobs) > 4 { // one may have ended since the last reconcile
			t.Errorf("%s: %d jobs are kept, %d of them ended, the limit is 2", ends, len(w.jobs), ended)
		}
	}
}

func TestASuspendedCronJobMakesNothingAndMakesUpForTheLastTimeOnly(t *testing.T) {
	w := newWorld("*/10 * * * *", func(s *batchv1alpha1.CronJobSpec) { s.Suspend = new(true) })
	w.until(epoch.Add(45*time.Minute), time.Minute)
	w.cron.Spec.Suspend = new(false)
	w.until(epoch.Add(49*time.Minute), time.Minute)
	if diff := cmp.Diff([]string{"08:45:00 create 08:40", "08:46:00 event SawCompletedJob"}, w.log); diff != "" {
		t.Errorf("what happened (-want +got):\n%s", diff)
	}
}

func TestAJobThatWouldBeTooLateIsNotMade(t *testing.T) {
	w := newWorld("*/10 * * * *", func(s *batchv1alpha1.CronJobSpec) { s.StartingDeadlineSeconds = new(int64(60)) })
	w.now = epoch.Add(15 * time.Minute)
	w.look()
	if diff := cmp.Diff([]string{"08:15:00 event MissSchedule"}, w.log); diff != "" {
		t.Errorf("what happened (-want +got):\n%s", diff)
	}
}

func TestManyMissedTimesAreReportedAndTheLastOneIsRun(t *testing.T) {
	for name, c := range map[string]struct {
		schedule string
		after    time.Duration
		want     string
	}{
		"every minute, a week later": {"* * * * *", 7*24*time.Hour + 30*time.Second, "08:00"},
		"every day, a year later":    {"30 7 * * *", 365 * 24 * time.Hour, "07:30"},
	} {
		w := newWorld(c.schedule, nil)
		w.now = epoch.Add(c.after)
		w.look()
		got := strings.Join(w.log, "\n")
		if !strings.Contains(got, "TooManyMissedTimes") || !strings.Contains(got, "create "+c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestMissedTimesBeyondTheDeadlineAreNotCounted(t *testing.T) {
	w := newWorld("* * * * *", func(s *batchv1alpha1.CronJobSpec) { s.StartingDeadlineSeconds = new(int64(600)) })
	w.now = epoch.Add(7*24*time.Hour + 30*time.Second)
	w.look()
	if diff := cmp.Diff([]string{"08:00:30 create 08:00"}, w.log); diff != "" {
		t.Errorf("what happened (-want +got):\n%s", diff)
	}
}

func TestTimesAreThoseOfTheZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		schedule string
		from     time.Time
		days     int
		want     []string
	}{
		"half past two in winter":                                 {"30 2 * * *", time.Date(2026, 1, 10, 0, 0, 0, 0, berlin), 2, []string{"01-10 02:30 CET", "01-11 02:30 CET"}},
		"half past two does not come on the last Sunday of March": {"30 2 * * *", time.Date(2026, 3, 28, 0, 0, 0, 0, berlin), 3, []string{"03-28 02:30 CET", "03-30 02:30 CEST"}},
		"half past two comes twice on the last Sunday of October, as for Kubernetes": {"30 2 * * *", time.Date(2026, 10, 24, 0, 0, 0, 0, berlin), 3,
			[]string{"10-24 02:30 CEST", "10-25 02:30 CEST", "10-25 02:30 CET", "10-26 02:30 CET"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(c.schedule, func(s *batchv1alpha1.CronJobSpec) {
				s.TimeZone, s.SuccessfulJobsHistoryLimit = new("Europe/Berlin"), new(int32(100))
			})
			w.cron.CreationTimestamp, w.now = metav1.NewTime(c.from), c.from
			w.until(c.from.AddDate(0, 0, c.days), 10*time.Minute)
			var got []string
			for _, j := range w.jobs {
				got = append(got, scheduledTime(j).In(berlin).Format("01-02 15:04 MST"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("times (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStatusThatWasLostIsReadFromTheJobs(t *testing.T) {
	w := newWorld("*/10 * * * *", func(s *batchv1alpha1.CronJobSpec) { s.SuccessfulJobsHistoryLimit = new(int32(10)) })
	w.reset = true
	w.until(epoch.Add(25*time.Minute), time.Minute)
	var names []string
	for _, j := range w.jobs {
		names = append(names, w.short(j))
	}
	if diff := cmp.Diff([]string{"08:10", "08:20"}, names); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	for _, line := range w.log {
		if strings.Contains(line, "error") {
			t.Error(line)
		}
	}
}

func TestInvalidScheduleIsReportedAndCreatesNoJob(t *testing.T) {
	for _, c := range []struct{ schedule, zone, want string }{
		{"61 * * * *", "UTC", "UnparseableSchedule"}, {"* * * * *", "Mars/Olympus", "InvalidTimeZone"}, {"TZ=", "UTC", "UnparseableSchedule"},
	} {
		w := newWorld(c.schedule, func(s *batchv1alpha1.CronJobSpec) { s.TimeZone = &c.zone })
		w.now = epoch.Add(time.Hour)
		w.look()
		if diff := cmp.Diff([]string{"09:00:00 event " + c.want}, w.log); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.schedule, c.zone, diff)
		}
	}
}

// TestTimeZoneInTheScheduleIsUsedAndReported covers schedules that were created before admission checked them.
func TestTimeZoneInTheScheduleIsUsedAndReported(t *testing.T) {
	w := newWorld("CRON_TZ=Asia/Tokyo 30 18 * * *", nil) // 09:30 UTC
	w.now = epoch.Add(2 * time.Hour)
	w.look()
	if diff := cmp.Diff([]string{"10:00:00 event UnsupportedSchedule", "10:00:00 create 09:30"}, w.log); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
