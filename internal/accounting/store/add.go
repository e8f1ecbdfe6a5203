package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// parametersPerStatement limits the parameters of a statement. SQLite permits 32,766.
const parametersPerStatement = 3000

// Add implements accounting.Store.
func (s *store) Add(ctx context.Context, records []accounting.Record) (int, error) {
	if err := s.ready(); err != nil {
		return 0, err
	}
	return s.add(ctx, records)
}

func (s *store) add(ctx context.Context, records []accounting.Record) (int, error) {
	added := 0
	for _, group := range byMonth(records) {
		n, err := s.addMonth(ctx, accounting.Month.Start(group[0].Ended), group)
		added += n
		if err != nil {
			return added, s.engine.explain(fmt.Errorf("add %d records: %w", len(group), err))
		}
	}
	return added, nil
}

// byMonth groups different records by the month of their end, ordered by month and key. Transactions that store the same
// records lock them in the same order.
func byMonth(records []accounting.Record) [][]*accounting.Record {
	sorted := make([]*accounting.Record, len(records))
	for i := range records {
		sorted[i] = &records[i]
	}
	monthOf := func(r *accounting.Record) time.Time { return accounting.Month.Start(r.Ended) }
	slices.SortStableFunc(sorted, func(a, b *accounting.Record) int {
		return cmp.Or(monthOf(a).Compare(monthOf(b)), compareKeys(a.Key, b.Key))
	})
	var groups [][]*accounting.Record
	for i, r := range sorted {
		switch {
		case i == 0 || !monthOf(r).Equal(monthOf(sorted[i-1])):
			groups = append(groups, []*accounting.Record{r})
		case r.Key != sorted[i-1].Key:
			groups[len(groups)-1] = append(groups[len(groups)-1], r)
		}
	}
	return groups
}

func compareKeys(a, b accounting.Key) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.JobUID, b.JobUID),
		cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Element, b.Element))
}

// addMonth stores records of one month in one transaction.
func (s *store) addMonth(ctx context.Context, start time.Time, records []*accounting.Record) (int, error) {
	m, err := s.engine.open(ctx, start, true)
	if err != nil {
		return 0, err
	}
	defer m.release()
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	if err := s.engine.lockMonth(ctx, tx, start); err != nil {
		return 0, err
	}
	fresh, err := m.insertRecords(ctx, tx, records)
	if err != nil {
		return 0, err
	}
	if err := m.insertDocuments(ctx, tx, fresh); err != nil {
		return 0, err
	}
	if err := m.addUse(ctx, tx, rollUp(fresh)); err != nil {
		return 0, err
	}
	collected := details{}
	for _, r := range fresh {
		collected.add(r)
	}
	if err := m.addDetails(ctx, tx, collected); err != nil {
		return 0, err
	}
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	return len(fresh), nil
}

// insertRecords inserts the records that are not stored yet, and returns them.
func (m *month) insertRecords(ctx context.Context, tx *sql.Tx, records []*accounting.Record) ([]*accounting.Record, error) {
	text := func(rows int) string {
		return `INSERT INTO {records} (` + columnNames() + `, document_hash) VALUES ` + values(rows, len(columns)+1) +
			` ON CONFLICT DO NOTHING RETURNING cluster, job_uid, attempt, element`
	}
	stored := map[accounting.Key]bool{}
	for chunk := range slices.Chunk(records, parametersPerStatement/(len(columns)+1)) {
		var args []any
		for _, r := range chunk {
			args = append(append(args, fields(r)...), documentHash(r.Document))
		}
		if err := collectKeys(ctx, tx, m.statement(text(len(chunk))), args, stored); err != nil {
			return nil, err
		}
	}
	var fresh []*accounting.Record
	for _, r := range records {
		key := accounting.Key{
			Cluster: storable(r.Cluster), JobUID: storable(r.JobUID), Attempt: r.Attempt, Element: r.Element,
		}
		if stored[key] {
			delete(stored, key)
			fresh = append(fresh, r)
		}
	}
	return fresh, nil
}

// collectKeys runs a statement and adds the keys in its result to a set.
func collectKeys(ctx context.Context, tx *sql.Tx, text string, args []any, into map[accounting.Key]bool) error {
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key accounting.Key
		if err := rows.Scan(&key.Cluster, &key.JobUID, &key.Attempt, &key.Element); err != nil {
			return err
		}
		into[key] = true
	}
	return rows.Err()
}

// documentHash returns the hash under which a document is stored, or nil if there is none.
func documentHash(document []byte) []byte {
	if len(document) == 0 {
		return nil
	}
	sum := sha256.Sum256(document)
	return sum[:]
}

// insertDocuments stores each document once, although several records can share it.
func (m *month) insertDocuments(ctx context.Context, tx *sql.Tx, records []*accounting.Record) error {
	contents := map[string][]byte{}
	for _, r := range records {
		if hash := documentHash(r.Document); hash != nil {
			contents[string(hash)] = r.Document
		}
	}
	rows := make([][]any, 0, len(contents))
	for _, hash := range slices.Sorted(maps.Keys(contents)) {
		rows = append(rows, []any{[]byte(hash), contents[hash]})
	}
	return m.insert(ctx, tx, `INSERT INTO {documents} (hash, content) VALUES `, rows, ` ON CONFLICT DO NOTHING`)
}

// addUse adds use to the rows that are stored.
func (m *month) addUse(ctx context.Context, tx *sql.Tx, use map[useKey]int64) error {
	const key = `period, start, cluster, account, user_name, queue, qos, resource`
	return m.insert(ctx, tx, `INSERT INTO {usage} AS stored (`+key+`, seconds) VALUES `, useRows(use),
		` ON CONFLICT (`+key+` {month key}) DO UPDATE SET seconds = stored.seconds + excluded.seconds`)
}

// insert inserts rows by statements that consist of a head, the rows' parameters and a tail.
func (m *month) insert(ctx context.Context, tx *sql.Tx, head string, rows [][]any, tail string) error {
	if len(rows) == 0 {
		return nil
	}
	for chunk := range slices.Chunk(rows, parametersPerStatement/len(rows[0])) {
		text := m.statement(head + values(len(chunk), len(chunk[0])) + tail)
		if _, err := tx.ExecContext(ctx, text, slices.Concat(chunk...)...); err != nil {
			return err
		}
	}
	return nil
}
