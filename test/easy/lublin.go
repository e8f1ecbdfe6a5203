package easy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Job is one job of a trace. Times are in seconds.
type Job struct {
	ID     int
	Submit int
	Procs  int
	Run    int
	// Estimate is the run time that the user requested. It is at least Run.
	Estimate int
}

// Lublin holds the parameters of the workload model of Lublin and Feitelson ("The workload on parallel supercomputers",
// JPDC 2003).
type Lublin struct {
	Serial, Pow2           float64
	ULow, UMed, UHi, UProb float64
	A1, B1, A2, B2, PA, PB float64
	AArr, BArr             float64
	ANum, BNum             float64
	ARAR                   float64
}

// OneType returns the parameters of the model that does not distinguish batch jobs from interactive ones, for a machine
// of 2^uhi processors.
func OneType(umed, uhi float64) Lublin {
	return Lublin{
		Serial: .244, Pow2: .576, ULow: .8, UMed: umed, UHi: uhi, UProb: .86,
		A1: 4.2, B1: .94, A2: 312, B2: .03, PA: -.0054, PB: .78,
		AArr: 10.2303, BArr: .4871, ANum: 8.1737, BNum: 3.9631, ARAR: 1.0225,
	}
}

const (
	bucketsPerDay    = 48
	secondsPerBucket = 1800
	// maxRunExponent and maxGapExponent limit the logarithms of run times and gaps. Larger values are drawn again.
	maxRunExponent = 12
	maxGapExponent = 13
)

// Generate returns n jobs in the order of their submission. Run times and gaps are rounded to seconds. Estimates equal
// run times.
func (l Lublin) Generate(random *rand.Rand, n int) []Job {
	gaps := l.arrivals()
	jobs := make([]Job, n)
	clock := 0.0
	for i := range jobs {
		clock += gaps.next(random)
		procs := l.size(random)
		run := max(int(math.Round(l.runTime(random, procs))), 1)
		jobs[i] = Job{ID: i, Submit: int(clock), Procs: procs, Run: run, Estimate: run}
	}
	return jobs
}

// size draws a number of processors.
func (l Lublin) size(random *rand.Rand) int {
	u := random.Float64()
	if u <= l.Serial {
		return 1
	}
	low, high := l.ULow, l.UMed
	if random.Float64() > l.UProb {
		low, high = l.UMed, l.UHi
	}
	exponent := low + random.Float64()*(high-low)
	if u <= l.Serial+l.Pow2 {
		exponent = math.Round(exponent)
	}
	return int(math.Round(math.Exp2(exponent)))
}

// runTime draws the run time, in seconds, of a job with this number of processors.
func (l Lublin) runTime(random *rand.Rand, procs int) float64 {
	p := min(max(l.PA*float64(procs)+l.PB, 0), 1)
	for {
		exponent := 0.0
		if random.Float64() <= p {
			exponent = gamma(random, l.A1, l.B1)
		} else {
			exponent = gamma(random, l.A2, l.B2)
		}
		if exponent <= maxRunExponent {
			return math.Exp(exponent)
		}
	}
}

// arrivals draws the gaps between jobs, which follow a daily cycle.
type arrivals struct {
	model             Lublin
	weights           [bucketsPerDay]float64
	bucket            int
	points, remainder float64
}

func (l Lublin) arrivals() *arrivals {
	a := &arrivals{model: l}
	sum := 0.0
	for i := 11; i <= 58; i++ {
		x := float64(i)
		w := gammaCDF(x+.5, l.ANum, l.BNum) - gammaCDF(x-.5, l.ANum, l.BNum)
		a.weights[(i-1)%bucketsPerDay] = w
		sum += w
	}
	for i := range a.weights {
		a.weights[i] *= bucketsPerDay / sum
	}
	return a
}

// next draws the seconds until the next job arrives.
func (a *arrivals) next(random *rand.Rand) float64 {
	exponent := math.Inf(1)
	for exponent > maxGapExponent {
		exponent = gamma(random, a.model.AArr*a.model.ARAR, a.model.BArr)
	}
	a.points += math.Exp(exponent) / secondsPerBucket
	gap := 0.0
	for a.points > a.weights[a.bucket] {
		a.points -= a.weights[a.bucket]
		a.bucket = (a.bucket + 1) % bucketsPerDay
		gap += secondsPerBucket
	}
	remainder := a.points / a.weights[a.bucket]
	gap += secondsPerBucket * (remainder - a.remainder)
	a.remainder = remainder
	return gap
}

// Loaded returns the trace with its arrivals stretched or compressed to a load. The load is the ratio of the processor
// time that the jobs need to the processor time of the machine until the last job arrives.
func Loaded(jobs []Job, procs int, load float64) []Job {
	work, last := 0.0, 0
	for _, j := range jobs {
		work += float64(j.Procs) * float64(j.Run)
		last = max(last, j.Submit)
	}
	factor := work / (load * float64(procs) * float64(max(last, 1)))
	out := slices.Clone(jobs)
	for i := range out {
		out[i].Submit = int(float64(out[i].Submit) * factor)
	}
	slices.SortStableFunc(out, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return out
}

// Estimated returns the trace with inaccurate estimates, as users give them: up to most times the run time.
func Estimated(random *rand.Rand, jobs []Job, most float64) []Job {
	out := slices.Clone(jobs)
	for i := range out {
		out[i].Estimate = int(math.Ceil(float64(out[i].Run) * (1 + random.Float64()*(most-1))))
	}
	return out
}

// gamma draws from a gamma distribution with a shape of at least 1 (Marsaglia and Tsang, 2000).
func gamma(random *rand.Rand, shape, scale float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := random.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-random.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * scale
		}
	}
}

// gammaCDF returns the cumulative distribution function of the gamma distribution, computed with the power series of
// the incomplete gamma function.
func gammaCDF(x, shape, scale float64) float64 {
	x /= scale
	if x <= 0 {
		return 0
	}
	term := 1 / shape
	sum := term
	for k := 1.0; term > sum*1e-15; k++ {
		term *= x / (shape + k)
		sum += term
	}
	logGamma, _ := math.Lgamma(shape)
	return sum * math.Exp(shape*math.Log(x)-x-logGamma)
}
