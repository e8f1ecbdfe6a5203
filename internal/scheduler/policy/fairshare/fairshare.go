// Package fairshare orders gangs by past usage: gangs whose accounts have used less recently come first. Waiting time
// adds points, so that every gang is served eventually.
//
//	In:   the past and present account usage, the half-life of usage; the user who submitted a gang, and the time
//	Out:  rule JobOrder, and with fairshare.queues QueueOrder; Decisions.Usage
//
// The account of a PodGroup is the user in its annotation vc-batch.dev/user or, without a user, its namespace. Every
// queue has separate accounts. Usage is measured in seconds of the whole cluster, based on the largest fraction of any
// resource, and decays by half in every half-life.
//
// The points of a gang follow Slurm's multifactor priority, and more points are better:
//
//	usageWeight·2^(-U·n) + ageWeight·min(waited/maxAge, 1)
//
// where U is the account's fraction of all usage in the queue, and n is the number of the queue's accounts. Among
// gangs with equal points, a gang whose namespace has less usage comes first.
//
// # Invariants
//
//   - Past usage is stored in the model (package pastusage). The same model at the same time therefore leads to the same
//     order, before and after a restart.
//   - Usage is summed up only when two gangs are compared. A cycle without changes costs nothing, regardless of the
//     number of gangs.
//
// # Concurrency
//
// Each engine has its own Policy.
package fairshare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/pastusage"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	targetQueues = "fairshare.targetQueues"
	halfLife     = "fairshare.halfLife"
	usageWeight  = "fairshare.usageWeight"
	ageWeight    = "fairshare.ageWeight"
	maxAge       = "fairshare.maxAge"
	queues       = "fairshare.queues"
)

// Policy implements the fairshare policy.
type Policy struct {
	conf        config.Plugin
	targets     []string // empty for all queues
	maxAge      time.Duration
	usageWeight float64
	ageWeight   float64
	amongQueues bool

	recorder *pastusage.Recorder
}

// New returns the policy.
func New(conf config.Plugin, warn func(string)) *Policy {
	a := conf.Arguments
	halfLife := a.Duration(halfLife, 4*time.Hour, warn)
	p := &Policy{
		conf: conf, maxAge: a.Duration(maxAge, 7*24*time.Hour, warn),
		usageWeight: parseWeight(a, usageWeight, 1, warn), ageWeight: parseWeight(a, ageWeight, 0.1, warn),
		amongQueues: a.Bool(queues, false, warn),
	}
	p.targets = parseQueueNames(a, warn)
	p.recorder = pastusage.NewRecorder(p, halfLife)
	return p
}

// parseQueueNames parses a list of queues: either a YAML list, or comma-separated text.
func parseQueueNames(a config.Arguments, warn func(string)) []string {
	var out []string
	switch v := a[targetQueues].(type) {
	case nil:
	case string:
		out = strings.Split(v, ",")
	case []any:
		for _, one := range v {
			name, ok := one.(string)
			if !ok {
				warn(fmt.Sprintf("argument %s: must contain queue names, not %v; this entry is ignored", targetQueues, one))
				continue
			}
			out = append(out, name)
		}
	default:
		warn(fmt.Sprintf("argument %s: must contain queue names, not %v; the policy orders gangs in all queues", targetQueues, v))
	}
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" })
}

func parseWeight(a config.Arguments, key string, usual float64, warn func(string)) float64 {
	w := a.Float(key, usual, warn)
	if !(w >= 0) || w > 1e6 {
		warn(fmt.Sprintf("argument %s: must be from 0 to 1000000, not %v; %v is used", key, w, usual))
		return usual
	}
	return w
}

// Name returns "fairshare".
func (*Policy) Name() string { return "fairshare" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return config.Reads{
		Switches:  []string{"enableJobOrder", "enableQueueOrder"},
		Arguments: []string{targetQueues, halfLife, usageWeight, ageWeight, maxAge, queues},
	}
}

// Open updates the current usage of the accounts and registers the rules.
func (p *Policy) Open(s *session.Session) {
	p.recorder.Update(s)
	usage := &accountUsage{s: s, p: p, reckoned: map[*framework.Job]float64{}}
	s.Rules.OrderMoves = true
	if p.conf.Enabled("enableJobOrder") {
		s.Rules.JobOrder = append(s.Rules.JobOrder, usage.compareJobs)
	}
	if p.amongQueues && p.conf.Enabled("enableQueueOrder") {
		s.Rules.QueueOrder = append(s.Rules.QueueOrder, func(a, b *queue.Queue) int {
			return cmp.Compare(usage.weightedQueueUsage(a), usage.weightedQueueUsage(b))
		})
	}
}

// ordersQueue reports whether the policy orders the gangs of a queue.
func (p *Policy) ordersQueue(queue string) bool {
	return len(p.targets) == 0 || slices.Contains(p.targets, queue)
}

// compareJobs orders two gangs of the same queue.
func (u *accountUsage) compareJobs(x, y *framework.Job) int {
	if !u.p.ordersQueue(x.In.Name) {
		return 0
	}
	if d := u.pointsOfGang(y) - u.pointsOfGang(x); d < -tiny || d > tiny {
		return cmp.Compare(d, 0)
	}
	if d := u.usageOfAccount(namespaceAccount(x)) - u.usageOfAccount(namespaceAccount(y)); d < -tiny || d > tiny {
		return cmp.Compare(d, 0)
	}
	return 0
}

// tiny is the maximum difference between points that count as equal. It is less than the points that one second of
// waiting adds if the maximum age is a week.
const tiny = 1e-9

// pointsOfGang returns the points of a gang, computed once per cycle.
func (u *accountUsage) pointsOfGang(j *framework.Job) float64 {
	points, known := u.reckoned[j]
	if !known {
		points = u.computePoints(j)
		u.reckoned[j] = points
	}
	return points
}

func (u *accountUsage) computePoints(j *framework.Job) float64 {
	all := u.queueTotal(j.In.Name)
	points := u.p.usageWeight
	if all.used > 0 {
		points *= math.Exp2(-u.usageOfAccount(orderingAccount(j)) / all.used * float64(all.accounts))
	}
	waited := float64(max(u.s.Now.Sub(j.Created), 0)) / float64(u.p.maxAge)
	return points + u.p.ageWeight*min(waited, 1)
}

// weightedQueueUsage returns the usage of a queue, divided by the queue's weight.
func (u *accountUsage) weightedQueueUsage(q *queue.Queue) float64 {
	return u.usageOfAccount(queueAccount(q.Name)) / float64(max(q.Weight, 1))
}
