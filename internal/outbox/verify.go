package outbox

import (
	"context"
	"fmt"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// verified holds the binds of a gang that are waiting for a check of the gang's PodGroup. Watch events may be late, so
// without the check, part of a gang could be bound after its minimum was raised. Users and controllers raise a minimum
// before they create the additional pods, so a read after the pods were observed returns the new minimum.
type verified struct {
	o     *Outbox
	binds []decision.Bind
	// fresh is the current PodGroup if it differs from the PodGroup in the decision; otherwise, it is nil.
	fresh *schedulingv1beta1.PodGroup
	why   error
}

// verifyWrites returns the writes for binds that depend on a PodGroup, with one check per gang. The binds of a gang
// must be adjacent.
func (o *Outbox) verifyWrites(binds []decision.Bind) []*write {
	var writes []*write
	for i := 0; i < len(binds); {
		if binds[i].Check == nil {
			i++
			continue
		}
		k := i + 1
		for k < len(binds) && binds[k].Gang == binds[i].Gang {
			k++
		}
		v := &verified{o: o, binds: binds[i:k]}
		o.attaching.Add(1)
		writes = append(writes, &write{
			lane: bindLane, key: "podgroup/" + podWriteKey(binds[i].Pod), gang: binds[i].Gang.Key(), send: v.checkPodGroup, settled: v.handleCheck,
		})
		i = k
	}
	return writes
}

// checkPodGroup reads the PodGroup and compares it with the decision.
func (v *verified) checkPodGroup(ctx context.Context) error {
	gang, check := v.binds[0].Gang, v.binds[0].Check
	v.fresh, v.why = nil, nil
	pg, err := v.o.o.API.PodGroup(ctx, gang.Namespace, gang.Name)
	if err != nil {
		return err
	}
	if v.why = checkUnchanged(gang, check, pg); v.why != nil {
		v.fresh = pg
	}
	return nil
}

// checkUnchanged returns an error if the PodGroup was replaced or its minimum was raised after the decision.
func checkUnchanged(gang decision.Object, check *decision.GangCheck, pg *schedulingv1beta1.PodGroup) error {
	if pg.UID != gang.UID {
		return fmt.Errorf("podGroup %s was re-created with the same name", gang.Key())
	}
	if int(pg.Spec.MinMember) > check.MinMember {
		return fmt.Errorf("podGroup %s: minMember was raised from %d to %d", gang.Key(), check.MinMember, pg.Spec.MinMember)
	}
	for role, n := range pg.Spec.MinTaskMember {
		if int(n) > check.MinTaskMember[role] {
			return fmt.Errorf("podGroup %s: minTaskMember of %s was raised from %d to %d", gang.Key(), role, check.MinTaskMember[role], n)
		}
	}
	return nil
}

// handleCheck binds the pods, or reports that their binds failed, together with the changed PodGroup.
func (v *verified) handleCheck(err error) {
	defer v.o.attaching.Add(-1)
	if err == nil && v.why == nil {
		writes := make([]*write, len(v.binds))
		for i := range v.binds {
			writes[i] = v.o.firstBindWrite(&v.binds[i], v.o.o.Clock.Now())
		}
		v.o.engine.queueWrites(writes...)
		return
	}
	if err == nil { // the next decision needs the new PodGroup
		err = v.why
		v.o.o.Report(model.GangFrom(v.fresh))
	}
	for i := range v.binds {
		v.o.reportAfterPause(err, model.BindFailed{UID: v.binds[i].Pod.UID, Err: err.Error()})
	}
}
