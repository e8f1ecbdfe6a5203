package v1beta1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// limited sets the limits of a queue; "" and 0 mean no limit.
func limited(longest, usual string, nodes, pods int32) func(*Queue) {
	return func(q *Queue) {
		q.Spec.JobLimits = &JobLimits{MaxRunTime: runTime(longest), DefaultRunTime: runTime(usual)}
		if nodes != 0 {
			q.Spec.JobLimits.MaxNodes = &nodes
		}
		if pods != 0 {
			q.Spec.JobLimits.MaxPods = &pods
		}
	}
}

func runTime(text string) *metav1.Duration {
	if text == "" {
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return &metav1.Duration{Duration: d}
}

func TestTheStrictestLimitOfAQueueAndItsAncestorsApplies(t *testing.T) {
	t.Parallel()
	type limits = EffectiveJobLimits
	hours := func(n int, queue string) JobLimit[time.Duration] {
		return JobLimit[time.Duration]{Value: time.Duration(n) * time.Hour, Queue: queue}
	}
	count := func(n int64, queue string) JobLimit[int64] { return JobLimit[int64]{Value: n, Queue: queue} }
	queues := NewQueueLookup(
		queue("root", "", limited("", "", 0, 1000)), queue("default", ""),
		queue("org", "root", limited("24h", "2h", 4, 0)),
		queue("same", "org"),
		queue("stricter", "org", limited("8h", "1h", 2, 10)),
		queue("looser", "org", limited("48h", "30h", 8, 5000)),
		queue("below", "looser", limited("", "3h", 0, 0)),
		queue("bounded", "root", limited("6h", "", 0, 0)),
		queue("usual", "root", limited("", "5h", 0, 0)),
		queue("orphan", "gone", limited("1h", "", 0, 0)),
		queue("ring-a", "ring-b", limited("2h", "", 0, 0)), queue("ring-b", "ring-a", limited("1h", "", 0, 0)),
	)
	for name, want := range map[string]limits{
		"default":  {MaxPods: count(1000, "root")},
		"same":     {MaxRunTime: hours(24, "org"), DefaultRunTime: hours(2, "org"), MaxNodes: count(4, "org"), MaxPods: count(1000, "root")},
		"stricter": {MaxRunTime: hours(8, "stricter"), DefaultRunTime: hours(1, "stricter"), MaxNodes: count(2, "stricter"), MaxPods: count(10, "stricter")},
		// Its own default is longer than the limit of its parent.
		"looser": {MaxRunTime: hours(24, "org"), DefaultRunTime: hours(24, "org"), MaxNodes: count(4, "org"), MaxPods: count(1000, "root")},
		// The default of the nearest queue applies, not the shortest one.
		"below":   {MaxRunTime: hours(24, "org"), DefaultRunTime: hours(3, "below"), MaxNodes: count(4, "org"), MaxPods: count(1000, "root")},
		"bounded": {MaxRunTime: hours(6, "bounded"), DefaultRunTime: hours(6, "bounded"), MaxPods: count(1000, "root")},
		"usual":   {DefaultRunTime: hours(5, "usual"), MaxPods: count(1000, "root")},
		"orphan":  {MaxRunTime: hours(1, "orphan"), DefaultRunTime: hours(1, "orphan")},
		"ring-a":  {MaxRunTime: hours(1, "ring-b"), DefaultRunTime: hours(1, "ring-b")},
		"nowhere": {},
	} {
		if diff := cmp.Diff(want, EffectiveJobLimitsOf(name, queues)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestLimitsOfAQueueThatAreInvalidAreRejected(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limits      func(*Queue)
		where, says string // "" for valid limits
	}{
		"all limits":                          {limited("24h", "24h", 1, 1), "", ""},
		"a default alone":                     {limited("", "1h", 0, 0), "", ""},
		"a default longer than the maximum":   {limited("1h", "90m", 0, 0), "spec.jobLimits.defaultRunTime", "must not be longer than maxRunTime, which is 1h"},
		"a negative maximum":                  {limited("-1h", "", 0, 0), "spec.jobLimits.maxRunTime", "must be between 1s and 596523h14m7s"},
		"a maximum of less than a second":     {limited("900ms", "", 0, 0), "spec.jobLimits.maxRunTime", "must be between 1s"},
		"a default of no time":                {limited("", "0s", 0, 0), "spec.jobLimits.defaultRunTime", "must be between 1s"},
		"a time that no pod accepts as limit": {limited("600000h", "", 0, 0), "spec.jobLimits.maxRunTime", "and 596523h14m7s"},
		"negative nodes":                      {limited("", "", -1, 0), "spec.jobLimits.maxNodes", "omit the field for no limit"},
		"negative pods":                       {limited("", "", 0, -1), "spec.jobLimits.maxPods", "omit the field for no limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireOne(t, ValidateQueue(queue("q", "", test.limits), nil), test.where, test.says)
			requireOne(t, ValidateQueueUpdate(queue("q", ""), queue("q", "", test.limits), nil), test.where, test.says)
		})
	}
}

func requireOne(t *testing.T, errs field.ErrorList, where, says string) {
	t.Helper()
	switch {
	case where == "" && len(errs) > 0:
		t.Errorf("rejected: %v", errs)
	case where != "" && (len(errs) != 1 || errs[0].Field != where || !strings.Contains(errs[0].Error(), says)):
		t.Errorf("want one error at %s with %q, got %v", where, says, errs)
	}
}

func TestAPodGroupNeedsNoMorePodsThanItsQueuePermits(t *testing.T) {
	t.Parallel()
	queues := NewQueueLookup(queue("org", "", limited("", "", 1, 4)), queue("team", "org"))
	group := func(pods int32) *PodGroup { return &PodGroup{Spec: PodGroupSpec{MinMember: pods, Queue: "team"}} }
	requireOne(t, ValidatePodGroup(group(4), queues), "", "")
	requireOne(t, ValidatePodGroup(group(5), queues), "spec.minMember", "the PodGroup needs 5 pods at the same time, but queue team permits at most 4 pods (set by queue org): lower minMember, or use another queue")
}
