package tdm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	evictPeriod = "tdm.evict.period"
	// defaultPeriod is the default time between two rounds of evictions from nodes whose zone is closed.
	defaultPeriod = time.Minute
)

// parsePeriod parses tdm.evict.period. It warns about an invalid duration.
func parsePeriod(text string, say func(string, ...any)) time.Duration {
	if text == "" {
		return defaultPeriod
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	say("argument %s: must be a duration such as 1m, not %q; the default %s is used", evictPeriod, text, defaultPeriod)
	return defaultPeriod
}

// evictOverstaying evicts preemptable pods from nodes whose zone has closed. It does so once per period, and evicts as
// many pods of each gang as the gang's annotations allow.
func (p *Policy) evictOverstaying(s *session.Session) {
	last, ever := s.Cluster.Shuffled[p.Name()]
	if ever && s.Now.Before(last.Add(p.period)) {
		s.WakeAt(last.Add(p.period))
		return
	}
	s.Rules.Shuffle(framework.Mover{
		Name: p.Name(), Most: allowedLosses,
		Victims: func() ([]*model.Task, string) {
			return p.overstayingTasks(s), "the pod's node is time-shared, and the hours of the node's zone have ended"
		},
	})
}

// overstayingTasks returns the running tasks that are not protected, on nodes whose zone is closed.
func (p *Policy) overstayingTasks(s *session.Session) []*model.Task {
	var tasks []*model.Task
	for _, id := range s.View.Order {
		if p.IsOpen(id) {
			continue
		}
		for _, t := range s.Cluster.Nodes.Tasks[id] {
			if t.Status == model.Running && !t.IsProtected() {
				tasks = append(tasks, t)
			}
		}
	}
	slices.SortFunc(tasks, func(a, b *model.Task) int { return strings.Compare(a.Key(), b.Key()) })
	return tasks
}

// annotationWarnings returns warnings about invalid annotations: the disruption limits of a gang, and the revocable
// zones of its pods.
func annotationWarnings(j *framework.Job) (texts []string) {
	for _, key := range [2]string{keys.JDBMaxUnavailable, keys.JDBMinAvailable} {
		if text, given := j.Annotations[key]; given {
			if _, ok := parseShare(text, 1); !ok {
				texts = append(texts, fmt.Sprintf("%s: must be a number of pods or a percentage, not %q; the annotation is ignored", key, text))
			}
		}
	}
	var last *model.Shape
	for _, t := range j.Tasks {
		if t.Shape == last {
			continue
		}
		last = t.Shape
		if zone, given := last.Notes[keys.RevocableZone]; given && zone != "*" {
			texts = append(texts, fmt.Sprintf("%s: must be * (any zone), not %q; the pod cannot use time-shared nodes", keys.RevocableZone, zone))
		}
	}
	return texts
}

// allowedLosses returns the number of tasks that a gang may lose at once according to its annotations.
// jdb-max-unavailable, a number or a percentage, limits the tasks that are not running. If it is missing,
// jdb-min-available applies. If both are missing, allowedLosses returns -1, which means that the gang may lose its
// surplus or all its tasks.
func allowedLosses(g *model.Gang) int {
	running := g.Count[model.Running]
	ended := g.Count[model.Succeeded] + g.Count[model.Failed]
	if most, ok := parseShare(g.Annotations[keys.JDBMaxUnavailable], len(g.Tasks)); ok {
		return max(most-(len(g.Tasks)-ended-running), 0)
	}
	if least, ok := parseShare(g.Annotations[keys.JDBMinAvailable], len(g.Tasks)); ok {
		return max(running-least, 0)
	}
	return -1
}

// parseShare parses a number, or a percentage of a total, which it rounds up.
func parseShare(text string, of int) (int, bool) {
	if digits, isPart := strings.CutSuffix(text, "%"); isPart {
		n, err := strconv.Atoi(digits)
		return (min(n, 100)*of + 99) / 100, err == nil && n >= 0
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}

// grantGuestEviction grants the eviction of preemptable pods outside of lent nodes, for gangs that must not use lent
// nodes. It does so because the victims can still run on lent nodes.
func (p *Policy) grantGuestEviction(a *framework.Attack) framework.Guard {
	out := map[*model.Gang]int{}
	stays := IsPreemptable(a.Taker.Gang) || slices.ContainsFunc(a.Tasks, func(t *model.Task) bool { return IsRevocable(t.Shape) })
	return framework.Guard{
		Code: reason.NotRevocable,
		May: func(victims []*model.Task) (bool, string) {
			g := victims[0].Gang
			if most := allowedLosses(g); most >= 0 && out[g]+len(victims) > most {
				return false, ""
			}
			return !stays && !slices.ContainsFunc(victims, func(t *model.Task) bool {
				return !IsRevocable(t.Shape) || p.nodes.Values[t.Node] != ""
			}), ""
		},
		Out: func(victims []*model.Task, sign int) {
			for _, t := range victims {
				out[t.Gang] += sign
			}
		},
		Because: func([]*model.Task) string {
			return "the evicted pods can run on time-shared nodes, but the pods of the waiting gang cannot"
		},
	}
}
