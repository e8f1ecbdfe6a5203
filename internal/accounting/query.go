package accounting

import (
	"slices"
	"time"
)

// Query selects records. An empty list selects all values.
type Query struct {
	Clusters, Namespaces, Names, Users, Accounts, Queues, QOS []string
	Outcomes                                                  []Outcome
	JobIDs                                                    []int64
	JobUIDs                                                   []string
	// From and To select the attempts that existed between these times: submitted before To, and ended at or after
	// From. A zero time is no limit.
	From, To time.Time
	// VisibleTo selects only records that a user may see. nil selects all.
	VisibleTo *Visibility `json:"-"`
	// LatestOnly selects only the last stored attempt of each job and element among the selected records.
	LatestOnly bool
	// WithDocuments requests the documents of the records.
	WithDocuments bool
	// Limit is the maximum number of records. 0 means no limit.
	Limit int
	// After continues a list: it selects the records that follow this position in the order of lists.
	After *Position
}

// Visibility selects the records of a user, and those of some accounts.
type Visibility struct {
	User     string
	Accounts []string
}

// Position is the position of a record in a list. Lists are ordered by end time, then by key.
type Position struct {
	Ended time.Time
	Key   Key
}

// Position returns the position of a record in a list.
func (r *Record) Position() Position { return Position{Ended: r.Ended, Key: r.Key} }

// Dimension is a property of records by which use is summed up.
type Dimension string

// The dimensions of use.
const (
	ByCluster Dimension = "cluster"
	ByAccount Dimension = "account"
	ByUser    Dimension = "user"
	ByQueue   Dimension = "queue"
	ByQOS     Dimension = "qos"
	ByTime    Dimension = "time"
	// The size of an attempt is the number of CPUs that it had allocated, or that it requested while it waited.
	ByNamespace Dimension = "namespace"
	BySize      Dimension = "size"
)

// UsageQuery selects and groups the use of resources. An empty list selects all values.
type UsageQuery struct {
	Clusters, Users, Accounts, Queues, QOS, Resources []string
	// VisibleTo selects only the use by records that a user may see. nil selects all.
	VisibleTo *Visibility `json:"-"`
	// From and To limit the time. Both are full hours.
	From, To time.Time
	// By lists the dimensions that distinguish the results.
	By []Dimension
	// Step is the length of the periods if By contains ByTime: Hour, Day or Month.
	Step Period
	// Namespaces selects use by namespace. Waiting requests, in place of the use, the resources that attempts requested
	// times how long they waited for them: from Eligible to Started, or to Ended if they did not start. They are left out
	// if they are empty, because an older database does not know them.
	Namespaces []string `json:",omitempty"`
	Waiting    bool     `json:",omitempty"`
}

// CountsAttempts reports whether the results contain the number of attempts. Such queries are about namespaces, sizes or
// waiting times. Other queries are answered from smaller tables.
func (q *UsageQuery) CountsAttempts() bool {
	hasDetails := slices.Contains(q.By, ByNamespace) || slices.Contains(q.By, BySize)
	return hasDetails || q.Waiting || len(q.Namespaces) > 0
}

// Period is the length of a period of time in UTC.
type Period string

// The periods for which use is stored.
const (
	Hour  Period = "hour"
	Day   Period = "day"
	Month Period = "month"
)

// Start returns the beginning of the period that contains a time.
func (p Period) Start(t time.Time) time.Time {
	t = t.UTC()
	switch p {
	case Hour:
		return t.Truncate(time.Hour)
	case Day:
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// End returns the end of the period that contains a time.
func (p Period) End(t time.Time) time.Time {
	start := p.Start(t)
	switch p {
	case Hour:
		return start.Add(time.Hour)
	case Day:
		return start.AddDate(0, 0, 1)
	}
	return start.AddDate(0, 1, 0)
}

// Usage is the use of a resource. Fields that the query does not distinguish are empty.
type Usage struct {
	Cluster, Account, User, Queue, QOS string
	Namespace                          string `json:",omitempty"`
	// MilliCPUs is the size of the attempts, in thousandths of a CPU.
	MilliCPUs int64 `json:",omitempty"`
	// Time is the beginning of the period.
	Time     time.Time
	Resource string
	// Seconds is the integral of the allocated amount over time: the unit of the resource times seconds.
	Seconds int64
	// Attempts is the number of attempts that used the resource in the period. It is counted only if
	// UsageQuery.CountsAttempts.
	Attempts int64 `json:",omitempty"`
}
