package whatif

import (
	"encoding/json"
	"fmt"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
)

// MaxPods is the maximum number of pods in one plan. It bounds how long one slice of a simulation takes and how much
// memory it uses, because each pod needs about 40 KB of the scheduler's memory.
const MaxPods = 5000

// plannedPods returns the number of pods in a plan that would exist at once, including the pods that the job
// controller would create for jobs. Objects that cannot be decoded count as zero, because they are rejected later
// with a reason.
func plannedPods(p *insightv1alpha1.Plan) int64 {
	var sum int64
	for i := range p.Spec.Objects {
		raw := rawObjectBytes(&p.Spec.Objects[i])
		switch kind, _ := kindAndName(raw); kind {
		case podKind:
			sum++
			continue
		case jobKind:
		default:
			continue
		}
		job := &batchv1alpha1.Job{}
		if json.Unmarshal(raw, job) == nil {
			sum += podsAtOnce(job)
		}
	}
	return sum
}

// podsAtOnce returns the number of pods of a job. For an array, it counts only the elements that may run at the same
// time.
func podsAtOnce(job *batchv1alpha1.Job) int64 {
	var sum int64
	for i := range job.Spec.Tasks {
		sum += max(int64(job.Spec.Tasks[i].Replicas), 0)
	}
	_, size, isArray := batchv1alpha1.ElementsOf(job)
	if !isArray {
		return sum
	}
	if limit, err := batchv1alpha1.ArrayLimit(job); err == nil && limit > 0 {
		return min(sum, int64(limit)*int64(size))
	}
	return sum
}

// checkPodCount returns a problem and a hint if a plan has too many pods; both are empty if the plan can be
// simulated.
func checkPodCount(pods int64) (problem, hint string) {
	if pods <= MaxPods {
		return "", ""
	}
	return fmt.Sprintf("the plan is too large: its jobs have %d pods, but at most %d can be simulated together", pods, MaxPods),
		"plan a job with fewer replicas, or plan one job at a time"
}
