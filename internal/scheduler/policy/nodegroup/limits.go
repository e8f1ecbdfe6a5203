package nodegroup

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// limits holds the amounts that a queue may use in each group, and the amounts that it uses.
type limits struct {
	of      map[string][]resource.Amount // by group; amounts sorted by name
	held    map[string]resource.Vec      // by group
	ending  map[string]resource.Vec      // by group: used by pods that are being deleted; not included in held
	problem string
}

// holding maps queues with limits to the amounts that their pods use on a node.
type holding map[*model.Queue]*amounts

// amounts holds the resources used by pods that stay, separately from those used by pods that are being deleted.
type amounts struct{ held, ending resource.Vec }

// parseLimits parses the annotation volcano.sh/nodegroup-resource-limits: amounts by group and resource.
func parseLimits(text string) (map[string][]resource.Amount, error) {
	var lists map[string]map[corev1.ResourceName]string
	var raw map[string]corev1.ResourceList
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		if json.Unmarshal([]byte(text), &lists) != nil {
			return nil, fmt.Errorf("must be a JSON object that maps each group to resource amounts, such as {\"g1\":{\"cpu\":\"10\"}}, not %q", text)
		}
		return nil, fmt.Errorf("%q contains an invalid amount", text)
	}
	out := map[string][]resource.Amount{}
	for group, list := range raw {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			q := list[name]
			if q.Sign() < 0 {
				q = apiresource.Quantity{}
			}
			out[group] = append(out[group], resource.Amount{Name: name, Value: resource.RoundUp(name, q)})
		}
	}
	return out, nil
}

// countQueue reads the limits of a queue and sums up its usage in each group.
func (p *Policy) countQueue(q *model.Queue) {
	text, limited := q.Annotations[keys.NodeGroupLimits]
	if !limited {
		return
	}
	l := &limits{held: map[string]resource.Vec{}, ending: map[string]resource.Vec{}}
	p.limits[q] = l
	of, err := parseLimits(text)
	if err != nil {
		l.problem = err.Error()
		return
	}
	l.of = of
	p.held.Update(p.s.Cluster, p.nodeHolding, nil)
	for id, held := range p.held.Values {
		if on := held[q]; on != nil {
			addToGroup(l.held, p.groups.Values[id], on.held, 1)
			addToGroup(l.ending, p.groups.Values[id], on.ending, 1)
		}
	}
}

func (p *Policy) nodeHolding(id model.NodeID) holding {
	var out holding
	for _, t := range p.s.Cluster.Nodes.Tasks[id] {
		if !countsAgainstLimits(t) {
			continue
		}
		if out == nil {
			out = holding{}
		}
		on := out[t.Gang.Queue]
		if on == nil {
			on = &amounts{}
			out[t.Gang.Queue] = on
		}
		if t.Status == model.Releasing {
			on.ending.Add(t.Shape.Request)
		} else {
			on.held.Add(t.Shape.Request)
		}
	}
	return out
}

// countsAgainstLimits reports whether a task counts against the limits of its queue. A task counts until it has ended.
func countsAgainstLimits(t *model.Task) bool {
	if t.Gang == nil || t.Gang.Queue == nil || t.Gang.Queue.Annotations[keys.NodeGroupLimits] == "" {
		return false
	}
	return t.Status.CountsOnNode() || t.Status == model.Pipelined
}

func addToGroup(sums map[string]resource.Vec, group string, values []int64, sign int64) {
	sum := sums[group]
	for len(sum) < len(values) {
		sum = append(sum, 0)
	}
	for i, v := range values {
		sum[i] = min(sum[i]+sign*v, resource.MaxSum)
	}
	sums[group] = sum
}

// checkLimits returns a reason if one more task would exceed the limits of its queue in a group. If later is true, pods
// that are being deleted are ignored.
func (p *Policy) checkLimits(q *queue.Queue, t *model.Task, group string, later bool) (reason.Code, string) {
	l := p.limits[q.Queue]
	switch {
	case l == nil:
		return "", ""
	case l.problem != "":
		return reason.NodeGroupLimit, keys.NodeGroupLimits + ": " + l.problem
	}
	for _, limit := range l.of[group] {
		index, ok := p.s.Cluster.Resources.Find(string(limit.Name))
		if !ok {
			continue
		}
		held := l.held[group].Get(index)
		if !later {
			held += l.ending[group].Get(index)
		}
		if asked := t.Shape.Request.Get(index); asked > 0 && held+asked > limit.Value {
			return reason.NodeGroupLimit, group + " " + string(limit.Name)
		}
	}
	return "", ""
}

// updatePlaced updates the used amounts when a task is placed within the cycle, or when its placement is undone.
func (p *Policy) updatePlaced(j *framework.Job, t *model.Task, id model.NodeID, sign int) {
	if l, group := p.limitsOnNode(j.In.Queue, id); l != nil {
		addToGroup(l.held, group, requestVector(t), int64(sign))
	}
}

func (p *Policy) updateEvicted(t *model.Task, sign int) {
	if t.Gang == nil {
		return
	}
	if l, group := p.limitsOnNode(t.Gang.Queue, t.Node); l != nil {
		addToGroup(l.held, group, requestVector(t), -int64(sign))
		addToGroup(l.ending, group, requestVector(t), int64(sign))
	}
}

// limitsOnNode returns the limits against which a queue's task on a node counts, and the node's group. It returns nil if
// there are no limits.
func (p *Policy) limitsOnNode(q *model.Queue, id model.NodeID) (*limits, string) {
	if id == model.NoNode || int(id) >= len(p.groups.Values) {
		return nil, ""
	}
	l, ok := p.limits[q]
	if !ok || l.problem != "" {
		return nil, ""
	}
	return l, p.groups.Values[id]
}

func requestVector(t *model.Task) resource.Vec {
	var vec resource.Vec
	vec.Add(t.Shape.Request)
	return vec
}
