package usage

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
)

// estimator estimates the load that a task causes before measurements include it.
type estimator struct {
	requestRatio, burstRatio  float64
	riskThreshold, riskFactor float64
	milliCPU, memoryBytes     int64 // for pods without requests
}

func newEstimator(a config.Arguments, warn func(string)) estimator {
	a.WarnUnknown("estimator", warn, "request_ratio", "burst_ratio", "risk_threshold", "risk_factor", "be_cpu", "be_mem")
	inside := a.InSection("estimator")
	ratio := func(key string, def float64) float64 {
		v := inside.Float("estimator."+key, def, warn)
		if v >= 0 {
			return v
		}
		if warn != nil {
			warn(fmt.Sprintf("argument estimator.%s: must be 0 or more, not %v; the default is used", key, v))
		}
		return def
	}
	return estimator{
		requestRatio: ratio("request_ratio", 0.7), burstRatio: ratio("burst_ratio", 0),
		riskThreshold: ratio("risk_threshold", 0.6), riskFactor: ratio("risk_factor", 1.2),
		milliCPU: parseAmount(a, "be_cpu", corev1.ResourceCPU, "250m", warn), memoryBytes: parseAmount(a, "be_mem", corev1.ResourceMemory, "200Mi", warn),
	}
}

func parseAmount(a config.Arguments, key string, name corev1.ResourceName, def string, warn func(string)) int64 {
	given, present := a[key]
	q, err := apiresource.ParseQuantity(fmt.Sprint(given))
	isQuantity := err == nil && q.Sign() >= 0
	if present && !isQuantity && warn != nil {
		warn(fmt.Sprintf("argument estimator.%s: must be a quantity, not %v; the default is used", key, given))
	}
	if !present || !isQuantity {
		q = apiresource.MustParse(def)
	}
	return resource.RoundUp(name, q)
}

// estimateLoad returns the estimated load of a task of a shape, in millicores and bytes. It is between zero and the
// larger of the task's request and limit.
func (e *estimator) estimateLoad(s *model.Shape, risky bool) (cpu, memory int64) {
	requestCPU, requestMemory := s.Request.Get(resource.CPU), s.Request.Get(resource.Memory)
	if requestCPU|requestMemory|s.LimitMilliCPU|s.LimitMemoryBytes == 0 {
		return e.milliCPU, e.memoryBytes
	}
	factor := 1.0
	if risky {
		factor = e.riskFactor
	}
	one := func(request, limit int64) int64 {
		most := max(request, limit)
		guess := (float64(request)*e.requestRatio + float64(most-request)*e.burstRatio) * factor
		return int64(min(max(guess, 0), float64(most)))
	}
	return one(requestCPU, s.LimitMilliCPU), one(requestMemory, s.LimitMemoryBytes)
}
