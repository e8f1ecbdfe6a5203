package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/cli/job/wait"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// viewOptions holds the inputs of `vcctl job view`.
type viewOptions struct {
	f      *cli.Factory
	out    cli.Output
	sel    cli.Selection
	events bool
	watch  bool
	compat bool
}

func newView(f *cli.Factory, run func(context.Context, *viewOptions) error) *cobra.Command {
	o := &viewOptions{f: f}
	cmd := &cobra.Command{
		Use:     "view NAME...",
		Aliases: []string{"describe", "show"},
		Short:   "Show a job: its tasks, pods and events, and why it is waiting",
		Long: cli.FormatHelp(`
			Show details of a job: its tasks, pods and phase history, and the latest events
			about the job, its pod group and its pods. If the job is waiting, the reason and
			possible solutions follow.`),
		Example: f.FormatExamples(`
			# One job
			vcctl job view train

			# The object itself
			vcctl job view train -o yaml

			# Watch: show the job whenever it changes, until it ends
			vcctl job view train -w

			# Without the events
			vcctl job view train --events=false`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if len(o.sel.Names) == 0 && !o.sel.SelectsMany() {
				return usererror.Errorf(fmt.Sprintf("%s NAME; `vcctl job list` shows the names", cli.CommandPath(f, cmd)),
					"job name (specified by --name or -N) is mandatory to view a particular job")
			}
			if err := o.sel.RequireSelection(f, cmd, ""); err != nil {
				return err
			}
			if o.watch && (len(o.sel.Names) != 1 || o.out.IsMachineReadable()) {
				return cli.UsageError(f, cmd, "--watch requires the name of exactly one job and the default output format")
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.events, "events", true, "Show the latest events")
	cmd.Flags().BoolVar(&o.compat, "compat", false, "Print the job in the format of Volcano's vcctl")
	o.sel.AddFlags(cmd, "jobs")
	o.sel.AddAllNamespacesFlag(cmd, "With --all or -l: select jobs in all namespaces")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "Show the job again whenever it changes, until it has ended")
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

// sheet holds the data that `job view` shows about one job.
type sheet struct {
	jobstatus.Sheet
	// simulated records, for each node read so far, whether the node is simulated.
	simulated map[string]bool
}

func viewJobs(ctx context.Context, o *viewOptions) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	jobs, err := lookup.ReadSelected(ctx, o.f, c, &o.sel)
	switch {
	case o.watch && err == nil:
		return o.followJob(ctx, c, jobs[0])
	case o.out.IsMachineReadable():
		return errors.Join(err, o.printJobs(jobs))
	case o.sel.SelectsMany() && len(jobs) == 0 && err == nil:
		fmt.Fprintln(o.f.Streams.Err, "No resources found.")
	}
	for i, job := range jobs {
		s, readErr := readSheet(ctx, c, job, o.events)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		if i > 0 {
			fmt.Fprintln(o.f.Streams.Out)
		}
		write := s.writeSections
		if o.compat || o.sel.UsesOldName() {
			write = s.writeCompatSheet
		}
		if writeErr := write(o.f); writeErr != nil {
			return writeErr
		}
	}
	return err
}

// printJobs prints the jobs in a machine-readable format: a single named job directly, other selections as a List.
func (o *viewOptions) printJobs(jobs []*batchv1alpha1.Job) error {
	if len(jobs) == 0 && !o.sel.SelectsMany() {
		return nil
	}
	objects := make([]client.Object, len(jobs))
	for i, job := range jobs {
		objects[i] = job
	}
	return o.out.PrintObjects(o.f, objects, !o.sel.SelectsMany() && len(o.sel.Names) == 1)
}

// followJob prints a job again after every change, until the job has ended.
func (o *viewOptions) followJob(ctx context.Context, c client.WithWatch, job *batchv1alpha1.Job) error {
	first := true
	c = o.f.RetryingClient(c)
	err := wait.FollowJob(ctx, c, client.ObjectKeyFromObject(job), job.UID, func(now *batchv1alpha1.Job) (bool, error) {
		s, err := readSheet(ctx, c, now, o.events)
		if err != nil {
			return false, err
		}
		if !first {
			fmt.Fprintln(o.f.Streams.Out)
		}
		first = false
		return jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(now)), s.writeSections(o.f)
	})
	if errors.Is(err, cli.ErrGone) {
		return o.f.DeletedError("job", "job", job.Name)
	}
	return err
}

func readSheet(ctx context.Context, c client.Client, job *batchv1alpha1.Job, events bool) (*sheet, error) {
	group, err := clusterops.PodGroupOfJob(ctx, c, job)
	if cli.IgnoreForbidden(err) != nil {
		return nil, err
	}
	s, readErr := readSheetWithGroup(ctx, c, job, group, events)
	if s != nil {
		s.Unreadable = err != nil
	}
	return s, readErr
}

// readSheetWithGroup reads the pods of a job, and the events about the job, its PodGroup and its pods. The caller
// passes the PodGroup.
func readSheetWithGroup(ctx context.Context, c client.Client, job *batchv1alpha1.Job, group *schedulingv1beta1.PodGroup, events bool) (*sheet, error) {
	around, err := clusterops.CompleteSheet(ctx, c, &jobstatus.Sheet{Job: job, Group: group}, events)
	if around == nil {
		return nil, err
	}
	s := &sheet{Sheet: *around}
	s.markSimulated(ctx, c)
	return s, err
}

// maxNodes is the maximum number of nodes that are read to find out which ones are simulated.
const maxNodes = 10

// markSimulated records which of the job's first maxNodes nodes are simulated. It records nothing for users without
// access to nodes.
func (s *sheet) markSimulated(ctx context.Context, c client.Client) {
	s.simulated = map[string]bool{}
	nodes := &lookup.SimulatedPods{}
	for _, pod := range s.Pods {
		if len(s.simulated) == maxNodes {
			return
		}
		if name := pod.Spec.NodeName; name != "" {
			s.simulated[name] = nodes.IsNodeSimulated(ctx, c, name)
		}
	}
}

func (s *sheet) nodeText(pod *corev1.Pod) string {
	if s.simulated[pod.Spec.NodeName] {
		return pod.Spec.NodeName + " (simulated)"
	}
	return cmp.Or(pod.Spec.NodeName, "-")
}

func (s *sheet) writeSections(f *cli.Factory) error {
	now := f.Now()
	style := render.Style{Enabled: f.Streams.IsColored()}
	s.writeFacts(f, style, now)
	sections := []struct {
		title string
		table render.Table
	}{
		{"Tasks", s.newTaskTable()},
		{s.podTableTitle(f), s.newPodTable(style, now)},
		{"Phases", s.newPhaseTable(now)},
		{"Events", s.newEventTable(now)},
	}
	for _, section := range sections {
		if len(section.table.Rows) == 0 {
			continue
		}
		section.table.MaxWidth = f.Streams.Width
		if err := cli.WriteSection(f, style, section.title, &section.table); err != nil {
			return err
		}
	}
	s.writeReason(f, style)
	return nil
}

func (s *sheet) writeFacts(f *cli.Factory, style render.Style, now time.Time) {
	job := s.Job
	fact := func(name, value string) {
		fmt.Fprintf(f.Streams.Out, "%-13s%s\n", name+":", style.Line(value))
	}
	fact("Name", job.Name)
	fact("Namespace", job.Namespace)
	addStartFacts(job, now, fact)
	phase := style.PaintPhase(string(jobstatus.PhaseOrPending(job)))
	if job.DeletionTimestamp != nil {
		phase += " (being deleted)"
	}
	fact("Phase", phase)
	fact("Queue", cmp.Or(job.Spec.Queue, keys.DefaultQueue))
	fact("Scheduler", cmp.Or(job.Spec.SchedulerName, keys.DefaultSchedulerName))
	if job.Spec.PriorityClassName != "" {
		fact("Priority", job.Spec.PriorityClassName)
	}
	fact("Created", fmt.Sprintf("%s (%s ago)", job.CreationTimestamp.Format(time.RFC3339), render.FormatAgeSince(now, job.CreationTimestamp.Time)))
	fact("Runtime", runtimeText(job, now))
	if jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) {
		fact("Ended", fmt.Sprintf("%d of %d pods succeeded, %d failed", job.Status.Succeeded, jobstatus.CountReplicas(job), job.Status.Failed))
	} else {
		fact("Ready", fmt.Sprintf("%d of %d pods; %d must run together", jobstatus.CountReadyPods(job), jobstatus.CountReplicas(job), jobstatus.MinimumPods(job)))
	}
	if n := jobstatus.RequestedGPUs(job); n > 0 {
		fact("GPUs", strconv.FormatInt(n, 10))
	}
	fact("Restarts", jobstatus.RestartsText(job))
	if evictions := jobstatus.EvictionsText(job, nil); evictions != "" {
		fact("Evicted", evictions)
	}
	if names := jobstatus.PluginNames(job); len(names) > 0 {
		fact("Plugins", strings.Join(names, ", "))
	}
	if s.Group != nil {
		fact("Pod group", s.Group.Name+" "+style.PaintPhase(string(s.Group.Status.Phase)))
	}
}

func (s *sheet) newTaskTable() render.Table {
	table := render.Table{Header: []string{"NAME", "REPLICAS", "MIN", "PENDING", "RUNNING", "SUCCEEDED", "FAILED", "RESTARTS", "REQUESTS", "IMAGE"}, FreeText: true}
	table.SetSpareColumns("SUCCEEDED", "FAILED", "RESTARTS", "PENDING", "MIN", "RUNNING")
	for i := range s.Job.Spec.Tasks {
		task := &s.Job.Spec.Tasks[i]
		count := s.Job.Status.TaskStatusCount[task.Name].Phase
		row := []string{task.Name, numberText(task.Replicas), numberText(jobstatus.MinimumPodsOfTask(task)), numberText(count[corev1.PodPending]), numberText(count[corev1.PodRunning]),
			numberText(count[corev1.PodSucceeded]), numberText(count[corev1.PodFailed]), numberText(jobstatus.RestartsOfTask(s.Pods, task.Name))}
		requests, images := requestsAndImages(task)
		table.Rows = append(table.Rows, append(row, requests, images))
	}
	return table
}

func numberText(n int32) string { return strconv.Itoa(int(n)) }

func (s *sheet) newPodTable(style render.Style, now time.Time) render.Table {
	table := render.Table{Header: []string{"NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE", "IP"}}
	table.SetSpareColumns("IP", "RESTARTS", "AGE", "NODE")
	shown := s.Pods
	if len(shown) > mostPods {
		shown = slices.Clone(shown)
		slices.SortStableFunc(shown, func(a, b *corev1.Pod) int { return cmp.Compare(podSortKey(a), podSortKey(b)) })
		shown = shown[:mostPods]
	}
	for _, pod := range shown {
		table.Rows = append(table.Rows, []string{pod.Name, cli.PodReady(pod), style.PaintPhase(cli.PodStatus(pod)), cli.PodRestarts(pod, now),
			render.FormatAgeSince(now, pod.CreationTimestamp.Time), s.nodeText(pod), cmp.Or(pod.Status.PodIP, "-")})
	}
	return table
}

// podTableTitle returns the title of the pod table; for a large job, the title names the command that lists all pods.
func (s *sheet) podTableTitle(f *cli.Factory) string {
	if len(s.Pods) <= mostPods {
		return "Pods"
	}
	return fmt.Sprintf("Pods (%d of %d; '%s' lists all)", mostPods, len(s.Pods), f.CommandText("pod list --job "+s.Job.Name))
}

// mostPods is the maximum number of pods in a view. For a larger job, the view prefers failed and pending pods.
const mostPods = 100

// podSortKey returns the sort key of a pod: failed pods first, then pending, running and succeeded ones.
func podSortKey(pod *corev1.Pod) int {
	return slices.Index([]corev1.PodPhase{corev1.PodFailed, corev1.PodUnknown, corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded}, pod.Status.Phase)
}

func (s *sheet) newPhaseTable(now time.Time) render.Table {
	table := render.Table{Header: []string{"PHASE", "SINCE", "AGO"}}
	for _, condition := range s.Job.Status.Conditions {
		if condition.LastTransitionTime == nil {
			continue
		}
		at := condition.LastTransitionTime.Time
		table.Rows = append(table.Rows, []string{string(condition.Status), at.Format(time.RFC3339), render.FormatAgeSince(now, at)})
	}
	return table
}

func (s *sheet) newEventTable(now time.Time) render.Table {
	return cli.NewEventTable(s.Events, now, s.ObjectOf)
}

// lacksExplanation reports whether the job is waiting for the scheduler, but the scheduler has not explained why.
func (s *sheet) lacksExplanation() bool {
	switch jobstatus.PhaseOrPending(s.Job) {
	case batchv1alpha1.Pending, batchv1alpha1.Restarting:
		return s.Group != nil && s.Group.Status.Explanation == nil
	}
	return false
}

// writeReason adds the reason why the job is waiting, if any, to the end of the sheet.
func (s *sheet) writeReason(f *cli.Factory, style render.Style) {
	w, fromPods := s.FindWaitReason(), false
	if jobstatus.IsActivePhase(jobstatus.PhaseOrPending(s.Job)) {
		troubles := jobstatus.TroublesOfPods(s.Pods, s.Events)
		w, fromPods = w.ReplaceByTrouble(troubles, s.Job.Name)
		w.Numbers = append(w.Numbers, jobstatus.TroubleLines(s.Job, troubles)...)
	}
	if jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(s.Job)) && jobstatus.PhaseOrPending(s.Job) != batchv1alpha1.Completed {
		w.Numbers = jobstatus.ListFailures(s.Job, s.Pods)
	}
	if w.Code == "" && w.Message == "" && len(w.Numbers) == 0 {
		return
	}
	title := "Why it is waiting:"
	switch phase := jobstatus.PhaseOrPending(s.Job); {
	case jobstatus.IsFinishedPhase(phase):
		title = "Why it ended:"
	case phase == batchv1alpha1.Terminating, phase == batchv1alpha1.Completing:
		title = "Why it ends:"
	case phase == batchv1alpha1.Running:
		title = "What is still waiting:"
	case phase == batchv1alpha1.Aborted:
		title = "Why it is suspended:"
	}
	out, width, now := f.Streams.Out, f.Streams.Width, f.Now()
	fmt.Fprintf(out, "\n%s\n", style.Bold(title))
	if w.CodeAndMessage() != "" {
		render.WriteWrapped(out, "  ", "  ", jobstatus.AddRelativeTimes(w.CodeAndMessage(), now), width)
	}
	for _, line := range w.Numbers {
		render.WriteWrapped(out, "  - ", "    ", jobstatus.AddRelativeTimes(line, now), width)
	}
	if !fromPods && s.lacksExplanation() {
		render.WriteWrapped(out, "  - ", "    ", "the scheduler provided no explanation; this reason comes from the pod group's conditions", width)
	}
	if w.Hint != "" {
		render.WriteWrapped(out, "  What would help: ", "    ", render.ReplaceProgramName(w.Hint, f.Program), width)
	}
	for _, help := range w.Helps {
		render.WriteWrapped(out, "  - tried: ", "    ", jobstatus.AddRelativeTimes(help, now), width)
	}
}
