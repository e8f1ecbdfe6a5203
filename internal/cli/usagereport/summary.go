package usagereport

import (
	"cmp"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// Row is the use of a resource by a queue, account, user or namespace, in a period.
type Row struct {
	// Period is the first day of the period. It is empty if the report has no periods.
	Period string `json:"period,omitempty"`
	// Name is empty for jobs without an account or user.
	Name string `json:"name"`
	// Others is true for the sum of all names that are not listed.
	Others bool `json:"others,omitempty"`
	// Hours is the use in hours: the amount of the resource multiplied by the time. Share is its fraction of the use of all
	// names in the period.
	Hours float64 `json:"hours"`
	Share float64 `json:"share"`
}

// dimension is a property of jobs by which use is reported.
type dimension struct {
	by   accounting.Dimension
	name func(*accounting.Usage) string
}

// dimensions lists the values of --by.
var dimensions = map[string]dimension{
	"account":   {accounting.ByAccount, func(u *accounting.Usage) string { return u.Account }},
	"namespace": {accounting.ByNamespace, func(u *accounting.Usage) string { return u.Namespace }},
	"queue":     {accounting.ByQueue, func(u *accounting.Usage) string { return u.Queue }},
	"user":      {accounting.ByUser, func(u *accounting.Usage) string { return u.User }},
}

// steps maps the values of --per to the periods of the query. Weeks are summed up from days.
var steps = map[string]accounting.Period{"day": accounting.Day, "week": accounting.Day, "month": accounting.Month}

// startOf returns the beginning of the period that contains a time, in UTC. Weeks begin on Monday.
func startOf(per string, t time.Time) time.Time {
	if per == "week" {
		day := accounting.Day.Start(t)
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	return steps[per].Start(t)
}

// rowKey identifies a row.
type rowKey struct {
	period time.Time
	name   string
	others bool
}

// sumUp returns the rows of a report: in each period, the names with the highest use in all periods, and the sum of the
// others. top limits the number of names; 0 means no limit. perHour is the amount of use that counts as one hour.
func sumUp(usage []accounting.Usage, by dimension, per string, top int, perHour float64) []Row {
	names, periods := map[string]int64{}, map[time.Time]int64{}
	for i := range usage {
		names[by.name(&usage[i])] += usage[i].Seconds
	}
	listed := topNames(names, top)
	total := map[rowKey]int64{}
	for i := range usage {
		u := &usage[i]
		at := rowKey{name: by.name(u)}
		if per != "" {
			at.period = startOf(per, u.Time)
		}
		periods[at.period] += u.Seconds
		if !listed[at.name] {
			at.name, at.others = "", true
		}
		total[at] += u.Seconds
	}
	keys := make([]rowKey, 0, len(total))
	for at := range total {
		keys = append(keys, at)
	}
	slices.SortFunc(keys, func(a, b rowKey) int {
		return cmp.Or(a.period.Compare(b.period), compareLast(a.others, b.others), cmp.Compare(total[b], total[a]), cmp.Compare(a.name, b.name))
	})
	rows := make([]Row, 0, len(keys))
	for _, at := range keys {
		row := Row{Name: at.name, Others: at.others, Hours: float64(total[at]) / perHour}
		if all := periods[at.period]; all > 0 {
			row.Share = float64(total[at]) / float64(all)
		}
		if per != "" {
			row.Period = at.period.Format(time.DateOnly)
		}
		rows = append(rows, row)
	}
	return rows
}

// topNames returns the names with the highest use.
func topNames(used map[string]int64, top int) map[string]bool {
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b)) })
	if top > 0 {
		names = names[:min(top, len(names))]
	}
	listed := map[string]bool{}
	for _, name := range names {
		listed[name] = true
	}
	return listed
}

// compareLast orders true after false.
func compareLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
