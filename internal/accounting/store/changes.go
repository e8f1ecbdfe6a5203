package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// changeColumns lists the columns of the table of changes, in the order of changeFields. The column account holds the name
// of the account or, if the action changes a QOS, of the QOS.
var changeColumns = []string{"id", "cluster", "time_ns", "actor", "action", "account", "user_names", "info"}

// changeFields returns the pointers to the fields of a change, as arguments and as the targets of a scan.
func changeFields(c *accounting.Change) []any {
	return []any{
		(*text)(&c.ID), (*text)(&c.Cluster), (*nanoseconds)(&c.Time), (*text)(&c.Actor), (*text)((*string)(&c.Action)), (*text)(&c.Account), (*lines)(&c.Users), (*text)(&c.Info),
	}
}

// AddChanges implements accounting.Store.
func (s *store) AddChanges(ctx context.Context, changes []accounting.Change) error {
	if err := s.ready(); err != nil {
		return err
	}
	return s.addChanges(ctx, changes)
}

// addChanges stores changes in one transaction for each month.
func (s *store) addChanges(ctx context.Context, changes []accounting.Change) error {
	months := map[time.Time][]accounting.Change{}
	for _, c := range changes {
		start := accounting.Month.Start(c.Time)
		months[start] = append(months[start], c)
	}
	for start, group := range months {
		if err := s.addMonthOfChanges(ctx, start, group); err != nil {
			return s.engine.explain(fmt.Errorf("add %d changes of accounts: %w", len(group), err))
		}
	}
	return nil
}

func (s *store) addMonthOfChanges(ctx context.Context, start time.Time, changes []accounting.Change) error {
	m, err := s.engine.open(ctx, start, true)
	if err != nil {
		return err
	}
	defer m.release()
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for group := range slices.Chunk(changes, parametersPerStatement/len(changeColumns)) {
		var args []any
		for i := range group {
			row := group[i]
			row.Account = row.Name()
			args = append(args, changeFields(&row)...)
		}
		statement := `INSERT INTO {changes} (` + strings.Join(changeColumns, ", ") + `) VALUES ` + values(len(group), len(changeColumns)) + ` ON CONFLICT DO NOTHING`
		if _, err := tx.ExecContext(ctx, m.statement(statement), args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Changes implements accounting.Store. The database selects by time, because accounts change seldom. The other conditions
// are checked here.
func (s *store) Changes(ctx context.Context, query accounting.ChangeQuery) ([]accounting.Change, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	months, err := s.monthsSince(ctx, query.From)
	if err != nil {
		return nil, s.engine.explain(fmt.Errorf("list months: %w", err))
	}
	where := &conditions{}
	if !query.From.IsZero() {
		where.add("time_ns >= ?", query.From.UnixNano())
	}
	if !query.To.IsZero() {
		where.add("time_ns < ?", query.To.UnixNano())
	}
	var found []accounting.Change
	for _, start := range months {
		statement := `SELECT ` + strings.Join(changeColumns, ", ") + ` FROM {changes}` + where.String()
		err := s.query(ctx, start, statement, where.args, func(rows *sql.Rows) (bool, error) {
			var c accounting.Change
			if err := rows.Scan(changeFields(&c)...); err != nil {
				return false, err
			}
			if c.Action.ChangesQOS() {
				c.Account, c.QOS = "", c.Account
			}
			if query.Selects(&c) {
				found = append(found, c)
			}
			return true, nil
		})
		if err != nil {
			return nil, s.engine.explain(fmt.Errorf("read changes of accounts: %w", err))
		}
	}
	slices.SortFunc(found, func(a, b accounting.Change) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Cluster, b.Cluster))
	})
	return found, nil
}
