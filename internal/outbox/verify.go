package outbox

import (
	"context"
	"fmt"
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// verified are the binds of one gang that wait until its PodGroup was looked at: a
// watch may be late, and then part of a gang would be bound whose minimum was
// raised. Who raises a minimum does so before making pods for it, so whoever has
// seen the pods finds it.
type verified struct {
	o     *Outbox
	binds []decision.Bind
	// fresh is the PodGroup as it was found to differ; nil: it does not.
	fresh *schedulingv1beta1.PodGroup
	why   error
}

// verifyFirst are the writes for binds that rest on a PodGroup: one look a gang,
// whose binds follow each other.
func (o *Outbox) verifyFirst(binds []decision.Bind) []*write {
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
			lane: bindLane, key: "podgroup/" + podKey(binds[i].Pod), gang: binds[i].Gang.Key(), send: v.look, settled: v.looked,
		})
		i = k
	}
	return writes
}

// look reads the PodGroup and compares.
func (v *verified) look(ctx context.Context) error {
	gang, check := v.binds[0].Gang, v.binds[0].Check
	v.fresh, v.why = nil, nil
	pg, err := v.o.o.API.PodGroup(ctx, gang.Namespace, gang.Name)
	if err != nil {
		return err
	}
	if v.why = changed(gang, check, pg); v.why != nil {
		v.fresh = pg
	}
	return nil
}

// changed says what of a PodGroup is not as it was decided on.
func changed(gang decision.Object, check *decision.GangCheck, pg *schedulingv1beta1.PodGroup) error {
	if pg.UID != gang.UID {
		return fmt.Errorf("podGroup %s is another one of that name", gang.Key())
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

// looked binds, or gives the pods back together with what was found.
func (v *verified) looked(err error) {
	defer v.o.attaching.Add(-1)
	if err == nil && v.why == nil {
		writes := make([]*write, len(v.binds))
		for i := range v.binds {
			writes[i] = v.o.bindOne(&v.binds[i], time.Now())
		}
		v.o.engine.put(writes...)
		return
	}
	if err == nil { // the next decision is to know it
		err = v.why
		v.o.o.Report(model.GangFrom(v.fresh))
	}
	for i := range v.binds {
		v.o.patiently(err, model.BindFailed{UID: v.binds[i].Pod.UID, Err: err.Error()})
	}
}
