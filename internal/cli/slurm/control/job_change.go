package control

import (
	"strconv"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/scontrol"
	"github.com/vc-batch/vc/internal/slurm/submission"
	"github.com/vc-batch/vc/internal/usererror"
)

// jobChange is the parsed update of a job.
type jobChange struct {
	annotations map[string]any
	asked       []func(*submission.Options)
	// limit and partition can be changed only before the job has a PodGroup, except that a running job can get a
	// shorter limit.
	limit     *int64
	partition string
	// qos is the name of one of the site's QOS or of a priority class.
	qos string
	// features holds the required node features. An empty list removes the requirement, and nil leaves it unchanged.
	features *optionvalue.Features
}

// changesOnlyLimit reports whether the change sets a time limit but neither a partition nor features.
func (change *jobChange) changesOnlyLimit() bool {
	return change.limit != nil && change.partition == "" && change.features == nil
}

// requiresNoPodGroup reports whether the change requires that the job has no PodGroup yet.
func (change *jobChange) requiresNoPodGroup() bool {
	return change.limit != nil || change.partition != "" || change.features != nil
}

// readJobChange parses the words that describe an update of a job.
func readJobChange(c *program.Call, list []scontrol.Word) (*jobChange, error) {
	change := &jobChange{annotations: map[string]any{}}
	for _, word := range list {
		switch {
		case word.HasName("JobName", "Name"):
			change.annotations[keys.JobTitle] = word.Value
		case word.HasName("Dependency"):
			if _, err := batchv1alpha1.ParseDependency(word.Value, ""); err != nil {
				return nil, usererror.Errorf("use Dependency=afterok:42, or Dependency= to remove the dependency", "Job dependency problem: %s", err)
			}
			change.annotations[keys.Dependency] = textOrNil(word.Value)
		case word.HasName("ArrayTaskThrottle"):
			if n, err := strconv.Atoi(word.Value); err != nil || n < 0 {
				return nil, usererror.Errorf("specify how many tasks can run at the same time; 0 means no limit", "Invalid ArrayTaskThrottle: %s", word.Value)
			} else if n == 0 {
				change.annotations[keys.ArrayLimit] = nil
				continue
			}
			change.annotations[keys.ArrayLimit] = word.Value
		case word.HasName("StartTime"):
			t, err := optionvalue.ParseDate(word.Value, c.Factory.Now(), optionvalue.Coming)
			if err != nil {
				return nil, usererror.Errorf("use a format such as 2026-11-21T22:18, 22:18, 11/21 or now+2hours", "Invalid StartTime: %s", word.Value)
			}
			change.annotations[keys.Begin] = t.UTC().Format(time.RFC3339)
		case word.HasName("Comment"):
			change.asked = append(change.asked, func(o *submission.Options) { o.Comment = word.Value })
		case word.HasName("Account"):
			change.asked = append(change.asked, func(o *submission.Options) { o.Account = word.Value })
		case word.HasName("WCKey"):
			change.asked = append(change.asked, func(o *submission.Options) { o.WCKey = word.Value })
		case word.HasName("TimeLimit"):
			minutes, err := optionvalue.ParseTime(word.Value)
			if err != nil {
				return nil, usererror.Errorf("use minutes, or a format such as 2:00:00 or 1-12", "Invalid TimeLimit: %s", word.Value)
			}
			change.limit = new(max(0, int64(minutes)) * 60) // 0: no limit
		case word.HasName("Partition"):
			change.partition = word.Value
			change.asked = append(change.asked, func(o *submission.Options) { o.Partition = word.Value })
		case word.HasName("QOS"):
			change.qos = word.Value
			change.asked = append(change.asked, func(o *submission.Options) { o.QOS = word.Value })
		case word.HasName("Features"):
			features := optionvalue.Features{}
			if word.Value != "" {
				var err error
				if features, err = optionvalue.ParseFeatures(word.Value); err != nil {
					return nil, usererror.Errorf(optionvalue.HintOf(err), "Invalid Features: %s", word.Value)
				}
			}
			change.features = &features
			change.asked = append(change.asked, func(o *submission.Options) { o.Features = features.String() })
		case word.HasName("Priority", "Nice"):
			return nil, usererror.Errorf("priority classes (--qos) and shares determine the order of jobs; use hold and release to delay a job", "%s cannot be set", word.Name)
		default:
			return nil, usererror.Errorf("these fields of a job can be changed: TimeLimit, Partition, Features, QOS, JobName, Comment, Account, WCKey, Dependency, StartTime, ArrayTaskThrottle", "Update of this parameter is not supported: %s", word.Name)
		}
	}
	return change, nil
}

func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// limitSpecChanges returns the changes to the job spec that set a time limit, in seconds. 0 means no limit.
func limitSpecChanges(job *batchv1alpha1.Job, limit int64) map[string]any {
	tasks := make([]batchv1alpha1.TaskSpec, len(job.Spec.Tasks))
	for i := range tasks {
		tasks[i] = *job.Spec.Tasks[i].DeepCopy()
		tasks[i].Template.Spec.ActiveDeadlineSeconds = nil
		if limit > 0 {
			tasks[i].Template.Spec.ActiveDeadlineSeconds = &limit
		}
	}
	spec := map[string]any{"tasks": tasks, "runningEstimate": nil}
	if limit > 0 {
		spec["runningEstimate"] = (time.Duration(limit) * time.Second).String()
	}
	return spec
}
