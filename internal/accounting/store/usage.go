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
	// column is the column of the table of use. target returns a pointer to the field of the result.
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
	{accounting.ByTime, "start", func(u *accounting.Usage) any { return (*instant)(&u.Time) }},
}

// Usage implements accounting.Store.
func (s *store) Usage(ctx context.Context, query accounting.UsageQuery) ([]accounting.Usage, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	period, err := storedPeriod(query)
	if err != nil {
		return nil, err
	}
	months, err := s.monthsSince(ctx, query.From)
	if err != nil {
		return nil, s.engine.explain(fmt.Errorf("list months: %w", err))
	}
	read := s.monthUsage
	if query.NeedsRecords() {
		read = s.monthUsageOfRecords
	}
	total := totals{}
	for _, start := range months {
		if err := read(ctx, query, period, start, total); err != nil {
			return nil, s.engine.explain(fmt.Errorf("read the use of resources: %w", err))
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

// storedPeriod returns the longest period that divides the time and the steps of a query.
func storedPeriod(query accounting.UsageQuery) (accounting.Period, error) {
	fits := func(p accounting.Period, t time.Time) bool { return t.IsZero() || p.Start(t).Equal(t) }
	longest := accounting.Month
	if slices.Contains(query.By, accounting.ByTime) {
		longest = query.Step
	}
	periods := []accounting.Period{accounting.Month, accounting.Day, accounting.Hour}
	i := slices.Index(periods, longest)
	if i < 0 {
		return "", fmt.Errorf("step %q: use hour, day or month", query.Step)
	}
	for _, p := range periods[i:] {
		if fits(p, query.From) && fits(p, query.To) {
			return p, nil
		}
	}
	return "", fmt.Errorf("use of resources from %s to %s: both must be full hours",
		query.From.Format(time.RFC3339), query.To.Format(time.RFC3339))
}

// monthUsage adds the use by the records of a month.
func (s *store) monthUsage(ctx context.Context, query accounting.UsageQuery, period accounting.Period, start time.Time, total totals) error {
	var selected []dimension
	var names []string
	for _, d := range dimensions {
		if slices.Contains(query.By, d.by) {
			selected = append(selected, d)
			names = append(names, d.column)
		}
	}
	names = append(names, "resource")
	group := strings.Join(names, ", ")
	where := usageConditions(query, period)
	text := `SELECT ` + group + `, CAST(sum(seconds) AS BIGINT) FROM {usage}` + where.String() + ` GROUP BY ` + group
	return s.query(ctx, start, text, where.args, func(rows *sql.Rows) (bool, error) {
		var u accounting.Usage
		var seconds int64
		var targets []any
		for _, d := range selected {
			targets = append(targets, d.target(&u))
		}
		if err := rows.Scan(append(targets, &u.Resource, &seconds)...); err != nil {
			return false, err
		}
		if !u.Time.IsZero() {
			u.Time = query.Step.Start(u.Time)
		}
		total.add(u, seconds, 0)
		return true, nil
	})
}

func usageConditions(query accounting.UsageQuery, period accounting.Period) *conditions {
	c := &conditions{}
	c.add("period = ?", string(period))
	if !query.From.IsZero() {
		c.add("start >= ?", unix(query.From))
	}
	if !query.To.IsZero() {
		c.add("start < ?", unix(query.To))
	}
	in(c, "cluster", query.Clusters)
	in(c, "account", query.Accounts)
	in(c, "user_name", query.Users)
	in(c, "queue", query.Queues)
	in(c, "qos", query.QOS)
	in(c, "resource", query.Resources)
	c.visibleTo(query.VisibleTo)
	return c
}

func compareUsage(a, b accounting.Usage) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Account, b.Account), cmp.Compare(a.User, b.User),
		cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.QOS, b.QOS),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.MilliCPUs, b.MilliCPUs), a.Time.Compare(b.Time),
		cmp.Compare(a.Resource, b.Resource))
}
