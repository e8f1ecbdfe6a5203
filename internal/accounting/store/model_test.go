package store

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/accounting"
)

// model is a store in memory, written for the comparison: it has no tables, months or roll-ups.
type model map[accounting.Key]accounting.Record

func (m model) add(records []accounting.Record) int {
	before := len(m)
	for _, r := range records {
		if _, exists := m[r.Key]; !exists {
			m[r.Key] = r
		}
	}
	return len(m) - before
}

// all returns all records in the order of lists.
func (m model) all() []accounting.Record {
	return slices.SortedFunc(maps.Values(m), comparePositions)
}

func comparePositions(a, b accounting.Record) int {
	return cmp.Or(a.Ended.Compare(b.Ended), compareKeys(a.Key, b.Key))
}

func (m model) records(query accounting.Query) []accounting.Record {
	highest := map[accounting.Key]int32{}
	var selected []accounting.Record
	for _, r := range m.all() {
		if selects(query, r) {
			selected = append(selected, r)
			highest[withoutAttempt(r.Key)] = max(highest[withoutAttempt(r.Key)], r.Attempt)
		}
	}
	var found []accounting.Record
	for _, r := range selected {
		isPast := query.After != nil && comparePositions(r, accounting.Record{Key: query.After.Key, Ended: query.After.Ended}) <= 0
		isOld := query.LatestOnly && r.Attempt < highest[withoutAttempt(r.Key)]
		if isPast || isOld {
			continue
		}
		if !query.WithDocuments {
			r.Document = nil
		}
		found = append(found, r)
	}
	if query.Limit > 0 {
		found = found[:min(query.Limit, len(found))]
	}
	return found
}

func withoutAttempt(key accounting.Key) accounting.Key {
	key.Attempt = 0
	return key
}

func selects(q accounting.Query, r accounting.Record) bool {
	conditions := []bool{
		has(q.Clusters, r.Cluster),
		has(q.Namespaces, r.Namespace),
		has(q.Names, r.Name),
		has(q.Users, r.User),
		has(q.Accounts, r.Account),
		has(q.Queues, r.Queue),
		has(q.QOS, r.QOS),
		has(q.Outcomes, r.Outcome),
		has(q.JobIDs, r.JobID),
		has(q.JobUIDs, r.JobUID),
		isVisible(q.VisibleTo, r),
		q.To.IsZero() || r.Submitted.Before(q.To),
		!r.Ended.Before(q.From),
	}
	return !slices.Contains(conditions, false)
}

func selectsUseOf(q accounting.UsageQuery, r accounting.Record) bool {
	return selects(accounting.Query{
		Clusters: q.Clusters, Namespaces: q.Namespaces, Users: q.Users, Accounts: q.Accounts, Queues: q.Queues, QOS: q.QOS, VisibleTo: q.VisibleTo,
	}, r)
}

func isVisible(who *accounting.Visibility, r accounting.Record) bool {
	return who == nil || r.User == who.User || slices.Contains(who.Accounts, r.Account)
}

func has[T comparable](list []T, value T) bool { return len(list) == 0 || slices.Contains(list, value) }

// usage sums up the records hour by hour.
func (m model) usage(query accounting.UsageQuery) []accounting.Usage {
	seconds, attempts := map[accounting.Usage]int64{}, map[accounting.Usage]map[accounting.Key]bool{}
	for _, r := range m {
		began, ended, amounts := r.Started, r.Ended, r.Allocated
		if query.Waiting {
			began, amounts = r.Eligible, r.Requested
			if !r.Started.IsZero() {
				ended = r.Started
			}
		}
		if began.IsZero() || !selectsUseOf(query, r) {
			continue
		}
		for hour := began.Truncate(time.Hour); hour.Before(ended); hour = hour.Add(time.Hour) {
			if hour.Before(query.From) || (!query.To.IsZero() && !hour.Before(query.To)) {
				continue
			}
			from, to := hour, hour.Add(time.Hour)
			if from.Before(began) {
				from = began
			}
			if to.After(ended) {
				to = ended
			}
			for resource, amount := range amounts {
				if has(query.Resources, resource) && amount > 0 && from.Before(to) {
					u := usageOf(query, r, amounts, hour, resource)
					seconds[u] += amount * int64(to.Sub(from)/time.Second)
					if attempts[u] == nil {
						attempts[u] = map[accounting.Key]bool{}
					}
					attempts[u][r.Key] = true
				}
			}
		}
	}
	all := []accounting.Usage{}
	for u, sum := range seconds {
		u.Seconds = sum
		if query.CountsAttempts() {
			u.Attempts = int64(len(attempts[withoutSums(u)]))
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b accounting.Usage) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Account, b.Account), cmp.Compare(a.User, b.User),
			cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.QOS, b.QOS), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.MilliCPUs, b.MilliCPUs), a.Time.Compare(b.Time), cmp.Compare(a.Resource, b.Resource))
	})
	return all
}

func withoutSums(u accounting.Usage) accounting.Usage {
	u.Seconds, u.Attempts = 0, 0
	return u
}

// usageOf returns the fields that a query distinguishes.
func usageOf(query accounting.UsageQuery, r accounting.Record, amounts accounting.Resources, hour time.Time, resource string) accounting.Usage {
	u := accounting.Usage{Resource: resource}
	for _, by := range query.By {
		switch by {
		case accounting.ByCluster:
			u.Cluster = r.Cluster
		case accounting.ByAccount:
			u.Account = r.Account
		case accounting.ByUser:
			u.User = r.User
		case accounting.ByQueue:
			u.Queue = r.Queue
		case accounting.ByQOS:
			u.QOS = r.QOS
		case accounting.ByNamespace:
			u.Namespace = r.Namespace
		case accounting.BySize:
			u.MilliCPUs = amounts[accounting.CPU]
		case accounting.ByTime:
			u.Time = query.Step.Start(hour)
		}
	}
	return u
}

// epoch is the beginning of the months of the tests, which are four.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const testedDays = 120

// recordOf returns the record of a key. It follows from the key and the seed alone, as the end of an attempt does.
func recordOf(seed uint64, key accounting.Key) accounting.Record {
	hash := fnv.New64a()
	fmt.Fprint(hash, key)
	random := rand.New(rand.NewPCG(seed, hash.Sum64()))
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	ended := epoch.Add(time.Duration(random.IntN(testedDays*24)) * time.Hour)
	if random.IntN(4) > 0 { // the others end at the beginning of an hour
		ended = ended.Add(time.Duration(random.IntN(3600)) * time.Second)
	}
	r := accounting.Record{
		Key: key, JobID: int64(random.IntN(5)), Namespace: pick("x", "y"), Name: pick("train", "test"),
		User: pick("ann", "bob", "zoë"), Account: pick("", "physics", "Öl"), QOS: pick("", "high"), Queue: pick("q1", "q2"),
		Outcome: accounting.Outcome(pick(string(accounting.Completed), string(accounting.Failed))),
		Reason:  pick("", "it's \"late\""), ExitCode: int32(random.IntN(3)),
		Ended: ended, TimeLimit: time.Duration(random.IntN(2)) * time.Hour, Pods: int32(random.IntN(4)),
		CPUTime: time.Duration(random.IntN(1e9)), PeakMemoryBytes: random.Int64N(1 << 40),
		GPUTime: time.Duration(random.IntN(1e9)), GPUMeasured: time.Duration(random.IntN(1e9)),
		Requested: accounting.Resources{accounting.CPU: random.Int64N(9000)},
	}
	longest := 10 * 3600
	if random.IntN(10) == 0 { // few run for weeks, because their use has many rows
		longest = 50 * 24 * 3600
	}
	r.Submitted = ended.Add(-time.Duration(random.IntN(longest)) * time.Second)
	r.Eligible = r.Submitted
	if random.IntN(5) > 0 {
		r.Started = ended.Add(-time.Duration(random.Int64N(int64(ended.Sub(r.Submitted)/time.Second)+1)) * time.Second)
		r.NodeNames = []string{"n1", "n2"}[:random.IntN(2)+1]
		r.Allocated = accounting.Resources{accounting.CPU: random.Int64N(9000) + 1, accounting.Nodes: 1}
	}
	if random.IntN(2) == 0 {
		r.Document = []byte(pick("one\x00\xff", "two"))
	}
	return r
}

var keys = rapid.Custom(func(t *rapid.T) accounting.Key {
	return accounting.Key{
		Cluster: rapid.SampledFrom([]string{"east", "west"}).Draw(t, "cluster"),
		JobUID:  fmt.Sprintf("uid-%d", rapid.IntRange(0, 9).Draw(t, "job")),
		Attempt: rapid.Int32Range(0, 2).Draw(t, "attempt"),
		Element: rapid.Int32Range(accounting.NoElement, 1).Draw(t, "element"),
	}
})

// some generates an empty list, or one or two of some values.
func some[T comparable](values ...T) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.Just[[]T](nil), rapid.SliceOfNDistinct(rapid.SampledFrom(values), 1, 2, rapid.ID[T]))
}

// hours generates the zero time or an hour.
var hours = rapid.Custom(func(t *rapid.T) time.Time {
	hour := rapid.IntRange(-24, testedDays*24).Draw(t, "hour")
	switch rapid.IntRange(0, 4).Draw(t, "kind of time") {
	case 0:
		return time.Time{}
	case 1:
		return accounting.Month.Start(epoch.Add(time.Duration(hour) * time.Hour))
	case 2:
		return accounting.Day.Start(epoch.Add(time.Duration(hour) * time.Hour))
	}
	return epoch.Add(time.Duration(hour) * time.Hour)
})

var queries = rapid.Custom(func(t *rapid.T) accounting.Query {
	q := accounting.Query{
		From: hours.Draw(t, "from"), To: hours.Draw(t, "to"),
		LatestOnly: rapid.Bool().Draw(t, "latest only"), WithDocuments: rapid.Bool().Draw(t, "documents"),
		Limit: max(0, rapid.IntRange(-20, 9).Draw(t, "limit")),
	}
	if rapid.Bool().Draw(t, "by user") {
		q.Users = some("ann", "bob", "zoë").Draw(t, "users")
	} else {
		q.JobIDs = some[int64](0, 1, 2, 3).Draw(t, "job ids")
		q.JobUIDs = some("uid-0", "uid-1", "uid-2").Draw(t, "uids")
		q.Accounts = some("", "physics", "Öl").Draw(t, "accounts")
		q.Queues = some("q1", "q2").Draw(t, "queues")
	}
	if rapid.IntRange(0, 3).Draw(t, "by other fields") == 0 {
		q.Clusters = some("east", "west").Draw(t, "clusters")
		q.Namespaces = some("x", "y").Draw(t, "namespaces")
		q.Names = some("train", "test").Draw(t, "names")
		q.QOS = some("", "high").Draw(t, "qos")
		q.Outcomes = some(accounting.Completed, accounting.Failed).Draw(t, "outcomes")
	}
	q.VisibleTo = visibilities.Draw(t, "visible to")
	return q
})

// visibilities draws what a user may see, and often nil.
var visibilities = rapid.Custom(func(t *rapid.T) *accounting.Visibility {
	if rapid.IntRange(0, 3).Draw(t, "is limited") > 0 {
		return nil
	}
	return &accounting.Visibility{
		User:     rapid.SampledFrom([]string{"ann", "bob", "nobody"}).Draw(t, "user"),
		Accounts: some("physics", "Öl").Draw(t, "accounts"),
	}
})

var usageQueries = rapid.Custom(func(t *rapid.T) accounting.UsageQuery {
	q := accounting.UsageQuery{
		From: hours.Draw(t, "from"), To: hours.Draw(t, "to"),
		By: some(accounting.ByCluster, accounting.ByAccount, accounting.ByUser, accounting.ByQueue, accounting.ByQOS,
			accounting.ByTime, accounting.ByNamespace, accounting.BySize).Draw(t, "by"),
		Step: rapid.SampledFrom([]accounting.Period{accounting.Hour, accounting.Day, accounting.Month}).Draw(t, "step"),
	}
	if rapid.Bool().Draw(t, "filtered") {
		q.Clusters = some("east", "west").Draw(t, "clusters")
		q.Users = some("ann", "bob", "zoë").Draw(t, "users")
		q.Accounts = some("", "physics", "Öl").Draw(t, "accounts")
		q.Queues = some("q1", "q2").Draw(t, "queues")
		q.QOS = some("", "high").Draw(t, "qos")
		q.Namespaces = some("x", "y").Draw(t, "namespaces")
		q.Waiting = rapid.Bool().Draw(t, "waiting")
		q.Resources = some(accounting.CPU, accounting.Nodes).Draw(t, "resources")
	}
	q.VisibleTo = visibilities.Draw(t, "visible to")
	return q
})
