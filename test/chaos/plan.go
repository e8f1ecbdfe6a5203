package chaos

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The components of vcd, each of which runs in two replicas.
const (
	scheduler   = "scheduler"
	controllers = "controllers"
	admission   = "admission"
)

// Kind is the kind of a fault.
type Kind string

// The kinds of faults.
const (
	Kill         Kind = "kill -9"         // of the leader, or of one replica of admission
	KillAll      Kind = "kill -9 of all"  // every replica of every component
	Freeze       Kind = "SIGSTOP"         // of the leader, for longer than its lease
	Cut          Kind = "cut"             // connections are reset and refused
	Hold         Kind = "hold"            // bytes are held back and arrive at the end
	HoldAndReset Kind = "hold and reset"  // bytes are held back and are lost at the end
	Delay        Kind = "delay"           // bytes arrive late
	LoseAnswers  Kind = "lose answers"    // some writes succeed but their responses are lost
	CutWebhooks  Kind = "cut webhooks"    // the API server cannot reach admission
	HoldWebhooks Kind = "hold webhooks"   // admission does not answer the API server
	RestartAPI   Kind = "restart the API" // kill -9 of the control plane, and a restart
	KillPods     Kind = "kill pods"       // all pods of one node are deleted without grace
)

// kinds lists the faults with their weights and durations.
var kinds = []struct {
	kind          Kind
	weight        int
	atLeast, most time.Duration
}{
	{Kill, 5, 0, 2 * time.Second},
	{KillAll, 2, 0, 2 * time.Second},
	{Freeze, 4, lease * 3 / 2, lease * 3},
	{Cut, 3, time.Second, 2 * lease},
	{Hold, 2, time.Second, 2 * lease},
	{HoldAndReset, 2, time.Second, 2 * lease},
	{Delay, 2, 3 * time.Second, 8 * time.Second},
	{LoseAnswers, 3, 3 * time.Second, 8 * time.Second},
	{CutWebhooks, 1, time.Second, 5 * time.Second},
	{HoldWebhooks, 1, time.Second, 5 * time.Second},
	{RestartAPI, 1, 0, time.Second},
	{KillPods, 5, 0, 0},
}

// Fault is one disturbance.
type Fault struct {
	At        time.Duration // after the start
	For       time.Duration
	Kind      Kind
	Component string // the affected component; empty if the kind needs none
	Draw      uint64 // selects a target among the objects that exist then
}

func (f Fault) String() string {
	return strings.Join(strings.Fields(fmt.Sprintf("%5.1f s  %s %s for %.1f s", f.At.Seconds(), f.Kind, f.Component, f.For.Seconds())), " ")
}

// Verb is the kind of a user's action.
type Verb string

// The verbs of users.
const (
	Submit  Verb = "submit"
	Remove  Verb = "delete"
	Scale   Verb = "scale"
	Suspend Verb = "suspend"
	Resume  Verb = "resume"
)

// Act is a user's action on a job.
type Act struct {
	At       time.Duration
	Verb     Verb
	Replicas int32 // of Scale
}

// Story is a job with all actions of users on it. The first action is the submission.
type Story struct {
	Name  string
	Shape Shape
	Queue string
	Pods  int32
	Run   time.Duration // how long its pods run
	Acts  []Act
}

// Plan holds all faults and stories of a run.
type Plan struct {
	Faults  []Fault
	Stories []Story
}

// NewPlan draws the plan of a seed for a run of this duration.
func NewPlan(seed uint64, length time.Duration) Plan {
	draw := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same seed must draw the same plan
	var p Plan
	for at := 2 * time.Second; at < length-2*time.Second; at += between(draw, time.Second, 6*time.Second) {
		p.Faults = append(p.Faults, newFault(draw, at))
	}
	for at := time.Duration(0); at < length-5*time.Second; at += between(draw, 300*time.Millisecond, 2*time.Second) {
		p.Stories = append(p.Stories, newStory(draw, at, fmt.Sprintf("job-%03d", len(p.Stories))))
	}
	return p
}

// between draws a duration in whole milliseconds.
func between(draw *rand.Rand, least, most time.Duration) time.Duration {
	if least >= most {
		return least
	}
	return least + time.Duration(draw.Int64N(int64((most-least)/time.Millisecond)))*time.Millisecond
}

func newFault(draw *rand.Rand, at time.Duration) Fault {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	n := draw.IntN(total)
	i := slices.IndexFunc(kinds, func(k struct {
		kind          Kind
		weight        int
		atLeast, most time.Duration
	}) bool {
		n -= k.weight
		return n < 0
	})
	f := Fault{At: at, Kind: kinds[i].kind, For: between(draw, kinds[i].atLeast, kinds[i].most), Draw: draw.Uint64()}
	switch f.Kind {
	case Freeze, LoseAnswers:
		f.Component = pick(draw, scheduler, controllers)
	case Kill, Cut, Hold, HoldAndReset, Delay:
		f.Component = pick(draw, scheduler, scheduler, controllers, controllers, admission)
	}
	return f
}

func pick[T any](draw *rand.Rand, choices ...T) T { return choices[draw.IntN(len(choices))] }

// maxPods is the maximum number of pods of a job. The smallest queue can run that many and one more that fails at the
// same time.
const maxPods = 5

// newStory draws a job and the actions on it. An endless job is always deleted.
func newStory(draw *rand.Rand, at time.Duration, name string) Story {
	shape := pick(draw, shapes...)
	s := Story{Name: name, Shape: shape, Queue: pick(draw, leaves...), Pods: 1 + draw.Int32N(maxPods), Run: between(draw, time.Second, 5*time.Second),
		Acts: []Act{{At: at, Verb: Submit}}}
	after := at + between(draw, 500*time.Millisecond, 8*time.Second)
	switch what := draw.IntN(10); {
	case shape == endless || shape == stubborn:
		s.Acts = append(s.Acts, Act{At: after, Verb: Remove})
	case what == 0:
		s.Acts = append(s.Acts, Act{At: after, Verb: Remove})
	case what <= 2 && shape == elastic:
		s.Acts = append(s.Acts, Act{At: after, Verb: Scale, Replicas: s.Pods + 1 + draw.Int32N(4)})
	case what <= 4 && shape != tooLarge:
		s.Acts = append(s.Acts, Act{At: after, Verb: Suspend}, Act{At: after + between(draw, time.Second, 5*time.Second), Verb: Resume})
	}
	return s
}

// turns lists the beginnings and ends of faults in the order of time.
func turns(faults []Fault) []turn {
	var all []turn
	for i, f := range faults {
		all = append(all, turn{at: f.At, fault: i, begins: true}, turn{at: f.At + f.For, fault: i})
	}
	slices.SortStableFunc(all, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	return all
}

// turn is the beginning or the end of a fault.
type turn struct {
	at     time.Duration
	fault  int
	begins bool
}
