package listrow

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

// Source holds the data about a job.
type Source struct {
	Job *batchv1alpha1.Job
	// Group is the job's PodGroup, and Queue its queue. They are nil if they do not exist or were not read.
	Group        *schedulingv1beta1.PodGroup
	Queue        *schedulingv1beta1.Queue
	QueueMissing bool
	// Priority is the value of the job's priority class.
	Priority int64
	// Pods lists the job's pods, if PodsRead is true.
	Pods     []*corev1.Pod
	PodsRead bool
	// Cluster is the name of the cluster.
	Cluster string
	Now     time.Time
}

// Row is a job, an element of an array, or several elements in the same state.
type Row struct {
	*Source
	Asked submission.Options
	// Elements lists the elements of the row. It is nil if the job is not an array.
	Elements batchv1alpha1.Indices
	// Folded is true if the row represents all elements of an array that are in the same pending or suspended state.
	// They are printed in brackets, even if there is only one element.
	Folded bool
	// Position is the position of the first of Elements in the array.
	Position int
	State    state.State
	Exit     state.Exit
	Times    state.Times
	// Mine lists the pods of the row.
	Mine []*corev1.Pod
	// Sum summarizes the pods. It is nil if the pods were not read.
	Sum *state.Pods
	// IsEarlier is true for an attempt that was followed by a restart.
	IsEarlier bool
	// RecordedUse holds the amounts that the pods of an earlier attempt used.
	RecordedUse launchconfig.Usage
}

func (s *Source) stateFacts(pods *state.Pods) state.Facts {
	return state.Facts{Job: s.Job, Group: s.Group, Queue: s.Queue, QueueMissing: s.QueueMissing, Pods: pods, Now: s.Now}
}

// RowsOf returns the rows of a job. Unless each is true, it folds the pending or suspended elements of an array into
// one row per state.
func RowsOf(s *Source, each bool) []Row {
	var sum *state.Pods
	if s.PodsRead {
		sum = state.SummarizePods(s.Pods)
	}
	options := submission.OptionsOf(s.Job)
	facts := s.stateFacts(sum)
	parts, isArray := state.ElementParts(facts)
	if !isArray {
		row := Row{Source: s, Asked: options, State: state.Of(facts), Times: state.TimesOf(facts), Mine: s.Pods, Sum: sum}
		if sum != nil {
			row.Exit = sum.Exit
		}
		row.setExitFromState()
		return []Row{row}
	}
	return s.elementRows(options, facts, parts, each)
}

// setExitFromState sets the exit code of a failed row if there is no data about its pods. The exit code is the code
// that the controller recorded or, if none exists, Slurm's default code.
func (r *Row) setExitFromState() {
	if r.State.Code == state.OutOfMemory {
		r.Exit = state.NoMemory
		return
	}
	if r.State.Code != state.Failed || r.Exit != (state.Exit{}) {
		return
	}
	r.Exit = state.Exit{Code: 1}
	if failure := r.Job.Status.Failure; failure != nil && failure.ExitCode != nil && !r.IsArray() {
		r.Exit = state.NewExit(*failure.ExitCode)
	}
}

func (s *Source) elementRows(options submission.Options, facts state.Facts, parts []state.Part, each bool) []Row {
	all, _, _ := batchv1alpha1.ElementsOf(s.Job)
	pods := podsByElement(s.Pods)
	known := state.ElementTimes(s.Job)
	whole := state.TimesOf(facts)
	var rows []Row
	var idle []Row // rows that are pending or suspended
	for _, part := range parts {
		row := Row{Source: s, Asked: options, State: part.State, Exit: part.Exit, Times: state.Times{Submit: whole.Submit, Eligible: whole.Eligible}}
		if part.State.Code == state.Suspended {
			row.Times.Released = whole.Released
		}
		if part.State.Code.IsIdle() && !part.HasPods && !each {
			row.Elements = part.Elements
			idle = append(idle, row)
			continue
		}
		for element := range part.Elements.All() {
			one := row
			one.Elements = batchv1alpha1.Indices{{First: element, Last: element}}
			one.Position = all.Position(element)
			one.setElementState(pods[element], known, whole)
			if one.State.Code.IsIdle() && !each {
				idle = append(idle, one)
				continue
			}
			rows = append(rows, one)
		}
	}
	rows = append(rows, foldIdleRows(idle, all)...)
	slices.SortStableFunc(rows, func(a, b Row) int { return a.Position - b.Position })
	return rows
}

// foldIdleRows merges pending or suspended rows into one row per state. The merged row has the reason of the elements
// that already have pods, because these elements are closest to their start.
func foldIdleRows(idle []Row, all batchv1alpha1.Indices) []Row {
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
		rows[i].Elements = rows[i].Elements.Union(nil) // sort the elements
		if first, ok := rows[i].Elements.At(0); ok {
			rows[i].Position = all.Position(first)
		}
	}
	return rows
}

// setElementState sets the state, the exit code and the times of an element's row, using the element's pods and
// recorded times.
func (r *Row) setElementState(pods []*corev1.Pod, known map[int32]state.Times, whole state.Times) {
	element := r.Elements[0].First
	if times, ok := known[element]; ok {
		r.Times = times
	}
	if r.PodsRead {
		r.Mine, r.Sum = pods, state.SummarizePods(pods)
		r.applyPodSummary()
	}
	r.setRecordedTimes()
	switch code := r.State.Code; {
	case code == state.Running && r.Times.Start.IsZero():
		r.Times.Start = whole.Start
	case code == state.Cancelled && r.Times.End.IsZero():
		r.Times.End, r.Times.Released = whole.End, whole.Released
	case code == state.Suspended:
		r.Times.Released = whole.Released
	}
	r.setExitFromState()
}

func (r *Row) applyPodSummary() {
	if !r.Sum.Begin.IsZero() {
		r.Times.Start = r.Sum.Begin
	}
	code := r.State.Code
	noPodHasStarted := r.Sum.Started == 0 && r.Sum.Ended == 0
	saidToRun := code == state.Running || code == state.Configuring
	hasFailed := code == state.Failed || code == state.NodeFail
	podsEndedOtherwise := r.Sum.End != "" && r.Sum.End != state.Failed
	switch {
	case saidToRun && noPodHasStarted:
		r.State = state.State{Code: state.Configuring, Reason: "Prolog"}
		if r.Sum.Bound == 0 {
			r.State = state.UnplacedState(r.stateFacts(r.Sum))
		} else if r.Sum.CannotStart {
			r.State.Reason = "JobLaunchFailure"
		}
		r.Times.Start = time.Time{}
	case hasFailed && podsEndedOtherwise:
		r.State = state.FinalState(r.Sum.End)
		r.Exit = r.Sum.Exit
	}
	if r.State.Code.HasEnded() && r.Times.End.IsZero() {
		r.Times.End = r.Sum.Finish
	}
}

func podsByElement(pods []*corev1.Pod) map[int32][]*corev1.Pod {
	of := map[int32][]*corev1.Pod{}
	for _, pod := range pods {
		if n, err := strconv.ParseInt(pod.Labels[keys.ArrayIndex], 10, 32); err == nil {
			of[int32(n)] = append(of[int32(n)], pod)
		}
	}
	return of
}

// NumberOrName returns the number of the job, or its name if the cluster does not assign numbers.
func (s *Source) NumberOrName() string { return NumberOrName(s.Job) }

// NumberOrName returns the number of a job, or its name if it has no number.
func NumberOrName(job *batchv1alpha1.Job) string {
	if id, ok := batchv1alpha1.JobID(job); ok {
		return batchv1alpha1.FormatJobID(id)
	}
	return job.Name
}

// IsArray reports whether the row consists of elements of an array.
func (r *Row) IsArray() bool { return r.Elements != nil }

// defaultBits is the default maximum length of the list of elements in brackets.
const defaultBits = 64

// DisplayID returns the ID of the row: 42, 42_7, or 42_[5-15%4] for a folded row. bits is the maximum length of the
// list of elements. 0 means Slurm's default, and a negative value means no limit.
func (r *Row) DisplayID(bits int) string {
	if !r.IsArray() {
		return r.NumberOrName()
	}
	return r.NumberOrName() + "_" + r.ElementText(bits)
}

// ElementText returns the element or, for a folded row, the list of elements in brackets with the limit of the array.
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
	if limit, err := batchv1alpha1.ArrayLimit(r.Job); err == nil && limit > 0 {
		text += "%" + strconv.Itoa(int(limit))
	}
	return "[" + text + "]"
}

// RawID returns the row's own number. For an element, this is the number of the job plus the position of the element.
func (r *Row) RawID() string {
	id, ok := batchv1alpha1.JobID(r.Job)
	if !ok {
		return r.Job.Name
	}
	return batchv1alpha1.FormatJobID(id + int64(r.Position))
}
