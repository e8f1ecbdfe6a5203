package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// asks adds an annotation to the job of a story.
func (s *story) asks(key, value string) *story {
	if s.Job.Annotations == nil {
		s.Job.Annotations = map[string]string{}
	}
	s.Job.Annotations[key] = value
	return s
}

// other adds a job that this one may wait for.
func (s *story) other(id int64, name string, phase batchv1alpha1.JobPhase, changes ...func(*batchv1alpha1.Job)) *story {
	other := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(noon.Add(-2 * time.Hour))},
		Status:     batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: phase, LastTransitionTime: metav1.NewTime(noon.Add(-10 * time.Minute))}},
	}
	batchv1alpha1.SetJobID(other, id)
	for _, change := range changes {
		change(other)
	}
	s.Related = append(s.Related, other)
	return s
}

// begunAgo sets when a job entered Running.
func begunAgo(ago time.Duration) func(*batchv1alpha1.Job) {
	return func(job *batchv1alpha1.Job) {
		at := metav1.NewTime(noon.Add(-ago))
		job.Status.Conditions = append(job.Status.Conditions, batchv1alpha1.JobCondition{Status: batchv1alpha1.Running, LastTransitionTime: &at})
	}
}

func awaits(text string) func(*batchv1alpha1.Job) {
	return func(job *batchv1alpha1.Job) { job.Annotations = map[string]string{keys.Dependency: text} }
}

func elements(states batchv1alpha1.ArrayStatus) func(*batchv1alpha1.Job) {
	return func(job *batchv1alpha1.Job) { job.Status.Array = &states }
}

func titled(title string, ago time.Duration) func(*batchv1alpha1.Job) {
	return func(job *batchv1alpha1.Job) {
		job.Annotations = map[string]string{keys.JobTitle: title}
		job.CreationTimestamp = metav1.NewTime(noon.Add(-ago))
	}
}

func TestWhatAGateSays(t *testing.T) {
	t.Parallel()
	waiting := func(text string) *story { return given(batchv1alpha1.Pending).asks(keys.Dependency, text) }
	tests := map[string]struct {
		in    *story
		code  reason.Code
		text  string        // part of the text
		until time.Duration // relative to noon
		met   string
	}{
		"nothing is asked for":             {in: given("")},
		"held by the user":                 {in: given("").asks(keys.Hold, "user"), code: reason.JobHeldUser, text: "by its user"},
		"held by the administrator":        {in: given("").asks(keys.Hold, "admin"), code: reason.JobHeldAdmin, text: "an administrator"},
		"a hold nobody explains":           {in: given("").asks(keys.Hold, "yes"), code: reason.JobHeldUser},
		"its time has not come":            {in: given("").asks(keys.Begin, "2026-11-21T12:30:00Z"), code: reason.BeginTime, text: "does not start before 2026-11-21T12:30:00Z", until: 30 * time.Minute},
		"its time has come":                {in: given("").asks(keys.Begin, "2026-11-21T13:00:00+01:00")},
		"a time nobody can read":           {in: given("").asks(keys.Begin, "noon"), code: reason.GateInvalid, text: `"noon" is not a valid time`},
		"a dependency nobody can read":     {in: waiting("afterwards:7"), code: reason.GateInvalid, text: "is not a dependency type"},
		"a hold comes before a time":       {in: given("").asks(keys.Hold, "user").asks(keys.Begin, "2026-11-21T12:30:00Z"), code: reason.JobHeldUser},
		"a time comes before others":       {in: waiting("afterok:7").asks(keys.Begin, "2026-11-21T12:30:00Z").other(7, "a", batchv1alpha1.Running), code: reason.BeginTime, until: 30 * time.Minute},
		"but not before what never can be": {in: waiting("afterok:7").asks(keys.Begin, "2026-11-21T12:30:00Z").other(7, "a", batchv1alpha1.Failed), code: reason.DependencyNeverSatisfied},

		"afterok of one that runs":      {in: waiting("afterok:7").other(7, "a", batchv1alpha1.Running), code: reason.Dependency, text: "job 7 (ns/a) has completed"},
		"afterok of one that completed": {in: waiting("afterok:7").other(7, "a", batchv1alpha1.Completed), met: "afterok:7"},
		"afterok of one that failed":    {in: waiting("afterok:7").other(7, "a", batchv1alpha1.Failed), code: reason.DependencyNeverSatisfied, text: "job 7 (ns/a) ended without completing"},
		"afterok of one that is gone":   {in: waiting("afterok:7"), code: reason.DependencyNeverSatisfied, text: "job 7 no longer exists"},
		"afterok of one that was ok":    {in: waiting("afterok:7").with(func(j *batchv1alpha1.Job) { j.Status.Gate = &batchv1alpha1.JobGate{Met: []string{"afterok:7"}} }), met: "afterok:7"},
		"afternotok of one that was ok": {in: waiting("afternotok:7").with(func(j *batchv1alpha1.Job) { j.Status.Gate = &batchv1alpha1.JobGate{Failed: []string{"afternotok:7"}} }),
			code: reason.DependencyNeverSatisfied, text: "the job's dependency can never be satisfied: job 7 has completed (it no longer exists)"},
		"afterok of one that was not, and is gone": {in: waiting("afterok:7").with(func(j *batchv1alpha1.Job) { j.Status.Gate = &batchv1alpha1.JobGate{Failed: []string{"afterok:7"}} }),
			code: reason.DependencyNeverSatisfied, text: "the job's dependency can never be satisfied: job 7 ended without completing (it no longer exists)"},
		"afterok of one that is resting": {in: waiting("afterok:7").other(7, "a", batchv1alpha1.Aborted), code: reason.Dependency},
		"afterok of a name that is none": {in: waiting("afterok:a"), code: reason.Dependency, text: "job ns/a has been created and has completed"},
		"afterok of another namespace":   {in: waiting("afterok:elsewhere/a").other(7, "a", batchv1alpha1.Completed), code: reason.Dependency},
		"afterok of an array":            {in: waiting("afterok:7").other(7, "a", batchv1alpha1.Completed, elements(batchv1alpha1.ArrayStatus{Succeeded: "0-9"})), met: "afterok:7"},
		"afterok of one that failed in part": {in: waiting("afterok:7").other(7, "a", batchv1alpha1.Completed, elements(batchv1alpha1.ArrayStatus{Succeeded: "0-8", Failed: "9"})),
			code: reason.DependencyNeverSatisfied, text: "job 7 (ns/a) has ended, but not all of its tasks succeeded"},
		"afterok of one element": {in: waiting("afterok:7_3").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "0-3"})), met: "afterok:7_3"},
		"afterok of an element that waits": {in: waiting("afterok:7_4").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "0-3"})),
			code: reason.Dependency, text: "job 7 (ns/a), index 4, has completed"},
		"afterok of an element that failed": {in: waiting("afterok:7_4").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Failed: "4"})), code: reason.DependencyNeverSatisfied},
		"afterok of one that was cancelled in part": {in: waiting("afterok:7").other(7, "a", batchv1alpha1.Completed, elements(batchv1alpha1.ArrayStatus{Succeeded: "0-8", Cancelled: "9"})),
			code: reason.DependencyNeverSatisfied},
		"afterany of one that failed":     {in: waiting("afterany:7").other(7, "a", batchv1alpha1.Failed), met: "afterany:7"},
		"afterany is what a number means": {in: waiting("7").other(7, "a", batchv1alpha1.Terminated), met: "afterany:7"},
		"afterany of one that is gone":    {in: waiting("afterany:7"), met: "afterany:7"},
		"afternotok of one that failed":   {in: waiting("afternotok:a").other(7, "a", batchv1alpha1.Failed), met: "afternotok:ns/a"},
		"afternotok of a completed one":   {in: waiting("afternotok:a").other(7, "a", batchv1alpha1.Completed), code: reason.DependencyNeverSatisfied, text: "has completed"},
		"after one that waits":            {in: waiting("after:7").other(7, "a", batchv1alpha1.Pending), code: reason.Dependency, text: "has started"},
		"after one that runs":             {in: waiting("after:7").other(7, "a", batchv1alpha1.Running, begunAgo(time.Second)), met: "after:7"},
		"after one that was cancelled":    {in: waiting("after:7").other(7, "a", batchv1alpha1.Terminated), met: "after:7"},
		"after, and some minutes":         {in: waiting("after:7+10").other(7, "a", batchv1alpha1.Running, begunAgo(4*time.Minute)), code: reason.Dependency, text: "10m have passed", until: 6 * time.Minute},
		"after, and the minutes are over": {in: waiting("after:7+10").other(7, "a", batchv1alpha1.Running, begunAgo(10*time.Minute)), met: "after:7+10"},

		"aftercorr of no arrays":        {in: waiting("aftercorr:7").other(7, "a", batchv1alpha1.Completed), met: "aftercorr:7"},
		"aftercorr of one that is gone": {in: waiting("aftercorr:7").asks(keys.Array, "0-1"), code: reason.DependencyNeverSatisfied, text: "job 7 no longer exists"},
		"aftercorr, one is ready":       {in: waiting("aftercorr:7").asks(keys.Array, "0-1").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "1"})), met: "aftercorr:7"},
		"aftercorr, none is ready":      {in: waiting("aftercorr:7").asks(keys.Array, "0-1").other(7, "a", batchv1alpha1.Running, elements(batchv1alpha1.ArrayStatus{Succeeded: "5"})), code: reason.Dependency},
		"aftercorr, none will ever be":  {in: waiting("aftercorr:7").asks(keys.Array, "0-1").other(7, "a", batchv1alpha1.Completed, elements(batchv1alpha1.ArrayStatus{Succeeded: "5", Failed: "0-1"})), code: reason.DependencyNeverSatisfied},

		"all of two, one is missing": {in: waiting("afterok:7:8").other(7, "a", batchv1alpha1.Completed).other(8, "b", batchv1alpha1.Running), code: reason.Dependency, text: "job 8", met: "afterok:7"},
		"all of two":                 {in: waiting("afterok:7,afterany:8").other(7, "a", batchv1alpha1.Completed).other(8, "b", batchv1alpha1.Failed), met: "afterok:7 afterany:8"},
		"any of two":                 {in: waiting("afterok:7?afterany:8").other(7, "a", batchv1alpha1.Running).other(8, "b", batchv1alpha1.Failed), met: "afterany:8"},
		"any of two, none yet":       {in: waiting("afterok:7?afterany:8").other(7, "a", batchv1alpha1.Failed).other(8, "b", batchv1alpha1.Running), code: reason.Dependency, text: "job 8"},
		"any of two, none ever":      {in: waiting("afterok:7?afterok:8").other(7, "a", batchv1alpha1.Failed).other(8, "b", batchv1alpha1.Failed), code: reason.DependencyNeverSatisfied, text: "job 7"},

		"singleton alone":                      {in: waiting("singleton")},
		"singleton behind an older one":        {in: waiting("singleton").other(7, "x", batchv1alpha1.Pending, titled("j", 2*time.Hour)), code: reason.Dependency, text: "job 7 (ns/x), with the same user and title"},
		"singleton before a younger one":       {in: waiting("singleton").other(7, "x", batchv1alpha1.Pending, titled("j", time.Minute))},
		"singleton behind one that runs":       {in: waiting("singleton").other(7, "x", batchv1alpha1.Running, titled("j", time.Minute)), code: reason.Dependency},
		"singleton after one that has ended":   {in: waiting("singleton").other(7, "x", batchv1alpha1.Failed, titled("j", 2*time.Hour))},
		"singleton beside one of another user": {in: waiting("singleton").asks(keys.User, "mei").other(7, "x", batchv1alpha1.Running, titled("j", 2*time.Hour))},

		"two that wait for each other": {in: waiting("afterok:a").other(7, "a", batchv1alpha1.Pending, awaits("afterany:j")),
			code: reason.DependencyNeverSatisfied, text: "jobs wait for each other: ns/j, 7 (ns/a), ns/j"},
		"one that began before it waited": {in: waiting("afterok:a").other(7, "a", batchv1alpha1.Pending, awaits("afterany:j"), begunAgo(time.Hour)), code: reason.Dependency},
		"one who could do without":        {in: waiting("afterok:a").other(7, "a", batchv1alpha1.Pending, awaits("afterany:j?afterany:b")), code: reason.Dependency},

		"one that runs is not asked":                {in: given(batchv1alpha1.Running).asks(keys.Hold, "user").pod("w", 0, corev1.PodRunning)},
		"one that has run is asked only for a hold": {in: waiting("afterok:7").with(begunAgo(time.Hour)).other(7, "a", batchv1alpha1.Failed)},
		"one that is let in too":                    {in: waiting("afterok:7").group(schedulingv1beta1.PodGroupInqueue)},
		"a hold takes it back":                      {in: given(batchv1alpha1.Pending).asks(keys.Hold, "user").group(schedulingv1beta1.PodGroupInqueue), code: reason.JobHeldUser},
		"also when it has pods without a node":      {in: given(batchv1alpha1.Pending).asks(keys.Hold, "user").group(schedulingv1beta1.PodGroupInqueue).pod("w", 0, corev1.PodPending), code: reason.JobHeldUser},
		"but not when a pod has a node":             {in: given(batchv1alpha1.Pending).asks(keys.Hold, "user").group(schedulingv1beta1.PodGroupInqueue).pod("w", 0, corev1.PodPending, onNode("n1"))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.in.Related = append(test.in.Related, test.in.Job)
			g := newBuilder(&test.in.Input).evaluateJobGate()
			if g.code != test.code || !strings.Contains(g.text, test.text) {
				t.Errorf("%s: %s; want %s: %s", g.code, g.text, test.code, test.text)
			}
			if test.until != 0 && !g.until.Equal(noon.Add(test.until)) || test.until == 0 && !g.until.IsZero() {
				t.Errorf("until %s", g.until)
			}
			if met := strings.Join(g.met, " "); met != test.met {
				t.Errorf("met: %q, want %q", met, test.met)
			}
			if g.never != (g.code == reason.DependencyNeverSatisfied) {
				t.Errorf("never: %v", g.never)
			}
		})
	}
}

// TestTheStatusOfAGateIsAboutWhatIsAskedNow verifies that the status drops results of terms that the annotation no
// longer has.
func TestTheStatusOfAGateIsAboutWhatIsAskedNow(t *testing.T) {
	t.Parallel()
	knew := func(j *batchv1alpha1.Job) {
		j.Status.Gate = &batchv1alpha1.JobGate{Met: []string{"afterany:5"}, Failed: []string{"afterok:6"}}
	}
	for name, test := range map[string]struct {
		in   *story
		want *batchv1alpha1.JobGate
	}{
		"the same":               {given(batchv1alpha1.Pending).asks(keys.Dependency, "afterany:5,afterok:6"), &batchv1alpha1.JobGate{Met: []string{"afterany:5"}, Failed: []string{"afterok:6"}}},
		"one of them":            {given(batchv1alpha1.Pending).asks(keys.Dependency, "afterok:6"), &batchv1alpha1.JobGate{Failed: []string{"afterok:6"}}},
		"others":                 {given(batchv1alpha1.Pending).asks(keys.Dependency, "afterok:7").other(7, "a", batchv1alpha1.Running), nil},
		"others, and it is held": {given(batchv1alpha1.Pending).asks(keys.Dependency, "afterok:7").asks(keys.Hold, "user").other(7, "a", batchv1alpha1.Running), nil},
		"the same, and it is held": {given(batchv1alpha1.Pending).asks(keys.Dependency, "afterany:5,afterok:6").asks(keys.Hold, "user"),
			&batchv1alpha1.JobGate{Met: []string{"afterany:5"}, Failed: []string{"afterok:6"}}},
		"none, but a hold":     {given(batchv1alpha1.Pending).asks(keys.Hold, "user"), nil},
		"what nobody can read": {given(batchv1alpha1.Pending).asks(keys.Dependency, "afterwards:7"), &batchv1alpha1.JobGate{Met: []string{"afterany:5"}, Failed: []string{"afterok:6"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.in.with(knew)
			p := Compute(test.in.Input)
			if diff := cmp.Diff(test.want, status(test.in, &p).Gate); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestAClosedGateIsSeen(t *testing.T) {
	t.Parallel()
	in := given("").asks(keys.Dependency, "afterok:7,after:8+10").other(7, "a", batchv1alpha1.Completed).other(8, "b", batchv1alpha1.Running, begunAgo(time.Minute))
	p := Compute(in.Input)
	if diff := cmp.Diff([]string{"status Pending v0 r0"}, digest(&p)); diff != "" {
		t.Errorf("neither group nor pods (-want +got):\n%s", diff)
	}
	s := status(in, &p)
	if s.State.Reason != "Dependency" || s.State.Message != "it waits until 10m have passed since job 8 (ns/b) started" {
		t.Errorf("%+v", s.State)
	}
	if s.Gate == nil || s.Gate.Until == nil || !s.Gate.Until.Equal(&metav1.Time{Time: noon.Add(9 * time.Minute)}) || len(s.Gate.Met) != 1 {
		t.Errorf("%+v", s.Gate)
	}
	if p.RequeueAfter != 9*time.Minute {
		t.Errorf("looked at again after %s", p.RequeueAfter)
	}
	if len(p.Events) != 1 || p.Events[0].Type != corev1.EventTypeNormal {
		t.Errorf("%+v", p.Events)
	}
	in.Job.Status = *s
	if again := Compute(in.Input); len(again.Writes) != 0 || len(again.Events) != 0 {
		t.Errorf("said again: %v, %v", digest(&again), again.Events)
	}
	in.Now = noon.Add(9 * time.Minute)
	p = Compute(in.Input)
	if diff := cmp.Diff([]string{"status Pending v0 r0", "CreateGroup"}, digest(&p)); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	if s := status(in, &p); s.State.Reason != "" || s.Gate == nil || len(s.Gate.Met) != 2 {
		t.Errorf("open: %+v, %+v", s.State, s.Gate)
	}
}

// TestWhatCanNeverBeStaysSo covers the deletion of the job that cannot meet the dependency any more.
func TestWhatCanNeverBeStaysSo(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Pending).asks(keys.Dependency, "afternotok:7").other(7, "a", batchv1alpha1.Completed)
	p := Compute(in.Input)
	s := status(in, &p)
	if s.Gate == nil || len(s.Gate.Failed) != 1 {
		t.Fatalf("%+v", s.Gate)
	}
	in.Job.Status, in.Related = *s, nil
	if g := evaluateGate(in.Job, in.Related, noon); !g.never {
		t.Errorf("it starts when the other is gone: %+v", g)
	}
}

func TestWhatWasMetStaysMetUntilTheJobHasRun(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Pending).asks(keys.Dependency, "afterok:7").asks(keys.Hold, "user").group(schedulingv1beta1.PodGroupInqueue)
	in.Job.Status.Gate = &batchv1alpha1.JobGate{Met: []string{"afterok:7"}}
	p := Compute(in.Input)
	if s := status(in, &p); s.Gate == nil || len(s.Gate.Met) != 1 {
		t.Errorf("held: %+v", s.Gate)
	}
	in = running().with(begunAgo(time.Minute)).asks(keys.Dependency, "afterok:7")
	in.Job.Status.Gate = &batchv1alpha1.JobGate{Met: []string{"afterok:7"}}
	p = Compute(in.Input)
	if s := status(in, &p); s.Gate != nil {
		t.Errorf("it runs: %+v", s.Gate)
	}
}

func TestAGatedJobScaledToZeroStaysPending(t *testing.T) {
	t.Parallel()
	gates := map[string]string{keys.Hold: "user", keys.Begin: noon.Add(time.Hour).Format(time.RFC3339), keys.Dependency: "afterok:7"}
	for gate, value := range gates {
		in := given(batchv1alpha1.Pending).asks(gate, value).other(7, "a", batchv1alpha1.Running)
		in.Job.Spec.Tasks[0].Replicas, in.Job.Spec.MinAvailable = 0, 0
		p := Compute(in.Input)
		if phase := status(in, &p).State.Phase; phase != batchv1alpha1.Pending {
			t.Errorf("%s: the job is %s, so it starts with its next pod although its gate is closed", gate, phase)
		}
	}
}

func TestAJobHeldInItsQueueLeavesIt(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Pending).asks(keys.Hold, "user").group(schedulingv1beta1.PodGroupInqueue).counted()
	p := Compute(in.Input)
	if diff := cmp.Diff([]string{"status Pending v0 r0", "DeleteGroup"}, digest(&p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAHeldJobLosesThePodsThatHaveNoNode(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Pending).asks(keys.Hold, "user").group(schedulingv1beta1.PodGroupInqueue).
		pod("w", 0, corev1.PodPending).pod("w", 1, corev1.PodPending)
	p := Compute(in.Input)
	if diff := cmp.Diff([]string{"status Pending v0 r0", "mark w-0 w-1", "delete w-0 w-1", "DeleteGroup"}, digest(&p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := status(in, &p).State; s.Reason != string(reason.JobHeldUser) {
		t.Errorf("%+v", s)
	}
	in = given(batchv1alpha1.Pending).asks(keys.Hold, "user").group(schedulingv1beta1.PodGroupInqueue).
		pod("w", 0, corev1.PodPending, onNode("n1")).pod("w", 1, corev1.PodPending)
	p = Compute(in.Input)
	if digest := strings.Join(digest(&p), ", "); strings.Contains(digest, "Delete") {
		t.Errorf("a pod has a node: %s", digest)
	}
}

func TestAJobWhoseDependencyCannotBeMetIsEndedIfItAsksForThat(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Pending).asks(keys.Dependency, "afterok:7").other(7, "a", batchv1alpha1.Failed)
	if p := Compute(in.Input); status(in, &p).State.Phase != batchv1alpha1.Pending {
		t.Errorf("ended unasked: %v", digest(&p))
	}
	in.asks(keys.KillOnInvalidDependency, "true")
	p := Compute(in.Input)
	if s := status(in, &p); s.State.Phase != batchv1alpha1.Terminating || !strings.Contains(s.State.Message, "can never be satisfied") {
		t.Errorf("%+v", s.State)
	}
}

func TestAJobThatOthersWaitForOutlivesItsTime(t *testing.T) {
	t.Parallel()
	second := int32(1)
	in := given(batchv1alpha1.Completed).with(func(j *batchv1alpha1.Job) {
		j.Spec.TTLSecondsAfterFinished = &second
		j.Status.State.LastTransitionTime = metav1.NewTime(noon.Add(-time.Hour))
	})
	in.counted().Awaited = true
	if p := Compute(in.Input); len(p.Writes) != 0 || p.RequeueAfter != awaitedAgain {
		t.Errorf("%v, again after %s", digest(&p), p.RequeueAfter)
	}
	in.Awaited = false
	p := Compute(in.Input)
	if diff := cmp.Diff([]string{"DeleteJob"}, digest(&p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
