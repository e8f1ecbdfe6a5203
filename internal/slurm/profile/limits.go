package profile

import (
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

// Limits are the limits of the jobs in a partition. All of Slurm's commands read them, so that they show and check the
// same values.
type Limits struct {
	// MaxTime is the longest time limit. DefaultTime is the time limit of jobs that do not specify one. Each is
	// optionvalue.Unlimited if there is no limit.
	MaxTime, DefaultTime optionvalue.Minutes
	// MaxNodes is the largest number of nodes of a job or of an array element. MaxPods is the largest number of pods
	// in all elements of an array together. 0 means no limit.
	MaxNodes, MaxPods int64
	// ServerSetsTime is true if admission gives jobs without a time limit one.
	ServerSetsTime bool
}

// LimitsOf returns the limits of a partition, given the limits of its queue. The API server enforces the limits of the
// queue. The profile can only make them stricter, except that its default time, which is an ordinary request for the
// API server, takes precedence over the queue's default time. A partition's own time limits take precedence over the
// site's.
func (p *Profile) LimitsOf(partition string, queue schedulingv1beta1.EffectiveJobLimits) Limits {
	own := p.Partitions[partition]
	l := Limits{
		MaxTime:        shorterTime(firstTime(own.MaxTime, p.MaxTime), wholeMinutes(queue.MaxRunTime.Value)),
		DefaultTime:    firstTime(own.DefaultTime, p.DefaultTime),
		MaxNodes:       smallerLimit(smallerLimit(own.MaxNodes, queue.MaxNodes.Value), queue.MaxPods.Value), // a node is a pod
		MaxPods:        queue.MaxPods.Value,
		ServerSetsTime: queue.DefaultRunTime.Value > 0,
	}
	if l.DefaultTime == optionvalue.Unlimited {
		l.DefaultTime = wholeMinutes(queue.DefaultRunTime.Value)
	}
	if l.DefaultTime != optionvalue.Unlimited {
		l.DefaultTime = shorterTime(l.DefaultTime, l.MaxTime)
	}
	return l
}

// firstTime returns the first time that is specified. The profile has already been validated.
func firstTime(texts ...string) optionvalue.Minutes {
	for _, text := range texts {
		if limit, err := optionvalue.ParseTime(text); err == nil && text != "" {
			return limit
		}
	}
	return optionvalue.Unlimited
}

// wholeMinutes converts a limit of a queue, where 0 means no limit. Slurm's unit is minutes, so it rounds down, but not
// to 0.
func wholeMinutes(limit time.Duration) optionvalue.Minutes {
	if limit == 0 {
		return optionvalue.Unlimited
	}
	return max(optionvalue.Minutes(limit/time.Minute), 1)
}

// shorterTime returns the shorter of two limits.
func shorterTime(a, b optionvalue.Minutes) optionvalue.Minutes {
	if a == optionvalue.Unlimited {
		return b
	}
	if b == optionvalue.Unlimited {
		return a
	}
	return min(a, b)
}

// smallerLimit returns the smaller of two limits, where 0 means no limit.
func smallerLimit(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
