package listing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/usererror"
)

// readSacctSizes parses -i, -I, -k, -K, -R and -C.
func readSacctSizes(c *program.Call) (sacct.Sizes, error) {
	var s sacct.Sizes
	var err error
	if s.Nodes, err = parseCountRange(c, "nnodes"); err != nil {
		return s, err
	}
	if s.CPUs, err = parseCountRange(c, "ncpus"); err != nil {
		return s, err
	}
	for option, bound := range map[string]**time.Duration{"timelimit-min": &s.Limit.Min, "timelimit-max": &s.Limit.Max} {
		text, given := c.Parsed.LastValue(option)
		if !given {
			continue
		}
		minutes, err := optionvalue.ParseTime(text)
		if err != nil {
			return s, usererror.WithHint(fmt.Errorf("Invalid time limit %q for --%s", text, option), "use minutes, H:MM:SS or D-HH:MM") //nolint:staticcheck // Slurm's words
		}
		limit := time.Duration(minutes) * time.Minute
		*bound = &limit
	}
	if s.Limit.Min != nil {
		s.Limit.Max = cmp.Or(s.Limit.Max, s.Limit.Min)
	}
	return s, c.ReadListFilters(program.NewListFilter("reason", "", &s.Reasons), program.NewListFilter("constraints", "", &s.Constraints))
}

// parseCountRange parses a range of the form N or N-MAX.
func parseCountRange(c *program.Call, option string) (sacct.Range[int64], error) {
	var r sacct.Range[int64]
	text, given := c.Parsed.LastValue(option)
	if !given {
		return r, nil
	}
	count, err := optionvalue.ParseCount(text)
	if err != nil {
		return r, usererror.Errorf("use a number such as 4, or a range such as 2-8", "Invalid value %q for --%s", text, option)
	}
	least, most := count.Min, count.Max
	r.Min, r.Max = &least, &most
	return r, nil
}

// scriptRule separates the title of a script from the script.
var scriptRule = strings.Repeat("-", 80)

// printSacctTexts prints the batch scripts or the environments of the jobs specified by -j.
func printSacctTexts(ctx context.Context, c *program.Call) error {
	title, textOf := "Batch Script for", readBatchScript
	if c.Parsed.Has("env-vars") {
		title, textOf = "Environment used for", readEnvironment
	}
	named := c.Parsed.AllValues("jobs")
	switch {
	case c.Parsed.Has("env-vars") && c.Parsed.Has("batch-script"):
		return usererror.Errorf("run sacct once for each option", "--batch-script and --env-vars are mutually exclusive")
	case len(named) == 0 && c.Parsed.Has("env-vars"):
		return usererror.Errorf("sacct --env-vars -j JOB", "--env-vars requires jobs to be specified with -j")
	case len(named) == 0:
		return usererror.Errorf("sacct -B -j JOB", "When requesting job scripts you must also request specific jobs with the '-j' option.")
	}
	jobs, err := clusterdata.ReadNamedJobs(ctx, c, named, false)
	if err != nil {
		return err
	}
	slices.SortFunc(jobs, func(a, b *batchv1alpha1.Job) int {
		one, _ := batchv1alpha1.JobID(a)
		other, _ := batchv1alpha1.JobID(b)
		return cmp.Compare(one, other)
	})
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	for _, job := range jobs {
		text, err := textOf(ctx, cl, job)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(c.Factory.Streams.Out, "%s %s\n%s\n%s\n", title, listrow.NumberOrName(job), scriptRule, cmp.Or(text, "NONE\n")); err != nil {
			return err
		}
	}
	return nil
}

// readBatchScript returns the batch script of a job, or an empty string if the job has no script.
func readBatchScript(ctx context.Context, cl client.Client, job *batchv1alpha1.Job) (string, error) {
	kept := &corev1.ConfigMap{}
	err := cl.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: job.Name + translate.ObjectSuffix}, kept)
	return kept.Data[launchconfig.ScriptKey], client.IgnoreNotFound(err)
}

// readEnvironment returns the environment with which a job was submitted, as lines of the form NAME=value. The result
// is empty if no environment was stored. Reading it requires permission to read the job's Secret.
func readEnvironment(ctx context.Context, cl client.Client, job *batchv1alpha1.Job) (string, error) {
	kept := &corev1.Secret{}
	err := cl.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: job.Name + translate.ObjectSuffix}, kept)
	if apierrors.IsForbidden(err) {
		return "", usererror.Errorf("ask an administrator for permission to get Secrets in namespace "+job.Namespace, "The environment of job %s is in the Secret %s/%s%s, which you are not allowed to read", listrow.NumberOrName(job), job.Namespace, job.Name, translate.ObjectSuffix)
	}
	if err := client.IgnoreNotFound(err); err != nil {
		return "", err
	}
	text := ""
	for _, entry := range launchconfig.SplitEnvironment(kept.Data[launchconfig.EnvironmentKey]) {
		text += entry + "\n"
	}
	return text, nil
}
