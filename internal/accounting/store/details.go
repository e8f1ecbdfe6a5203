package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// details holds rows of the table of details: the use of resources by namespace and size of attempts, and the resources
// and times for which attempts waited.
type details map[detailKey]detail

// detailKey identifies a row.
type detailKey struct {
	useKey
	waiting   int64
	namespace string
	milliCPUs int64
}

// detail is the content of a row.
type detail struct {
	// seconds is the amount of the resource times the time.
	seconds int64
	// attempts is the number of attempts in the period, and begun the number of attempts that began in it.
	attempts, begun int64
}

// add adds the use and the waiting time of a record.
func (d details) add(r *accounting.Record) {
	waited := r.Ended
	if !r.Started.IsZero() {
		waited = r.Started
	}
	key := detailKey{namespace: storable(r.Namespace), useKey: useKey{
		cluster: storable(r.Cluster), account: storable(r.Account), user: storable(r.User), queue: storable(r.Queue), qos: storable(r.QOS),
	}}
	d.addInterval(key, unix(r.Started), unix(r.Ended), r.Allocated)
	key.waiting = boolAsNumber(true)
	d.addInterval(key, unix(r.Eligible), unix(waited), r.Requested)
}

// addInterval adds amounts from one time to another to all periods between them.
func (d details) addInterval(key detailKey, began, ended int64, of accounting.Resources) {
	if began == 0 {
		return
	}
	key.milliCPUs = of[accounting.CPU]
	for _, period := range periods {
		key.period = period
		for at := began; at < ended; {
			instant := time.Unix(at, 0)
			until := min(period.End(instant).Unix(), ended)
			key.start = period.Start(instant).Unix()
			d.addAmounts(key, of, until-at, at == began)
			at = until
		}
	}
}

// addAmounts adds amounts for some seconds to a period.
func (d details) addAmounts(key detailKey, of accounting.Resources, seconds int64, begin bool) {
	for resource, amount := range of {
		if amount <= 0 {
			continue
		}
		key.resource = storable(resource)
		sum := d[key]
		sum.seconds += amount * seconds
		sum.attempts++
		sum.begun += boolAsNumber(begin)
		d[key] = sum
	}
}

// compareDetails orders rows, so that two transactions lock them in the same order.
func compareDetails(a, b detailKey) int {
	return cmp.Or(cmp.Compare(a.waiting, b.waiting), compareUse(a.useKey, b.useKey),
		cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.milliCPUs, b.milliCPUs))
}

// rows returns the arguments of the rows in order.
func (d details) rows() [][]any {
	rows := make([][]any, 0, len(d))
	for _, k := range slices.SortedFunc(maps.Keys(d), compareDetails) {
		rows = append(rows, []any{
			k.waiting, string(k.period), k.start, k.cluster, k.account, k.user, k.queue, k.qos, k.namespace, k.milliCPUs, k.resource,
			d[k].seconds, d[k].attempts, d[k].begun,
		})
	}
	return rows
}

// addDetails adds details to the rows that are stored.
func (m *month) addDetails(ctx context.Context, tx *sql.Tx, d details) error {
	const key = `waiting, period, start, cluster, account, user_name, queue, qos, namespace, milli_cpus, resource`
	return m.insert(ctx, tx, `INSERT INTO {usage_details} AS stored (`+key+`, seconds, attempts, begun) VALUES `, d.rows(),
		` ON CONFLICT (`+key+` {month key}) DO UPDATE SET seconds = stored.seconds + excluded.seconds,
		attempts = stored.attempts + excluded.attempts, begun = stored.begun + excluded.begun`)
}

// fillPage is the number of records that fillDetails reads at once, and fillRows the number of rows that it collects
// before it stores them. Tests use smaller numbers.
var fillPage, fillRows = 20_000, 200_000

// fillDetails fills the table of details from the records of a month. It reads pages, because PostgreSQL cannot write
// while the rows of a statement are read. Records that ended at about the same time have many rows in common.
func fillDetails(ctx context.Context, tx *sql.Tx, m *month) error {
	collected := details{}
	var last *accounting.Position
	for {
		page, err := m.readPage(ctx, tx, last)
		if err != nil {
			return fmt.Errorf("sum up the records: %w", err)
		}
		for i := range page {
			collected.add(&page[i])
		}
		if len(page) > 0 {
			position := page[len(page)-1].Position()
			last = &position
		}
		if len(collected) < fillRows && len(page) == fillPage {
			continue
		}
		if err := m.addDetails(ctx, tx, collected); err != nil {
			return fmt.Errorf("sum up the records: %w", err)
		}
		if len(page) < fillPage {
			return nil
		}
		clear(collected)
	}
}

// detailColumns lists the columns that details and the position of a record depend on.
var detailColumns = []string{
	"job_uid", "attempt", "element", "cluster", "namespace", "user_name", "account", "qos", "queue",
	"eligible", "started", "ended", "requested", "allocated",
}

// readPage reads the detailColumns of the records that follow a position. nil is before all positions.
func (m *month) readPage(ctx context.Context, tx *sql.Tx, last *accounting.Position) ([]accounting.Record, error) {
	where := &conditions{}
	where.after(last)
	text := `SELECT ` + strings.Join(detailColumns, ", ") + ` FROM {records}` + where.String() +
		` ORDER BY ended, cluster, job_uid, attempt, element` + fmt.Sprintf(` LIMIT %d`, fillPage)
	rows, err := tx.QueryContext(ctx, m.statement(text), where.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []accounting.Record
	for rows.Next() {
		var r accounting.Record
		if err := rows.Scan(fieldsOf(&r, detailColumns)...); err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, rows.Err()
}
