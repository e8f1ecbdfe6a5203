// Package resourcequota prevents the admission of gangs if a ResourceQuota of their namespace would reject some or
// all of their pods. The engine runs it even if the configuration does not list it.
//
//	In:   ResourceQuotas, the outstanding requests of admitted PodGroups
//	Out:  rules Creatable and Admitted
//
// # Invariants
//
//   - An admitted gang fits into every quota of its namespace, in addition to the used amounts and to the gangs that
//     were admitted before.
//   - Existing pods count only once, because the quota's usage includes them.
//   - A quota with scopes applies only to gangs whose pods are known to match. Before the pods exist, only the
//     information in the PodGroup is known: the priority class, and whether the pods request anything. In other
//     cases, the API server decides.
package resourcequota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/quota"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the resourcequota policy.
type Policy struct{ conf config.Plugin }

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf} }

// Name returns "resourcequota".
func (*Policy) Name() string { return "resourcequota" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	if !p.conf.Enabled("enableJobEnqueued") || len(s.Cluster.Quotas) == 0 {
		return
	}
	q := &quotas{s: s}
	s.Rules.Creatable = append(s.Rules.Creatable, q.checkQuotas)
	s.Rules.Admitted = append(s.Rules.Admitted, q.countAdmitted)
}

// quotas holds the totals of one cycle.
type quotas struct {
	s *session.Session
	// inside holds, for each namespace that has quotas, the gangs with minResources.
	inside map[string][]*model.Gang
	// traits caches the traits of each gang's pods.
	traits map[*model.Gang]quota.PodTraits
	// sums caches, for each limit, the total outstanding requests of the admitted gangs.
	sums map[limit]float64
}

// limit identifies one resource limit of a quota.
type limit struct {
	quota *quota.Quota
	name  corev1.ResourceName
}

// checkQuotas returns a verdict if the gang's minimum would exceed a quota.
func (q *quotas) checkQuotas(j *framework.Job) explain.Verdict {
	of := q.s.Cluster.Quotas[j.Namespace]
	for i := range of {
		if !q.appliesToGang(&of[i], j.Gang) {
			continue
		}
		if v := q.checkQuota(&of[i], j); v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// appliesToGang reports whether a quota is known to apply to a gang's pods.
func (q *quotas) appliesToGang(limits *quota.Quota, g *model.Gang) bool {
	if len(limits.Scopes) == 0 {
		return true
	}
	traits, known := q.traits[g]
	if !known {
		traits = g.ExpectedTraits()
		if q.traits == nil {
			q.traits = map[*model.Gang]quota.PodTraits{}
		}
		q.traits[g] = traits
	}
	return limits.Covers(&traits) == quota.Yes
}

// checkQuota returns a verdict that lists the limits of a quota, by name, that the gang's minimum would exceed. If it
// exceeds some limits even when the quota is unused, the verdict lists only these.
func (q *quotas) checkQuota(quota *quota.Quota, j *framework.Job) explain.Verdict {
	var exceeded, impossible []explain.Limit
	for _, hard := range quota.Hard {
		asked := q.missingAmount(j.Gang, j.MinMember, j.MinResources, hard.Name)
		if asked <= 0 {
			continue
		}
		used, promised := amountByName(quota.Used, hard.Name), q.reservedAmount(quota, j.Namespace, hard.Name)
		limit := explain.Limit{
			Queue: j.In.Name, Quota: quota.Name, Resource: string(hard.Name),
			Asked: asked, Held: used, Promised: promised, Limit: float64(hard.Value),
		}
		if asked+used+promised > limit.Limit {
			exceeded = append(exceeded, limit)
		}
		if asked > limit.Limit {
			impossible = append(impossible, limit)
		}
	}
	switch {
	case len(impossible) > 0:
		return explain.Verdict{Code: reason.OverQuota, Limit: &impossible[0], More: impossible[1:]}
	case len(exceeded) > 0:
		return explain.Verdict{Code: reason.OverQuota, Limit: &exceeded[0], More: exceeded[1:]}
	}
	return explain.Verdict{}
}

// reservedAmount returns the total amount that the admitted gangs of a namespace will still request from a quota. It is
// called only for gangs that are not admitted, so the total never includes the gang itself. The total is cached,
// because thousands of gangs may be waiting.
func (q *quotas) reservedAmount(quota *quota.Quota, namespace string, name corev1.ResourceName) float64 {
	key := limit{quota, name}
	sum, known := q.sums[key]
	if known {
		return sum
	}
	if q.inside == nil {
		q.inside, q.sums = map[string][]*model.Gang{}, map[limit]float64{}
		for _, g := range q.s.Cluster.Gangs {
			if g.Known && g.HasMinResources && len(q.s.Cluster.Quotas[g.Namespace]) > 0 {
				q.inside[g.Namespace] = append(q.inside[g.Namespace], g)
			}
		}
	}
	for _, g := range q.inside[namespace] {
		if mayCreatePods(q.s.Job(g)) && q.appliesToGang(quota, g) {
			sum += q.missingAmount(g, g.MinMember, g.MinResources, name)
		}
	}
	q.sums[key] = sum
	return sum
}

// mayCreatePods reports whether pods of a gang may still be created, which is so if the gang is admitted and not
// complete. j may be nil.
func mayCreatePods(j *framework.Job) bool {
	return j != nil && j.IsAdmitted() && j.Phase != schedulingv1beta1.PodGroupCompleted
}

// countAdmitted adds a gang that was admitted in this cycle to the totals.
func (q *quotas) countAdmitted(j *framework.Job) {
	of := q.s.Cluster.Quotas[j.Namespace]
	for i := range of {
		if !q.appliesToGang(&of[i], j.Gang) {
			continue
		}
		for _, hard := range of[i].Hard {
			if key := (limit{&of[i], hard.Name}); q.hasCachedTotal(key) {
				q.sums[key] += q.missingAmount(j.Gang, j.MinMember, j.MinResources, hard.Name)
			}
		}
	}
}

// hasCachedTotal reports whether a total is already cached. If it is not, the caller must not add the admitted gang: a
// total that is computed later includes the gang because of its phase.
func (q *quotas) hasCachedTotal(key limit) bool {
	_, known := q.sums[key]
	return known
}

// missingAmount returns the amount that the missing pods of a gang will request, given its minimum.
func (q *quotas) missingAmount(g *model.Gang, members int, request resource.Request, name corev1.ResourceName) float64 {
	base, limits := quota.ParseName(string(name))
	index, known := q.s.Cluster.Resources.Find(base)
	exist, held, asked := 0, 0.0, 0.0
	for _, t := range g.Tasks {
		if t.Status == model.Failed {
			continue
		}
		exist++
		if known {
			held += float64(t.Shape.Request.Get(index))
		}
	}
	if known {
		asked = float64(request.Get(index))
	}
	switch {
	case index == resource.Pods && known:
		return max(max(float64(members), asked)-float64(exist), 0)
	case limits: // the model does not have the pods' limits; assume equal pods
		asked := amountByName(g.QuotaResources, name)
		return asked * max(1-float64(exist)/float64(max(members, 1)), 0)
	}
	if own := amountByName(g.QuotaResources, corev1.ResourceName("requests."+base)); own > 0 {
		asked = own
	}
	return max(asked-held, 0)
}

// amountByName returns the amount with the given name, or 0 if none exists.
func amountByName(list []resource.Amount, name corev1.ResourceName) float64 {
	if i := slices.IndexFunc(list, func(a resource.Amount) bool { return a.Name == name }); i >= 0 {
		return float64(list[i].Value)
	}
	return 0
}
