package events

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/jobstatus"
)

// topic is a selection of events. The zero value selects all events.
type topic struct {
	// namespace is the namespace of the events; "" means all namespaces.
	namespace string
	// uids holds the UIDs of the objects, in the order in which they were found; nil if all is true.
	uids []types.UID
	all  bool
	// clusterWide is true if the objects are cluster-scoped.
	clusterWide bool
	// past holds deleted objects, whose events are selected by kind and name.
	past []reference
	// jobs holds the jobs whose later pods and PodGroups are added to the topic.
	jobs []client.ObjectKey
	// losers holds the jobs that lost pods or PodGroups. Events about the lost objects are selected by name.
	losers []*batchv1alpha1.Job
	// strangers caches the pods that do not belong to the topic.
	strangers map[types.UID]bool
	types     []string
	// after is the earliest time at which a shown event may have occurred last; the zero time shows all events.
	after time.Time
	// fields filters the events; nil filters nothing.
	fields fields.Selector
	// raw is true if events are left unchanged, for output that programs read.
	raw bool
	// wide is true if full names are shown.
	wide bool
	// seen holds the resource versions of the events that were printed. counts holds their numbers of occurrences.
	seen   map[types.UID]string
	counts map[row]map[types.UID]int32
}

// row is the key by which events are merged into a single row.
type row struct {
	namespace, uid, object, kind, reason, message string
}

func newRow(e *corev1.Event) row {
	return row{e.Namespace, string(e.InvolvedObject.UID), objectText(e), e.Type, e.Reason, e.Message}
}

// singleObject returns the UID of the object that all events are about. It returns false if there is no single such
// object.
func (t *topic) singleObject() (types.UID, bool) {
	if len(t.uids) == 1 && len(t.past) == 0 && len(t.jobs) == 0 {
		return t.uids[0], true
	}
	return "", false
}

// recordPrinted records that an event was printed.
func (t *topic) recordPrinted(e *corev1.Event) {
	if t.seen == nil {
		t.seen, t.counts = map[types.UID]string{}, map[row]map[types.UID]int32{}
	}
	t.seen[e.UID] = e.ResourceVersion
	key := newRow(e)
	if t.counts[key] == nil {
		t.counts[key] = map[types.UID]int32{}
	}
	t.counts[key][e.UID] = max(cli.EventCount(e), 1)
}

// countOccurrences returns the total number of occurrences of the events in a row.
func (t *topic) countOccurrences(e *corev1.Event) int32 {
	var sum int32
	for _, n := range t.counts[newRow(e)] {
		sum += n
	}
	return max(sum, 1)
}

// isUnprinted reports whether an event from a watch belongs to the topic and has not been printed yet in this version.
func (t *topic) isUnprinted(ctx context.Context, c client.Client, e *corev1.Event) bool {
	if t.seen[e.UID] == e.ResourceVersion || !t.matchesFilters(e) {
		return false
	}
	if !t.isAbout(e) && !t.addIfCreatedByJob(ctx, c, e) {
		return false
	}
	t.recordPrinted(e)
	return true
}

func (t *topic) matchesFilters(e *corev1.Event) bool {
	return (len(t.types) == 0 || slices.Contains(t.types, e.Type)) && !cli.EventTime(e).Time.Before(t.after)
}

// isAbout reports whether an event is about an object of the topic.
func (t *topic) isAbout(e *corev1.Event) bool {
	about := e.InvolvedObject
	if t.all || slices.Contains(t.uids, about.UID) {
		return true
	}
	if slices.ContainsFunc(t.losers, func(job *batchv1alpha1.Job) bool { return jobstatus.IsAbout(job, e) }) {
		return true
	}
	return slices.ContainsFunc(t.past, func(r reference) bool { return r.isNameOf(about) || r.isGangOfDeleted(about) })
}

// isNameOf reports whether the object has the kind and the name of the reference.
func (r reference) isNameOf(about corev1.ObjectReference) bool {
	return r.kind == about.Kind && r.name == about.Name
}

// isGangOfDeleted reports whether the PodGroup belonged to the deleted job, judging by the name of the PodGroup.
func (r reference) isGangOfDeleted(about corev1.ObjectReference) bool {
	if r.kind != "Job" || about.Kind != "PodGroup" {
		return false
	}
	job, ok := jobstatus.JobOfPodGroup(about.Name)
	return ok && job == r.name
}

// addIfCreatedByJob adds the event's object to the topic if it is a pod or PodGroup that a job of the topic has created
// since the command was started. It reports whether it added the object.
func (t *topic) addIfCreatedByJob(ctx context.Context, c client.Client, e *corev1.Event) bool {
	about := e.InvolvedObject
	at := slices.IndexFunc(t.jobs, func(job client.ObjectKey) bool {
		return job.Namespace == about.Namespace && strings.HasPrefix(about.Name, job.Name+"-")
	})
	if at < 0 || t.strangers[about.UID] {
		return false
	}
	belongs := about.Kind == "PodGroup" && slices.ContainsFunc(t.uids, func(uid types.UID) bool { return about.Name == t.jobs[at].Name+"-"+string(uid) })
	if about.Kind == "Pod" {
		pod := &corev1.Pod{}
		belongs = c.Get(ctx, client.ObjectKey{Namespace: about.Namespace, Name: about.Name}, pod) == nil && pod.UID == about.UID &&
			slices.ContainsFunc(t.jobs, func(job client.ObjectKey) bool { return pod.Labels[keys.JobName] == job.Name })
	}
	if belongs {
		t.uids = append(t.uids, about.UID)
		return true
	}
	if t.strangers == nil {
		t.strangers = map[types.UID]bool{}
	}
	t.strangers[about.UID] = true
	return false
}

// mostAsked is the maximum number of objects for which separate requests are sent. If there are more, all events in
// the namespace are read.
const mostAsked = 20

// fetchEvents returns the existing events, oldest first, and the resource version from which to watch.
func (t *topic) fetchEvents(ctx context.Context, c client.Client) ([]*corev1.Event, string, error) {
	var selectors []fields.Selector
	for _, uid := range t.uids {
		selectors = append(selectors, fields.OneTermEqualSelector("involvedObject.uid", string(uid)))
	}
	for _, r := range t.past {
		selectors = append(selectors, fields.SelectorFromSet(fields.Set{"involvedObject.kind": r.kind, "involvedObject.name": r.name}))
	}
	byName := len(t.losers) > 0 || slices.ContainsFunc(t.past, func(r reference) bool { return r.kind == "Job" }) // field selectors cannot match these names
	if t.all || byName || len(selectors) > mostAsked {
		selectors = []fields.Selector{fields.Everything()}
	}
	var events []*corev1.Event
	version := ""
	for _, selector := range selectors {
		page := &corev1.EventList{}
		options := []client.ListOption{client.InNamespace(t.namespace)}
		if t.fields != nil {
			selector = fields.AndSelectors(selector, t.fields)
		}
		if !selector.Empty() {
			options = append(options, client.MatchingFieldsSelector{Selector: selector})
		}
		err := cli.ListPages(ctx, c, page, func() error {
			for i := range page.Items {
				if e := page.Items[i].DeepCopy(); t.matchesFilters(e) && t.isAbout(e) {
					events = append(events, e)
				}
			}
			return nil
		}, options...)
		if err != nil {
			return nil, "", err
		}
		version = cmp.Or(version, page.ResourceVersion)
	}
	return t.mergeEvents(events), version, nil
}

// mergeEvents sorts events and keeps only the last event of each row. countOccurrences returns the total number of
// occurrences of all events in a row.
func (t *topic) mergeEvents(events []*corev1.Event) []*corev1.Event {
	slices.SortStableFunc(events, func(a, b *corev1.Event) int {
		return cmp.Or(cli.EventTime(a).Compare(cli.EventTime(b).Time), cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
	})
	for _, e := range events {
		t.recordPrinted(e)
	}
	if t.raw {
		return events
	}
	last := map[row]*corev1.Event{}
	for _, e := range events {
		if before := last[newRow(e)]; before != nil && firstOccurrence(before).Before(firstOccurrence(e)) {
			e.FirstTimestamp.Time = firstOccurrence(before)
		}
		last[newRow(e)] = e
	}
	return slices.DeleteFunc(events, func(e *corev1.Event) bool { return last[newRow(e)] != e })
}

// firstOccurrence returns the time of the first occurrence of an event.
func firstOccurrence(e *corev1.Event) time.Time {
	switch {
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return cli.EventTime(e).Time
}
