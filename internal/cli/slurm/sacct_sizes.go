package slurm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/launch"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/slurm/value"
)

// sacctSizes reads -i, -I, -k, -K, -R and -C.
func (c *call) sacctSizes() (sacct.Sizes, error) {
	var s sacct.Sizes
	var err error
	if s.Nodes, err = c.countRange("nnodes"); err != nil {
		return s, err
	}
	if s.CPUs, err = c.countRange("ncpus"); err != nil {
		return s, err
	}
	for option, bound := range map[string]**time.Duration{"timelimit-min": &s.Limit.Min, "timelimit-max": &s.Limit.Max} {
		text, given := c.parsed.Last(option)
		if !given {
			continue
		}
		minutes, err := value.ParseTime(text)
		if err != nil {
			return s, fault.Hinted(fmt.Errorf("Invalid time limit %q for --%s", text, option), "write minutes, H:MM:SS or D-HH:MM") //nolint:staticcheck // Slurm's words
		}
		limit := time.Duration(minutes) * time.Minute
		*bound = &limit
	}
	if s.Limit.Min != nil {
		s.Limit.Max = cmp.Or(s.Limit.Max, s.Limit.Min)
	}
	return s, c.lists(listed{"reason", "", &s.Reasons}, listed{"constraints", "", &s.Constraints})
}

// countRange reads N or N-MAX.
func (c *call) countRange(option string) (sacct.Range[int64], error) {
	var r sacct.Range[int64]
	text, given := c.parsed.Last(option)
	if !given {
		return r, nil
	}
	count, err := value.ParseCount(text)
	if err != nil {
		return r, fault.Errorf("write a number, as 4, or a range, as 2-8", "Invalid value %q for --%s", text, option)
	}
	least, most := int64(count.Min), int64(count.Max)
	r.Min, r.Max = &least, &most
	return r, nil
}

// scriptRule stands between the title of a script and the script.
var scriptRule = strings.Repeat("-", 80)

// sacctScripts prints the batch scripts of the jobs of -j.
func (c *call) sacctScripts(ctx context.Context) error {
	named := c.parsed.All("jobs")
	if len(named) == 0 {
		return fault.Errorf("sacct -B -j JOB", "When requesting job scripts you must also request specific jobs with the '-j' option.")
	}
	jobs, err := c.jobsOf(ctx, named, false)
	if err != nil {
		return err
	}
	slices.SortFunc(jobs, func(a, b *batchv1alpha1.Job) int {
		one, _ := batchv1alpha1.JobID(a)
		other, _ := batchv1alpha1.JobID(b)
		return cmp.Compare(one, other)
	})
	cl, err := c.f.Client()
	if err != nil {
		return err
	}
	for _, job := range jobs {
		script, err := scriptOf(ctx, cl, job)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.f.Streams.Out, "Batch Script for %s\n%s\n%s\n", idOf(job), scriptRule, cmp.Or(script, "NONE\n")); err != nil {
			return err
		}
	}
	return nil
}

// scriptOf returns the batch script of a job; empty if the job has none.
func scriptOf(ctx context.Context, cl client.Client, job *batchv1alpha1.Job) (string, error) {
	kept := &corev1.ConfigMap{}
	err := cl.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: job.Name + translate.ObjectSuffix}, kept)
	return kept.Data[launch.ScriptKey], client.IgnoreNotFound(err)
}
