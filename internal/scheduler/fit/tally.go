package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/overlay"
)

// Extra returns why a node is unsuitable for a task for reasons other than the filters; "" means that it is suitable.
// A nil Extra rejects no node.
type Extra func(model.NodeID) (reason.Code, string)

// TallyAllNodes evaluates a shape on every live node and counts the results.
func (f *Filters) TallyAllNodes(o *overlay.Overlay, resources *resource.Names, s *model.Shape, extra Extra) explain.Tally {
	return f.TallyNodes(o.Order, o, resources, s, nil, extra)
}

// TallyNodes evaluates a shape on the given nodes and counts the results. A rejection by policy takes precedence over
// a lack of free resources. extra is called only if the node has enough free resources.
func (f *Filters) TallyNodes(nodes []model.NodeID, o *overlay.Overlay, resources *resource.Names, s *model.Shape, policy, extra Extra) explain.Tally {
	var t explain.Tally
	for _, id := range nodes {
		code, detail, short := f.findRejection(id, o, resources, s, policy, extra)
		t.Add(code, detail, short)
		if code == reason.NodeUnschedulable && f.permitsUncordoned(s, o.Nodes.Info[id]) {
			t.AddCordoned(o.Nodes.Name[id])
		}
	}
	t.Sort()
	return t
}

// permitsUncordoned reports whether a cordoned node would pass the static filters without its cordon.
func (f *Filters) permitsUncordoned(s *model.Shape, info *model.NodeInfo) bool {
	uncordoned := *info
	uncordoned.Unschedulable = false
	uncordoned.Taints = slices.DeleteFunc(slices.Clone(info.Taints), func(t corev1.Taint) bool { return t.Key == unschedulableTaint })
	code, _ := f.CheckStatic(s, &uncordoned)
	return code == ""
}

// findRejection returns the code of the first filter that rejects a node, with details.
func (f *Filters) findRejection(id model.NodeID, o *overlay.Overlay, resources *resource.Names, s *model.Shape, policy, extra Extra) (code reason.Code, detail string, short int64) {
	if code, detail = f.CheckStatic(s, o.Nodes.Info[id]); code != "" {
		return code, detail, 0
	}
	if code, detail = f.WhyClosed(id, s); code != "" {
		return code, detail, 0
	}
	room, index, short := f.CheckDynamic(o, id, s)
	if policy != nil && room != reason.TooLarge {
		if code, detail = policy(id); code != "" {
			return code, detail, 0
		}
	}
	switch room {
	case "":
	case reason.InsufficientResource, reason.TooLarge:
		return room, resources.Name(index), short
	default:
		return room, "", 0
	}
	if code, detail = f.WhyDisproportionate(o, id, s); code == "" && extra != nil {
		code, detail = extra(id)
	}
	return code, detail, 0
}
