package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// AddNodeChanges implements accounting.Store.
func (s *store) AddNodeChanges(ctx context.Context, changes []accounting.NodeChange) error {
	if err := s.ready(); err != nil {
		return err
	}
	return s.addNodeChanges(ctx, changes)
}

func (s *store) addNodeChanges(ctx context.Context, changes []accounting.NodeChange) error {
	byMonth := map[time.Time][][]any{}
	for _, c := range slices.SortedFunc(slices.Values(changes), accounting.CompareNodeChanges) {
		start := accounting.Month.Start(c.Time)
		state := string(c.State)
		byMonth[start] = append(byMonth[start], []any{
			(*text)(&c.Cluster), (*text)(&c.Node), (*instant)(&c.Time), (*text)(&state), (*text)(&c.Reason), (*amounts)(&c.Capacity),
		})
	}
	for start, rows := range byMonth {
		if err := s.insertNodeChanges(ctx, start, rows); err != nil {
			return s.engine.explain(fmt.Errorf("add %d changes of nodes: %w", len(rows), err))
		}
	}
	return nil
}

// insertNodeChanges stores changes of one month in one transaction.
func (s *store) insertNodeChanges(ctx context.Context, start time.Time, rows [][]any) error {
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
	const head = `INSERT INTO {nodes} (cluster, node, time, state, reason, capacity) VALUES `
	if err := m.insert(ctx, tx, head, rows, ` ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	return tx.Commit()
}

// NodeChanges implements accounting.Store.
func (s *store) NodeChanges(ctx context.Context, clusters []string, from, to time.Time) ([]accounting.NodeChange, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	earliest := accounting.Month.Start(from)
	if !from.IsZero() {
		earliest = earliest.AddDate(0, -1, 0)
	}
	changes, err := s.nodeChanges(ctx, clusters, earliest, to)
	if err != nil {
		return nil, s.engine.explain(fmt.Errorf("read changes of nodes: %w", err))
	}
	return withoutSuperseded(changes, from), nil
}

// nodeChanges returns the changes between two times, in order.
func (s *store) nodeChanges(ctx context.Context, clusters []string, from, to time.Time) ([]accounting.NodeChange, error) {
	months, err := s.monthsSince(ctx, from)
	if err != nil {
		return nil, err
	}
	var changes []accounting.NodeChange
	for _, start := range months {
		where := &conditions{}
		in(where, "cluster", clusters)
		if !to.IsZero() {
			where.add("time < ?", unixCeiling(to))
		}
		statement := `SELECT cluster, node, time, state, reason, capacity FROM {nodes}` + where.String()
		err := s.query(ctx, start, statement, where.args, func(rows *sql.Rows) (bool, error) {
			var c accounting.NodeChange
			var state text
			err := rows.Scan((*text)(&c.Cluster), (*text)(&c.Node), (*instant)(&c.Time), &state, (*text)(&c.Reason), (*amounts)(&c.Capacity))
			c.State = accounting.NodeState(state)
			changes = append(changes, c)
			return true, err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(changes, accounting.CompareNodeChanges)
	return changes, nil
}

// withoutSuperseded removes the changes that another change of the same node followed before a time or at it.
func withoutSuperseded(changes []accounting.NodeChange, from time.Time) []accounting.NodeChange {
	var kept []accounting.NodeChange
	for i, c := range changes {
		isFollowed := i+1 < len(changes) && changes[i+1].Cluster == c.Cluster && changes[i+1].Node == c.Node
		if isFollowed && !changes[i+1].Time.After(from) {
			continue
		}
		kept = append(kept, c)
	}
	return kept
}
