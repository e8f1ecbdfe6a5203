package nodegroup

import (
	"encoding/json"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// rules holds a queue's settings for node groups.
type rules struct {
	none   bool // the queue has no settings
	yes    map[string]bool
	no     map[string]bool
	points map[string]float64
}

// Scores of groups, as in Volcano.
const (
	requiredPoints  = 100
	preferredPoints = 50
	avoidedPoints   = -1
)

func newRules(a *schedulingv1beta1.Affinity, ordered bool) *rules {
	r := &rules{none: true, yes: map[string]bool{}, no: map[string]bool{}, points: map[string]float64{}}
	if a == nil {
		return r
	}
	if to := a.NodeGroupAffinity; to != nil {
		n := len(to.PreferredDuringSchedulingIgnoredDuringExecution)
		for i, group := range to.PreferredDuringSchedulingIgnoredDuringExecution {
			points := float64(preferredPoints)
			if ordered {
				points *= float64(n-i) / float64(n)
			}
			r.yes[group], r.points[group], r.none = true, max(r.points[group], points), false
		}
		for _, group := range to.RequiredDuringSchedulingIgnoredDuringExecution {
			r.yes[group], r.points[group], r.none = true, requiredPoints, false
		}
	}
	if from := a.NodeGroupAntiAffinity; from != nil {
		for _, group := range from.PreferredDuringSchedulingIgnoredDuringExecution { // allowed, but avoided
			r.yes[group], r.points[group], r.none = true, avoidedPoints, false
		}
		for _, group := range from.RequiredDuringSchedulingIgnoredDuringExecution {
			r.no[group], r.none = true, false
		}
	}
	return r
}

// allowsGroup reports whether a queue's pods may use the nodes of a group. A queue without settings may use only nodes
// that have no group.
func (r *rules) allowsGroup(group string) bool { return r.yes[group] && !r.no[group] }

// settingsText returns the group settings of all queues as text, to detect changes.
func settingsText(queues []*queue.Queue) string {
	var b strings.Builder
	for _, q := range queues {
		text := q.Annotations[keys.NodeGroupLimits]
		if q.Affinity == nil && text == "" {
			continue
		}
		raw, err := json.Marshal(q.Affinity)
		if err != nil {
			raw = []byte(err.Error())
		}
		b.WriteString(q.Name + string(raw) + text + "\n")
	}
	return b.String()
}
