// Package events implements `vcctl events`, which lists the events of jobs, queues and other objects, oldest first.
//
//	In:   Events; the objects that they are about, identified by UID
//	Out:  a table; in a watch, a row for every new event
package events

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// options holds the inputs of `vcctl events`.
type options struct {
	f     *cli.Factory
	out   cli.Output
	sel   cli.Selection
	about []string
	types []string
	since time.Duration
}

var eventTypes = []string{corev1.EventTypeNormal, corev1.EventTypeWarning}

// New returns `vcctl events`.
func New(f *cli.Factory) *cobra.Command { return newEvents(f, listEvents) }

func newEvents(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:     "events [KIND/NAME...]",
		Aliases: []string{"event", "ev"},
		Short:   "Show events about a job and its pods, a queue, or a namespace",
		Long: cli.FormatHelp(`
			Show events, oldest first. The events about a job include the events about its pod
			group and its pods; the events about a job flow or cron job include the events about
			its existing jobs. Events are matched by UID: events about deleted objects with the
			same name are shown only if no object with this name exists. COUNT is the number of
			times that the event occurred; identical messages about an object share a row.

			KIND is one of job, podgroup, queue, pod, node, jobflow, jobtemplate and cronjob;
			a name without a kind refers to a job. -l selects jobs. --types filters on the
			client side.`),
		Example: f.FormatExamples(`
			# Events about a job, its gang and its pods
			vcctl events --for job/train

			# Keep watching for new events
			vcctl events job/train -w

			# Warnings about a queue, and all warnings in the namespace
			vcctl events queue/research --types Warning
			vcctl events --types Warning

			# Events of the last ten minutes
			vcctl events --since 10m

			# For a script, in all namespaces
			vcctl events -A -o json`),
		ValidArgsFunction: o.completeObjects,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.about = append(o.about, args...)
			switch {
			case o.sel.AllNamespaces && len(o.about) > 0:
				return cli.UsageError(f, cmd, "--all-namespaces cannot be combined with names: specify the namespace with -n")
			case o.sel.Selector != "" && len(o.about) > 0:
				return cli.UsageError(f, cmd, "names cannot be combined with --selector: remove one of them")
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.about, "for", nil, "Show events about this object, KIND/NAME; can be repeated")
	flags.StringSliceVar(&o.types, "types", nil, "Show only events of these types: Normal, Warning (filtered on the client side)")
	flags.DurationVar(&o.since, "since", 0, "Show only events newer than this age, for example 10m (filtered on the client side)")
	flags.StringVarP(&o.sel.Selector, "selector", "l", "", "Show events about the jobs that match this label selector")
	o.sel.AddAllNamespacesFlag(cmd, "Show events in all namespaces")
	o.out.AddListFlags(cmd)
	cli.CompleteColumns(cmd, func() []cli.Column[*corev1.Event] { return listColumns(f, &topic{}) })
	_ = cmd.RegisterFlagCompletionFunc("for", o.completeObjects)
	_ = cmd.RegisterFlagCompletionFunc("types", cli.CompleteValues(eventTypes...))
	return cmd
}

func listEvents(ctx context.Context, o *options) error {
	wanted, err := cli.ParseWords("--types", "type of event", o.types, eventTypes)
	if err != nil {
		return err
	}
	if err := o.out.Validate(); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	topic, err := o.newTopic(ctx, c)
	if err != nil {
		return err
	}
	topic.types, topic.raw, topic.wide = wanted, o.out.IsMachineReadable(), o.out.IsWide()
	if o.since < 0 {
		return usererror.Errorf("for example --since 10m", "--since: %s is less than 0", o.since)
	}
	if o.since > 0 {
		topic.after = o.f.Now().Add(-o.since)
	}
	if o.out.FieldSelector != "" {
		if topic.fields, err = fields.ParseSelector(o.out.FieldSelector); err != nil {
			return usererror.Errorf("an example: type=Warning", "field selector %q: %v", o.out.FieldSelector, err)
		}
	}
	l := &cli.List[*corev1.Event]{
		Kind: "events", New: func() client.ObjectList { return &corev1.EventList{} }, Columns: listColumns(o.f, topic), FreeText: true, Spare: []string{"COUNT", "TYPE", "OBJECT"}, IgnoreDeleted: true,
		Namespace: topic.namespace, AllNamespaces: o.sel.AllNamespaces,
		Keep:  func(event *corev1.Event) bool { return topic.isUnprinted(ctx, c, event) },
		Fetch: topic.fetchEvents,
	}
	if topic.clusterWide {
		l.Nothing = "No events about " + strings.Join(o.about, ", ") + "."
	}
	if uid, single := topic.singleObject(); single {
		l.Fields = fields.OneTermEqualSelector("involvedObject.uid", string(uid))
	}
	return l.Run(ctx, o.f, &o.out)
}

func listColumns(f *cli.Factory, t *topic) []cli.Column[*corev1.Event] {
	type event = *corev1.Event
	style := render.Style{Enabled: f.Streams.IsColored()}
	return []cli.Column[event]{
		{Title: "LAST", Volatile: true, Text: func(e event) string { return render.FormatAgeSince(f.Now(), cli.EventTime(e).Time) },
			Compare: func(a, b event) int { return cli.EventTime(a).Compare(cli.EventTime(b).Time) }},
		{Title: "COUNT", Text: func(e event) string { return fmt.Sprint(t.countOccurrences(e)) }},
		{Title: "TYPE", Text: func(e event) string {
			if e.Type == corev1.EventTypeWarning {
				return style.Warn(e.Type)
			}
			return e.Type
		}},
		{Title: "REASON", Text: func(e event) string { return e.Reason }},
		{Title: "OBJECT", Text: func(e event) string {
			if t.wide {
				return objectText(e)
			}
			if job, ok := jobstatus.JobOfPodGroup(e.InvolvedObject.Name); ok {
				return strings.ToLower(e.InvolvedObject.Kind) + "/" + job + "-…"
			}
			return objectText(e)
		}},
		{Title: "FIRST", Wide: true, Volatile: true, Text: func(e event) string { return render.FormatAgeSince(f.Now(), firstOccurrence(e)) }},
		{Title: "SOURCE", Wide: true, Text: func(e event) string { return cmp.Or(e.Source.Component, e.ReportingController, "-") }},
		{Title: "MESSAGE", Text: func(e event) string { return strings.TrimSpace(e.Message) }},
	}
}

func objectText(e *corev1.Event) string {
	return strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
}
