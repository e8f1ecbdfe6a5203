package explain

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/api/reason"
)

// describeFit describes how many members found a node, and why the next one did not. Completed pods do not need a node.
func describeFit(v *Verdict) string {
	m, completed := v.Members, ""
	if m.Completed > 0 {
		completed = fmt.Sprintf(", %d completed", m.Completed)
	}
	return fmt.Sprintf("%s%d of %d fit%s; %s", describeScope(v), m.Fit, max(m.Min-m.Completed, m.Held+1), completed, describeTally(v))
}

// describeScope describes which part of the cluster was searched for which part of the gang.
func describeScope(v *Verdict) string {
	text := ""
	if v.SubGroup != "" {
		text = fmt.Sprintf("sub-group %s is incomplete; ", v.SubGroup)
	}
	if v.HyperNode != "" {
		text += fmt.Sprintf("in HyperNode %s: ", v.HyperNode)
	}
	return text
}

// isSinglePod reports whether the gang consists of only one pod.
func isSinglePod(v *Verdict) bool {
	return v.Code == reason.GangDoesNotFit && v.Members.Min <= 1 && max(v.Members.Total, v.Members.Exist) <= 1
}

// describeTally lists the reasons with their numbers of nodes. The format is similar to that of kube-scheduler, for
// example "0/5 nodes can run one more pod: 3 InsufficientResource cpu, 2 …".
func describeTally(v *Verdict) string {
	t := &v.Tally
	if t.Looked == 0 {
		return "no nodes"
	}
	if label, is := t.MissingLabel(); is {
		return fmt.Sprintf("no node has the label %s (%d of %d nodes)%s", label, t.Looked, t.Looked, suggestLabel(v))
	}
	var b strings.Builder
	subject := "one more pod"
	if isSinglePod(v) {
		subject = "it"
	}
	fmt.Fprintf(&b, "%d/%d nodes can run %s", t.Fit, t.Looked, subject)
	for i, c := range t.Counts {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		if i == maxReasons {
			b.WriteString(", …")
			break
		}
		fmt.Fprintf(&b, "%s%d %s", separator, c.Nodes, c.Reason)
		if c.Detail != "" {
			fmt.Fprintf(&b, " %s", c.Detail)
		}
		if c.Short > 0 {
			fmt.Fprintf(&b, " (short by %s)", formatRoundedUp(c.Detail, float64(c.Short)))
		}
	}
	return b.String()
}

// suggestLabel suggests the label that the user may have meant in the selector.
func suggestLabel(v *Verdict) string {
	if v.Near == "" {
		return ""
	}
	return "; did you mean " + v.Near + "?"
}
