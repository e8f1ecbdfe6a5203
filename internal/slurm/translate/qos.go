package translate

import (
	"slices"

	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/usererror"
)

// setQOS sets the QOS that --qos requests. If the cluster has no QOS, --qos names a priority class, or a QOS of the profile.
func (b *topic) setQOS() {
	switch {
	case b.r.QOS == "":
		return
	case len(b.Facts.QOS) > 0:
		b.setQOSLabel()
	default:
		b.setPriorityClass()
	}
	b.launch.QOS, b.stored.QOS = b.r.QOS, b.r.QOS
}

// setQOSLabel sets the label with the QOS. The API server adds the priority class of the QOS.
func (b *topic) setQOSLabel() {
	if !slices.Contains(b.Facts.QOS, b.r.QOS) {
		b.addError(usererror.Errorf("known: "+joinWords(b.Facts.QOS), "Batch job submission failed: "+check.SlurmInvalidQOS))
		return
	}
	b.labels = map[string]string{keys.QOS: b.r.QOS}
	b.recordFields("qos", keyPath("metadata.labels", keys.QOS))
}

// setPriorityClass sets the priority class that --qos requests.
func (b *topic) setPriorityClass() {
	class, mapped := b.p.QOS[b.r.QOS]
	if !mapped {
		class = b.r.QOS
	}
	if b.Facts.Classes != nil && !slices.Contains(b.Facts.Classes, class) {
		known := slices.Clone(b.Facts.Classes)
		for name := range b.p.QOS {
			known = append(known, name)
		}
		slices.Sort(known)
		hint := "the cluster has no priority classes, and the site's profile defines no QOS"
		if len(known) > 0 {
			hint = "known: " + joinWords(slices.Compact(known))
		}
		b.addError(usererror.Errorf(hint, "Batch job submission failed: Invalid qos specification"))
	}
	b.job.PriorityClassName = class
	b.recordFields("qos", "spec.priorityClassName")
}
