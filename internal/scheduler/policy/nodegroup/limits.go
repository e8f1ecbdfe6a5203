package nodegroup

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// limits are how much a queue may hold in groups, and holds.
type limits struct {
	of      map[string][]model.Amount // by group, by name
	held    map[string]model.Vec      // by group
	problem string
}

// holding is what queues with limits hold on a node.
type holding map[*model.Queue]model.Vec

// parseLimits reads the annotation: amounts by resource, by group.
func parseLimits(text string) (map[string][]model.Amount, error) {
	var lists map[string]map[corev1.ResourceName]string
	var raw map[string]corev1.ResourceList
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		if json.Unmarshal([]byte(text), &lists) != nil {
			return nil, fmt.Errorf("want a JSON object of amounts by resource by group, have %q", text)
		}
		return nil, fmt.Errorf("an amount cannot be read in %q", text)
	}
	out := map[string][]model.Amount{}
	for group, list := range raw {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			q := list[name]
			if q.Sign() < 0 {
				q = resource.Quantity{}
			}
			out[group] = append(out[group], model.Amount{Name: name, Value: model.Ceil(name, q)})
		}
	}
	return out, nil
}

// count reads the limits of a queue, and what it holds in groups.
func (p *Policy) count(q *model.Queue) {
	text, limited := q.Annotations[keys.NodeGroupLimits]
	if !limited {
		return
	}
	l := &limits{held: map[string]model.Vec{}}
	p.limits[q] = l
	of, err := parseLimits(text)
	if err != nil {
		l.problem = err.Error()
		return
	}
	l.of = of
	p.held.Update(p.s, p.hold, nil)
	for id, held := range p.held.Values {
		if vec := held[q]; vec != nil {
			l.add(p.groups.Values[id], vec, 1)
		}
	}
}

func (p *Policy) hold(id model.NodeID) holding {
	var out holding
	for _, t := range p.s.Cluster.Nodes.Tasks[id] {
		if t.Gang == nil || t.Gang.Queue == nil || t.Gang.Queue.Annotations[keys.NodeGroupLimits] == "" || !t.Status.Allocated() && t.Status != model.Pipelined {
			continue
		}
		if out == nil {
			out = holding{}
		}
		vec := out[t.Gang.Queue]
		vec.Add(t.Shape.Request)
		out[t.Gang.Queue] = vec
	}
	return out
}

func (l *limits) add(group string, values []int64, sign int64) {
	sum := l.held[group]
	for len(sum) < len(values) {
		sum = append(sum, 0)
	}
	for i, v := range values {
		sum[i] = min(sum[i]+sign*v, model.MaxSum)
	}
	l.held[group] = sum
}

func (l *limits) count(group string, t *model.Task, sign int64) {
	var vec model.Vec
	vec.Add(t.Shape.Request)
	l.add(group, vec, sign)
}

// within says whether a queue stays within its limits in a group with one more task.
func (p *Policy) within(q *queue.Queue, t *model.Task, group string) (reason.Code, string) {
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
		if asked := t.Shape.Request.Get(index); asked > 0 && l.held[group].Get(index)+asked > limit.Value {
			return reason.NodeGroupLimit, group + " " + string(limit.Name)
		}
	}
	return "", ""
}

// placed and evicted keep count of what the cycle tries.
func (p *Policy) placed(_ *session.Job, t *model.Task, id model.NodeID, sign int) {
	p.follow(t, id, sign)
}

func (p *Policy) evicted(t *model.Task, sign int) { p.follow(t, t.Node, -sign) }

func (p *Policy) follow(t *model.Task, id model.NodeID, sign int) {
	if t.Gang == nil || id == model.NoNode || int(id) >= len(p.groups.Values) {
		return
	}
	if l, ok := p.limits[t.Gang.Queue]; ok && l.problem == "" {
		l.count(p.groups.Values[id], t, int64(sign))
	}
}
