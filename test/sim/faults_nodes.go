package sim

import (
	"fmt"
	"time"
)

func init() {
	registerAction("lose-node", 3, onNode(func(s *drawing, node string) *action {
		length := between(s.Rand, 5*time.Second, 3*time.Minute)
		return s.action(func(w *World) {
			w.loseNode(node)
			w.add(w.now.Add(length), nil, func() { w.returnNode(node) })
		}, "%s is lost for %s", node, length.Round(time.Second))
	}))
	registerAction("remove-node", 1, onNode(func(s *drawing, node string) *action {
		length := between(s.Rand, 5*time.Second, 3*time.Minute)
		return s.action(func(w *World) {
			if w.state.nodes[node] == nil {
				return
			}
			cpu := w.state.nodes[node].Status.Capacity.Cpu().MilliValue()
			w.removeNode(node)
			w.add(w.now.Add(length), nil, func() { w.addNode(node, cpu) })
		}, "%s is removed, and added again after %s", node, length.Round(time.Second))
	}))
	registerAction("cordon-node", 2, onNode(func(s *drawing, node string) *action {
		length := between(s.Rand, 5*time.Second, 2*time.Minute)
		return s.action(func(w *World) {
			w.setCordoned(node, true)
			if n := w.state.nodes[node]; n != nil && n.Spec.Unschedulable {
				w.cover("cordoned node", fmt.Sprintf("with pods: %t", w.requestedOn(node) > 0))
			}
			w.add(w.now.Add(length), nil, func() { w.setCordoned(node, false) })
		}, "%s is cordoned for %s", node, length.Round(time.Second))
	}))
	expectCoverage("lost node", 2)
	expectCoverage("removed node", 1)
	expectCoverage("cordoned node", 2)
}

// onNode draws an action for one of the nodes.
func onNode(draw func(s *drawing, node string) *action) func(s *drawing) *action {
	return func(s *drawing) *action { return draw(s, nodeName(s.IntN(len(s.setting.nodes)))) }
}
