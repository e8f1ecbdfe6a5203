package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/test/apiserver"
)

// neighbour returns a job with a number, created the given number of seconds after epoch.
func neighbour(id int64, name string, phase batchv1alpha1.JobPhase, seconds int, annotations ...string) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))},
		Status:     batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: phase, LastTransitionTime: metav1.NewTime(epoch)}},
	}
	batchv1alpha1.SetJobID(job, id)
	for i := 0; i+1 < len(annotations); i += 2 {
		if job.Annotations == nil {
			job.Annotations = map[string]string{}
		}
		job.Annotations[annotations[i]] = annotations[i+1]
	}
	return job
}

// among returns a reconciler whose cache contains these jobs.
func among(jobs ...*batchv1alpha1.Job) *Reconciler {
	cache := apiserver.NewCache()
	for _, job := range jobs {
		cache.Apply(apiserver.Change{Object: job})
	}
	return New(Options{Cache: cache, Writers: 1, Now: func() time.Time { return epoch }})
}

func TestADependencyOnManyJobs(t *testing.T) {
	t.Parallel()
	const many = maxRelated + 100
	numbers := func(kind string) string {
		text := &strings.Builder{}
		text.WriteString(kind)
		for id := int64(1); id <= many; id++ {
			fmt.Fprintf(text, ":%d", id)
		}
		return text.String()
	}
	for name, test := range map[string]struct {
		asks   string
		phase  func(i int) batchv1alpha1.JobPhase
		titled bool
		says   string // "" if it may start
	}{
		"all have completed":                     {asks: numbers("afterok"), phase: func(int) batchv1alpha1.JobPhase { return batchv1alpha1.Completed }},
		"all have ended but the last":            {asks: numbers("afterany"), phase: lastOf(many, batchv1alpha1.Completed, batchv1alpha1.Running), says: fmt.Sprintf("job %d (ns/j%04d) has ended", many, many)},
		"all have completed but the last":        {asks: numbers("afterok"), phase: lastOf(many, batchv1alpha1.Completed, batchv1alpha1.Running), says: fmt.Sprintf("job %d (ns/j%04d) has completed", many, many)},
		"one of a title that has many runs":      {asks: "singleton", titled: true, phase: lastOf(many, batchv1alpha1.Completed, batchv1alpha1.Running), says: fmt.Sprintf("job %d (ns/j%04d)", many, many)},
		"many of a title wait, the oldest first": {asks: "singleton", titled: true, phase: func(int) batchv1alpha1.JobPhase { return batchv1alpha1.Pending }, says: "job 1 (ns/j0001)"},
		"all of a title have ended":              {asks: "singleton", titled: true, phase: func(int) batchv1alpha1.JobPhase { return batchv1alpha1.Failed }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waiting := neighbour(many+1, "waiting", batchv1alpha1.Pending, many+1, keys.Dependency, test.asks, keys.JobTitle, "t")
			jobs := []*batchv1alpha1.Job{waiting}
			for i := 1; i <= many; i++ {
				job := neighbour(int64(i), fmt.Sprintf("j%04d", i), test.phase(i), i)
				if test.titled {
					job.Annotations = map[string]string{keys.JobTitle: "t"}
				}
				jobs = append(jobs, job)
			}
			related, err := among(jobs...).relatedJobs(t.Context(), waiting)
			if err != nil {
				t.Fatal(err)
			}
			p := plan.Compute(plan.Input{Job: waiting, Related: related, Now: epoch})
			said := ""
			for _, e := range p.Events {
				if strings.Contains(e.Message, "cannot start yet") {
					said = e.Message
				}
			}
			if (said == "") != (test.says == "") || !strings.Contains(said, test.says) {
				t.Errorf("it says %q, want %q", said, test.says)
			}
		})
	}
}

// lastOf returns a function that gives one phase to all but the last of many jobs.
func lastOf(many int, phase, last batchv1alpha1.JobPhase) func(int) batchv1alpha1.JobPhase {
	return func(i int) batchv1alpha1.JobPhase {
		if i == many {
			return last
		}
		return phase
	}
}

func TestOfWhatOthersWaitForOnlySomeIsRead(t *testing.T) {
	t.Parallel()
	text := &strings.Builder{}
	text.WriteString("afterany")
	for i := range 2 * maxRelated {
		fmt.Fprintf(text, ":far-%04d", i)
	}
	waiting := neighbour(1, "waiting", batchv1alpha1.Pending, 0, keys.Dependency, "afterok:near")
	jobs := []*batchv1alpha1.Job{waiting, neighbour(2, "near", batchv1alpha1.Pending, 0, keys.Dependency, text.String())}
	for i := range 2 * maxRelated {
		jobs = append(jobs, neighbour(int64(3+i), fmt.Sprintf("far-%04d", i), batchv1alpha1.Pending, 0))
	}
	related, err := among(jobs...).relatedJobs(t.Context(), waiting)
	if err != nil || len(related) != 2+maxRelated {
		t.Errorf("%d jobs are read, %v", len(related), err)
	}
}

func TestAJobIsKeptUntilThoseThatWaitHaveSeenItsEnd(t *testing.T) {
	t.Parallel()
	ended := neighbour(1, "ended", batchv1alpha1.Completed, 0, keys.JobTitle, "t")
	ended.Spec.TTLSecondsAfterFinished = new(int32(0))
	for name, test := range map[string]struct {
		asks   string
		met    []string
		want   bool
		failed []string
	}{
		"it has not been seen":                        {"afterok:1", nil, true, nil},
		"it was seen, and can never be what is asked": {"afternotok:1", nil, false, []string{"afternotok:1"}},
		"what else is asked can never be":             {"afterok:1:2", nil, false, []string{"afterok:2"}},
		"one of several can never be, this one may":   {"afterok:1?afterok:2", nil, true, []string{"afterok:2"}},
		"it has not been seen by its name":            {"afterok:ended", nil, true, nil},
		"it has been seen":                            {"afterok:1", []string{"afterok:1"}, false, nil},
		"it has been seen by its name":                {"afterok:ended", []string{"afterok:ns/ended"}, false, nil},
		"another one was seen":                        {"afterok:1:2", []string{"afterok:2"}, true, nil},
		"one of several is enough, and was seen":      {"afterok:1?afterok:2", []string{"afterok:2"}, false, nil},
		"elements follow one by one":                  {"aftercorr:1", []string{"aftercorr:1"}, true, nil},
		"one of its title waits, and it is at an end": {"singleton", nil, false, nil},
		"nobody waits":                                {"afterok:2", nil, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waiting := neighbour(3, "waiting", batchv1alpha1.Pending, 1, keys.Dependency, test.asks, keys.Hold, keys.HoldUser, keys.JobTitle, "t")
			waiting.Status.Gate = &batchv1alpha1.JobGate{Met: test.met, Failed: test.failed}
			got, err := among(ended.DeepCopy(), waiting).isStillAwaited(t.Context(), ended)
			if err != nil || got != test.want {
				t.Errorf("awaited: %v, %v", got, err)
			}
		})
	}
}

func TestAJobWaitsInOtherNamespacesOnlyWhereAdmissionHasNotedIt(t *testing.T) {
	t.Parallel()
	cron := []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "CronJob", Name: "c", UID: "c", Controller: new(true)}}
	for name, test := range map[string]struct {
		dependency, note string
		owners           []metav1.OwnerReference
		sees             bool
	}{
		"a number, noted":                 {"afterok:7", "a,other", nil, true},
		"a name, noted":                   {"afterok:other/secret", "other", nil, true},
		"a number, not noted":             {"afterok:7", "", nil, false},
		"a name, not noted":               {"afterok:other/secret", "", nil, false},
		"another namespace is noted":      {"afterok:7", "others", nil, false},
		"noted in what a controller made": {"afterok:7", "other", cron, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := neighbour(7, "secret", batchv1alpha1.Completed, 0)
			secret.Namespace = "other"
			secret.Spec.TTLSecondsAfterFinished = new(int32(0))
			job := neighbour(8, "job", "", 1, keys.Dependency, test.dependency, keys.DependencyNamespaces, test.note)
			job.OwnerReferences = test.owners
			r := among(secret, job)
			found, err := r.relatedJobs(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if sees := slices.ContainsFunc(found, func(j *batchv1alpha1.Job) bool { return j.Name == "secret" }); sees != test.sees {
				t.Errorf("it sees the other job: %v, want %v", sees, test.sees)
			}
			waiting, err := r.jobsWaitingFor(t.Context(), secret)
			if err != nil {
				t.Fatal(err)
			}
			if waits := len(waiting) > 0; waits != test.sees {
				t.Errorf("the other job is waited for: %v, want %v", waits, test.sees)
			}
		})
	}
}
