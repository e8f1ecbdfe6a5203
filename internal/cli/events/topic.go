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
	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/cli"
)

// topic is what events are to be about. The zero value is everything.
type topic struct {
	// namespace that the events are in; "" is all.
	namespace string
	// uids are the objects, in the order in which they were found; nil with all.
	uids []types.UID
	all  bool
	// clusterWide says that the objects are in no namespace.
	clusterWide bool
	// past are objects that are gone, of which events are taken by kind and name.
	past []reference
	// jobs are followed: pods and groups that come later belong to the topic, too.
	jobs []client.ObjectKey
	// losers are jobs that lost pods or PodGroups; events about these are found by their names.
	losers []*batchv1alpha1.Job
	// strangers are pods that were looked at and belong to nobody here.
	strangers map[types.UID]bool
	types     []string
	// after is when the oldest event that is shown happened last; zero shows all.
	after time.Time
	// fields are asked of every event; nil asks nothing.
	fields fields.Selector
	// raw leaves events as they are, for programs.
	raw bool
	// wide shows names in full.
	wide bool
	// seen holds the versions of events that were told, counts how often each was.
	seen   map[types.UID]string
	counts map[row]map[types.UID]int32
}

// row is what makes two events one row.
type row struct {
	namespace, uid, object, kind, reason, message string
}

func rowOf(e *corev1.Event) row {
	return row{e.Namespace, string(e.InvolvedObject.UID), objectText(e), e.Type, e.Reason, e.Message}
}

// single is the one object that all events are about.
func (t *topic) single() (types.UID, bool) {
	if len(t.uids) == 1 && len(t.past) == 0 && len(t.jobs) == 0 {
		return t.uids[0], true
	}
	return "", false
}

// note keeps what was told of an event.
func (t *topic) note(e *corev1.Event) {
	if t.seen == nil {
		t.seen, t.counts = map[types.UID]string{}, map[row]map[types.UID]int32{}
	}
	t.seen[e.UID] = e.ResourceVersion
	key := rowOf(e)
	if t.counts[key] == nil {
		t.counts[key] = map[types.UID]int32{}
	}
	t.counts[key][e.UID] = max(cli.EventCount(e), 1)
}

// count is how often what a row says happened.
func (t *topic) count(e *corev1.Event) int32 {
	var sum int32
	for _, n := range t.counts[rowOf(e)] {
		sum += n
	}
	return max(sum, 1)
}

// isNews says whether an event of a watch belongs here and says something that was not said.
func (t *topic) isNews(ctx context.Context, c client.Client, e *corev1.Event) bool {
	if t.seen[e.UID] == e.ResourceVersion || !t.wants(e) || !t.isAbout(e) && !t.joins(ctx, c, e) {
		return false
	}
	t.note(e)
	return true
}

func (t *topic) wants(e *corev1.Event) bool {
	return (len(t.types) == 0 || slices.Contains(t.types, e.Type)) && !cli.EventTime(e).Time.Before(t.after)
}

func (t *topic) isAbout(e *corev1.Event) bool {
	about := e.InvolvedObject
	return t.all || slices.Contains(t.uids, about.UID) ||
		slices.ContainsFunc(t.losers, func(job *batchv1alpha1.Job) bool { return account.IsAbout(job, e) }) ||
		slices.ContainsFunc(t.past, func(r reference) bool { return r.kind == about.Kind && r.name == about.Name || r.wasGang(about) })
}

// wasGang says whether a job that is gone had this gang, by the name that gangs of jobs have.
func (r reference) wasGang(about corev1.ObjectReference) bool {
	return r.kind == "Job" && about.Kind == "PodGroup" && ownUID.ReplaceAllString(about.Name, "") == r.name && about.Name != r.name
}

// joins takes a pod or a group in that a job of the topic got since.
func (t *topic) joins(ctx context.Context, c client.Client, e *corev1.Event) bool {
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

// mostAsked is how many objects are asked about one by one; of more, the events of the namespace are read.
const mostAsked = 20

// fetch reads the events that there are, oldest first, and the version to watch from.
func (t *topic) fetch(ctx context.Context, c client.Client) ([]*corev1.Event, string, error) {
	var selectors []fields.Selector
	for _, uid := range t.uids {
		selectors = append(selectors, fields.OneTermEqualSelector("involvedObject.uid", string(uid)))
	}
	for _, r := range t.past {
		selectors = append(selectors, fields.SelectorFromSet(fields.Set{"involvedObject.kind": r.kind, "involvedObject.name": r.name}))
	}
	byName := len(t.losers) > 0 || slices.ContainsFunc(t.past, func(r reference) bool { return r.kind == "Job" }) // no request can ask for these
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
		err := cli.Pages(ctx, c, page, func() error {
			for i := range page.Items {
				if e := page.Items[i].DeepCopy(); t.wants(e) && t.isAbout(e) {
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
	return t.merged(events), version, nil
}

// merged orders events, and leaves of those that say the same the last; the rows count all.
func (t *topic) merged(events []*corev1.Event) []*corev1.Event {
	slices.SortStableFunc(events, func(a, b *corev1.Event) int {
		return cmp.Or(cli.EventTime(a).Compare(cli.EventTime(b).Time), cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
	})
	for _, e := range events {
		t.note(e)
	}
	if t.raw {
		return events
	}
	last := map[row]*corev1.Event{}
	for _, e := range events {
		if before := last[rowOf(e)]; before != nil && firstTime(before).Before(firstTime(e)) {
			e.FirstTimestamp.Time = firstTime(before)
		}
		last[rowOf(e)] = e
	}
	return slices.DeleteFunc(events, func(e *corev1.Event) bool { return last[rowOf(e)] != e })
}

// firstTime is when an event happened first.
func firstTime(e *corev1.Event) time.Time {
	switch {
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return cli.EventTime(e).Time
}
