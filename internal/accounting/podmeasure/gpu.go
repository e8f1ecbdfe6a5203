package podmeasure

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/podusage"
)

// GPUSample is a measurement of a GPU that a pod uses.
type GPUSample struct {
	// GPU distinguishes the GPUs of a pod.
	GPU uint64
	At  time.Time
	// Utilization is between 0 and 1.
	Utilization float64
}

// GPURound holds all samples of GPUs until a time. Each is valid for the step before it. Times without samples were not
// measured.
type GPURound struct {
	Until   time.Time
	Step    time.Duration
	Samples map[types.NamespacedName][]GPUSample
}

// gpuUse holds the measured use of the GPUs of a pod.
type gpuUse struct {
	// until is the time until which samples were added. A later sample adds to the use, an earlier one does not, so that
	// no time counts twice.
	until time.Time
	// busy is the sum of the utilizations of all GPUs over time, and measured the sum of the times with samples.
	busy, measured time.Duration
	// busyGPUs is the sum of the utilizations at until, and gpus the number of GPUs.
	busyGPUs float64
	gpus     int
	// mostGPUs is the largest number of GPUs that were measured at the same time.
	mostGPUs int
	hasEnded bool
}

// resume continues with the use that another process has written, if that use extends to a later time.
func (g *gpuUse) resume(written podusage.Use) {
	until := time.Unix(written.GPUMeasuredUntil, 0)
	if written.GPUMeasuredMilliseconds == 0 || !until.After(g.until) {
		return
	}
	*g = gpuUse{until: until, busy: milliseconds(written.GPUMilliseconds), measured: milliseconds(written.GPUMeasuredMilliseconds),
		mostGPUs: max(g.mostGPUs, int(written.GPUs)), hasEnded: g.hasEnded}
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// add adds the samples of a round.
func (g *gpuUse) add(round *GPURound, samples []GPUSample) {
	if !round.Until.After(g.until) {
		return
	}
	g.busyGPUs, g.gpus = 0, 0
	at, gpus := time.Time{}, 0 // the number of GPUs at a time
	for _, s := range distinctSamples(samples) {
		valid := min(round.Step, s.At.Sub(g.until))
		if valid <= 0 || s.At.After(round.Until) {
			continue
		}
		g.busy += time.Duration(s.Utilization * float64(valid))
		g.measured += valid
		if !s.At.Equal(at) {
			at, gpus = s.At, 0
		}
		gpus++
		g.mostGPUs = max(g.mostGPUs, gpus)
		if s.At.Equal(round.Until) {
			g.busyGPUs += s.Utilization
			g.gpus++
		}
	}
	g.until = round.Until
}

// distinctSamples returns one sample of each GPU for each time. Prometheus has several if it reads an exporter twice.
func distinctSamples(samples []GPUSample) []GPUSample {
	sorted := slices.SortedFunc(slices.Values(samples), func(a, b GPUSample) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.GPU, b.GPU), cmp.Compare(b.Utilization, a.Utilization))
	})
	return slices.CompactFunc(sorted, func(a, b GPUSample) bool { return a.At.Equal(b.At) && a.GPU == b.GPU })
}

// end adds the time between the latest sample and the end of the pod. It assumes that the GPUs were as busy as before, for
// at most maxGap.
func (g *gpuUse) end(at time.Time, maxGap time.Duration) {
	gap := min(at.Sub(g.until), maxGap)
	if g.hasEnded || gap <= 0 {
		return
	}
	g.hasEnded = true
	if g.gpus == 0 {
		return
	}
	g.busy += time.Duration(g.busyGPUs * float64(gap))
	g.measured += time.Duration(g.gpus) * gap
	g.until = g.until.Add(gap)
}

// use returns the use so far. It is empty if no GPU was measured.
func (g *gpuUse) use() podusage.Use {
	if g.measured < time.Millisecond {
		return podusage.Use{}
	}
	return podusage.Use{GPUMilliseconds: g.busy.Milliseconds(), GPUMeasuredMilliseconds: g.measured.Milliseconds(), GPUs: int64(g.mostGPUs), GPUMeasuredUntil: g.until.Unix()}
}

// GPUsMeasuredUntil returns the earliest time until which the GPUs of a running pod were measured: the pods need the samples
// of all later times. ok is false if no pod is running.
func (t *Tracker) GPUsMeasuredUntil() (earliest time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pods {
		if p.isRunning && (!ok || p.gpu.until.Before(earliest)) {
			earliest, ok = p.gpu.until, true
		}
	}
	return earliest, ok
}

// AddGPURound adds samples of GPUs to the running pods. Other pods are ignored.
func (t *Tracker) AddGPURound(round *GPURound) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pods {
		if p.isRunning {
			p.gpu.add(round, round.Samples[p.name])
		}
	}
}
