package record

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/asked"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Source is what is known of a job.
type Source struct {
	Job *batch.Job
	// Group is its PodGroup, Queue its queue; nil: there is none, or nobody looked.
	Group        *scheduling.PodGroup
	Queue        *scheduling.Queue
	QueueMissing bool
	// Priority is the value of its priority class.
	Priority int64
	// Pods are its pods, when PodsRead.
	Pods     []*corev1.Pod
	PodsRead bool
	// Cluster is what the cluster is called.
	Cluster string
	Now     time.Time
}

// Row is a job, an element of an array, or several elements that stand alike.
type Row struct {
	*Source
	Asked asked.Options
	// Elements are those that the row is about; nil when the job is no array.
	Elements batch.Indices
	// Folded says that they are all that wait of an array, which is written in brackets, also when it is one only.
	Folded bool
	// Position is where the first of Elements stands in the array.
	Position int
	State    state.State
	Exit     state.Exit
	Times    state.Times
	// Mine are the pods of the row.
	Mine []*corev1.Pod
	// Sum sums them up; nil when none were read.
	Sum *state.Pods
}

func (s *Source) facts(pods *state.Pods) state.Facts {
	return state.Facts{Job: s.Job, Group: s.Group, Queue: s.Queue, QueueMissing: s.QueueMissing, Pods: pods, Now: s.Now}
}

// Rows are those of a job: elements that wait are folded into one row, unless each is wanted.
func Rows(s *Source, each bool) []Row {
	var sum *state.Pods
	if s.PodsRead {
		sum = state.Summarize(s.Pods)
	}
	options := asked.Of(s.Job)
	facts := s.facts(sum)
	parts, isArray := state.Elements(facts)
	if !isArray {
		row := Row{Source: s, Asked: options, State: state.Of(facts), Times: state.TimesOf(facts), Mine: s.Pods, Sum: sum}
		if sum != nil {
			row.Exit = sum.Exit
		}
		row.exitOfState()
		return []Row{row}
	}
	return s.elements(options, facts, parts, each)
}

// exitOfState gives a failed row of whose pods nothing is known the code that the controller kept, else the one that Slurm has for no better one.
func (r *Row) exitOfState() {
	if r.State.Code == state.OutOfMemory {
		r.Exit = state.NoMemory
		return
	}
	if r.State.Code != state.Failed || r.Exit != (state.Exit{}) {
		return
	}
	r.Exit = state.Exit{Code: 1}
	if failure := r.Job.Status.Failure; failure != nil && failure.ExitCode != nil && !r.IsArray() {
		r.Exit = state.ExitOf(*failure.ExitCode)
	}
}

func (s *Source) elements(options asked.Options, facts state.Facts, parts []state.Part, each bool) []Row {
	all, _, _ := batch.ElementsOf(s.Job)
	pods := byElement(s.Pods)
	known := state.ElementTimes(s.Job)
	whole := state.TimesOf(facts)
	var rows []Row
	var idle []Row // those that wait or are suspended
	for _, part := range parts {
		row := Row{Source: s, Asked: options, State: part.State, Exit: part.Exit, Times: state.Times{Submit: whole.Submit, Eligible: whole.Eligible}}
		if part.State.Code.Idle() && !part.HasPods && !each {
			row.Elements = part.Elements
			idle = append(idle, row)
			continue
		}
		for element := range part.Elements.All() {
			one := row
			one.Elements = batch.Indices{{First: element, Last: element}}
			one.Position = all.Position(element)
			one.settle(pods[element], known, whole)
			if one.State.Code.Idle() && !each {
				idle = append(idle, one)
				continue
			}
			rows = append(rows, one)
		}
	}
	rows = append(rows, folded(idle, all)...)
	slices.SortStableFunc(rows, func(a, b Row) int { return a.Position - b.Position })
	return rows
}

// folded are one row for each state of rows that wait or are suspended. Elements that have pods without nodes are nearer to their start than those that
// have none: the reason is theirs.
func folded(idle []Row, all batch.Indices) []Row {
	var rows []Row
	for _, one := range idle {
		at := slices.IndexFunc(rows, func(r Row) bool { return r.State.Code == one.State.Code })
		if at < 0 {
			one.Folded, one.Elements = true, slices.Clip(one.Elements)
			rows = append(rows, one)
			continue
		}
		row := &rows[at]
		row.Elements = append(row.Elements, one.Elements...)
		if len(one.Mine) > 0 && len(row.Mine) == 0 {
			row.State = one.State
		}
		row.Mine = append(row.Mine, one.Mine...)
	}
	for i := range rows {
		rows[i].Elements = rows[i].Elements.Union(nil) // in order
		if first, ok := rows[i].Elements.At(0); ok {
			rows[i].Position = all.Position(first)
		}
	}
	return rows
}

// settle takes in what the pods of one element say.
func (r *Row) settle(pods []*corev1.Pod, known map[int32]state.Times, whole state.Times) {
	element := r.Elements[0].First
	if times, ok := known[element]; ok {
		r.Times = times
	}
	if r.PodsRead {
		r.Mine, r.Sum = pods, state.Summarize(pods)
		r.takePods()
	}
	r.takeKeptTimes()
	switch code := r.State.Code; {
	case code == state.Running && r.Times.Start.IsZero():
		r.Times.Start = whole.Start
	case code == state.Cancelled && r.Times.End.IsZero():
		r.Times.End = whole.End
	}
	r.exitOfState()
}

func (r *Row) takePods() {
	if !r.Sum.Begin.IsZero() {
		r.Times.Start = r.Sum.Begin
	}
	code := r.State.Code
	noPodHasStarted := r.Sum.Started == 0 && r.Sum.Ended == 0
	saidToRun := code == state.Running || code == state.Configuring
	switch {
	case saidToRun && noPodHasStarted:
		r.State = state.State{Code: state.Configuring, Reason: "Prolog"}
		if r.Sum.Bound == 0 {
			r.State = state.Unplaced(r.facts(r.Sum))
		} else if r.Sum.CannotStart {
			r.State.Reason = "JobLaunchFailure"
		}
		r.Times.Start = time.Time{}
	case (code == state.Failed || code == state.NodeFail) && r.Sum.End != "" && r.Sum.End != state.Failed:
		r.State = state.EndState(r.Sum.End)
		r.Exit = r.Sum.Exit
	}
	if r.State.Code.Ended() && r.Times.End.IsZero() {
		r.Times.End = r.Sum.Finish
	}
}

func byElement(pods []*corev1.Pod) map[int32][]*corev1.Pod {
	of := map[int32][]*corev1.Pod{}
	for _, pod := range pods {
		if n, err := strconv.ParseInt(pod.Labels[keys.ArrayIndex], 10, 32); err == nil {
			of[int32(n)] = append(of[int32(n)], pod)
		}
	}
	return of
}

// Number is the job's number, or its name on a cluster that gives none.
func (s *Source) Number() string {
	if id, ok := batch.JobID(s.Job); ok {
		return batch.FormatJobID(id)
	}
	return s.Job.Name
}

// IsArray says whether the row is about elements of an array.
func (r *Row) IsArray() bool { return r.Elements != nil }

// defaultBits is how long the list of elements in brackets may be.
const defaultBits = 64

// ID is what the job is called: 42, 42_7, or 42_[5-15%4] for those that wait. bits is how many letters the list of elements may have; 0: as
// many as Slurm has, less than 0: no limit.
func (r *Row) ID(bits int) string {
	if !r.IsArray() {
		return r.Number()
	}
	return r.Number() + "_" + r.ElementText(bits)
}

// ElementText is the element, or the list of them in brackets with the limit of the array.
func (r *Row) ElementText(bits int) string {
	if !r.IsArray() {
		return "N/A"
	}
	text := r.Elements.String()
	if !r.Folded {
		return text
	}
	if bits == 0 {
		bits = defaultBits
	}
	if bits > 0 && len(text) > bits {
		text = text[:strings.LastIndexByte(text[:bits], ',')+1] + "..."
	}
	if limit, err := batch.ArrayLimit(r.Job); err == nil && limit > 0 {
		text += "%" + strconv.Itoa(int(limit))
	}
	return "[" + text + "]"
}

// RawID is the row's own number: of an element that of the job and as many more as elements come before.
func (r *Row) RawID() string {
	id, ok := batch.JobID(r.Job)
	if !ok {
		return r.Job.Name
	}
	return batch.FormatJobID(id + int64(r.Position))
}
