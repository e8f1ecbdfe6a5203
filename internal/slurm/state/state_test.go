package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// job returns a job with four pods that has run for an hour and entered its phase a minute ago.
func job(phase batchv1alpha1.JobPhase, change ...func(*batchv1alpha1.Job)) *batchv1alpha1.Job {
	at := metav1.NewTime(noon.Add(-time.Minute))
	began := metav1.NewTime(noon.Add(-time.Hour))
	j := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train", CreationTimestamp: metav1.NewTime(noon.Add(-2 * time.Hour)), Annotations: map[string]string{}}}
	j.Spec.MinAvailable = 4
	j.Spec.Tasks = []batchv1alpha1.TaskSpec{{Name: "head", Replicas: 4}}
	j.Status.State = batchv1alpha1.JobState{Phase: phase, LastTransitionTime: at}
	if phase != batchv1alpha1.Pending && phase != "" {
		j.Status.Conditions = []batchv1alpha1.JobCondition{{Status: batchv1alpha1.Running, LastTransitionTime: &began}}
	}
	for _, c := range change {
		c(j)
	}
	return j
}

func because(code reason.Code, message string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Status.State.Reason, j.Status.State.Message = string(code), message }
}

func annotated(key, value string) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) { j.Annotations[key] = value }
}

func group(phase schedulingv1beta1.PodGroupPhase, e *schedulingv1beta1.Explanation) *schedulingv1beta1.PodGroup {
	return &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Phase: phase, Explanation: e}}
}

func queue(state schedulingv1beta1.QueueState) *schedulingv1beta1.Queue {
	return &schedulingv1beta1.Queue{Status: schedulingv1beta1.QueueStatus{State: state}}
}

func TestEveryStateOfAJobHasSlurmsCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		facts Facts
		want  State
	}{
		"nobody has seen it yet":                   {Facts{Job: job("")}, State{Pending, None}},
		"its group waits to be let in":             {Facts{Job: job(batchv1alpha1.Pending), Group: group(schedulingv1beta1.PodGroupPending, nil)}, State{Pending, None}},
		"it is let in and its pods have no nodes":  {Facts{Job: job(batchv1alpha1.Pending), Group: group(schedulingv1beta1.PodGroupInqueue, nil)}, State{Pending, None}},
		"its pods have nodes and start":            {Facts{Job: job(batchv1alpha1.Pending), Group: group(schedulingv1beta1.PodGroupRunning, nil)}, State{Configuring, "Prolog"}},
		"its pods have nodes, said by them":        {Facts{Job: job(batchv1alpha1.Pending), Pods: &Pods{Live: 4, Bound: 4}}, State{Configuring, "Prolog"}},
		"too few of its pods have nodes":           {Facts{Job: job(batchv1alpha1.Pending), Pods: &Pods{Live: 4, Bound: 3}}, State{Pending, None}},
		"an image cannot be pulled":                {Facts{Job: job(batchv1alpha1.Pending), Pods: &Pods{Live: 4, Bound: 4, CannotStart: true}}, State{Configuring, "JobLaunchFailure"}},
		"it runs":                                  {Facts{Job: job(batchv1alpha1.Running)}, State{Running, None}},
		"it is started again":                      {Facts{Job: job(batchv1alpha1.Restarting)}, State{Requeued, None}},
		"its pods end well":                        {Facts{Job: job(batchv1alpha1.Completing)}, State{Completing, None}},
		"its pods are stopped":                     {Facts{Job: job(batchv1alpha1.Terminating)}, State{Completing, None}},
		"its pods are released":                    {Facts{Job: job(batchv1alpha1.Aborting)}, State{Completing, None}},
		"it has completed":                         {Facts{Job: job(batchv1alpha1.Completed)}, State{Completed, None}},
		"it is suspended":                          {Facts{Job: job(batchv1alpha1.Aborted)}, State{Suspended, "PodsReleased"}},
		"it was suspended and then cancelled":      {Facts{Job: job(batchv1alpha1.Aborted, annotated(keys.CancelledBy, "mei"))}, State{Cancelled, None}},
		"it was cancelled by scancel":              {Facts{Job: job(batchv1alpha1.Terminated, annotated(keys.CancelledBy, "mei"))}, State{Cancelled, None}},
		"it was cancelled by vcctl":                {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "cancelled by hand (command cancel-x)"))}, State{Cancelled, None}},
		"it was cancelled by a Command":            {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "command cancel-x"))}, State{Cancelled, None}},
		"what it waited for could never be":        {Facts{Job: job(batchv1alpha1.Terminated, annotated(keys.KillOnInvalidDependency, "true"), because("TerminateJob", "job 7 no longer exists"), func(j *batchv1alpha1.Job) { j.Status.Conditions = nil })}, State{Cancelled, None}},
		"a policy ended it":                        {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "pod train-head-0 failed with exit code 3"))}, State{Failed, "NonZeroExitCode"}},
		"it exceeded its time limit":               {Facts{Job: job(batchv1alpha1.Failed, because(reason.DeadlineExceeded, "head-0 was over"))}, State{Timeout, "TimeLimit"}},
		"a policy ended it, its pod was over time": {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "pod failed")), Pods: &Pods{End: Timeout}}, State{Timeout, "TimeLimit"}},
		"it used too much memory":                  {Facts{Job: job(batchv1alpha1.Failed, because(reason.OOMKilled, ""))}, State{OutOfMemory, "OutOfMemory"}},
		"its node stopped":                         {Facts{Job: job(batchv1alpha1.Failed, because(reason.NodeStopped, ""))}, State{NodeFail, "NodeDown"}},
		"it was preempted":                         {Facts{Job: job(batchv1alpha1.Failed), Pods: &Pods{End: Preempted}}, State{Preempted, "Preempted"}},
		"it could not start":                       {Facts{Job: job(batchv1alpha1.Failed, because(reason.StartError, ""))}, State{BootFail, "JobLaunchFailure"}},
		"its script failed":                        {Facts{Job: job(batchv1alpha1.Failed, because(reason.PodFailed, "head-0 exited with code 3"))}, State{Failed, "NonZeroExitCode"}},
		"a policy ended it, the limit was kept":    {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "pod failed"), failedBy(reason.DeadlineExceeded, 0))}, State{Timeout, "TimeLimit"}},
		"a policy ended it, memory was kept":       {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "pod failed"), failedBy(reason.OOMKilled, 137))}, State{OutOfMemory, "OutOfMemory"}},
		"a policy ended it, eviction was kept":     {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "pod failed"), failedBy(reason.Evicted, 0))}, State{NodeFail, "NodeDown"}},
		"a policy ended it, preemption was kept":   {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "pod failed"), failedBy(reason.Preempted, 0))}, State{Preempted, "Preempted"}},
		"a policy ended it, its exit was kept":     {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "pod failed"), failedBy(reason.PodFailed, 3))}, State{Failed, "NonZeroExitCode"}},
		"its script cancelled it":                  {Facts{Job: job(batchv1alpha1.Terminated, because("TerminateJob", "pod failed"), failedBy(reason.PodFailed, launchconfig.ExitCancelled))}, State{Cancelled, None}},
		"it was restarted too often":               {Facts{Job: job(batchv1alpha1.Failed, because("RestartJob", ""))}, State{Failed, "NonZeroExitCode"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.facts.Now = noon
			if diff := cmp.Diff(c.want, Of(c.facts)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEveryPendingReasonOfTheTable(t *testing.T) {
	t.Parallel()
	explained := func(e schedulingv1beta1.Explanation) Facts {
		return Facts{Job: job(batchv1alpha1.Pending), Group: group(schedulingv1beta1.PodGroupPending, &e)}
	}
	nodes := func(total int32, tally ...schedulingv1beta1.ExplainedNodes) schedulingv1beta1.Explanation {
		return schedulingv1beta1.Explanation{Reason: string(reason.GangDoesNotFit), NodeCount: total, Nodes: tally}
	}
	tally := func(code reason.Code, n int32) schedulingv1beta1.ExplainedNodes {
		return schedulingv1beta1.ExplainedNodes{Reason: string(code), Count: n}
	}
	short := func(code reason.Code, resource, scope string) Facts {
		return explained(schedulingv1beta1.Explanation{Reason: string(code), Short: []schedulingv1beta1.Shortage{{Resource: corev1.ResourceName(resource), Scope: scope}}})
	}
	for name, c := range map[string]struct {
		facts Facts
		want  string
	}{
		"held by its user":                       {Facts{Job: job(batchv1alpha1.Pending, because(reason.JobHeldUser, ""))}, "JobHeldUser"},
		"held by its user, not yet seen":         {Facts{Job: job("", annotated(keys.Hold, keys.HoldUser))}, "JobHeldUser"},
		"held by an administrator":               {Facts{Job: job(batchv1alpha1.Pending, because(reason.JobHeldAdmin, ""))}, "JobHeldAdmin"},
		"held by an administrator, not yet seen": {Facts{Job: job("", annotated(keys.Hold, keys.HoldAdmin))}, "JobHeldAdmin"},
		"its time has not come":                  {Facts{Job: job(batchv1alpha1.Pending, because(reason.BeginTime, ""))}, "BeginTime"},
		"its time has not come, not yet seen":    {Facts{Job: job("", annotated(keys.Begin, "2026-11-21T13:00:00Z"))}, "BeginTime"},
		"its time has come, not yet seen":        {Facts{Job: job("", annotated(keys.Begin, "2026-11-21T11:00:00Z"))}, "None"},
		"it waits for another":                   {Facts{Job: job(batchv1alpha1.Pending, because(reason.Dependency, ""))}, "Dependency"},
		"it waits for another, not yet seen":     {Facts{Job: job("", annotated(keys.Dependency, "afterok:41"))}, "Dependency"},
		"it waits for what can never be":         {Facts{Job: job(batchv1alpha1.Pending, because(reason.DependencyNeverSatisfied, ""))}, "DependencyNeverSatisfied"},
		"its queue is closed":                    {Facts{Job: job(batchv1alpha1.Pending), Queue: queue(schedulingv1beta1.QueueStateClosed)}, "PartitionInactive"},
		"its queue is closing":                   {Facts{Job: job(batchv1alpha1.Pending), Queue: queue(schedulingv1beta1.QueueStateClosing)}, "PartitionInactive"},
		"its queue is unknown":                   {Facts{Job: job(batchv1alpha1.Pending), Queue: queue(schedulingv1beta1.QueueStateUnknown)}, "PartitionDown"},
		"its queue is missing":                   {Facts{Job: job(batchv1alpha1.Pending), QueueMissing: true}, "PartitionDown"},
		"its queue is missing, said by the job":  {Facts{Job: job(batchv1alpha1.Pending, because(reason.QueueMissing, ""))}, "PartitionDown"},
		"a hold goes before a closed queue":      {Facts{Job: job(batchv1alpha1.Pending, because(reason.JobHeldUser, "")), Queue: queue(schedulingv1beta1.QueueStateClosed)}, "JobHeldUser"},
		"its queue is closed, said by scheduler": {explained(schedulingv1beta1.Explanation{Reason: string(reason.QueueClosed)}), "PartitionInactive"},
		"its queue has too little cpu":           {short(reason.OverCapability, "cpu", "queue"), "QOSGrpCpuLimit"},
		"its queue has too little memory":        {short(reason.OverCapability, "memory", "queue"), "QOSGrpMemLimit"},
		"its queue has too few pods":             {short(reason.OverCapability, "pods", "queue"), "QOSGrpNodeLimit"},
		"its queue has too few cards":            {short(reason.OverCapability, "nvidia.com/gpu", "queue"), "QOSGrpGRES"},
		"its namespace has too little cpu":       {short(reason.OverQuota, "cpu", "quota"), "AssocGrpCpuLimit"},
		"its namespace has too few pods":         {short(reason.OverQuota, "pods", "quota"), "AssocMaxJobsLimit"},
		"its user runs enough jobs":              {explained(schedulingv1beta1.Explanation{Reason: string(reason.UserJobLimit)}), "AssocMaxJobsLimit"},
		"its account runs enough jobs":           {explained(schedulingv1beta1.Explanation{Reason: string(reason.AccountJobLimit)}), "AssocGrpJobsLimit"},
		"its user may use no more cpu":           {short(reason.UserResourceLimit, "cpu", "user"), "QOSMaxCpuPerUserLimit"},
		"its account may use no more cpu":        {short(reason.AccountResourceLimit, "cpu", "account"), "AssocGrpCpuLimit"},
		"its account may use no more memory":     {short(reason.AccountResourceLimit, "memory", "account"), "AssocGrpMemLimit"},
		"its account may use no more cards":      {short(reason.AccountResourceLimit, "nvidia.com/gpu", "account"), "AssocGrpGRES"},
		"there is no room":                       {explained(nodes(4, tally(reason.InsufficientResource, 3), tally(reason.NodeAffinityMismatch, 1))), "Resources"},
		"the cluster has promised enough":        {explained(schedulingv1beta1.Explanation{Reason: string(reason.Overcommitted)}), "Resources"},
		"no node can ever fit":                   {explained(nodes(4, tally(reason.TooLarge, 3), tally(reason.NodeAffinityMismatch, 1))), "BadConstraints"},
		"pods on the nodes repel it":             {explained(nodes(4, tally(reason.PodAffinityMismatch, 3), tally(reason.NodeAffinityMismatch, 1))), "Resources"},
		"pods on the only node repel it":         {explained(nodes(2, tally(reason.PodAffinityMismatch, 1), tally(reason.NodeUnschedulable, 1))), "Resources"},
		"the spread of pods rules nodes out":     {explained(nodes(1, tally(reason.TopologySpread, 1))), "Resources"},
		"the nodes that would fit are cordoned":  {explained(nodes(4, tally(reason.NodeUnschedulable, 1), tally(reason.NodeAffinityMismatch, 3))), "ReqNodeNotAvail"},
		"it can never be let in":                 {explained(schedulingv1beta1.Explanation{Reason: string(reason.Overcommitted), Never: true}), "BadConstraints"},
		"others are before it":                   {explained(schedulingv1beta1.Explanation{Reason: string(reason.BehindOthers)}), "Priority"},
		"a word of a later version":              {explained(schedulingv1beta1.Explanation{Reason: "SunSpots"}), "Resources"},
		"another scheduler says only that it waits": {Facts{Job: job(batchv1alpha1.Pending), Group: &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Conditions: []schedulingv1beta1.PodGroupCondition{
			{Type: schedulingv1beta1.PodGroupUnschedulableType, Status: corev1.ConditionTrue, Reason: schedulingv1beta1.NotEnoughResourcesReason}}}}}, "Resources"},
		"an image cannot be pulled":   {Facts{Job: job(batchv1alpha1.Pending), Pods: &Pods{Live: 4, Bound: 2, CannotStart: true}}, "JobLaunchFailure"},
		"nobody has looked at it yet": {Facts{Job: job(batchv1alpha1.Pending), Group: group("", nil)}, "None"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.facts.Now = noon
			if got := Of(c.facts); got.Code != Pending || got.Reason != c.want {
				t.Errorf("got %v, want PD and %s", got, c.want)
			}
		})
	}
}

func TestEveryReasonHasSlurmsSpelling(t *testing.T) {
	t.Parallel()
	for _, r := range reason.Table {
		if r.Has(reason.Derived) {
			continue // no scheduler reports it
		}
		e := &schedulingv1beta1.Explanation{Reason: string(r.Code)}
		if got := Of(Facts{Job: job(batchv1alpha1.Pending), Group: group(schedulingv1beta1.PodGroupPending, e), Now: noon}); got.Reason == None {
			t.Errorf("%s: squeue has no word for it", r.Code)
		}
	}
}

func TestElementsOfAnArray(t *testing.T) {
	t.Parallel()
	array := func(phase batchv1alpha1.JobPhase, s *batchv1alpha1.ArrayStatus) *batchv1alpha1.Job {
		return job(phase, annotated(keys.Array, "5-15"), func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[0].Replicas, j.Spec.MinAvailable, j.Status.Array = 11, 1, s
		})
	}
	status := &batchv1alpha1.ArrayStatus{Running: "7-8", Succeeded: "5", Failed: "6,9-10", Cancelled: "11", ExitCodes: map[string]string{"3": "6", "-1": "9"}, Reason: "JobArrayTaskLimit"}
	type part struct {
		Elements, Code, Reason, Exit string
	}
	for name, c := range map[string]struct {
		job  *batchv1alpha1.Job
		want []part
	}{
		"not begun": {array(batchv1alpha1.Pending, nil), []part{{"5-15", "PD", "None", "0:0"}}},
		"under way": {array(batchv1alpha1.Running, status), []part{
			{"12-15", "PD", "JobArrayTaskLimit", "0:0"}, {"7-8", "R", "None", "0:0"}, {"5", "CD", "None", "0:0"},
			{"9", "NF", "NodeDown", "0:0"}, {"6", "F", "NonZeroExitCode", "3:0"}, {"10", "F", "NonZeroExitCode", "1:0"}, {"11", "CA", "None", "0:0"}}},
		"pods without nodes": {array(batchv1alpha1.Pending, &batchv1alpha1.ArrayStatus{Running: "5-6", Reason: "JobArrayTaskLimit"}), []part{
			{"7-15", "PD", "JobArrayTaskLimit", "0:0"}, {"5-6", "PD", "Resources", "0:0"}}},
		"cancelled": {array(batchv1alpha1.Terminated, &batchv1alpha1.ArrayStatus{Succeeded: "5-6"}), []part{{"7-15", "CA", "None", "0:0"}, {"5-6", "CD", "None", "0:0"}}},
		"suspended": {array(batchv1alpha1.Aborted, &batchv1alpha1.ArrayStatus{Succeeded: "5-6"}), []part{{"7-15", "S", "PodsReleased", "0:0"}, {"5-6", "CD", "None", "0:0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts, ok := ElementParts(Facts{Job: c.job, Now: noon})
			var got []part
			for _, p := range parts {
				got = append(got, part{p.Elements.String(), string(p.State.Code), p.State.Reason, p.Exit.String()})
			}
			if diff := cmp.Diff(c.want, got); diff != "" || !ok {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if _, ok := ElementParts(Facts{Job: job(batchv1alpha1.Running)}); ok {
		t.Error("a job that is no array has elements")
	}
}

func TestTheTimesOfElementsAreRead(t *testing.T) {
	t.Parallel()
	j := job(batchv1alpha1.Completed, func(j *batchv1alpha1.Job) {
		j.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "5,7", Failed: "6,9", Times: "10+5 - 20+60 x"}
	})
	got := ElementTimes(j)
	if len(got) != 2 || got[5].ElapsedTime(noon) != 5*time.Second || !got[7].Start.Equal(j.CreationTimestamp.Add(20*time.Second)) {
		t.Errorf("got %v", got)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job  *batchv1alpha1.Job
		want time.Duration
	}{
		"a job that waits":        {job(batchv1alpha1.Pending), 0},
		"a job that runs":         {job(batchv1alpha1.Running), time.Hour},
		"one that ends":           {job(batchv1alpha1.Completing), time.Hour},
		"one that has ended":      {job(batchv1alpha1.Failed), 59 * time.Minute},
		"one that is stopped":     {job(batchv1alpha1.Aborted), 59 * time.Minute},
		"one that is queued anew": {job(batchv1alpha1.Restarting), 0},
	} {
		if got := TimesOf(Facts{Job: c.job, Now: noon}).ElapsedTime(noon); got != c.want {
			t.Errorf("%s: used %v, want %v", name, got, c.want)
		}
	}
}

// A suspended job has run until it released its nodes, also if it is cancelled later. A resumed one starts again.
func TestSuspendedTimeIsNoRunTime(t *testing.T) {
	t.Parallel()
	type phase struct {
		phase batchv1alpha1.JobPhase
		ago   time.Duration
	}
	ran, suspended := phase{batchv1alpha1.Running, 60 * time.Minute}, phase{batchv1alpha1.Aborted, 50 * time.Minute}
	resumed, cancelled := phase{batchv1alpha1.Restarting, 20 * time.Minute}, phase{batchv1alpha1.Terminated, 5 * time.Minute}
	before := batchv1alpha1.JobAttempt{Number: 0, Phase: batchv1alpha1.Aborted, EndTime: metav1.NewTime(noon.Add(-suspended.ago))}
	for name, c := range map[string]struct {
		phases         []phase
		attempts       []batchv1alpha1.JobAttempt
		ran, suspended time.Duration
		hasEnd         bool
	}{
		"suspended":               {phases: []phase{ran, suspended}, ran: 10 * time.Minute, suspended: 50 * time.Minute},
		"suspended and cancelled": {phases: []phase{ran, suspended, cancelled}, ran: 10 * time.Minute, suspended: 45 * time.Minute, hasEnd: true},
		"suspended before it ran": {phases: []phase{suspended}, suspended: 50 * time.Minute},
		"resumed, pending":        {phases: []phase{ran, suspended, resumed}, attempts: []batchv1alpha1.JobAttempt{before}, suspended: 30 * time.Minute},
		"resumed, running": {phases: []phase{suspended, resumed, {batchv1alpha1.Running, 15 * time.Minute}}, attempts: []batchv1alpha1.JobAttempt{before},
			ran: 15 * time.Minute, suspended: 30 * time.Minute},
		"suspended twice": {phases: []phase{resumed, {batchv1alpha1.Running, 15 * time.Minute}, {batchv1alpha1.Aborted, 5 * time.Minute}}, attempts: []batchv1alpha1.JobAttempt{before},
			ran: 10 * time.Minute, suspended: 35 * time.Minute},
		"restarted since it was resumed": {phases: []phase{suspended, resumed, {batchv1alpha1.Running, 15 * time.Minute}},
			attempts: []batchv1alpha1.JobAttempt{before, {Number: 1, Phase: batchv1alpha1.Restarting}}, ran: 15 * time.Minute},
	} {
		j := job(batchv1alpha1.Pending)
		j.Status.Conditions, j.Status.Attempts, j.Status.UserRestarts = nil, c.attempts, int32(len(c.attempts))
		for _, p := range c.phases {
			at := metav1.NewTime(noon.Add(-p.ago))
			j.Status.Conditions = append(j.Status.Conditions, batchv1alpha1.JobCondition{Status: p.phase, LastTransitionTime: &at})
			j.Status.State.Phase, j.Status.State.LastTransitionTime = p.phase, at
		}
		times := TimesOf(Facts{Job: j, Now: noon})
		if ran, suspended := times.ElapsedTime(noon), times.SuspendedTime(noon); ran != c.ran || suspended != c.suspended {
			t.Errorf("%s: ran %v and was suspended %v, want %v and %v", name, ran, suspended, c.ran, c.suspended)
		}
		if hasEnd := !times.End.IsZero(); hasEnd != c.hasEnd {
			t.Errorf("%s: ended at %v", name, times.End)
		}
	}
}

func TestClocks(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration][2]string{
		0:                               {"0:00", "00:00:00"},
		7 * time.Second:                 {"0:07", "00:00:07"},
		62 * time.Second:                {"1:02", "00:01:02"},
		time.Hour:                       {"1:00:00", "01:00:00"},
		25*time.Hour + 61*time.Second:   {"1-01:01:01", "1-01:01:01"},
		-time.Second:                    {"0:00", "00:00:00"},
		999 * time.Millisecond:          {"0:00", "00:00:00"},
		1000*24*time.Hour - time.Second: {"999-23:59:59", "999-23:59:59"},
	} {
		if got := [2]string{ShortClock(d), LongClock(d)}; got != want {
			t.Errorf("%v: got %v, want %v", d, got, want)
		}
	}
	if got := [3]string{LimitClock(0), LeftClock(0, time.Hour), LeftClock(time.Minute, time.Hour)}; got != [3]string{"UNLIMITED", "UNLIMITED", "INVALID"} {
		t.Errorf("limits: %v", got)
	}
	if got := LeftClock(time.Hour, time.Minute); got != "59:00" {
		t.Errorf("left: %s", got)
	}
}

// failedBy sets the controller's record of a failure.
func failedBy(code reason.Code, exit int32) func(*batchv1alpha1.Job) {
	return func(j *batchv1alpha1.Job) {
		j.Labels = map[string]string{keys.JobID: "7"}
		j.Status.Failure = &batchv1alpha1.JobFailure{Reason: string(code), ExitCode: &exit}
	}
}

// Programs that wait with sacct treat every state except these as the end of the job.
func TestSacctKnowsNoStateOfAJobThatIsOnlyAFlag(t *testing.T) {
	t.Parallel()
	for _, code := range AllCodes() {
		got := code.AccountingCode()
		if code.HasEnded() || code == Suspended {
			if got != code {
				t.Errorf("%s is kept as %s", code.LongName(), got.LongName())
			}
			continue
		}
		if got != Pending && got != Running {
			t.Errorf("%s is kept as %s, which ends a wait", code.LongName(), got.LongName())
		}
	}
}
