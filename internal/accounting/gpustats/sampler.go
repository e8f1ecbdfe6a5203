package gpustats

import (
	"cmp"
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/accounting/podmeasure"
	"github.com/vc-batch/vc/internal/usagemetrics"
	"github.com/vc-batch/vc/internal/usererror"
)

const (
	// longestStep is the longest time for which a sample is valid.
	longestStep = 10 * time.Second
	// longestCatchUp is the maximum age of the samples that are read after an interruption, such as a change of the leader.
	// longestRound is the longest period whose samples are read with one request.
	longestCatchUp = time.Hour
	longestRound   = 10 * time.Minute
)

// Reader reads the past utilization of GPUs.
type Reader interface {
	Read(ctx context.Context, from, until time.Time, step time.Duration, add func(usagemetrics.GPUUtilization)) error
}

// Sampler adds the utilization of GPUs to a Tracker at intervals.
type Sampler struct {
	// Interval is the time between two measurements. It is at least a second.
	Interval   time.Duration
	Prometheus Reader
	Tracker    *podmeasure.Tracker
	Log        logr.Logger

	hasFailed bool
	// round is the longest period whose samples the next request reads; 0 means longestRound. It is halved after a failure,
	// because Prometheus may need too long for the samples of a large cluster, and doubled after a success.
	round time.Duration
}

// Start measures GPUs until ctx is done.
func (s *Sampler) Start(ctx context.Context) error {
	ticker := time.NewTicker(s.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			err := s.measure(ctx, now)
			if ctx.Err() == nil {
				s.logChange(err)
			}
		}
	}
}

// measure adds all samples that the running pods need, up to now.
func (s *Sampler) measure(ctx context.Context, now time.Time) error {
	step := min(longestStep, s.Interval.Truncate(time.Second))
	now = now.Truncate(step)
	for {
		from, hasPods := s.Tracker.GPUsMeasuredUntil()
		if earliest := now.Add(-longestCatchUp); from.Before(earliest) {
			from = earliest
		}
		from = from.Truncate(step).Add(step)
		if !hasPods || from.After(now) {
			return nil
		}
		length := cmp.Or(s.round, longestRound).Truncate(step)
		until := from.Add(length - step)
		if until.After(now) {
			until = now
		}
		if err := s.measureRound(ctx, from, until, step); err != nil {
			s.round = max((until.Sub(from)+step)/2, step)
			return err
		}
		s.round = min(2*length, longestRound)
	}
}

// measureRound adds the samples of an interval.
func (s *Sampler) measureRound(ctx context.Context, from, until time.Time, step time.Duration) error {
	round := &podmeasure.GPURound{Until: until, Step: step, Samples: map[types.NamespacedName][]podmeasure.GPUSample{}}
	prometheusRequests.Inc()
	err := s.Prometheus.Read(ctx, from, until, step, func(u usagemetrics.GPUUtilization) {
		pod := types.NamespacedName{Namespace: u.Namespace, Name: u.Pod}
		round.Samples[pod] = append(round.Samples[pod], podmeasure.GPUSample{GPU: u.GPU, At: u.At, Utilization: u.Percent / 100})
	})
	if err != nil {
		prometheusErrors.Inc()
		return err
	}
	s.Tracker.AddGPURound(round)
	return nil
}

// logChange logs the first failure, and the first success after it.
func (s *Sampler) logChange(err error) {
	switch {
	case err != nil && !s.hasFailed:
		s.Log.Error(err, "The usage of GPUs cannot be measured; trying again", "flag", "--accounting-prometheus", "hint", usererror.FromError(err).Hint)
	case err != nil:
		s.Log.V(1).Info("The usage of GPUs still cannot be measured", "err", err.Error())
	case s.hasFailed:
		s.Log.Info("The usage of GPUs is measured again")
	}
	s.hasFailed = err != nil
}
