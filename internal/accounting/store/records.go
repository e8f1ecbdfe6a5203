package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// Records implements accounting.Store.
func (s *store) Records(ctx context.Context, query accounting.Query) iter.Seq2[*accounting.Record, error] {
	return func(yield func(*accounting.Record, error) bool) {
		if err := s.ready(); err != nil {
			yield(nil, err)
			return
		}
		for r, err := range s.records(ctx, query) {
			if err != nil {
				yield(nil, s.engine.explain(fmt.Errorf("read records: %w", err)))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// records reads the months in order, and stops at the limit.
func (s *store) records(ctx context.Context, query accounting.Query) iter.Seq2[*accounting.Record, error] {
	return func(yield func(*accounting.Record, error) bool) {
		months, err := s.monthsSince(ctx, query.From)
		if err != nil {
			yield(nil, err)
			return
		}
		latest := restarts{}
		if query.LatestOnly {
			if latest, err = s.restarts(ctx, query, months); err != nil {
				yield(nil, err)
				return
			}
		}
		returned := 0
		for _, start := range months {
			if query.After != nil && !accounting.Month.End(start).After(query.After.Ended) {
				continue
			}
			for r, err := range s.monthRecords(ctx, query, start) {
				if err == nil && latest.supersede(r) {
					continue
				}
				if !yield(r, err) || err != nil {
					return
				}
				if returned++; returned == query.Limit {
					return
				}
			}
		}
	}
}

// monthsSince returns the months that end after a time.
func (s *store) monthsSince(ctx context.Context, from time.Time) ([]time.Time, error) {
	all, err := s.engine.months(ctx)
	if err != nil {
		return nil, err
	}
	for len(all) > 0 && !accounting.Month.End(all[0]).After(from) {
		all = all[1:]
	}
	return all, nil
}

// monthRecords reads the selected records of one month.
func (s *store) monthRecords(ctx context.Context, query accounting.Query, start time.Time) iter.Seq2[*accounting.Record, error] {
	return func(yield func(*accounting.Record, error) bool) {
		content, join := `NULL`, ``
		if query.WithDocuments {
			content, join = `content`, ` LEFT JOIN {documents} ON hash = document_hash`
		}
		where := selection(query, start)
		where.after(query.After)
		text := `SELECT ` + columnNames() + `, ` + content + ` FROM {records}` + join + where.String() + order(query, start)
		if query.Limit > 0 && !query.LatestOnly {
			text += fmt.Sprintf(` LIMIT %d`, query.Limit)
		}
		err := s.query(ctx, start, text, where.args, func(rows *sql.Rows) (bool, error) {
			var r accounting.Record
			if err := rows.Scan(append(fields(&r), &r.Document)...); err != nil {
				return false, err
			}
			return yield(&r, nil), nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// query runs a statement on the tables of a month, and calls a function for each row until it returns false. A month
// without tables has no rows.
func (s *store) query(ctx context.Context, start time.Time, text string, args []any, each func(*sql.Rows) (bool, error)) error {
	m, err := s.engine.open(ctx, start, false)
	if m == nil || err != nil {
		return err
	}
	defer m.release()
	// The driver of PostgreSQL reads all rows before it closes a result, except if the context has ended.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rows, err := m.db.QueryContext(ctx, m.statement(text), args...)
	if s.engine.isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		more, err := each(rows)
		if err != nil {
			return err
		}
		if !more {
			cancel()
			return nil
		}
	}
	return rows.Err()
}

// order returns the order of the records of a month. A month after the query's interval has few selected records. The
// signs prevent that the database reads the whole month in the order of an index to find them.
func order(query accounting.Query, start time.Time) string {
	if isAfterInterval(query, start) {
		return ` ORDER BY +ended, cluster, job_uid, attempt, element`
	}
	return ` ORDER BY ended, cluster, job_uid, attempt, element`
}

// isAfterInterval reports whether all records of a month ended after the query's interval.
func isAfterInterval(query accounting.Query, start time.Time) bool {
	return !query.To.IsZero() && !start.Before(query.To)
}

// conditions is a WHERE clause with its arguments.
type conditions struct {
	texts []string
	args  []any
}

// selection returns the conditions of a query for the records of a month, without its position.
func selection(query accounting.Query, start time.Time) *conditions {
	c := &conditions{}
	in(c, "cluster", query.Clusters)
	in(c, "namespace", query.Namespaces)
	in(c, "name", query.Names)
	in(c, "user_name", query.Users)
	in(c, "account", query.Accounts)
	in(c, "queue", query.Queues)
	in(c, "qos", query.QOS)
	in(c, "outcome", query.Outcomes)
	in(c, "job_id", query.JobIDs)
	in(c, "job_uid", query.JobUIDs)
	c.visibleTo(query.VisibleTo)
	if !query.To.IsZero() {
		c.add("submitted < ?", unixCeiling(query.To))
	}
	if query.From.After(start) {
		c.add("ended >= ?", unixCeiling(query.From))
	}
	return c
}

func (c *conditions) add(text string, args ...any) {
	c.texts = append(c.texts, text)
	c.args = append(c.args, args...)
}

// visibleTo adds the condition that a record is of a user or of some accounts. nil adds none.
func (c *conditions) visibleTo(who *accounting.Visibility) {
	if who == nil {
		return
	}
	either := &conditions{}
	in(either, "user_name", []string{who.User})
	in(either, "account", who.Accounts)
	c.add("("+strings.Join(either.texts, " OR ")+")", either.args...)
}

// in adds the condition that a column has one of some values, if there are any.
func in[T ~string | ~int64](c *conditions, column string, values []T) {
	if len(values) == 0 {
		return
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = plain(v)
	}
	c.add(column+" IN ("+strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ")+")", args...)
}

// plain returns a value of a type that databases know.
func plain[T ~string | ~int64](v T) any {
	switch v := any(v).(type) {
	case accounting.Outcome:
		return string(v)
	case string:
		return storable(v)
	}
	return v
}

// after adds the condition that a record follows a position. The first comparison alone can use an index.
func (c *conditions) after(p *accounting.Position) {
	if p == nil {
		return
	}
	c.add("ended >= ?", unix(p.Ended))
	c.add("(ended, cluster, job_uid, attempt, element) > (?, ?, ?, ?, ?)",
		unix(p.Ended), storable(p.Key.Cluster), storable(p.Key.JobUID), p.Key.Attempt, p.Key.Element)
}

// String returns the clause.
func (c *conditions) String() string {
	if len(c.texts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.texts, " AND ")
}

// restarts holds the highest attempt of each job and element that was restarted. The attempt in the keys is 0.
type restarts map[accounting.Key]int32

// supersede reports whether a record is followed by a higher attempt.
func (l restarts) supersede(r *accounting.Record) bool {
	key := r.Key
	key.Attempt = 0
	return l[key] > r.Attempt
}

// restarts returns the restarts among the selected records of all pages. It needs memory for restarted jobs only.
func (s *store) restarts(ctx context.Context, query accounting.Query, months []time.Time) (restarts, error) {
	all := restarts{}
	for _, start := range months {
		where := selection(query, start)
		where.add("attempt > 0")
		text := `SELECT cluster, job_uid, element, max(attempt) FROM {records}` + where.String() +
			` GROUP BY cluster, job_uid, element`
		err := s.query(ctx, start, text, where.args, func(rows *sql.Rows) (bool, error) {
			var key accounting.Key
			var attempt int32
			if err := rows.Scan(&key.Cluster, &key.JobUID, &key.Element, &attempt); err != nil {
				return false, err
			}
			all[key] = max(all[key], attempt)
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
