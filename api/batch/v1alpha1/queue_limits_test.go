package v1alpha1

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// limitedQueues returns queue org with limits, queue short below it with a shorter run time, queue usual with a default
// only, and the unlimited queue default.
func limitedQueues() QueueLookup {
	hours := func(n int) *metav1.Duration { return &metav1.Duration{Duration: time.Duration(n) * time.Hour} }
	of := func(name, parent string, limits *schedulingv1beta1.JobLimits) *schedulingv1beta1.Queue {
		return &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.QueueSpec{Parent: parent, JobLimits: limits}}
	}
	return schedulingv1beta1.NewQueueLookup(of("default", "", nil),
		of("org", "", &schedulingv1beta1.JobLimits{MaxRunTime: hours(24), DefaultRunTime: hours(2), MaxNodes: new(int32(3)), MaxPods: new(int32(4))}),
		of("short", "org", &schedulingv1beta1.JobLimits{MaxRunTime: hours(1)}),
		of("usual", "", &schedulingv1beta1.JobLimits{DefaultRunTime: hours(5)}))
}

// in puts a job into a queue and gives its tasks time limits in seconds; 0 means none.
func in(queue string, seconds ...int64) func(*Job) {
	return func(j *Job) {
		j.Spec.Queue = queue
		for i, limit := range seconds {
			if limit > 0 {
				j.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds = new(limit)
			}
		}
	}
}

func estimated(d time.Duration) func(*Job) {
	return func(j *Job) { j.Spec.RunningEstimate = &metav1.Duration{Duration: d} }
}

func pods(task int, replicas int32) func(*Job) {
	return func(j *Job) { j.Spec.Tasks[task].Replicas = replicas }
}

func all(changes ...func(*Job)) func(*Job) {
	return func(j *Job) {
		for _, change := range changes {
			change(j)
		}
	}
}

const hour = 3600

func TestAJobThatExceedsALimitOfItsQueueIsRejected(t *testing.T) {
	t.Parallel()
	const first, second = "spec.tasks[0].template.spec.activeDeadlineSeconds", "spec.tasks[1].template.spec.activeDeadlineSeconds"
	mates := apart(0, keys.JobName, "train")
	for name, test := range map[string]struct {
		job  func(*Job)
		want []string // texts of the errors
	}{
		"within all limits":               {in("org", 24*hour, hour), nil},
		"no limit in an unlimited queue":  {in("default"), nil},
		"no limit where none is required": {in("usual"), nil},
		"a longer time limit":             {in("org", hour, 48*hour), []string{second + ": Invalid value: 172800: the time limit is 48h, but queue org permits at most 24h: lower it to 86400 seconds or less, or use another queue"}},
		"a limit of the parent queue":     {all(in("short", hour, hour), pods(0, 9)), []string{"spec.tasks: Invalid value: 11: the job has 11 pods, but queue short permits at most 4 pods (set by queue org) per job: lower replicas, create several jobs, or use another queue"}},
		"no time limit":                   {in("org", hour, 0), []string{second + ": Required value: the pods have no time limit, but queue org permits at most 24h: set a limit of 86400 seconds or less, or use another queue"}},
		"a longer estimate":               {all(in("org", hour, hour), estimated(25*time.Hour)), []string{`spec.runningEstimate: Invalid value: "25h0m0s": the expected run time is 25h, but queue org permits at most 24h: lower it, or use another queue`}},
		"too many pods":                   {all(in("org", hour, hour), pods(1, 3)), []string{"spec.tasks: Invalid value: 5: the job has 5 pods, but queue org permits at most 4 pods per job: lower replicas, create several jobs, or use another queue"}},
		"as many pods on fewer nodes":     {all(in("org", hour, hour), apart(1, keys.TaskSpec, "b")), nil},
		"too many nodes":                  {all(in("org", hour, hour), mates, apart(1, keys.TaskSpec, "b")), []string{"spec.tasks: Invalid value: 4: the pods need 4 separate nodes because of required anti-affinity or host ports, but queue org permits at most 3 nodes per job: lower replicas, let pods share a node, or use another queue"}},
		"everything": {all(in("org", 48*hour, 0), mates, apart(1, keys.TaskSpec, "b"), pods(0, 4)), []string{
			first + ": Invalid value: 172800: the time limit", second + ": Required value: the pods have no", "spec.tasks: Invalid value: 6: the job has 6 pods", "spec.tasks: Invalid value: 6: the pods need"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireTexts(t, ValidateQueueLimits(jobOf(test.job, "a", "b"), field.NewPath("spec"), limitedQueues(), true), test.want)
		})
	}
}

func requireTexts(t *testing.T, errs field.ErrorList, want []string) {
	t.Helper()
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestAMissingTimeLimitIsNoErrorBeforeTheDefaultIsSet(t *testing.T) {
	t.Parallel()
	job := jobOf(in("org", hour, 0), "a", "b")
	requireTexts(t, ValidateQueueLimits(job, field.NewPath("spec"), limitedQueues(), false), nil)
	DefaultTimeLimit(nil, job, limitedQueues(), 0)
	requireTexts(t, ValidateQueueLimits(job, field.NewPath("spec"), limitedQueues(), true), nil)
}

func TestAnUpdateMayNotRaiseAValueAboveTheLimitOfTheQueue(t *testing.T) {
	t.Parallel()
	beyond := all(in("org", 48*hour, 0), estimated(48*time.Hour), pods(0, 9), apart(0, keys.JobName, "train"))
	for name, test := range map[string]struct {
		old, change func(*Job)
		want        []string // the paths of the errors
	}{
		"more pods than the queue permits":                  {in("org", hour, hour), pods(0, 3), []string{"spec.tasks"}},
		"as many pods as the queue permits":                 {all(in("org", hour, hour), pods(0, 1)), pods(0, 2), nil},
		"pods move from one task to another":                {all(in("org", hour, hour), pods(0, 9), pods(1, 3)), all(pods(0, 3), pods(1, 9)), nil},
		"more nodes than the queue permits":                 {all(in("org", hour, hour), pods(1, 1), apart(0, keys.JobName, "train")), pods(0, 3), []string{"spec.tasks"}},
		"pods move to a task whose pods exclude each other": {all(in("org", hour, hour), pods(0, 1), pods(1, 9), apart(0, keys.TaskSpec, "a")), all(pods(0, 9), pods(1, 1)), []string{"spec.tasks"}},
		"a job beyond newer limits gets a label":            {beyond, func(j *Job) { j.Labels = map[string]string{"a": "b"} }, nil},
		"a job beyond newer limits gets another gang":       {beyond, func(j *Job) { j.Spec.MinAvailable = 1 }, nil},
		"a job beyond newer limits gets fewer pods":         {beyond, pods(0, 8), nil},
		"a job beyond newer limits gets a shorter limit":    {beyond, all(in("org", 47*hour, 30*hour), estimated(47*time.Hour)), nil},
		"a job beyond newer limits gets more pods":          {beyond, pods(0, 10), []string{"spec.tasks", "spec.tasks"}},
		"a job beyond newer limits gets a longer limit":     {beyond, in("org", 49*hour), []string{"spec.tasks[0].template.spec.activeDeadlineSeconds"}},
		"a longer limit within the queue's":                 {in("org", hour, hour), in("org", 24*hour), nil},
		"a limit is removed":                                {in("org", hour, hour), func(j *Job) { j.Spec.Tasks[1].Template.Spec.ActiveDeadlineSeconds = nil }, []string{"spec.tasks[1].template.spec.activeDeadlineSeconds"}},
		"a longer estimate":                                 {all(in("org", hour, hour), estimated(time.Hour)), estimated(25 * time.Hour), []string{"spec.runningEstimate"}},
		"an estimate beyond the limit is added":             {in("org", hour, hour), estimated(25 * time.Hour), []string{"spec.runningEstimate"}},
		"the job moves to a queue with a shorter limit":     {in("org", 2*hour, hour), in("short"), []string{"spec.tasks[0].template.spec.activeDeadlineSeconds"}},
		"the job moves to a queue that permits less":        {all(in("default", hour, hour), pods(0, 9)), in("org"), []string{"spec.tasks"}},
		"the job moves out of a queue that permits too few": {beyond, in("default"), nil},
		"a job in a queue that does not exist is scaled":    {in("gone", hour, hour), pods(0, 9), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := jobOf(test.old, "a", "b")
			updated := old.DeepCopy()
			test.change(updated)
			var got []string
			for _, err := range ValidateQueueLimitsUpdate(old, updated, limitedQueues(), true) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// limitsOf returns the time limits of a job's tasks in seconds, and its estimate in seconds; 0 means none.
func limitsOf(job *Job) []int64 {
	var all []int64
	for i := range job.Spec.Tasks {
		limit := int64(0)
		if seconds := job.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds; seconds != nil {
			limit = *seconds
		}
		all = append(all, limit)
	}
	estimate := int64(0)
	if job.Spec.RunningEstimate != nil {
		estimate = int64(job.Spec.RunningEstimate.Duration / time.Second)
	}
	return append(all, estimate)
}

func TestAJobWithoutATimeLimitGetsTheDefaultOfItsQueue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		job  func(*Job)
		want []int64 // the limits of both tasks, and the estimate
	}{
		"an unlimited queue":                         {in("default"), []int64{0, 0, 0}},
		"a queue that does not exist":                {in("gone"), []int64{0, 0, 0}},
		"the queue's default":                        {in("org"), []int64{2 * hour, 2 * hour, 2 * hour}},
		"a default without a maximum":                {in("usual"), []int64{5 * hour, 5 * hour, 5 * hour}},
		"the maximum is shorter than the default":    {in("short"), []int64{hour, hour, hour}},
		"limits are kept":                            {in("org", 60, 90), []int64{60, 90, 0}},
		"one task has a limit":                       {in("org", 60), []int64{60, 2 * hour, 0}},
		"a shorter estimate is kept":                 {all(in("org"), estimated(time.Hour)), []int64{2 * hour, 2 * hour, hour}},
		"a longer estimate becomes the limit":        {all(in("org"), estimated(3*time.Hour)), []int64{3 * hour, 3 * hour, 3 * hour}},
		"an estimate that the queue does not permit": {all(in("org"), estimated(30*time.Hour)), []int64{24 * hour, 24 * hour, 30 * hour}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := jobOf(test.job, "a", "b")
			DefaultTimeLimit(nil, job, limitedQueues(), 0)
			if diff := cmp.Diff(test.want, limitsOf(job)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTheManifestOfAJobWithADefaultTimeLimitCanBeAppliedAgain updates jobs with a version that omits the time limit.
func TestTheManifestOfAJobWithADefaultTimeLimitCanBeAppliedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, updated func(*Job)
		want         []int64
	}{
		"the limits are kept":                             {all(in("org", 60, 90), estimated(time.Minute)), in("org"), []int64{60, 90, 60}},
		"the limits of a queue without a maximum as well": {all(in("usual", 60, 90), estimated(time.Minute)), in("usual"), []int64{60, 90, 60}},
		"a shorter limit shortens the kept estimate":      {all(in("org", 90, 90), estimated(90*time.Second)), in("org", 60, 60), []int64{60, 60, 60}},
		"a job older than the limit gets none":            {in("org"), in("org"), []int64{0, 0, 0}},
		"a job older than the limit changes its queue":    {in("default"), in("org"), []int64{2 * hour, 2 * hour, 2 * hour}},
		"a limit is kept in another queue":                {in("default", 60, 90), in("short"), []int64{60, 90, 0}},
		"an unlimited queue":                              {in("default", 60, 90), in("default"), []int64{0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, updated := jobOf(test.old, "a", "b"), jobOf(test.updated, "a", "b")
			DefaultTimeLimit(old, updated, limitedQueues(), 0)
			if diff := cmp.Diff(test.want, limitsOf(updated)); diff != "" {
				t.Error(diff)
			}
			if queueName(old) != queueName(updated) || limitsOf(updated)[0] == 0 {
				return
			}
			if errs := ValidateJobUpdate(old, updated); len(errs) > 0 {
				t.Errorf("rejected: %v", errs)
			}
		})
	}
}

// TestTheLongestRunTimeOfAnAccountLimitsTheDefaultTimeLimit gives jobs an account that permits a certain run time.
func TestTheLongestRunTimeOfAnAccountLimitsTheDefaultTimeLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, job func(*Job)
		longest  time.Duration
		want     int64
	}{
		"a queue without a default":                {nil, in("default"), time.Hour, hour},
		"a queue with a longer default":            {nil, in("usual"), time.Hour, hour},
		"a queue with a shorter default":           {nil, in("short"), 2 * time.Hour, hour},
		"an estimate above the limit":              {nil, all(in("default"), estimated(9*time.Hour)), time.Hour, hour},
		"a job with a limit":                       {nil, in("default", 60), time.Hour, 60},
		"no limit at all":                          {nil, in("default"), 0, 0},
		"a manifest that is applied again":         {in("default", hour), in("default"), time.Hour, hour},
		"a job that is older than the limit":       {in("default"), in("default"), time.Hour, 0},
		"a job that is older and gets a new queue": {in("default"), in("usual"), time.Hour, hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var old *Job
			if test.old != nil {
				old = jobOf(test.old, "a")
			}
			job := jobOf(test.job, "a")
			DefaultTimeLimit(old, job, limitedQueues(), test.longest)
			if got := limitsOf(job)[0]; got != test.want {
				t.Errorf("the limit is %d, want %d", got, test.want)
			}
		})
	}
}
