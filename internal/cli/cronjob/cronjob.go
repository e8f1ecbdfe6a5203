// Package cronjob implements `vcctl cronjob`, the commands for jobs that are created on a schedule.
//
//	In:   CronJobs, their jobs, events about them
//	Out:  tables; CronJobs created, deleted, suspended and resumed; jobs created manually
//
// A pure function (next.go) computes the next time in a schedule.
package cronjob

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/show"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/render"
)

type cronJob = *batchv1alpha1.CronJob

// New returns `vcctl cronjob` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	return cronJobs().NewCommand(f, newSuspend(f, changeSuspension), newResume(f, changeSuspension), newTrigger(f, triggerCronJobs))
}

func cronJobs() *resourcecmd.Kind[cronJob] {
	return &resourcecmd.Kind[cronJob]{
		Noun: "cronjob", Called: "cron job", Aliases: []string{"cronjobs", "cron", "cronvj"}, Sample: "nightly",
		Short: "List, show, suspend, resume and trigger cron jobs",
		Long: `
			Work with cron jobs (cronjobs.batch.volcano.sh), which create jobs on a schedule.
			Use kubectl for the CronJobs of Kubernetes (cronjobs.batch).`,
		GVK: batchv1alpha1.GroupVersion.WithKind("CronJob"),
		New: func() cronJob { return &batchv1alpha1.CronJob{} }, NewList: func() client.ObjectList { return &batchv1alpha1.CronJobList{} },
		Columns: listColumns, Spare: []string{"ZONE", "AGE", "LAST", "ACTIVE", "SUSPENDED"}, View: buildSheet,
		State: func(c cronJob) string { return stateText(c) },
		ListHelp: resourcecmd.Help{
			Short: "List cron jobs: schedule, last and next time, active jobs",
			Long: `
				List cron jobs. ACTIVE is the number of their jobs that have not ended. LAST is the
				time since the schedule last created a job, and NEXT is the time until the next job.
				A schedule without a time zone uses the time zone of the controller. vcctl assumes
				UTC, unless LAST shows that the controller uses the time zone of this machine.`,
			Examples: `
				# In this namespace
				vcctl cronjob list

				# In all namespaces, sorted by the next start
				vcctl cronjob list -A --sort-by next`,
		},
		ViewHelp: resourcecmd.Help{
			Short: "Show a cron job: its schedule, next times and jobs",
			Long: `
				Show a cron job: its schedule and its next times, its existing jobs, the resources
				that its jobs request, and its latest events.`,
			Examples: `
				# One cron job
				vcctl cronjob view nightly

				# The object
				vcctl cronjob view nightly -o yaml`,
		},
		DeleteNote: `Deleting a cron job also deletes its jobs and their pods.`,
	}
}

func isSuspended(c cronJob) bool { return c.Spec.Suspend != nil && *c.Spec.Suspend }

func stateText(c cronJob) string {
	if isSuspended(c) {
		return "suspended"
	}
	if n := len(c.Status.Active); n > 0 {
		return fmt.Sprintf("%d active", n)
	}
	return c.Spec.Schedule
}

func listColumns(f *cli.Factory) []cli.Column[cronJob] {
	now := f.Now()
	upcoming := func(c cronJob) time.Time { next, _ := nextScheduleTime(c, now); return next }
	return []cli.Column[cronJob]{
		{Title: "NAME", Text: func(c cronJob) string { return c.Name }},
		{Title: "SCHEDULE", Text: func(c cronJob) string { return c.Spec.Schedule }},
		{Title: "ZONE", Text: func(c cronJob) string { return zoneText(c) }},
		{Title: "SUSPENDED", Text: func(c cronJob) string { return yesOrNo(isSuspended(c)) }},
		{Title: "ACTIVE", Text: func(c cronJob) string { return fmt.Sprint(len(c.Status.Active)) }},
		{Title: "LAST", Volatile: true, Text: func(c cronJob) string { return timeAgoText(c.Status.LastScheduleTime, f.Now()) },
			Compare: func(a, b cronJob) int {
				return b.Status.LastScheduleTime.Compare(timeOrZero(a.Status.LastScheduleTime))
			}},
		{Title: "NEXT", Volatile: true, Text: func(c cronJob) string { return nextTimeText(c, f.Now()) },
			Compare: func(a, b cronJob) int { return compareTimes(upcoming(a), upcoming(b)) }},
		{Title: "POLICY", Wide: true, Text: func(c cronJob) string {
			return string(cmp.Or(c.Spec.ConcurrencyPolicy, batchv1alpha1.AllowConcurrent))
		}},
		{Title: "SUCCEEDED", Wide: true, Volatile: true, Text: func(c cronJob) string { return timeAgoText(c.Status.LastSuccessfulTime, f.Now()) }},
		{Title: "AGE", Volatile: true, Text: func(c cronJob) string { return render.FormatAgeSince(f.Now(), c.CreationTimestamp.Time) },
			Compare: func(a, b cronJob) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
	}
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// compareTimes compares times, sorting the zero time last.
func compareTimes(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}

// nextTimes is the number of upcoming times that a view shows.
const nextTimes = 3

func buildSheet(ctx context.Context, f *cli.Factory, c client.Client, cron cronJob, events bool) (*cli.Sheet, error) {
	now, style := f.Now(), render.Style{Enabled: f.Streams.IsColored()}
	sheet := &cli.Sheet{}
	sheet.AddFact("Name", cron.Name)
	sheet.AddFact("Namespace", cron.Namespace)
	schedule := cron.Spec.Schedule
	if isSuspended(cron) {
		schedule += " " + style.Warn("(suspended; `"+f.CommandText("cronjob resume "+cron.Name)+"` continues)")
	}
	sheet.AddFact("Schedule", schedule+resourcecmd.DeletionSuffix(cron))
	sheet.AddFact("Time zone", zoneFactText(cron, now))
	sheet.AddFact("Last time", resourcecmd.TimeText(timeOrZero(cron.Status.LastScheduleTime), now))
	sheet.AddFact("Last success", resourcecmd.TimeText(timeOrZero(cron.Status.LastSuccessfulTime), now))
	addNextTimes(sheet, cron, now)
	sheet.AddFact("While one runs", policyText(cron.Spec.ConcurrencyPolicy))
	if late := cron.Spec.StartingDeadlineSeconds; late != nil {
		sheet.AddFact("Latest start", render.FormatDuration(time.Duration(*late)*time.Second)+" after its time")
	}
	sheet.AddFact("Kept", fmt.Sprintf("%s completed, %s failed jobs", limitText(cron.Spec.SuccessfulJobsHistoryLimit, 3), limitText(cron.Spec.FailedJobsHistoryLimit, 1)))
	sheet.AddFact("Queue", cmp.Or(cron.Spec.JobTemplate.Spec.Queue, keys.DefaultQueue))
	sheet.AddFact("Created", resourcecmd.CreatedText(cron, now))
	jobs, err := jobsOfCronJob(ctx, c, cron)
	if err != nil {
		return nil, err
	}
	sheet.AddTable("Jobs", newJobTable(jobs, style, now))
	sheet.AddTable("Tasks of each job", show.NewTemplateTable(cron.Spec.JobTemplate.Spec.Tasks))
	if !events {
		return sheet, nil
	}
	happened, err := clusterops.EventsAboutObjects(ctx, c, cron.Namespace, cron)
	sheet.AddTable("Events", cli.NewEventTable(happened, now, func(*corev1.Event) string { return "cron job" }))
	return sheet, err
}

func addNextTimes(sheet *cli.Sheet, cron cronJob, now time.Time) {
	if isSuspended(cron) {
		return
	}
	next, why := nextScheduleTime(cron, now)
	if why != "" {
		sheet.AddFact("Next time", "none: "+why)
		return
	}
	for i := range nextTimes {
		name := "Next time"
		if i > 0 {
			name = "Then"
		}
		sheet.AddFact(name, resourcecmd.TimeText(next, now))
		if next, why = nextTimeAfter(cron, now, next); why != "" {
			return
		}
	}
}

func policyText(policy batchv1alpha1.ConcurrencyPolicy) string {
	switch policy {
	case batchv1alpha1.ForbidConcurrent:
		return "Forbid: the next job starts after the running job ends"
	case batchv1alpha1.ReplaceConcurrent:
		return "Replace: the running job is deleted when the next job is due"
	}
	return "Allow: the next job starts while the running job continues"
}

func limitText(limit *int32, fallback int32) string {
	if limit != nil {
		fallback = *limit
	}
	return fmt.Sprint(fallback)
}

// jobsOfCronJob returns the existing jobs of a cron job, newest first. No label of a job contains the name of its cron
// job, so jobsOfCronJob lists all jobs in the namespace in pages.
func jobsOfCronJob(ctx context.Context, c client.Client, cron cronJob) ([]*batchv1alpha1.Job, error) {
	var jobs []*batchv1alpha1.Job
	page := &batchv1alpha1.JobList{}
	err := cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			if owners := page.Items[i].OwnerReferences; len(owners) > 0 && owners[0].UID == cron.UID {
				jobs = append(jobs, page.Items[i].DeepCopy())
			}
		}
		return nil
	}, client.InNamespace(cron.Namespace))
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	slices.SortStableFunc(jobs, func(a, b *batchv1alpha1.Job) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	return jobs, err
}

func newJobTable(jobs []*batchv1alpha1.Job, style render.Style, now time.Time) render.Table {
	table := render.Table{Header: []string{"NAME", "PHASE", "FOR", "AGE"}}
	for _, j := range jobs {
		madeFor := "manually"
		if at, err := time.Parse(time.RFC3339, j.Annotations[keys.CronJobScheduled]); err == nil {
			madeFor = at.Format(time.RFC3339)
		}
		phase := cmp.Or(j.Status.State.Phase, batchv1alpha1.Pending)
		table.Rows = append(table.Rows, []string{j.Name, style.PaintPhase(string(phase)), madeFor, render.FormatAgeSince(now, j.CreationTimestamp.Time)})
	}
	return table
}
