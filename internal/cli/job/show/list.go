package show

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
)

// listOptions holds the inputs of `vcctl job list`.
type listOptions struct {
	f             *cli.Factory
	out           cli.Output
	names         []string
	allNamespaces bool
	labels        string
	nameOrLabels  string
	queues        []string
	phases        []string
	users         []string
	nodes         []string
	scheduler     string
	compat        bool
}

func newList(f *cli.Factory, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{f: f}
	cmd := &cobra.Command{
		Use:     "list [NAME...]",
		Aliases: []string{"ls", "get"},
		Short:   "List jobs with their phase, pods, runtime and reason for waiting",
		Long: cli.FormatHelp(`
			List the jobs in one namespace or in all namespaces.

			READY is the number of pods that are assigned to a node or have succeeded, out of
			all pods of the job. MIN is the number of pods that must run together. REASON is why
			a job is waiting or why it failed. --queue, --phase, --user and --node filter on the
			client side. Unlike in kubectl, --user selects the owner of the jobs and not the
			kubeconfig user.`),
		Example: f.FormatExamples(`
			# The jobs in this namespace
			vcctl job list

			# Pending jobs in two queues, in all namespaces
			vcctl job list -A --queue research,infer --phase Pending

			# Follow a job; a row is added whenever something changes
			vcctl job list train -w

			# For a script
			vcctl job list -l team=nlp -o jsonpath='{.items[*].metadata.name}'

			# The table in the format of Volcano's vcctl
			vcctl job list --compat`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				o.names = append(o.names, cli.BareName(arg, "jobs"))
			}
			if o.scheduler != "" && cmd.Flags().Lookup("scheduler").Changed {
				f.WarnDeprecated("--scheduler (-S)", "-o json with jq, or labels on the jobs and -l")
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the jobs in all namespaces")
	flags.StringVarP(&o.labels, "labels", "l", "", "Label selector, for example team=nlp,stage!=test")
	flags.StringVar(&o.nameOrLabels, "selector", "", "Label selector; a single word matches part of the name, as in Volcano's vcctl")
	flags.StringSliceVarP(&o.queues, "queue", "q", nil, "Only jobs in these queues (filtered on the client side)")
	flags.StringSliceVar(&o.phases, "phase", nil, "Only jobs in these phases (filtered on the client side)")
	flags.StringSliceVar(&o.users, "user", nil, "Only jobs of these users, as "+keys.User+" shows them (filtered on the client side)")
	flags.StringSliceVar(&o.nodes, "node", nil, "Only jobs with pods on these nodes (filtered on the client side)")
	flags.StringVarP(&o.scheduler, "scheduler", "S", "", "Only jobs that use this scheduler")
	flags.BoolVar(&o.compat, "compat", false, "Print the table in the format of Volcano's vcctl")
	for _, old := range []string{"scheduler", "selector"} {
		flags.Lookup(old).Hidden = true
	}
	o.out.AddListFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("queue", f.CompleteQueues())
	_ = cmd.RegisterFlagCompletionFunc("node", f.CompleteNodes())
	_ = cmd.RegisterFlagCompletionFunc("phase", cli.CompleteValues(phases...))
	cli.CompleteColumns(cmd, func() []cli.Column[*batchv1alpha1.Job] { return listColumns(f, &reasons{f: f}) })
	return cmd
}

var phases = []string{"Pending", "Running", "Restarting", "Aborting", "Aborted", "Completing", "Completed", "Terminating", "Terminated", "Failed"}

// combineSelectors combines -l and --selector. A --selector without an operator is Volcano's filter by a part of the
// job name; with an operator, it is a label selector.
func (o *listOptions) combineSelectors() (labels client.ListOption, partOfName string, err error) {
	text := o.labels
	if o.nameOrLabels != "" {
		if strings.ContainsAny(o.nameOrLabels, "=!(, ") {
			text = strings.Trim(text+","+o.nameOrLabels, ",")
		} else {
			o.f.WarnDeprecated("--selector WORD as part of a name", "names as arguments, or -l")
			partOfName = o.nameOrLabels
		}
	}
	labels, err = cli.ParseSelector(text)
	return labels, partOfName, err
}

func (o *listOptions) parsePhases() error {
	var err error
	o.phases, err = cli.ParseWords("--phase", "phase of a job", o.phases, phases)
	return err
}

func listJobs(ctx context.Context, o *listOptions) error {
	if err := o.parsePhases(); err != nil {
		return err
	}
	o.f.WarnUnknown(ctx, "--queue", "queue", schedulingv1beta1.GroupVersion.WithKind("Queue"), o.queues...)
	o.f.WarnUnknown(ctx, "--node", "node", corev1.SchemeGroupVersion.WithKind("Node"), o.nodes...)
	labels, partOfName, err := o.combineSelectors()
	if err != nil {
		return err
	}
	namespace, err := o.f.Namespace()
	if err != nil {
		return err
	}
	if o.allNamespaces {
		namespace = ""
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	for i, name := range o.names {
		if name == lookup.Latest {
			if o.names[i], err = lookup.NewestName(ctx, c, namespace); err != nil {
				return err
			}
		}
	}
	var onNode map[string]bool
	for _, node := range o.nodes {
		if onNode == nil {
			onNode = map[string]bool{}
		}
		if err := addJobsOnNode(ctx, c, namespace, node, onNode); err != nil {
			return err
		}
	}
	r := &reasons{f: o.f, c: c, namespace: namespace, wide: o.out.IsWide() || o.f.IsColumnChosen("jobs", "NODES")}
	l := &cli.List[*batchv1alpha1.Job]{
		Kind: "jobs", New: func() client.ObjectList { return &batchv1alpha1.JobList{} },
		Columns: listColumns(o.f, r), Namespace: namespace, AllNamespaces: o.allNamespaces,
		Names: o.names, Selector: labels, Single: len(o.names) == 1, FreeText: true,
		Spare: spare,
		Keep: func(job *batchv1alpha1.Job) bool {
			return o.matchesJob(job, partOfName) && (onNode == nil || onNode[lookup.Key(job)])
		},
		Suggest: o.f.SuggestNames(batchv1alpha1.GroupVersion.WithKind("Job"), true),
		Prepare: r.readGroups, Touched: r.watchTouched, Slim: reduceJob,
	}
	usesOldFlags := o.scheduler != "" || partOfName != "" // called with the flags of Volcano's vcctl
	asVolcano := o.compat || usesOldFlags || o.f.UsesVolcanoTables()
	if asVolcano && o.out.IsPlainTable() {
		l.Plain = func(jobs []*batchv1alpha1.Job) error { return printCompatTable(o.f.Streams.Out, jobs, o.allNamespaces) }
		l.Prepare = nil
	}
	return l.Run(ctx, o.f, &o.out)
}

// matchesJob reports whether all filters permit a job.
func (o *listOptions) matchesJob(job *batchv1alpha1.Job, partOfName string) bool {
	if !filterPermits(o.queues, cmp.Or(job.Spec.Queue, keys.DefaultQueue)) || !filterPermits(o.phases, string(jobstatus.PhaseOrPending(job))) {
		return false
	}
	if !filterPermits(o.users, batchv1alpha1.UserOf(job)) {
		return false
	}
	if o.scheduler != "" && job.Spec.SchedulerName != o.scheduler {
		return false
	}
	return strings.Contains(job.Name, partOfName)
}

// filterPermits reports whether a filter permits a value. An empty filter permits all values.
func filterPermits(filter []string, value string) bool {
	return len(filter) == 0 || slices.Contains(filter, value)
}

// spare lists the columns of `job list` that may be omitted on a narrow terminal, the least important first.
var spare = []string{"RUNTIME", "MIN", "GPU", "AGE", "READY", "QUEUE"}

// listColumns returns the columns of `job list`.
func listColumns(f *cli.Factory, r *reasons) []cli.Column[*batchv1alpha1.Job] {
	type job = *batchv1alpha1.Job
	style := render.Style{Enabled: f.Streams.IsColored()}
	byNumber := func(number func(job) int64) func(a, b job) int {
		return func(a, b job) int { return cmp.Compare(number(a), number(b)) }
	}
	return []cli.Column[job]{
		{Title: "NAME", Text: func(j job) string { return j.Name }},
		{Title: "QUEUE", Text: func(j job) string { return cmp.Or(j.Spec.Queue, keys.DefaultQueue) }},
		{Title: "PHASE", Text: func(j job) string { return style.PaintPhase(string(jobstatus.PhaseOrPending(j))) }},
		{Title: "READY", Text: func(j job) string {
			return fmt.Sprintf("%d/%d", jobstatus.CountBoundPods(j, r.groups[j.UID]), jobstatus.CountReplicas(j))
		},
			Compare: byNumber(func(j job) int64 { return int64(jobstatus.CountBoundPods(j, r.groups[j.UID])) })},
		{Title: "MIN", Text: func(j job) string { return strconv.Itoa(int(jobstatus.MinimumPods(j))) }},
		{Title: "GPU", Text: func(j job) string { return dashIfZero(jobstatus.RequestedGPUs(j)) }, Compare: byNumber(jobstatus.RequestedGPUs)},
		{Title: "RUNTIME", Volatile: true, Text: func(j job) string { return runtimeText(j, f.Now()) },
			Compare: byNumber(func(j job) int64 { return int64(jobstatus.RunningTime(j, f.Now())) })},
		{Title: "AGE", Volatile: true, Text: func(j job) string { return render.FormatAgeSince(f.Now(), j.CreationTimestamp.Time) },
			Compare: byNumber(func(j job) int64 { return -j.CreationTimestamp.Unix() })},
		{Title: "NODES", Wide: true, Text: func(j job) string { return dashIfZero(int64(r.nodes[lookup.Key(j)])) }},
		{Title: "USER", Wide: true, Text: func(j job) string { return cmp.Or(batchv1alpha1.UserOf(j), "-") }},
		{Title: "PRIORITY", Wide: true, Text: func(j job) string { return cmp.Or(j.Spec.PriorityClassName, "-") }},
		{Title: "RESTARTS", Wide: true, Text: restartsCell},
		{Title: "REASON", Text: func(j job) string { return cmp.Or(r.waitReason(j).CodeAndMessage(), "-") }},
	}
}

// restartsCell returns the number of restarts that policies caused, and the maximum.
func restartsCell(j *batchv1alpha1.Job) string {
	restarts, limit := j.PolicyRestarts()
	return fmt.Sprintf("%d/%d", restarts, limit)
}

func dashIfZero(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

func runtimeText(job *batchv1alpha1.Job, now time.Time) string {
	hasRun := !jobstatus.EnteredPhase(job, batchv1alpha1.Running).IsZero() || jobstatus.PhaseOrPending(job) == batchv1alpha1.Completed // its run may have been too short to be observed
	if !hasRun {
		return "-"
	}
	return render.FormatDuration(jobstatus.RunningTime(job, now))
}

// reasons holds the PodGroups of the listed jobs and, with -o wide, the number of nodes that each job uses.
type reasons struct {
	f         *cli.Factory
	c         client.WithWatch
	namespace string
	wide      bool
	groups    map[types.UID]*schedulingv1beta1.PodGroup
	nodes     map[string]int
	// stuck holds, with -o wide, the problem of each job's first pod that cannot start.
	stuck map[string]jobstatus.Trouble
	// unreadable is true if the user has no access to PodGroups.
	unreadable bool
}

// storeGroup stores the PodGroup of a job.
func (r *reasons) storeGroup(job types.UID, group *schedulingv1beta1.PodGroup) {
	if r.groups == nil {
		r.groups = map[types.UID]*schedulingv1beta1.PodGroup{}
	}
	r.groups[job] = group
}

// waitReason returns the reason why a job is waiting, as far as the user's access rights permit.
func (r *reasons) waitReason(job *batchv1alpha1.Job) jobstatus.Why {
	if r.unreadable && jobstatus.IsActivePhase(jobstatus.PhaseOrPending(job)) {
		return jobstatus.Why{Code: job.Status.State.Reason, Message: jobstatus.StateMessage(job)}
	}
	w := jobstatus.ExplainJob(job, r.groups[job.UID])
	if one, found := r.stuck[lookup.Key(job)]; found && jobstatus.IsActivePhase(jobstatus.PhaseOrPending(job)) {
		w, _ = w.ReplaceByTrouble([]jobstatus.Trouble{one}, job.Name)
	}
	return w
}

// readGroups reads the PodGroups if any of the jobs can be waiting. Users without access to PodGroups still get a list.
func (r *reasons) readGroups(ctx context.Context, jobs []*batchv1alpha1.Job) error {
	if r.wide {
		if err := r.countNodes(ctx, jobs); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(jobs, func(job *batchv1alpha1.Job) bool { return jobstatus.IsActivePhase(jobstatus.PhaseOrPending(job)) }) {
		return nil
	}
	if len(jobs) == 1 {
		group, err := clusterops.PodGroupOfJob(ctx, r.c, jobs[0])
		if group != nil {
			r.storeGroup(jobs[0].UID, group)
		}
		r.unreadable = apierrors.IsForbidden(err)
		return cli.IgnoreForbidden(err)
	}
	groups, err := lookup.GroupsByOwner(ctx, r.c, r.namespace, reduceGroup)
	r.groups, r.unreadable = groups, apierrors.IsForbidden(err)
	return cli.IgnoreForbidden(err)
}

// countNodes counts the nodes on which each job has pods, and records the problems of pods that cannot start.
func (r *reasons) countNodes(ctx context.Context, jobs []*batchv1alpha1.Job) error {
	options := []client.ListOption{client.InNamespace(r.namespace), client.HasLabels{keys.JobName}}
	if len(jobs) == 1 {
		options = []client.ListOption{client.InNamespace(jobs[0].Namespace), client.MatchingLabels{keys.JobName: jobs[0].Name}}
		delete(r.nodes, lookup.Key(jobs[0]))
		delete(r.stuck, lookup.Key(jobs[0]))
	}
	if len(jobs) != 1 || r.nodes == nil {
		r.nodes, r.stuck = map[string]int{}, map[string]jobstatus.Trouble{}
	}
	seen := map[[3]string]bool{}
	page := &corev1.PodList{}
	err := cli.ListPages(ctx, r.c, page, func() error {
		for i := range page.Items {
			pod := &page.Items[i]
			r.recordTrouble(pod)
			key := [3]string{pod.Namespace, pod.Labels[keys.JobName], pod.Spec.NodeName}
			if pod.Spec.NodeName != "" && !seen[key] {
				seen[key] = true
				r.nodes[key[0]+"/"+key[1]]++
			}
		}
		return nil
	}, options...)
	return cli.IgnoreForbidden(err)
}

// reduceJob reduces a job's pod templates to their requests.
func reduceJob(job *batchv1alpha1.Job) {
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		slim := corev1.PodSpec{Containers: make([]corev1.Container, len(task.Template.Spec.Containers))}
		for c := range slim.Containers {
			slim.Containers[c].Resources = task.Template.Spec.Containers[c].Resources
		}
		task.Template = corev1.PodTemplateSpec{Spec: slim}
	}
}

// reduceGroup reduces a PodGroup to the fields that explain why its job is waiting.
func reduceGroup(group *schedulingv1beta1.PodGroup) *schedulingv1beta1.PodGroup {
	slim := &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{Phase: group.Status.Phase, Conditions: group.Status.Conditions}}
	if e := group.Status.Explanation; e != nil {
		slim.Status.Explanation = &schedulingv1beta1.Explanation{Reason: e.Reason, Message: e.Message, Members: e.Members}
		slim.Status.Conditions = nil
	}
	return slim
}

// addJobsOnNode adds to on, as namespace/name, the jobs that have pods on the node.
func addJobsOnNode(ctx context.Context, c client.Client, namespace, node string, on map[string]bool) error {
	page := &corev1.PodList{}
	return cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			on[page.Items[i].Namespace+"/"+page.Items[i].Labels[keys.JobName]] = true
		}
		return nil
	}, client.InNamespace(namespace), client.HasLabels{keys.JobName}, client.MatchingFields{"spec.nodeName": node})
}

// recordTrouble records the problem of a pod, unless a problem of its job is already known.
func (r *reasons) recordTrouble(pod *corev1.Pod) {
	key := pod.Namespace + "/" + pod.Labels[keys.JobName]
	if _, known := r.stuck[key]; known {
		return
	}
	if one, found := jobstatus.TroubleOfPod(pod, nil); found {
		one.Pod = pod.DeepCopy()
		r.stuck[key] = one
	}
}

// watchTouched watches the PodGroups and reports the jobs whose reason may have changed.
func (r *reasons) watchTouched(ctx context.Context) (<-chan cli.Touch, error) {
	if r.unreadable {
		return nil, nil
	}
	changes := make(chan cli.Touch)
	send := func(touch cli.Touch) bool {
		select {
		case changes <- touch:
			return true
		case <-ctx.Done():
			return false
		}
	}
	groups := func() client.ObjectList { return &schedulingv1beta1.PodGroupList{} }
	go func() {
		err := cli.WatchChanges(ctx, r.f.RetryingClient(r.c), groups, "", nil, func(_ watch.EventType, group *schedulingv1beta1.PodGroup) bool {
			for _, owner := range group.OwnerReferences {
				touch := cli.Touch{Key: types.NamespacedName{Namespace: group.Namespace, Name: owner.Name}, Apply: func() { r.storeGroup(owner.UID, group) }}
				if !send(touch) {
					return false
				}
			}
			return true
		}, client.InNamespace(r.namespace))
		if cli.IgnoreForbidden(err) != nil {
			send(cli.Touch{Err: err})
		}
	}()
	return changes, nil
}
