package scheduler

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

const yearConfig = `
actions: "allocate"
tiers:
- plugins: [{name: fairtree}, {name: gang}]
- plugins: [{name: predicates}, {name: proportion}]
`

// yearUser is a user of an account who always has pending jobs.
type yearUser struct {
	model.Party
	// pending is the number of jobs that wait at any time.
	pending int
	runs    time.Duration
	// share is the fraction of the cluster that the user must get according to the shares of the tree.
	share float64
	// used is the number of hours for which the user's jobs used a node.
	used float64
}

// Users of a tree of accounts submit jobs of different lengths and in different numbers for a year. Every user
// gets the configured share of the cluster.
func TestUsersGetTheirSharesOfAYear(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a year (-short)")
	}
	users := []*yearUser{
		{Party: model.Party{Account: "physics", User: "ann"}, pending: 1, runs: 13 * time.Hour, share: 3.0 / 6 * 1 / 3},
		{Party: model.Party{Account: "physics", User: "bob"}, pending: 6, runs: 5 * time.Hour, share: 3.0 / 6 * 2 / 3},
		{Party: model.Party{Account: "bio", User: "cay"}, pending: 3, runs: 7 * time.Hour, share: 2.0 / 6 * 1 / 4},
		{Party: model.Party{Account: "bio", User: "ann"}, pending: 2, runs: 9 * time.Hour, share: 2.0 / 6 * 1 / 4},
		{Party: model.Party{Account: "genomics", User: "dan"}, pending: 8, runs: 11 * time.Hour, share: 2.0 / 6 * 2 / 4},
		{Party: model.Party{Account: "chemistry", User: "eve"}, pending: 2, runs: 8 * time.Hour, share: 1.0 / 6},
	}
	y := newYear(t, users,
		make.Account("physics").Shares(3).UserShares("ann", 1).UserShares("bob", 2),
		make.Account("bio").Shares(2).UserShares("ann", 1).UserShares("cay", 1),
		make.Account("genomics").Parent("bio").Shares(2).Users("dan"),
		make.Account("chemistry").Users("eve"))
	y.run(365 * 24 * time.Hour)
	total := 0.0
	for _, u := range users {
		total += u.used
	}
	if usable := float64(y.nodes) * 365 * 24; total < 0.95*usable {
		t.Errorf("the users got %.0f of %.0f hours of nodes", total, usable)
	}
	for _, u := range users {
		got := u.used / total
		t.Logf("%s in %s: %.2f %% of the year, must get %.2f %%", u.User, u.Account, 100*got, 100*u.share)
		if math.Abs(got-u.share) > 0.01 {
			t.Errorf("%s in %s got %.2f %% of the year, want %.2f %%", u.User, u.Account, 100*got, 100*u.share)
		}
	}
}

// year is a cluster on which time passes from the end of one job to the end of the next.
type year struct {
	t      *testing.T
	engine *Engine
	model  *model.Cluster
	now    time.Time
	nodes  int
	users  map[model.Party]*yearUser
	made   int
	// jobs holds the jobs that have not ended, by the names of their pods.
	jobs map[string]*yearJob
}

// yearJob is a job of one pod. ends is the zero time before the job starts.
type yearJob struct {
	user *yearUser
	pod  *corev1.Pod
	ends time.Time
}

func newYear(t *testing.T, users []*yearUser, accounts ...*make.AccountBuilder) *year {
	t.Helper()
	cfg, warnings, err := config.Parse([]byte(yearConfig))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	y := &year{t: t, engine: e, model: model.New(), now: make.Epoch, nodes: 8, users: map[model.Party]*yearUser{}, jobs: map[string]*yearJob{}}
	y.model.Apply(model.QueueFrom(make.Queue("default").Obj()))
	for i := range y.nodes {
		y.model.Apply(model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU("1").Obj()))
	}
	for _, a := range accounts {
		y.model.Apply(model.AccountFrom(a.Obj()))
	}
	for _, u := range users {
		y.users[u.Party] = u
		for range u.pending {
			y.submit(u)
		}
	}
	return y
}

func (y *year) submit(u *yearUser) {
	y.made++
	name := fmt.Sprintf("j%d", y.made)
	group := make.Gang(name).Min(1).Queue("default").Annotation(keys.User, u.User).Label(keys.Account, u.Account).Obj()
	group.CreationTimestamp.Time = y.now
	pod := make.Pod(name + "-0").Gang(name).CPU("1").Obj()
	y.jobs[pod.Name] = &yearJob{user: u, pod: pod}
	y.model.Apply(model.GangFrom(group), model.TaskFrom(pod, true))
}

// run lets time pass.
func (y *year) run(length time.Duration) {
	end := y.now.Add(length)
	for y.now.Before(end) {
		y.cycle()
		y.now = y.now.Add(time.Second)
		y.cycle() // records the usage of the jobs that the first cycle started
		y.endJobs()
	}
}

// cycle runs a cycle and starts the bound pods. Users submit a new job when one of their jobs starts.
func (y *year) cycle() {
	d := y.engine.Cycle(y.now, y.model)
	decision.Assume(y.model, &d)
	for _, b := range d.Binds {
		job := y.jobs[b.Pod.Name]
		job.pod.Spec.NodeName, job.pod.Status.Phase = b.Node, corev1.PodRunning
		job.ends = y.now.Add(job.user.runs)
		y.model.Apply(model.TaskFrom(job.pod, true))
		y.submit(job.user)
	}
}

// endJobs advances time to the next end of a job and deletes the jobs that end then.
func (y *year) endJobs() {
	names := slices.Sorted(maps.Keys(y.jobs))
	next := time.Time{}
	for _, name := range names {
		if ends := y.jobs[name].ends; !ends.IsZero() && (next.IsZero() || ends.Before(next)) {
			next = ends
		}
	}
	if next.IsZero() {
		y.t.Fatal("no job runs")
	}
	if next.After(y.now) {
		y.now = next
	}
	for _, name := range names {
		job := y.jobs[name]
		if job.ends.IsZero() || job.ends.After(y.now) {
			continue
		}
		delete(y.jobs, name)
		job.user.used += job.user.runs.Hours()
		y.model.Apply(model.TaskGone{Namespace: job.pod.Namespace, Name: name, UID: job.pod.UID})
		y.model.Apply(model.GangGone{Namespace: job.pod.Namespace, Name: name[:len(name)-2]})
	}
}
