package v1beta1

import "slices"

// AdmitsGroup reports whether jobs of the queue may run on the nodes of a group, which is specified by the label
// volcano.sh/nodegroup-name; "" stands for nodes without the label. The queue's anti-affinity excludes groups. Its
// affinity, if set, permits only the listed groups.
func (q *Queue) AdmitsGroup(group string) bool {
	a := q.Spec.Affinity
	if a == nil {
		return true
	}
	if anti := a.NodeGroupAntiAffinity; anti != nil && slices.Contains(anti.RequiredDuringSchedulingIgnoredDuringExecution, group) {
		return false
	}
	to := a.NodeGroupAffinity
	if to == nil || len(to.RequiredDuringSchedulingIgnoredDuringExecution)+len(to.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return true
	}
	return slices.Contains(to.RequiredDuringSchedulingIgnoredDuringExecution, group) || slices.Contains(to.PreferredDuringSchedulingIgnoredDuringExecution, group)
}
