package store

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// periods lists the periods for which use is stored, longest first.
var periods = []accounting.Period{accounting.Month, accounting.Day, accounting.Hour}

// useKey identifies a row of the table of use.
type useKey struct {
	period                                       accounting.Period
	start                                        int64
	cluster, account, user, queue, qos, resource string
}

// rollUp returns the use of records by period: each allocated amount times the seconds of the run in the period.
func rollUp(records []*accounting.Record) map[useKey]int64 {
	use := map[useKey]int64{}
	for _, r := range records {
		if r.Run() == 0 {
			continue
		}
		for _, period := range periods {
			for at := r.Started; at.Before(r.Ended); {
				end := period.End(at)
				addUse(use, r, period, period.Start(at), earlier(end, r.Ended).Unix()-at.Unix())
				at = end
			}
		}
	}
	return use
}

// addUse adds the use of a record during some seconds of a period.
func addUse(use map[useKey]int64, r *accounting.Record, period accounting.Period, start time.Time, seconds int64) {
	for resource, amount := range r.Allocated {
		if amount == 0 {
			continue
		}
		key := useKey{
			period: period, start: start.Unix(),
			cluster: storable(r.Cluster), account: storable(r.Account), user: storable(r.User), queue: storable(r.Queue),
			qos: storable(r.QOS), resource: storable(resource),
		}
		use[key] += amount * seconds
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// compareUse orders rows, so that two transactions lock them in the same order.
func compareUse(a, b useKey) int {
	return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(a.start, b.start), cmp.Compare(a.cluster, b.cluster),
		cmp.Compare(a.account, b.account), cmp.Compare(a.user, b.user), cmp.Compare(a.queue, b.queue),
		cmp.Compare(a.qos, b.qos), cmp.Compare(a.resource, b.resource))
}

// useRows returns the arguments of the rows of use in order.
func useRows(use map[useKey]int64) [][]any {
	rows := make([][]any, 0, len(use))
	for _, k := range slices.SortedFunc(maps.Keys(use), compareUse) {
		rows = append(rows, []any{
			string(k.period), k.start, k.cluster, k.account, k.user, k.queue, k.qos, k.resource, use[k],
		})
	}
	return rows
}
