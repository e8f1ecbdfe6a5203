package submit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/plan"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/usererror"
)

// planPatience is the maximum time to wait for the scheduler's answer.
const planPatience = 30 * time.Second

// runTestOnly requests the estimated start of a job from the scheduler without submitting the job. Because the job has
// no number, it is printed as job 0.
func runTestOnly(ctx context.Context, c *program.Call, s *jobInput, r *translate.Result) error {
	raw, err := json.Marshal(r.Job)
	if err != nil {
		return err
	}
	p, err := plan.RequestPlan(ctx, c.Factory, r.Job.Namespace, []runtime.RawExtension{{Raw: raw}}, planPatience)
	if err != nil {
		return err
	}
	if len(p.Status.Answers) == 0 {
		return usererror.Errorf("the scheduler might be starting; try again later", "allocation failure: the scheduler did not respond")
	}
	a := &p.Status.Answers[0]
	if a.Verdict == insightv1alpha1.VerdictNever {
		return neverStartsError(a)
	}
	when, known := estimatedStart(p, a)
	if !known {
		fmt.Fprintf(c.Factory.Streams.Err, "%s: Job 0 would wait: %s\n", c.Table.Program, printable.EscapeLine(unknownStartReason(a)))
		return nil
	}
	cpus := s.request.CPUsPerTask
	if list := r.Job.Spec.Tasks[0].Template.Spec.Containers[0].Resources.Requests; list != nil {
		cpus = list.Cpu().Value()
	}
	pods := int64(max(a.MinMember, a.Pods))
	fmt.Fprintf(c.Factory.Streams.Err, "%s: Job 0 to start at %s using %d processors%s in partition %s\n", c.Table.Program, when.In(c.Factory.Now().Location()).Format("2006-01-02T15:04:05"), cpus*pods, nodesText(a), r.Spec.Partition)
	if names := victimsText(ctx, c, a); names != "" {
		fmt.Fprintf(c.Factory.Streams.Err, "%s:   Preempts: %s\n", c.Table.Program, names)
	}
	return nil
}

// neverStartsError returns an error with the reason why a job can never start.
func neverStartsError(a *insightv1alpha1.Answer) error {
	hint := a.Message
	for _, problem := range a.Problems {
		hint = strings.TrimSpace(problem.Field + ": " + problem.Message)
	}
	if e := a.Explanation; e != nil && e.Message != "" {
		hint = e.Message
		if e.Hint != "" {
			hint += "; " + e.Hint
		}
	}
	return usererror.Errorf(hint, "allocation failure: Requested node configuration is not available")
}

// estimatedStart returns the time when the job would start: the time of the scheduler's answer if the job can start
// now, and the scheduler's estimate otherwise. It returns false if the time is unknown.
func estimatedStart(p *insightv1alpha1.Plan, a *insightv1alpha1.Answer) (time.Time, bool) {
	if a.Verdict == insightv1alpha1.VerdictStarts && p.Status.AnsweredAt != nil {
		return p.Status.AnsweredAt.Time, true
	}
	if e := a.Explanation; e != nil && e.EstimatedStart != nil {
		return e.EstimatedStart.Time, true
	}
	return time.Time{}, false
}

// unknownStartReason returns the reason why the start time is unknown. An explanation has no code for it, so the words
// never and unknown, with which the scheduler begins Estimate, are the interface.
func unknownStartReason(a *insightv1alpha1.Answer) string {
	e := a.Explanation
	switch {
	case e == nil:
	case e.Never || strings.HasPrefix(e.Estimate, "never: "):
		return "the job cannot start with its current request"
	case e.Estimate != "":
		return "start time unknown: " + strings.TrimPrefix(e.Estimate, "unknown: ")
	}
	if a.Explanation == nil && a.Message != "" {
		return a.Message
	}
	return "start time unknown: jobs ahead of this job have no time limit"
}

func nodesText(a *insightv1alpha1.Answer) string {
	var names []string
	for _, placement := range a.Placements {
		names = append(names, placement.Node)
	}
	if len(names) == 0 {
		return ""
	}
	return " on nodes " + hostlist.FormatSorted(names)
}

// victimsText lists the jobs that would be evicted, each of them once. It lists them by number, or by name if they have
// no number or may not be read. Pods without a job are listed by name.
func victimsText(ctx context.Context, c *program.Call, a *insightv1alpha1.Answer) string {
	called := map[string]string{}
	var names []string
	for _, v := range a.Victims {
		name, known := called[v.Namespace+"/"+v.Job]
		switch {
		case v.Job == "":
			name = v.Pod
		case !known:
			name = jobNumberOrName(ctx, c, v.Namespace, v.Job)
			called[v.Namespace+"/"+v.Job] = name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// jobNumberOrName returns the number of a job, or its name if it has no number or may not be read.
func jobNumberOrName(ctx context.Context, c *program.Call, namespace, name string) string {
	job := &batchv1alpha1.Job{}
	cl, err := c.Factory.Client()
	if err != nil || cl.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, job) != nil {
		return name
	}
	return listrow.NumberOrName(job)
}
