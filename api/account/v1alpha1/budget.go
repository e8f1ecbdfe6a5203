package v1alpha1

import "time"

// StartAt returns the latest time from which the usage counts that is not after now: the start of the period, or since if
// it is later. It is zero if there is no such time.
func (b *Budget) StartAt(now time.Time) time.Time {
	start := b.periodStart(now)
	if b.Since != nil && b.Since.After(start) && !b.Since.After(now) {
		return b.Since.UTC()
	}
	return start
}

// NextStart returns the first time after now at which earlier usage no longer counts. It is zero if there is no such time.
func (b *Budget) NextStart(now time.Time) time.Time {
	var next time.Time
	if months := b.periodMonths(); months > 0 {
		next = b.periodStart(now).AddDate(0, months, 0)
	}
	if b.Since == nil || !b.Since.After(now) {
		return next
	}
	if next.IsZero() || b.Since.Time.Before(next) {
		return b.Since.UTC()
	}
	return next
}

// periodStart returns the start of the calendar period, in UTC, that contains now. It is zero if there are no periods.
func (b *Budget) periodStart(now time.Time) time.Time {
	months := b.periodMonths()
	if months == 0 {
		return time.Time{}
	}
	year, month, _ := now.UTC().Date()
	first := (int(month)-1)/months*months + 1
	return time.Date(year, time.Month(first), 1, 0, 0, 0, 0, time.UTC)
}

// periodMonths returns the length of a period, or 0 if there are no periods.
func (b *Budget) periodMonths() int {
	switch b.Period {
	case BudgetPeriodMonth:
		return 1
	case BudgetPeriodQuarter:
		return 3
	case BudgetPeriodYear:
		return 12
	}
	return 0
}
