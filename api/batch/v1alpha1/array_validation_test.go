package v1alpha1

import (
	"testing"

	"github.com/vc-batch/vc/api/keys"
)

// asks sets annotations, given as alternating keys and values.
func asks(j *Job, pairs ...string) {
	if j.Annotations == nil {
		j.Annotations = map[string]string{}
	}
	for i := 0; i < len(pairs); i += 2 {
		j.Annotations[pairs[i]] = pairs[i+1]
	}
}

// arrayOf returns an array job with one task and these elements, with its defaults.
func arrayOf(elements string, change func(*Job)) *Job {
	return jobOf(func(j *Job) {
		asks(j, keys.Array, elements)
		j.Spec.MinAvailable, j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].MinAvailable = 0, 0, nil
		if change != nil {
			change(j)
		}
		DefaultJob(j, "")
	}, "a")
}

func TestBadArrays(t *testing.T) {
	t.Parallel()
	const array = "metadata.annotations[vc-batch.dev/array]"
	for name, test := range map[string]struct {
		job         *Job
		where, what string
	}{
		"elements that cannot be read": {arrayOf("1-", nil), array, "1-"},
		"no elements":                  {arrayOf("", nil), array, "an array must have at least one task"},
		"too many elements":            {arrayOf("0-999999", nil), array, "the array has 1000000 tasks, but"},
		"a limit that is no number": {arrayOf("0-3", func(j *Job) { asks(j, keys.ArrayLimit, "many") }),
			"metadata.annotations[vc-batch.dev/array-limit]", `"many" is not a valid limit: use a whole number of array tasks; 0 means no limit`},
		"a limit below nothing": {arrayOf("0-3", func(j *Job) { asks(j, keys.ArrayLimit, "-1") }),
			"metadata.annotations[vc-batch.dev/array-limit]", "is not a valid limit"},
		"a limit of no array": {jobOf(func(j *Job) { asks(j, keys.ArrayLimit, "2") }, "a"),
			"metadata.annotations[vc-batch.dev/array-limit]", "the job is not an array"},
		"cancelled elements of no array": {jobOf(func(j *Job) { asks(j, keys.ArrayCancelled, "2") }, "a"),
			"metadata.annotations[vc-batch.dev/array-cancelled]", "the job is not an array"},
		"cancelled elements that it does not have": {arrayOf("0-3", func(j *Job) { asks(j, keys.ArrayCancelled, "2,7-8") }),
			"metadata.annotations[vc-batch.dev/array-cancelled]", "7-8: the array has no tasks with these indices; the valid indices are 0-3"},
		"cancelled elements that cannot be read": {arrayOf("0-3", func(j *Job) { asks(j, keys.ArrayCancelled, "x") }),
			"metadata.annotations[vc-batch.dev/array-cancelled]", "x"},
		"neither kept nor not kept": {arrayOf("0-3", func(j *Job) { asks(j, keys.KeepFinished, "yes") }),
			"metadata.annotations[vc-batch.dev/keep-finished]", `supported values: "true", "false"`},
		"two tasks": {jobOf(func(j *Job) { asks(j, keys.Array, "0-3") }, "a", "b"), "spec.tasks", "an array (vc-batch.dev/array) must have exactly one entry in spec.tasks"},
		"other replicas than elements": {arrayOf("0-3", func(j *Job) { j.Spec.Tasks[0].Replicas = 5 }),
			"spec.tasks[0].replicas", "the array has 4 tasks (pods per task: 1): remove replicas, or set it to 4"},
		"other replicas than partitions": {arrayOf("0-3", func(j *Job) { j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].PartitionPolicy = 4, partitions(2, 2, 0, nil) }),
			"spec.tasks[0].replicas", "the array has 4 tasks (pods per task: 2): remove replicas, or set it to 8"},
		"a gang beyond the limit": {arrayOf("0-3", func(j *Job) { asks(j, keys.ArrayLimit, "2"); j.Spec.MinAvailable = 3 }),
			"spec.minAvailable", "allows 2 array tasks (2 pods) to run at the same time, so the job could never start: lower minAvailable to 2, or raise the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireError(t, ValidateJob(test.job, someQueues()), test.where, test.what)
		})
	}
}

func TestGoodArrays(t *testing.T) {
	t.Parallel()
	for name, job := range map[string]*Job{
		"some elements":                  arrayOf("3,5,9-11", nil),
		"with a limit":                   arrayOf("0-9", func(j *Job) { asks(j, keys.ArrayLimit, "2") }),
		"without a limit, all at once":   arrayOf("0-9", func(j *Job) { asks(j, keys.ArrayLimit, "0"); j.Spec.MinAvailable = 10 }),
		"a gang of as many as the limit": arrayOf("0-3", func(j *Job) { asks(j, keys.ArrayLimit, "2"); j.Spec.MinAvailable = 2 }),
		"a gang of wide elements": arrayOf("0-1", func(j *Job) {
			asks(j, keys.ArrayLimit, "1")
			j.Spec.Tasks[0].PartitionPolicy = partitions(2, 4, 0, nil)
		}),
		"some cancelled before they begin":  arrayOf("0-9", func(j *Job) { asks(j, keys.ArrayCancelled, "2-3") }),
		"a job that keeps what has run":     jobOf(func(j *Job) { asks(j, keys.KeepFinished, "true") }, "a", "b"),
		"an array that keeps what has run":  arrayOf("0-9", func(j *Job) { asks(j, keys.KeepFinished, "true") }),
		"an array whose replicas are given": arrayOf("0-9", func(j *Job) { j.Spec.Tasks[0].Replicas = 10 }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if errs := ValidateJob(job, someQueues()); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestAnArrayStartsWithOneElementUnlessItSaysMore(t *testing.T) {
	t.Parallel()
	narrow, wide := arrayOf("0-9", nil), arrayOf("0-1", func(j *Job) { j.Spec.Tasks[0].PartitionPolicy = partitions(2, 4, 0, nil) })
	for name, test := range map[string]struct {
		job             *Job
		replicas, least int32
	}{"of one pod": {narrow, 10, 1}, "of four pods": {wide, 8, 4}} {
		if spec := test.job.Spec; spec.Tasks[0].Replicas != test.replicas || spec.MinAvailable != test.least || *spec.Tasks[0].MinAvailable != test.least {
			t.Errorf("%s: %d replicas, minAvailable %d, of the task %d", name, spec.Tasks[0].Replicas, spec.MinAvailable, *spec.Tasks[0].MinAvailable)
		}
	}
	if IDsOf(narrow) != 10 || IDsOf(wide) != 2 || IDsOf(jobOf(nil, "a")) != 1 {
		t.Errorf("%d, %d and %d numbers", IDsOf(narrow), IDsOf(wide), IDsOf(jobOf(nil, "a")))
	}
}

func TestWhatOfAnArrayMayChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change      func(*Job)
		where, what string // "" if the change is permitted
	}{
		"its limit":                     {func(j *Job) { asks(j, keys.ArrayLimit, "5") }, "", ""},
		"what is cancelled":             {func(j *Job) { asks(j, keys.ArrayCancelled, "2") }, "", ""},
		"whether it keeps":              {func(j *Job) { asks(j, keys.KeepFinished, "true") }, "", ""},
		"not its elements":              {func(j *Job) { asks(j, keys.Array, "0-4") }, "metadata.annotations[vc-batch.dev/array]", `the indices of this job are "0-3"`},
		"not its being an array":        {func(j *Job) { delete(j.Annotations, keys.Array) }, "metadata.annotations[vc-batch.dev/array]", "cannot be changed"},
		"not its replicas":              {func(j *Job) { j.Spec.Tasks[0].Replicas = 7 }, "spec.tasks[0].replicas", "the array has 4 tasks"},
		"nor its number":                {func(j *Job) { SetJobID(j, 8) }, "metadata.labels[vc-batch.dev/job-id]", "the number of this job is 7"},
		"but where what it was is told": {func(j *Job) { SetJobID(j, 8); asks(j, keys.JobIDWas, "7") }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := arrayOf("0-3", func(j *Job) { SetJobID(j, 7) })
			updated := old.DeepCopy()
			test.change(updated)
			errs := ValidateJobUpdate(old, updated)
			if test.where == "" && len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
			if test.where != "" {
				requireError(t, errs, test.where, test.what)
			}
		})
	}
}

func TestElementsThatStillWait(t *testing.T) {
	t.Parallel()
	job := arrayOf("0-9", nil)
	job.Status.Array = &ArrayStatus{Running: "1", Succeeded: "0,4-5", Failed: "2", Cancelled: "9"}
	if got := WaitingElements(job).String(); got != "3,6-8" {
		t.Errorf("%s wait", got)
	}
	if got := WaitingElements(jobOf(nil, "a")); got != nil {
		t.Errorf("%s wait of a job that is no array", got)
	}
}
