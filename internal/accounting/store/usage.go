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

// dimension describes how a dimension is stored.
type dimension struct {
	by accounting.Dimension
	// column is the column of the tables of use. Only the table of details has namespaces and sizes. target returns a
	// pointer to the field of the result.
	column string
	target func(u *accounting.Usage) any
}

var dimensions = []dimension{
	{accounting.ByCluster, "cluster", func(u *accounting.Usage) any { return &u.Cluster }},
	{accounting.ByAccount, "account", func(u *accounting.Usage) any { return &u.Account }},
	{accounting.ByUser, "user_name", func(u *accounting.Usage) any { return &u.User }},
	{accounting.ByQueue, "queue", func(u *accounting.Usage) any { return &u.Queue }},
	{accounting.ByQOS, "qos", func(u *accounting.Usage) any { return &u.QOS }},
	{accounting.ByNamespace, "namespace", func(u *accounting.Usage) any { return &u.Namespace }},
	{accounting.BySize, "milli_cpus", func(u *accounting.Usage) any { return &u.MilliCPUs }},
	{accounting.ByTime, "start", func(u *accounting.Usage) any { return (*instant)(&u.Time) }},
}

// Usage implements accounting.Store.
func (s *store) Usage(ctx context.Context, query accounting.UsageQuery) ([]accounting.Usage, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	parts, err := partsOf(query)
	if err != nil {
		return nil, err
	}
	months, err := s.monthsSince(ctx, query.From)
	if err != nil {
		return nil, s.engine.explain(fmt.Errorf("list months: %w", err))
	}
	total := totals{}
	for i := 0; i < len(months) && len(parts) > 0; i++ {
		if err := s.monthUsage(ctx, query, parts, months[i], total); err != nil {
			return nil, s.engine.explain(fmt.Errorf("read the usage of resources: %w", err))
		}
	}
	all := make([]accounting.Usage, 0, len(total))
	for u, sum := range total {
		u.Seconds, u.Attempts = sum.seconds, sum.attempts
		all = append(all, u)
	}
	slices.SortFunc(all, compareUsage)
	return all, nil
}

// totals sums up use. The keys have no seconds and attempts.
type totals map[accounting.Usage]total

// total is a sum of use and of the attempts that it is about.
type total struct{ seconds, attempts int64 }

func (t totals) add(u accounting.Usage, seconds, attempts int64) {
	sum := t[u]
	t[u] = total{sum.seconds + seconds, sum.attempts + attempts}
}

// part is a part of the time of a query that consists of whole stored periods. A zero time is no limit.
type part struct {
	period   accounting.Period
	from, to time.Time
}

// partsOf divides the time of a query into parts with few periods: into months, the remaining days, and the remaining
// hours. A period is not longer than the steps of the query.
func partsOf(query accounting.UsageQuery) ([]part, error) {
	longest := accounting.Month
	if slices.Contains(query.By, accounting.ByTime) {
		longest = query.Step
	}
	i := slices.Index(periods, longest)
	if i < 0 {
		return nil, fmt.Errorf("step %q: use hour, day or month", query.Step)
	}
	isFullHour := func(t time.Time) bool { return t.IsZero() || accounting.Hour.Start(t).Equal(t) }
	if !isFullHour(query.From) || !isFullHour(query.To) {
		return nil, fmt.Errorf("usage of resources from %s to %s: both must be full hours",
			query.From.Format(time.RFC3339), query.To.Format(time.RFC3339))
	}
	return divideTime(part{from: query.From, to: query.To}, periods[i:]), nil
}

// divideTime divides a part into parts with the longest possible periods, in order of time.
func divideTime(whole part, periods []accounting.Period) []part {
	if len(periods) == 0 {
		return nil
	}
	period, first, last := periods[0], whole.from, whole.to
	if !first.IsZero() && !period.Start(first).Equal(first) {
		first = period.End(first)
	}
	if !last.IsZero() {
		last = period.Start(last)
	}
	if !whole.to.IsZero() && !first.Before(last) { // it contains no whole period
		return divideTime(whole, periods[1:])
	}
	var parts []part
	if whole.from.Before(first) {
		parts = divideTime(part{from: whole.from, to: first}, periods[1:])
	}
	parts = append(parts, part{period, first, last})
	if last.Before(whole.to) {
		parts = append(parts, divideTime(part{from: last, to: whole.to}, periods[1:])...)
	}
	return parts
}

// monthUsage adds the use by the records of a month.
func (s *store) monthUsage(ctx context.Context, query accounting.UsageQuery, parts []part, start time.Time, total totals) error {
	var selected []dimension
	for _, d := range dimensions {
		if slices.Contains(query.By, d.by) {
			selected = append(selected, d)
		}
	}
	byTime := slices.Contains(query.By, accounting.ByTime)
	text, args := usageStatement(query, parts, selected, byTime)
	return s.query(ctx, start, text, args, func(rows *sql.Rows) (bool, error) {
		var u accounting.Usage
		var seconds, attempts, begun int64
		var targets []any
		for _, d := range selected {
			targets = append(targets, d.target(&u))
		}
		if err := rows.Scan(append(targets, &u.Resource, &seconds, &attempts, &begun)...); err != nil {
			return false, err
		}
		if byTime {
			step := query.Step.Start(u.Time)
			if !u.Time.Equal(step) && !u.Time.Equal(query.From) { // an attempt counts once in each step
				attempts = begun
			}
			u.Time = step
		}
		total.add(u, seconds, attempts)
		return true, nil
	})
}

// usageStatement returns the statement that sums up the use in all parts of the time of a query. A result counts the
// attempts in its first stored period, and the attempts that began in one of the later periods. If results are
// distinguished by time, the statement returns both numbers for each period. Otherwise it returns the sum, and 0.
func usageStatement(query accounting.UsageQuery, parts []part, selected []dimension, byTime bool) (text string, args []any) {
	var names []string
	for _, d := range selected {
		names = append(names, d.column)
	}
	group := strings.Join(append(names, "resource"), ", ")
	table, attempts := "{usage}", "0, 0"
	if query.CountsAttempts() {
		table, attempts = "{usage_details}", fmt.Sprintf("CAST(sum(CASE WHEN start = %d THEN attempts ELSE begun END) AS BIGINT), 0", unix(query.From))
		if byTime {
			attempts = "CAST(sum(attempts) AS BIGINT), CAST(sum(begun) AS BIGINT)"
		}
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		where := usageConditions(query, p)
		texts[i] = `SELECT ` + group + `, CAST(sum(seconds) AS BIGINT), ` + attempts + ` FROM ` + table + where.String() + ` GROUP BY ` + group
		args = append(args, where.args...)
	}
	return strings.Join(texts, ` UNION ALL `), args
}

func usageConditions(query accounting.UsageQuery, p part) *conditions {
	c := &conditions{}
	if query.CountsAttempts() {
		c.add("waiting = ?", boolAsNumber(query.Waiting))
	}
	c.add("period = ?", string(p.period))
	if !p.from.IsZero() {
		c.add("start >= ?", unix(p.from))
	}
	if !p.to.IsZero() {
		c.add("start < ?", unix(p.to))
	}
	in(c, "cluster", query.Clusters)
	in(c, "namespace", query.Namespaces)
	in(c, "account", query.Accounts)
	in(c, "user_name", query.Users)
	in(c, "queue", query.Queues)
	in(c, "qos", query.QOS)
	in(c, "resource", query.Resources)
	c.visibleTo(query.VisibleTo)
	return c
}

// boolAsNumber returns the stored form of a condition.
func boolAsNumber(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func compareUsage(a, b accounting.Usage) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Account, b.Account), cmp.Compare(a.User, b.User),
		cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.QOS, b.QOS),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.MilliCPUs, b.MilliCPUs), a.Time.Compare(b.Time),
		cmp.Compare(a.Resource, b.Resource))
}
