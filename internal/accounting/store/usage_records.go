package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// interval describes the part of an attempt whose use is summed up.
type interval struct {
	// begin and end are expressions for the times at which it begins and ends, and amounts is the column of the
	// resources in it.
	begin, end, amounts string
}

var (
	running = interval{"started", "ended", "allocated"}
	waiting = interval{"eligible", "(CASE WHEN started = 0 THEN ended ELSE started END)", "requested"}
)

// runs is a group of attempts with the same amounts that began in one period and ended in one.
type runs struct {
	count int64
	// began and ended are the sums of the times, limited to the interval of the query.
	began, ended int64
	// firstPeriod and lastPeriod are the numbers of the periods since 1970.
	firstPeriod, lastPeriod int64
	amounts                 amounts
}

// monthUsageOfRecords adds the use by the records of a month. It is for queries that the sums of use cannot answer. The
// database groups records with the same amounts, so that few rows are read.
func (s *store) monthUsageOfRecords(ctx context.Context, query accounting.UsageQuery, period accounting.Period, start time.Time, total totals) error {
	length := int64(24 * 3600)
	if period == accounting.Hour {
		length = 3600
	}
	var selected []dimension
	var names []string
	for _, d := range dimensions {
		if slices.Contains(query.By, d.by) && d.by != accounting.ByTime {
			selected = append(selected, d)
			names = append(names, d.column)
		}
	}
	byTime := slices.Contains(query.By, accounting.ByTime)
	text, args := runsStatement(query, start, names, length, byTime)
	return s.query(ctx, start, text, args, func(rows *sql.Rows) (bool, error) {
		var u accounting.Usage
		var group runs
		var targets []any
		for _, d := range selected {
			targets = append(targets, d.target(&u))
		}
		targets = append(targets, &group.amounts, &group.firstPeriod, &group.lastPeriod, &group.count, &group.began, &group.ended)
		if err := rows.Scan(targets...); err != nil {
			return false, err
		}
		if slices.Contains(query.By, accounting.BySize) {
			u.MilliCPUs = group.amounts[accounting.CPU]
		}
		if !byTime {
			group.addTo(total, query, u, group.ended-group.began, group.count)
			return true, nil
		}
		for i := group.firstPeriod; i <= group.lastPeriod; i++ {
			step, attempts := query.Step.Start(time.Unix(i*length, 0)), int64(0)
			if !step.Equal(u.Time) { // an attempt counts once in each step
				u.Time, attempts = step, group.count
			}
			group.addTo(total, query, u, group.secondsIn(i, length), attempts)
		}
		return true, nil
	})
}

// runsStatement returns the statement that groups the records of a month.
func runsStatement(query accounting.UsageQuery, start time.Time, names []string, length int64, byTime bool) (text string, args []any) {
	of := running
	if query.Waiting {
		of = waiting
	}
	from, to := unix(query.From), int64(math.MaxInt64)
	if !query.To.IsZero() {
		to = unix(query.To)
	}
	where := selection(accounting.Query{
		Clusters: query.Clusters, Namespaces: query.Namespaces, Users: query.Users, Accounts: query.Accounts,
		Queues: query.Queues, QOS: query.QOS, VisibleTo: query.VisibleTo, From: query.From, To: query.To,
	}, start)
	// began and until limit the interval of an attempt to that of the query. They are not empty.
	began := fmt.Sprintf("CASE WHEN %[1]s < %[2]d THEN %[2]d ELSE %[1]s END", of.begin, from)
	until := fmt.Sprintf("CASE WHEN %[1]s > %[2]d THEN %[2]d ELSE %[1]s END", of.end, to)
	where.add(of.begin + " > 0")
	where.add("(" + began + ") < (" + until + ")")
	columns := append(slices.Clone(names), of.amounts)
	group := slices.Clone(columns)
	if byTime {
		firstPeriod, lastPeriod := fmt.Sprintf("(%s) / %d", began, length), fmt.Sprintf("((%s) - 1) / %d", until, length)
		columns, group = append(columns, firstPeriod, lastPeriod), append(group, firstPeriod, lastPeriod)
	} else {
		columns = append(columns, "0", "0")
	}
	text = `SELECT ` + strings.Join(columns, ", ") +
		`, count(*), CAST(sum(` + began + `) AS BIGINT), CAST(sum(` + until + `) AS BIGINT)` +
		` FROM {records}` + where.String() + ` GROUP BY ` + strings.Join(group, ", ")
	return text, where.args
}

// secondsIn returns the total time of the attempts in a period.
func (r *runs) secondsIn(period, length int64) int64 {
	began, ended := r.count*period*length, r.count*(period+1)*length
	if period == r.firstPeriod {
		began = r.began
	}
	if period == r.lastPeriod {
		ended = r.ended
	}
	return ended - began
}

// addTo adds the use of each resource during some seconds.
func (r *runs) addTo(total totals, query accounting.UsageQuery, u accounting.Usage, seconds, attempts int64) {
	for resource, amount := range r.amounts {
		isSelected := len(query.Resources) == 0 || slices.Contains(query.Resources, resource)
		if amount > 0 && isSelected {
			u.Resource = resource
			total.add(u, amount*seconds, attempts)
		}
	}
}
