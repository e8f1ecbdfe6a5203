package queue

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// jobLimits holds the flags for the limits of a queue's jobs. 0 removes a limit.
type jobLimits struct {
	maxRunTime, defaultRunTime time.Duration
	maxNodes, maxPods          int64
}

func (l *jobLimits) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&l.maxRunTime, "max-run-time", 0, "Longest time limit of a job, for example 24h; 0 means no limit")
	flags.DurationVar(&l.defaultRunTime, "default-run-time", 0, "Time limit of jobs that do not specify one, for example 1h; 0 means --max-run-time")
	flags.Int64Var(&l.maxNodes, "max-nodes", 0, "Largest number of separate nodes that a job may request; 0 means no limit")
	flags.Int64Var(&l.maxPods, "max-pods", 0, "Largest number of pods of a job; 0 means no limit")
}

// applyFlags sets the limits whose flags were specified.
func (l *jobLimits) applyFlags(given func(name string) bool, q *schedulingv1beta1.QueueSpec) error {
	limits := schedulingv1beta1.JobLimits{}
	if q.JobLimits != nil {
		limits = *q.JobLimits
	}
	var problems []error
	isGiven := false
	for _, one := range []struct {
		name  string
		time  time.Duration
		field **metav1.Duration
	}{{"max-run-time", l.maxRunTime, &limits.MaxRunTime}, {"default-run-time", l.defaultRunTime, &limits.DefaultRunTime}} {
		if !given(one.name) {
			continue
		}
		isGiven, *one.field = true, nil
		switch {
		case one.time < 0:
			problems = append(problems, usererror.Errorf("for example --"+one.name+"=24h; use 0 for no limit", "--%s: %s is less than 0", one.name, one.time))
		case one.time > 0:
			*one.field = &metav1.Duration{Duration: one.time}
		}
	}
	for _, one := range []struct {
		name  string
		count int64
		field **int32
	}{{"max-nodes", l.maxNodes, &limits.MaxNodes}, {"max-pods", l.maxPods, &limits.MaxPods}} {
		if !given(one.name) {
			continue
		}
		isGiven, *one.field = true, nil
		switch {
		case one.count < 0 || one.count > math.MaxInt32:
			problems = append(problems, usererror.Errorf("for example --"+one.name+"=4; use 0 for no limit", "--%s: %d is not between 0 and %d", one.name, one.count, math.MaxInt32))
		case one.count > 0:
			*one.field = new(int32(one.count))
		}
	}
	if isGiven {
		q.JobLimits = &limits
		if limits == (schedulingv1beta1.JobLimits{}) {
			q.JobLimits = nil
		}
	}
	return errors.Join(problems...)
}

// ownLimitsText lists the limits that a queue sets itself, for example maxRunTime=24h,maxNodes=4.
func ownLimitsText(q *schedulingv1beta1.Queue) string {
	limits := q.Spec.JobLimits
	if limits == nil {
		return "-"
	}
	var parts []string
	addTime := func(name string, limit *metav1.Duration) {
		if limit != nil {
			parts = append(parts, name+"="+textformat.FormatDuration(limit.Duration))
		}
	}
	addCount := func(name string, limit *int32) {
		if limit != nil {
			parts = append(parts, fmt.Sprintf("%s=%d", name, *limit))
		}
	}
	addTime("maxRunTime", limits.MaxRunTime)
	addTime("defaultRunTime", limits.DefaultRunTime)
	addCount("maxNodes", limits.MaxNodes)
	addCount("maxPods", limits.MaxPods)
	return strings.Join(parts, ",")
}

// effectiveLimitsText describes the limits that apply to the jobs of a queue, with the ancestors that set them. It
// returns "" if there are none.
func effectiveLimitsText(queue string, limits schedulingv1beta1.EffectiveJobLimits) string {
	var parts []string
	add := func(what, value, by string) {
		text := what + " " + value
		if by != queue {
			text += " (set by queue " + by + ")"
		}
		parts = append(parts, text)
	}
	if l := limits.MaxRunTime; l.Value > 0 {
		add("time limit at most", textformat.FormatDuration(l.Value), l.Queue)
	}
	if l := limits.DefaultRunTime; l.Value > 0 {
		add("default time limit", textformat.FormatDuration(l.Value), l.Queue)
	}
	if l := limits.MaxNodes; l.Value > 0 {
		add("separate nodes at most", fmt.Sprint(l.Value), l.Queue)
	}
	if l := limits.MaxPods; l.Value > 0 {
		add("pods at most", fmt.Sprint(l.Value), l.Queue)
	}
	return strings.Join(parts, ", ")
}
