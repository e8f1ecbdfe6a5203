package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/test/bench/figures"
	"github.com/vc-batch/vc/test/postgres"
)

const (
	// benchMonths is the number of months of the history that is measured, benchUsers the number of users, and benchSizes
	// the number of different sizes of each user's jobs.
	benchMonths = 4
	benchUsers  = 200
	benchSizes  = 6
	// recordsVariable sets the number of records. The default is 10 million.
	recordsVariable = "VC_BENCH_RECORDS"
	// batch is the number of records that Add gets while its speed is measured, for measuredTime.
	batch        = 100
	measuredTime = 10 * time.Second
)

// TestStoreFloor measures both databases with 10 million records. It runs only with VC_BENCH=1.
func TestStoreFloor(t *testing.T) {
	if os.Getenv("VC_BENCH") == "" {
		t.Skip("set VC_BENCH=1 (make bench) to measure")
	}
	records := 10_000_000
	if text := os.Getenv(recordsVariable); text != "" {
		var err error
		if records, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", recordsVariable, err)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		s := open(t, "sqlite:"+t.TempDir())
		fill(t, s, records)
		measureQueries(t, s, "SQLite")
		measureAdd(t, s)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		server := postgres.Start(t, "fsync=off", "max_wal_size=4GB", "maintenance_work_mem=256MB")
		s := open(t, server.NewDatabase(t))
		fill(t, s, records)
		measureQueries(t, s, "PostgreSQL")
	})
}

// fill generates a history in the database. The indices are created at its end.
func fill(t *testing.T, s *store, records int) {
	t.Helper()
	began := time.Now()
	for i := range benchMonths {
		start := epoch.AddDate(0, i, 0)
		m, err := s.engine.open(t.Context(), start, true)
		if err != nil {
			t.Fatal(err)
		}
		seconds := accounting.Month.End(start).Unix() - start.Unix()
		for _, text := range fillStatements(records/benchMonths, start.Unix(), seconds, m.numbered) {
			if _, err := m.db.ExecContext(t.Context(), m.names.Replace(text)); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		m.release()
		t.Logf("%d records after %v", (i+1)*records/benchMonths, time.Since(began).Round(time.Second))
	}
}

// fillStatements returns the statements that fill a month.
func fillStatements(records int, start, seconds int64, isPostgres bool) []string {
	var drop, create []string
	for _, text := range migrations[0].statements {
		declaration, _, _ := strings.Cut(text, " ON ")
		kind, name, isIndex := strings.Cut(declaration, "INDEX ")
		if !isIndex || !strings.HasPrefix(kind, "CREATE ") || isPostgres {
			continue
		}
		drop = append(drop, "DROP INDEX "+name)
		create = append(create, text)
	}
	numbers := func(count int) string {
		if isPostgres {
			return fmt.Sprintf("(SELECT generate_series(0::bigint, %d) AS i)", count-1)
		}
		return fmt.Sprintf("(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n)", count-1)
	}
	user := func(number string) string { return "'user' || CAST(" + number + " AS TEXT)" }
	number := fmt.Sprintf("(i * 7919) %% %d", benchUsers)
	ended := fmt.Sprintf("%d + i * %d / %d", start, seconds, records)
	cores := func(number string) string { return fmt.Sprintf("1000 * (1 + %s %% %d)", number, benchSizes) }
	fill := []string{`INSERT INTO {records} (` + columnNames() + `) SELECT 'east',
		CAST((i * 2654435761) % 4294967296 AS TEXT) || '-4000-8000-' || CAST(i AS TEXT), 0, -1, i, 'default', 'train', ` +
		user(number) + `, 'account' || CAST(i % 20 AS TEXT), '', 'queue' || CAST(i % 10 AS TEXT), 'Completed', '', 0, ` +
		ended + ` - 36000 - i % 3600, ` + ended + ` - 36000, ` + ended + ` - i % 36000, ` + ended + `, 3600000000000,
		'node1', 1, '{"cpu":' || CAST(` + cores("i") + ` AS TEXT) || ',"memory":8192}',
		'{"cpu":' || CAST(` + cores("i") + ` AS TEXT) || ',"memory":8192,"node":1}', 0, 0, 0, 0 FROM ` + numbers(records)}
	for _, period := range []accounting.Period{accounting.Hour, accounting.Day, accounting.Month} {
		length := map[accounting.Period]int64{accounting.Hour: 3600, accounting.Day: 86400, accounting.Month: seconds}[period]
		count := int(seconds/length) * benchUsers
		fill = append(fill, fmt.Sprintf(`INSERT INTO {usage} (period, start, cluster, account, user_name, queue, qos, resource, seconds)
			SELECT '%s', %d + i / %d * %d, 'east', 'account' || CAST(i %% 20 AS TEXT), %s,
			'queue' || CAST(i %% 10 AS TEXT), '', resource, 4000 * CAST(%d AS BIGINT) FROM `+numbers(count)+` AS numbers,
			(SELECT 'cpu' AS resource UNION ALL SELECT 'memory' UNION ALL SELECT 'node') AS resources`,
			period, start, benchUsers, length, user(fmt.Sprintf("i %% %d", benchUsers)), length))
		fill = append(fill, fmt.Sprintf(`INSERT INTO {usage_details} (waiting, period, start, cluster, account, user_name, queue, qos,
			namespace, milli_cpus, resource, seconds, attempts, begun)
			SELECT waiting, '%s', %d + i / %d * %d, 'east', 'account' || CAST(i %% 20 AS TEXT), %s, 'queue' || CAST(i %% 10 AS TEXT), '',
			'team' || CAST(i %% 20 AS TEXT), size * 1000, resource, 4000 * CAST(%d AS BIGINT), 9, 4 FROM `+numbers(count)+` AS numbers,
			`+numbersTo(benchSizes)+` AS sizes,
			(SELECT 0 AS waiting, 'cpu' AS resource UNION ALL SELECT 0, 'memory' UNION ALL SELECT 0, 'node'
				UNION ALL SELECT 1, 'cpu' UNION ALL SELECT 1, 'memory') AS resources%s`,
			period, start, benchUsers, length, user(fmt.Sprintf("i %% %d", benchUsers)), length, readHours(period, count)))
	}
	if isPostgres {
		fill = append(fill, "ANALYZE {records}", "ANALYZE {usage}", "ANALYZE {usage_details}")
		fill[0] += " AS numbers"
	}
	return slices.Concat(drop, fill, create)
}

// readHours returns a condition on the hours of the details that are generated: those of the first two and the last four
// days of a month. Reports read no others, and all of them would take longer to generate than the records.
func readHours(period accounting.Period, count int) string {
	if period != accounting.Hour {
		return ""
	}
	return fmt.Sprintf(" WHERE i < 48 * %[1]d OR i >= %[2]d - 96 * %[1]d", benchUsers, count)
}

// numbersTo returns a table of the numbers from 1 to a number, with the column size.
func numbersTo(last int) string {
	text := "(SELECT 1 AS size"
	for i := 2; i <= last; i++ {
		text += fmt.Sprintf(" UNION ALL SELECT %d", i)
	}
	return text + ")"
}

// measureQueries measures a day of one user and a month's report.
func measureQueries(t *testing.T, s *store, database string) {
	t.Helper()
	var days, reports []float64
	for range 9 {
		day := epoch.AddDate(0, rand.IntN(benchMonths), rand.IntN(28))
		user := fmt.Sprintf("user%d", rand.IntN(benchUsers))
		began, used := time.Now(), processorTime()
		found := collect(t, s.Records(t.Context(), accounting.Query{Users: []string{user}, From: day, To: day.AddDate(0, 0, 1)}))
		days = append(days, milliseconds(began))
		t.Logf("a day with %d records in %v, in processor time of this process %v", len(found), time.Since(began), processorTime()-used)
		if len(found) == 0 {
			t.Fatalf("%s has no records on %s", user, day)
		}
		month := accounting.Month.Start(day)
		began = time.Now()
		usage, err := s.Usage(t.Context(), accounting.UsageQuery{
			From: month, To: accounting.Month.End(month), By: []accounting.Dimension{accounting.ByAccount, accounting.ByUser},
		})
		reports = append(reports, milliseconds(began))
		if err != nil || len(usage) < benchUsers {
			t.Fatalf("%d rows of use, %v", len(usage), err)
		}
	}
	measureDetails(t, s, database)
	report(t, figures.HistoryDay+database, days)
	report(t, figures.HistoryMonth+database, reports)
}

// measureDetails measures reports of a month about sizes, namespaces and waiting times. The month of the second begins
// and ends at midnight of a time zone east of UTC.
func measureDetails(t *testing.T, s *store, database string) {
	t.Helper()
	for name, query := range map[string]accounting.UsageQuery{
		figures.HistorySizes:     {Resources: []string{accounting.CPU}, By: []accounting.Dimension{accounting.ByCluster, accounting.ByAccount, accounting.BySize}},
		figures.HistoryNamespace: {By: []accounting.Dimension{accounting.ByNamespace}},
		figures.HistoryWaiting:   {Waiting: true, By: []accounting.Dimension{accounting.ByCluster}},
		figures.HistoryDays:      {By: []accounting.Dimension{accounting.ByNamespace, accounting.ByTime}, Step: accounting.Day},
	} {
		var times []float64
		for i := range benchMonths {
			query.From = epoch.AddDate(0, i, 0)
			query.To = accounting.Month.End(query.From)
			if name == figures.HistoryNamespace {
				query.From, query.To = query.From.Add(-2*time.Hour), query.To.Add(-2*time.Hour)
			}
			began, used := time.Now(), processorTime()
			usage, err := s.Usage(t.Context(), query)
			times = append(times, milliseconds(began))
			t.Logf("%s%v in %v, in processor time of this process %v", name, query.From.Format(time.DateOnly), time.Since(began), processorTime()-used)
			if err != nil || len(usage) == 0 {
				t.Fatalf("%d rows of use, %v", len(usage), err)
			}
		}
		report(t, name+database, times)
	}
}

// processorTime returns the processor time that this process has used. On a busy machine, it is a better estimate of the
// speed of SQLite, which is a part of this process.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func milliseconds(began time.Time) float64 {
	return float64(time.Since(began)) / float64(time.Millisecond)
}

// measureAdd measures how many records a second are added to the filled database, each with a document.
func measureAdd(t *testing.T, s *store) {
	t.Helper()
	began, used, added := time.Now(), processorTime(), 0
	for time.Since(began) < measuredTime {
		records := make([]accounting.Record, batch)
		for i := range records {
			r := &records[i]
			*r = recordOf(1, accounting.Key{Cluster: "east", JobUID: fmt.Sprintf("%x-%d", rand.Uint64(), added+i), Element: accounting.NoElement})
			r.Ended = epoch.AddDate(0, benchMonths-1, 20).Add(time.Duration(added+i) * time.Second)
			r.Started, r.Submitted = r.Ended.Add(-time.Hour), r.Ended.Add(-2*time.Hour)
			r.Eligible = r.Submitted
			r.Document = make([]byte, 1000)
			for j := range r.Document {
				r.Document[j] = byte(rand.IntN(256))
			}
		}
		n, err := s.Add(t.Context(), records)
		if err != nil {
			t.Fatal(err)
		}
		added += n
	}
	t.Logf("%d records added, in processor time of this process %v", added, processorTime()-used)
	report(t, figures.HistoryAdd, []float64{float64(added) / time.Since(began).Seconds()})
}

// report prints a figure, the median of values, and compares it with its floor.
func report(t *testing.T, name string, values []float64) {
	t.Helper()
	slices.Sort(values)
	line := figures.LineOf(name)
	f := figures.Figure{Name: name, Unit: line.Unit, Value: values[len(values)/2], Lowest: values[0], Highest: values[len(values)-1]}
	t.Log(f)
	if fails, text := figures.Verdict(f); fails {
		t.Errorf("%s: %.3g %s (floor %g): %s", name, f.Value, line.Unit, line.Floor, text)
	}
}
