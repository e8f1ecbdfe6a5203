package translate

import (
	"fmt"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/usererror"
)

// limitedQueue gives the queue nlp limits: four nodes, six pods, a run time of an hour, and by default half an hour.
func limitedQueue(in *Input) {
	q := Queue{Name: "nlp", Open: true}
	q.Limits.MaxNodes.Value, q.Limits.MaxPods.Value = 4, 6
	q.Limits.MaxRunTime.Value, q.Limits.DefaultRunTime.Value = time.Hour, 30*time.Minute
	in.Facts.Queues = append([]Queue{q}, in.Facts.Queues...)
}

func TestTheLimitsOfTheQueueAreCheckedBeforeSubmission(t *testing.T) {
	t.Parallel()
	const nodes, longest, array = "Node count specification invalid", "Requested time limit is invalid (missing or exceeds some limit)", "Invalid job array specification"
	for line, want := range map[string]string{
		"-p nlp -N5":                      "Batch job submission failed: " + nodes + "|the node limit of partition nlp is 4",
		"-p nlp -n10 --ntasks-per-node=2": "Batch job submission failed: " + nodes + "|the node limit of partition nlp is 4",
		"-p nlp -t 61":                    "Batch job submission failed: " + longest + "|the maximum is 1:00:00",
		"-p nlp -t UNLIMITED":             "Batch job submission failed: " + longest + "|the maximum is 1:00:00",
		"-p nlp -a 1-4 -N2":               "Batch job submission failed: " + array + "|the array has 8 nodes in all its tasks together, but partition nlp permits at most 6: submit several arrays",
		"-p nlp -a 1-3 -N2 -t 1:00:00":    "",
		"-p nlp -N4 -t 60":                "",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			_, err := try(t, line, limitedQueue)
			got := ""
			if err != nil {
				first := usererror.FromError(err)
				got = first.What + "|" + first.Hint
			}
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

func TestAJobGetsTheTimeAndTheNodesThatItsQueuePermits(t *testing.T) {
	t.Parallel()
	unbounded := func(in *Input) {
		limitedQueue(in)
		in.Facts.Queues[0].Limits.MaxRunTime.Value = 0
	}
	for line, test := range map[string]struct {
		change func(*Input)
		want   string // deadline, limit of the launcher, estimate, pods, minimum
	}{
		"-p nlp":                     {limitedQueue, "1800 1800 30m0s 1 1"},
		"-p nlp -t 45":               {limitedQueue, "2700 2700 45m0s 1 1"},
		"-p nlp -N2-9":               {limitedQueue, "1800 1800 30m0s 4 2"},
		"-p nlp -t UNLIMITED":        {unbounded, "2147483647 0 0s 1 1"},
		"-p research -t UNLIMITED":   {limitedQueue, "0 0 0s 1 1"},
		"-p research,nlp -t 3:00:00": {limitedQueue, "10800 10800 3h0m0s 1 1"},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			result, err := try(t, line, test.change)
			if err != nil {
				t.Fatal(err)
			}
			spec := result.Job.Spec
			var deadline int64
			var estimate time.Duration
			var pods int32
			for i := range spec.Tasks {
				pods += spec.Tasks[i].Replicas
			}
			if d := spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds; d != nil {
				deadline = *d
			}
			if spec.RunningEstimate != nil {
				estimate = spec.RunningEstimate.Duration
			}
			if got := fmt.Sprint(deadline, " ", result.Spec.TimeLimit, " ", estimate, " ", pods, " ", max(spec.MinAvailable, 1)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestThePartitionThatPermitsTheJobIsChosenFromAList(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"-p nlp,research -t 2:00:00": "research", "-p nlp,research -N5": "research", "-p nlp,research -t 60 -N4": "nlp"} {
		result, err := try(t, line, limitedQueue)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := result.Job.Spec.Queue; got != want {
			t.Errorf("%s: queue %s, want %s", line, got, want)
		}
	}
}
