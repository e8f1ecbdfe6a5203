package v1alpha1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
)

func TestDependenciesAreReadAsSlurmWritesThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"afterok:42":              "afterok:42",
		"42":                      "afterany:42",
		"afterok:42:43":           "afterok:42,afterok:43",
		"afterok:42,afterany:7":   "afterok:42,afterany:7",
		"afterok:42?afterany:7":   "afterok:42?afterany:7",
		"after:42+90":             "after:42+90",
		"after:42+0":              "after:42",
		"aftercorr:42":            "aftercorr:42",
		"afternotok:42_7":         "afternotok:42_7",
		"singleton":               "singleton",
		"singleton,afterok:42":    "singleton,afterok:42",
		"afterok:train":           "afterok:nlp/train",
		"afterok:other/train_3":   "afterok:other/train_3",
		" afterok:42 , singleton": "afterok:42,singleton",
		"afterok:42?singleton":    "afterok:42?singleton",
	} {
		d, err := ParseDependency(text, "nlp")
		if err != nil || d.String() != want {
			t.Errorf("%q is read as %q (%v), want %q", text, d, err, want)
		}
	}
	d, _ := ParseDependency("after:42_7+90?singleton", "nlp")
	want := Dependency{Any: true, Terms: []DependencyTerm{
		{Kind: After, Job: JobReference{ID: 42, Element: 7, HasElement: true}, Delay: 90 * time.Minute}, {Kind: Singleton}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDependenciesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"afterwards:42":                `"afterwards" is not a dependency type; use after, afterany, afterok, afternotok, aftercorr or singleton`,
		"afterok":                      `"afterok" does not specify a job: use afterok:42 or afterok:NAME`,
		"afterok:":                     "is neither a valid job number nor a valid job name",
		"afterok:42,":                  "is neither a valid job number nor a valid job name",
		"afterok:42,43?44":             "mixes commas and question marks",
		"singleton:42":                 `"singleton:42": singleton must be specified without a job`,
		"afterok:0":                    `"0" is not a valid job number: job numbers start at 1`,
		"afterok:99999999999999999999": "is not a valid job number",
		"afterok:42+5":                 "only the dependency type after supports a delay",
		"after:42+soon":                "only the dependency type after supports a delay",
		"after:42+-1":                  "only the dependency type after supports a delay",
		"after:42+99999999":            "only the dependency type after supports a delay",
		"afterok:42_x":                 "the array index after _ must be a number",
		"afterok:Train":                `"Train" is neither a valid job number nor a valid job name`,
		"afterok:No/train":             `"No" is not a valid namespace name`,
		"afterok:a/b/c":                "is neither a valid job number nor a valid job name",
	} {
		if d, err := ParseDependency(text, "nlp"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want …%s…", text, d, err, want)
		}
	}
}

// FuzzDependency verifies that a parsed dependency does not change when it is formatted and parsed again.
func FuzzDependency(f *testing.F) {
	for _, seed := range []string{"", "afterok:42:43", "after:42_7+90?singleton", "42", "afterok:other/train_3,singleton", "aftercorr:a", "::", "?", "singleton,,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDependency(text, "nlp")
		if err != nil {
			return
		}
		again, err := ParseDependency(d.String(), "elsewhere")
		if len(d.Terms) == 1 {
			again.Any = d.Any // for a single term, any and all are equal
		}
		if diff := cmp.Diff(d, again); err != nil || diff != "" {
			t.Errorf("%q, written as %q, is read as another (%v):\n%s", text, d, err, diff)
		}
	})
}

func TestWhoIsMeantByAReference(t *testing.T) {
	t.Parallel()
	numbered := jobOf(func(j *Job) { SetJobID(j, 42) }, "a")
	for text, want := range map[string]bool{"42": true, "43": false, "train": true, "nlp/train": true, "other/train": false, "test": false, "42_7": true} {
		d, err := ParseDependency("afterok:"+text, "nlp")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Terms[0].Job.Names(numbered); got != want {
			t.Errorf("%s names the job 42 nlp/train: %v", text, got)
		}
	}
	if (JobReference{ID: 42}).Names(jobOf(nil, "a")) {
		t.Error("a job without a number is named by one")
	}
}

func TestWhoseSingletonsExcludeEachOther(t *testing.T) {
	t.Parallel()
	of := func(change func(*Job)) *Job {
		return jobOf(func(j *Job) { j.UID = types.UID("other"); asks(j, keys.User, "ann"); change(j) }, "a")
	}
	first := jobOf(func(j *Job) { j.UID = types.UID("first"); asks(j, keys.User, "ann") }, "a")
	for name, test := range map[string]struct {
		other *Job
		want  bool
	}{
		"the same user and name":    {of(func(*Job) {}), true},
		"a name that was generated": {of(func(j *Job) { j.Name, j.GenerateName = "train-x7", "train-" }), true},
		"a title":                   {of(func(j *Job) { j.Name = "x"; asks(j, keys.JobTitle, "train") }), true},
		"the job itself":            {first, false},
		"another user":              {of(func(j *Job) { asks(j, keys.User, "bob") }), false},
		"another name":              {of(func(j *Job) { j.Name = "test" }), false},
		"another title":             {of(func(j *Job) { asks(j, keys.JobTitle, "test") }), false},
		"another namespace":         {of(func(j *Job) { j.Namespace = "cv" }), false},
	} {
		if got := SameSingleton(first, test.other); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBadGates(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key, value, what string
	}{
		"a hold by nobody":            {keys.Hold, "boss", `supported values: "user", "admin"`},
		"a time that is none":         {keys.Begin, "tomorrow", "is not a valid time: use a format such as 2026-11-21T22:18:00Z"},
		"a dependency that is none":   {keys.Dependency, "before:42", "is not a dependency type"},
		"a job that waits for itself": {keys.Dependency, "afterok:train", "the job depends on itself and would never start: specify another job"},
		"neither ended nor not":       {keys.KillOnInvalidDependency, "perhaps", `supported values: "true", "false"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := "metadata.annotations[" + test.key + "]"
			requireError(t, ValidateJob(jobOf(func(j *Job) { asks(j, test.key, test.value) }, "a"), someQueues()), where, test.what)
			old := jobOf(nil, "a")
			updated := old.DeepCopy()
			asks(updated, test.key, test.value)
			requireError(t, ValidateJobUpdate(old, updated), where, test.what)
		})
	}
}

func TestGoodGates(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{keys.Hold: "admin", keys.Begin: "2026-11-21T22:18:00+01:00", keys.Dependency: "afterok:42,singleton", keys.KillOnInvalidDependency: "false"} {
		job := jobOf(func(j *Job) { asks(j, key, value) }, "a")
		if errs := ValidateJob(job, someQueues()); len(errs) > 0 {
			t.Errorf("%s: %v", key, errs.ToAggregate())
		}
		if Gated(job) != (key != keys.KillOnInvalidDependency) {
			t.Errorf("%s holds a job back: %v", key, Gated(job))
		}
	}
	if Gated(jobOf(nil, "a")) {
		t.Error("a job that asks for nothing is held back")
	}
}

// jobsByReference is a lookup of the existing jobs.
type jobsByReference []*Job

func (jobs jobsByReference) Job(r JobReference) *Job {
	for _, job := range jobs {
		if r.Names(job) {
			return job
		}
	}
	return nil
}

func TestDependenciesOnJobsThatThereAre(t *testing.T) {
	t.Parallel()
	waiting := func(name string, id int64, dependency string) *Job {
		job := &Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: name}}
		asks(job, keys.Dependency, dependency)
		if id > 0 {
			SetJobID(job, id)
		}
		return job
	}
	started := waiting("started", 5, "afterok:new")
	started.Status.State.Phase = Running
	jobs := jobsByReference{waiting("a", 1, "afterok:b"), waiting("b", 2, "afterok:new"), waiting("c", 3, "afterany:b?singleton"), waiting("d", 4, ""), started, waiting("broken", 6, "what:4")}
	for name, test := range map[string]struct{ dependency, want string }{
		"a number that nobody has":           {"afterok:42", "job 42 does not exist: list the job numbers with vcctl job list"},
		"a name that nobody has may come":    {"afterok:later", ""},
		"a job that waits for nobody":        {"afterok:4", ""},
		"a circle of two":                    {"afterok:2", "jobs would wait for each other forever: new, b, new"},
		"a circle of three":                  {"afterok:a", "forever: new, a, b, new"},
		"a circle that another way goes by":  {"afterok:a?afterok:d", ""},
		"a job that another way is open to":  {"afterok:c", ""},
		"a job that has started long ago":    {"afterok:5", ""},
		"a job whose own cannot be read":     {"afterok:6", ""},
		"singletons are looked at elsewhere": {"singleton", ""},
		"what cannot be read is said before": {"what:4", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := ValidateDependency(waiting("new", 0, test.dependency), jobs)
			if test.want == "" && len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
			if test.want != "" {
				requireError(t, errs, "metadata.annotations[vc-batch.dev/dependency]", test.want)
			}
		})
	}
	if errs := ValidateDependency(waiting("new", 0, "afterok:42"), nil); len(errs) > 0 {
		t.Error("where nobody knows the jobs nothing is said of them")
	}
}
