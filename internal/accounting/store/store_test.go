package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/usererror"
	"github.com/vc-batch/vc/test/postgres"
)

// suite lists the tests that run on both databases. They get a function that returns the address of a new database.
var suite = []struct {
	name string
	run  func(t *testing.T, newAddress func() string)
}{
	{"records and use equal those of a model", testModel},
	{"selection by each field", testFields},
	{"pages", testPages},
	{"latest attempts", testLatestAttempts},
	{"documents are stored once", testDocumentsOnce},
	{"a killed writer loses and repeats nothing", testKilledWriter},
	{"concurrent writers", testConcurrentWriters},
	{"newer schema", testNewerSchema},
	{"migration from each older schema", testMigrations},
	{"drop a month", testDropMonth},
	{"invalid text", testInvalidText},
	{"damaged copies", testDamagedCopies},
	{"unfinished restore", testUnfinishedRestore},
	{"invalid use queries", testInvalidUsageQueries},
	{"changes of nodes", testNodeChanges},
	{"changes of accounts", testChanges},
}

func TestStores(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		runSuite(t, func() string { return "sqlite:" + filepath.Join(t.TempDir(), "history") })
		t.Run("a second process", testLockedDirectory)
		t.Run("full file", testFullFile)
		t.Run("full disk", func(t *testing.T) { testFull(t, "sqlite:"+smallDisk(t, os.Getuid())) })
	})
	t.Run("postgres", func(t *testing.T) {
		server := postgres.Start(t, "fsync=off") // no test stops the machine
		runSuite(t, func() string { return server.NewDatabase(t) })
		t.Run("copies between databases", func(t *testing.T) {
			directory := "sqlite:" + t.TempDir()
			testCopy(t, directory, server.NewDatabase(t))
			testCopy(t, server.NewDatabase(t), "sqlite:"+t.TempDir())
		})
		t.Run("two processes remove a month", func(t *testing.T) { testTwoProcessesRemoveAMonth(t, server.NewDatabase(t)) })
		t.Run("an export takes long", func(t *testing.T) { testLongExport(t, server.NewDatabase(t)) })
		t.Run("full disk", func(t *testing.T) {
			testFull(t, server.NewDatabaseIn(t, smallDisk(t, server.UserID())))
		})
		t.Run("stopped server", testStoppedServer)
	})
}

func runSuite(t *testing.T, newAddress func() string) {
	for _, test := range suite {
		t.Run(test.name, func(t *testing.T) { test.run(t, newAddress) })
	}
}

// open opens a database until the end of the test.
func open(t testing.TB, address string) *store {
	t.Helper()
	s, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(*store)
}

// collect returns the records of a sequence.
func collect(t interface {
	Helper()
	Fatal(...any)
}, sequence iter.Seq2[*accounting.Record, error]) []accounting.Record {
	t.Helper()
	var all []accounting.Record
	for r, err := range sequence {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *r)
	}
	return all
}

func testModel(t *testing.T, newAddress func() string) {
	address := newAddress()
	s := open(t, address)
	rapid.Check(t, func(t *rapid.T) {
		seed, m := rapid.Uint64().Draw(t, "seed"), model{}
		months, err := s.Months(context.Background())
		for i := 0; i < len(months) && err == nil; i++ {
			_, err = s.DropMonth(context.Background(), months[i], nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			var batch []accounting.Record
			for _, key := range rapid.SliceOfN(keys, 0, 30).Draw(t, "batch") {
				batch = append(batch, recordOf(seed, key))
			}
			added, err := s.Add(context.Background(), batch)
			if want := m.add(batch); err != nil || added != want {
				t.Fatalf("Add returns %d, %v; want %d", added, err, want)
			}
			if rapid.IntRange(0, 3).Draw(t, "reopen") == 0 {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				reopened, err := Open(context.Background(), address)
				if err != nil {
					t.Fatal(err)
				}
				s = reopened.(*store)
			}
		}
		for range 4 {
			compareWithModel(t, s, m)
		}
	})
	t.Cleanup(func() { _ = s.Close() })
}

// compareWithModel compares the answers to random queries.
func compareWithModel(t *rapid.T, s accounting.Store, m model) {
	query := queries.Draw(t, "query")
	if all := m.all(); len(all) > 0 && rapid.Bool().Draw(t, "after") {
		r := all[rapid.IntRange(0, len(all)-1).Draw(t, "position")]
		position := r.Position()
		query.After = &position
	}
	if all := m.all(); len(all) > 0 && rapid.Bool().Draw(t, "boundary") { // the times of a record
		r := all[rapid.IntRange(0, len(all)-1).Draw(t, "record at the boundary")]
		query.From = r.Ended.Add(-time.Duration(rapid.IntRange(-3, 3).Draw(t, "from")) * time.Second / 3)
		query.To = r.Submitted.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "to")) * time.Second / 3)
	}
	if diff := cmp.Diff(m.records(query), collect(t, s.Records(context.Background(), query))); diff != "" {
		t.Fatalf("records of %+v (-want +got):\n%s", query, diff)
	}
	usage := usageQueries.Draw(t, "usage query")
	got, err := s.Usage(context.Background(), usage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.usage(usage), got); diff != "" {
		t.Fatalf("use of %+v (-want +got):\n%s", usage, diff)
	}
}

// sample returns records of some jobs in all tested months.
func sample(count int) []accounting.Record {
	all := make([]accounting.Record, count)
	for i := range all {
		key := accounting.Key{Cluster: "east", JobUID: fmt.Sprintf("job-%d", i/2), Attempt: int32(i % 2), Element: accounting.NoElement}
		all[i] = recordOf(1, key)
	}
	return all
}

// openSample opens a new database that contains a sample.
func openSample(t *testing.T, address string, count int) (*store, model) {
	t.Helper()
	s, m := open(t, address), model{}
	records := sample(count)
	m.add(records)
	if added, err := s.Add(t.Context(), records); err != nil || added != count {
		t.Fatalf("Add returns %d, %v", added, err)
	}
	return s, m
}

func testFields(t *testing.T, newAddress func() string) {
	s, m := openSample(t, newAddress(), 200)
	day := epoch.AddDate(0, 1, 10)
	for name, query := range map[string]accounting.Query{
		"all":            {},
		"user and time":  {Users: []string{"ann"}, From: day, To: day.AddDate(0, 0, 20)},
		"users":          {Users: []string{"ann", "zoë"}},
		"job id":         {JobIDs: []int64{3}},
		"job uid":        {JobUIDs: []string{"job-7", "job-8"}},
		"empty account":  {Accounts: []string{""}},
		"account":        {Accounts: []string{"Öl"}, WithDocuments: true},
		"queue":          {Queues: []string{"q2"}, To: day},
		"time":           {From: day, To: day.AddDate(0, 0, 1)},
		"since":          {From: day},
		"before":         {To: day},
		"cluster":        {Clusters: []string{"east"}},
		"other cluster":  {Clusters: []string{"west"}},
		"namespace":      {Namespaces: []string{"x"}},
		"name":           {Names: []string{"train"}},
		"qos":            {QOS: []string{"high"}},
		"outcome":        {Outcomes: []accounting.Outcome{accounting.Failed}},
		"several fields": {Users: []string{"bob"}, Queues: []string{"q1"}, Accounts: []string{"physics"}},
	} {
		if diff := cmp.Diff(m.records(query), collect(t, s.Records(t.Context(), query))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func testPages(t *testing.T, newAddress func() string) {
	s, m := openSample(t, newAddress(), 100)
	var all []accounting.Record
	query := accounting.Query{Limit: 7}
	for len(all) <= len(m) { // more would be an endless list
		page := collect(t, s.Records(t.Context(), query))
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		position := page[len(page)-1].Position()
		query.After = &position
	}
	if diff := cmp.Diff(m.records(accounting.Query{}), all); diff != "" {
		t.Error(diff)
	}
	for range s.Records(t.Context(), accounting.Query{}) { // a reader that stops early leaves nothing locked
		break
	}
	if _, err := s.DropMonth(t.Context(), epoch, nil); err != nil {
		t.Error(err)
	}
}

func testLatestAttempts(t *testing.T, newAddress func() string) {
	s := open(t, newAddress())
	attempt := func(number int32, ended time.Time, user string) accounting.Record {
		r := recordOf(1, accounting.Key{Cluster: "east", JobUID: "restarted", Attempt: number, Element: accounting.NoElement})
		r.Ended, r.User = ended, user
		return r
	}
	_, err := s.Add(t.Context(), []accounting.Record{
		attempt(0, epoch, "ann"), attempt(1, epoch.AddDate(0, 1, 0), "ann"), attempt(2, epoch.AddDate(0, 2, 0), "bob"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]int32{"ann": 1, "bob": 2} {
		got := collect(t, s.Records(t.Context(), accounting.Query{Users: []string{user}, LatestOnly: true}))
		if len(got) != 1 || got[0].Attempt != want {
			t.Errorf("latest of %s: %v, want attempt %d", user, got, want)
		}
	}
}

func testDocumentsOnce(t *testing.T, newAddress func() string) {
	s := open(t, newAddress())
	var array []accounting.Record
	for element := range int32(50) {
		r := recordOf(1, accounting.Key{Cluster: "east", JobUID: "array", Element: element})
		r.Ended, r.Document = epoch, []byte("the array's objects")
		array = append(array, r)
	}
	for _, part := range [][]accounting.Record{array[:20], array[10:]} {
		if _, err := s.Add(t.Context(), part); err != nil {
			t.Fatal(err)
		}
	}
	documents := 0
	err := s.query(t.Context(), epoch, `SELECT hash FROM {documents}`, nil, func(*sql.Rows) (bool, error) {
		documents++
		return true, nil
	})
	if err != nil || documents != 1 {
		t.Errorf("%d documents, %v", documents, err)
	}
}

// writerAddress is the variable that makes the test binary a writer.
const writerAddress = "VC_STORE_WRITER"

func TestMain(m *testing.M) {
	if address := os.Getenv(writerAddress); address != "" {
		if err := write(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	writtenRecords = 600
	writtenBatch   = 5
)

// write adds a sample in small batches, and prints a line after each.
func write(address string) error {
	s, err := Open(context.Background(), address)
	if err != nil {
		return err
	}
	defer s.Close()
	for batch := range slices.Chunk(sample(writtenRecords), writtenBatch) {
		if _, err := s.Add(context.Background(), batch); err != nil {
			return err
		}
		fmt.Println("added")
	}
	return nil
}

func testKilledWriter(t *testing.T, newAddress func() string) {
	address := newAddress()
	for round := range 8 {
		lines := rand.IntN(writtenRecords / writtenBatch)
		if lines = runWriter(t, address, lines); lines == 0 {
			continue
		}
		s := open(t, address)
		stored := collect(t, s.Records(t.Context(), accounting.Query{}))
		if len(stored) < lines*writtenBatch {
			t.Fatalf("round %d: %d records after %d batches of %d were added", round, len(stored), lines, writtenBatch)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	runWriter(t, address, -1)
	m := model{}
	m.add(sample(writtenRecords))
	s := open(t, address)
	query := accounting.Query{WithDocuments: true}
	if diff := cmp.Diff(m.records(query), collect(t, s.Records(t.Context(), query))); diff != "" {
		t.Error(diff)
	}
	usage := accounting.UsageQuery{By: []accounting.Dimension{accounting.ByUser, accounting.ByTime}, Step: accounting.Day}
	got, err := s.Usage(t.Context(), usage)
	if diff := cmp.Diff(m.usage(usage), got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// runWriter runs a writer, and kills it after some lines, or not if they are negative. It returns the number of lines that
// were read.
func runWriter(t *testing.T, address string, lines int) int {
	t.Helper()
	writer := exec.CommandContext(t.Context(), os.Args[0])
	writer.Env = append(os.Environ(), writerAddress+"="+address)
	var errors bytes.Buffer
	writer.Stderr = &errors
	output, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	read := 0
	for scanner := bufio.NewScanner(output); read != lines && scanner.Scan(); {
		read++
	}
	if lines >= 0 {
		_ = writer.Process.Kill()
		_ = writer.Wait()
		return read
	}
	if err := writer.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, errors.String())
	}
	return read
}

func testConcurrentWriters(t *testing.T, newAddress func() string) {
	address := newAddress()
	stores := []*store{open(t, address)}
	if strings.HasPrefix(address, "postgres") {
		stores = append(stores, open(t, address))
	}
	records := sample(120)
	total := make(chan int, 8)
	var group sync.WaitGroup
	for i := range cap(total) {
		group.Go(func() {
			mine := slices.Clone(records)
			rand.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
			added := 0
			for batch := range slices.Chunk(mine, 10) {
				n, err := stores[i%len(stores)].Add(t.Context(), batch)
				if err != nil {
					t.Error(err)
				}
				added += n
			}
			total <- added
		})
	}
	group.Wait()
	close(total)
	added := 0
	for n := range total {
		added += n
	}
	m := model{}
	m.add(records)
	for _, by := range []accounting.Dimension{accounting.ByUser, accounting.BySize} {
		usage := accounting.UsageQuery{By: []accounting.Dimension{by}}
		got, err := stores[0].Usage(t.Context(), usage)
		if err != nil || added != len(records) || !cmp.Equal(m.usage(usage), got) {
			t.Errorf("%d of %d records were new, %v, use: %s", added, len(records), err, cmp.Diff(m.usage(usage), got))
		}
	}
}

func testNewerSchema(t *testing.T, newAddress func() string) {
	address := newAddress()
	s, _ := openSample(t, address, 50)
	err := s.query(t.Context(), epoch, `SELECT 1`, nil, func(*sql.Rows) (bool, error) { return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.engine.open(t.Context(), epoch, false)
	if err != nil {
		t.Fatal(err)
	}
	text, place := `PRAGMA user_version = 99`, fileName(epoch)
	if m.numbered {
		text, place = `UPDATE vc_accounting.state SET schema_version = 99`, "test"
	}
	if _, err := m.db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	m.release()
	if _, err := s.Add(t.Context(), sample(60)); m.numbered && !errors.Is(err, accounting.ErrNewerSchema) {
		t.Errorf("Add returns %v after another process has migrated the database", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenForReading(t.Context(), address); !errors.Is(err, accounting.ErrNewerSchema) {
		t.Errorf("OpenForReading returns %v", err)
	}
	_, err = Open(t.Context(), address)
	if !errors.Is(err, accounting.ErrNewerSchema) {
		t.Fatalf("Open returns %v", err)
	}
	for _, part := range []string{"99", fmt.Sprint(len(migrations)), place} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not contain %q", err, part)
		}
	}
}

// gpuVersion is the first version of the schema whose records have the use of GPUs.
const gpuVersion = 5

// testMigrations creates a database with each older version of the schema, fills it as the program of that version did,
// and opens it with this program.
func testMigrations(t *testing.T, newAddress func() string) {
	all, page, rows, allColumns := migrations, fillPage, fillRows, columns
	t.Cleanup(func() { migrations, fillPage, fillRows, columns = all, page, rows, allColumns })
	fillPage, fillRows = 7, 300 // several pages a month
	for version := 1; version < len(all); version++ {
		address, m := newAddress(), model{}
		records := sample(300)
		records = append(records, accounting.Record{Submitted: epoch, Ended: epoch}) // the lowest key
		migrations = all[:version]
		if version < gpuVersion {
			columns = slices.DeleteFunc(slices.Clone(allColumns), func(c column) bool { return strings.HasPrefix(c.name, "gpu_") })
			for i := range records {
				records[i].GPUTime, records[i].GPUMeasured = 0, 0
			}
		}
		m.add(records)
		old := open(t, address)
		for _, group := range byMonth(records) {
			addAsOldProgram(t, old, version, group)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		migrations, columns = all, allColumns
		if _, err := OpenForReading(t.Context(), address); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has schema version %d", version)) {
			t.Errorf("OpenForReading of version %d returns %v", version, err)
		}
		s := open(t, address)
		rapid.Check(t, func(t *rapid.T) { compareWithModel(t, s, m) })
		added, err := s.Add(t.Context(), sample(400)) // to the old months, too
		if want := m.add(sample(400)); err != nil || added != want {
			t.Errorf("Add after the migration from version %d returns %d, %v; want %d", version, added, err, want)
		}
		query := accounting.UsageQuery{By: []accounting.Dimension{accounting.ByNamespace, accounting.BySize}}
		got, err := s.Usage(t.Context(), query)
		if diff := cmp.Diff(m.usage(query), got); err != nil || diff != "" {
			t.Errorf("use after the migration from version %d: %v (-want +got):\n%s", version, err, diff)
		}
		if err := s.AddNodeChanges(t.Context(), nodeHistory); err != nil {
			t.Fatal(err)
		}
		if got := readNodeChanges(t, s, time.Time{}, time.Time{}); !cmp.Equal(got, nodeHistory) {
			t.Errorf("changes of nodes after the migration from version %d: %v", version, got)
		}
		if err := s.AddChanges(t.Context(), sampleChanges); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Changes(t.Context(), accounting.ChangeQuery{}); err != nil || len(got) != len(sampleChanges) {
			t.Errorf("changes of accounts after the migration from version %d: %v, %v", version, got, err)
		}
	}
}

// addAsOldProgram adds records of a month to the tables that a version of the schema has.
func addAsOldProgram(t *testing.T, s *store, version int, records []*accounting.Record) {
	t.Helper()
	month, err := s.engine.open(t.Context(), accounting.Month.Start(records[0].Ended), true)
	if err != nil {
		t.Fatal(err)
	}
	defer month.release()
	tx, err := month.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	_, err = month.insertRecords(t.Context(), tx, records)
	if err == nil {
		err = month.insertDocuments(t.Context(), tx, records)
	}
	if err == nil {
		err = month.addUse(t.Context(), tx, rollUp(records))
	}
	if err == nil && version > 1 {
		collected := details{}
		for _, r := range records {
			collected.add(r)
		}
		err = month.addDetails(t.Context(), tx, collected)
	}
	if version > 4 {
		t.Fatalf("this test does not know what the program of version %d adds", version)
	}
	if err := errors.Join(err, tx.Commit()); err != nil {
		t.Fatal(err)
	}
}

func testDropMonth(t *testing.T, newAddress func() string) {
	address := newAddress()
	s, m := openSample(t, address, 100)
	february := epoch.AddDate(0, 1, 0)
	for i, want := range []bool{true, false} { // the month is empty at the second call
		if removed, err := s.DropMonth(t.Context(), february.AddDate(0, 0, 5), nil); err != nil || removed != want {
			t.Fatalf("call %d of DropMonth returns %v, %v; want %v", i+1, removed, err, want)
		}
	}
	for key, r := range m {
		if accounting.Month.Start(r.Ended).Equal(february) {
			delete(m, key)
		}
	}
	if diff := cmp.Diff(m.records(accounting.Query{}), collect(t, s.Records(t.Context(), accounting.Query{}))); diff != "" {
		t.Error(diff)
	}
	usage := accounting.UsageQuery{By: []accounting.Dimension{accounting.ByTime}, Step: accounting.Month}
	got, err := s.Usage(t.Context(), usage)
	if diff := cmp.Diff(m.usage(usage), got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	months, err := s.Months(t.Context())
	want := []time.Time{epoch, epoch.AddDate(0, 2, 0), epoch.AddDate(0, 3, 0)}
	if diff := cmp.Diff(want, months); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if added, err := s.Add(t.Context(), sample(100)); err != nil || added != 100-len(m) {
		t.Errorf("Add after DropMonth returns %d, %v", added, err)
	}
}

// testTwoProcessesRemoveAMonth removes a month in one store while another one exports it. The export must be complete, the month
// must be exported once, and a record that is added in the meantime must not be lost.
func testTwoProcessesRemoveAMonth(t *testing.T, address string) {
	first, m := openSample(t, address, 100)
	second := open(t, address)
	inMonth := accounting.Query{From: epoch, To: accounting.Month.End(epoch)}
	want := 0
	for _, r := range m {
		if accounting.Month.Start(r.Ended).Equal(epoch) {
			want++
		}
	}
	late := recordOf(1, accounting.Key{Cluster: "late", JobUID: "late", Element: accounting.NoElement})
	late.Started, late.Ended = epoch.Add(time.Hour), epoch.Add(2*time.Hour)
	removed, err := first.DropMonth(t.Context(), epoch, func(ctx context.Context) error {
		again, err := second.DropMonth(ctx, epoch, func(context.Context) error { return errors.New("the month is exported twice") })
		if err != nil || again {
			return fmt.Errorf("DropMonth during the export returns %v, %w", again, err)
		}
		if added, err := second.Add(ctx, []accounting.Record{late}); !errors.Is(err, accounting.ErrUnavailable) {
			return fmt.Errorf("Add during the export returns %d, %v", added, err)
		}
		exported := 0
		for _, err := range first.Records(ctx, inMonth) {
			if err != nil {
				return err
			}
			exported++
		}
		if exported < want || want == 0 {
			return fmt.Errorf("%d of %d records were exported", exported, want)
		}
		return nil
	})
	if err != nil || !removed {
		t.Fatalf("DropMonth returns %v, %v", removed, err)
	}
	if added, err := second.Add(t.Context(), []accounting.Record{late}); added != 1 || err != nil {
		t.Errorf("Add after the removal returns %d, %v", added, err)
	}
	failure := errors.New("the disk is full")
	if _, err := first.DropMonth(t.Context(), epoch, func(context.Context) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("a failed export: %v", err)
	}
	months, err := first.Months(t.Context())
	if err != nil || !slices.Contains(months, epoch) {
		t.Errorf("after a failed export, the months are %v, error %v", months, err)
	}
}

// testLongExport removes a month after an export that takes longer than the server's limit for idle transactions.
func testLongExport(t *testing.T, address string) {
	openSample(t, address, 100)
	s := open(t, address+"&idle_in_transaction_session_timeout=500")
	removed, err := s.DropMonth(t.Context(), epoch, func(ctx context.Context) error { return waitForIdleTransaction(ctx, s) })
	if err != nil || !removed {
		t.Errorf("DropMonth returns %v, %v", removed, err)
	}
}

// waitForIdleTransaction waits until a transaction of a database has been idle for a second, or there is none.
func waitForIdleTransaction(ctx context.Context, s accounting.Store) error {
	for {
		var idle, long int
		err := s.(*store).engine.(*postgresEngine).db.QueryRowContext(ctx,
			`SELECT count(*), count(*) FILTER (WHERE clock_timestamp() - state_change > '1s')
			FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()`).Scan(&idle, &long)
		if err != nil || idle == 0 || long > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func testInvalidText(t *testing.T, newAddress func() string) {
	s := open(t, newAddress())
	r := recordOf(1, accounting.Key{Cluster: "a\x00", JobUID: "\xff", Element: accounting.NoElement})
	r.Reason, r.NodeNames = "killed\x00\xfe", []string{"n\x00"}
	for _, want := range []int{1, 0} {
		if added, err := s.Add(t.Context(), []accounting.Record{r}); err != nil || added != want {
			t.Fatalf("Add returns %d, %v; want %d", added, err, want)
		}
	}
	got := collect(t, s.Records(t.Context(), accounting.Query{JobUIDs: []string{"\xff"}}))
	if len(got) != 1 || got[0].Reason != "killed\uFFFD" || got[0].Cluster != "a" || !slices.Equal(got[0].NodeNames, []string{"n"}) {
		t.Errorf("got %+v", got)
	}
}

// testCopy moves a sample from one database to another.
func testCopy(t *testing.T, from, to string) {
	source, m := openSample(t, from, 100)
	if err := source.AddNodeChanges(t.Context(), nodeHistory); err != nil {
		t.Fatal(err)
	}
	var copied bytes.Buffer
	if err := source.Backup(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	target := open(t, to)
	if err := target.Restore(t.Context(), bytes.NewReader(copied.Bytes())); err != nil {
		t.Fatal(err)
	}
	query := accounting.Query{WithDocuments: true}
	if diff := cmp.Diff(m.records(query), collect(t, target.Records(t.Context(), query))); diff != "" {
		t.Error(diff)
	}
	if got := readNodeChanges(t, target, time.Time{}, time.Time{}); !cmp.Equal(got, nodeHistory) {
		t.Errorf("changes of nodes in the copy: %v", got)
	}
	for _, by := range []accounting.Dimension{accounting.ByAccount, accounting.BySize} {
		usage := accounting.UsageQuery{By: []accounting.Dimension{by, accounting.ByTime}, Step: accounting.Hour}
		got, err := target.Usage(t.Context(), usage)
		if diff := cmp.Diff(m.usage(usage), got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
	if err := target.Restore(t.Context(), &copied); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("Restore to a database with records returns %v", err)
	}
	if got := collect(t, target.Records(t.Context(), query)); len(got) != len(m) {
		t.Errorf("%d of %d records after the second Restore", len(got), len(m))
	}
}

func testDamagedCopies(t *testing.T, newAddress func() string) {
	source, _ := openSample(t, "sqlite:"+t.TempDir(), 300)
	var copied bytes.Buffer
	if err := source.Backup(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	good := copied.Bytes()
	changed := slices.Clone(good)
	changed[len(changed)/2] ^= 0xff
	target := open(t, newAddress())
	for name, input := range map[string]struct {
		content []byte
		says    string
	}{
		"nothing":               {nil, "not a copy"},
		"text":                  {[]byte("hello"), "not a copy"},
		"half":                  {good[:len(good)/2], "restore"},
		"without the last byte": {good[:len(good)-1], "damaged"},
		"without the checksum":  {good[:len(good)-4], "damaged"},
		"changed":               {changed, "restore"},
		"more at its end":       {append(slices.Clone(good), good...), "damaged at its end"},
	} {
		err := target.Restore(t.Context(), bytes.NewReader(input.content))
		if err == nil || !strings.Contains(err.Error(), input.says) {
			t.Errorf("%s: Restore returns %v, want %q", name, err, input.says)
		}
		if months, err := target.Months(t.Context()); err != nil || len(months) > 0 {
			t.Errorf("%s: months %v, %v after Restore", name, months, err)
		}
	}
	if err := target.Restore(t.Context(), bytes.NewReader(good)); err != nil {
		t.Error(err)
	}
}

func testUnfinishedRestore(t *testing.T, newAddress func() string) {
	address := newAddress()
	source, m := openSample(t, "sqlite:"+t.TempDir(), 50)
	var copied bytes.Buffer
	if err := source.Backup(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	s, _ := openSample(t, address, 20) // the part of a copy
	if err := s.engine.setRestoring(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, address)
	if _, err := s.Add(t.Context(), sample(1)); !errors.Is(err, accounting.ErrUnavailable) || !strings.Contains(err.Error(), "restore") {
		t.Errorf("Add returns %v", err)
	}
	if err := s.Restore(t.Context(), &copied); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.records(accounting.Query{}), collect(t, s.Records(t.Context(), accounting.Query{}))); diff != "" {
		t.Error(diff)
	}
}

func testInvalidUsageQueries(t *testing.T, newAddress func() string) {
	s := open(t, newAddress())
	for says, query := range map[string]accounting.UsageQuery{
		"full hours": {From: epoch.Add(time.Minute)},
		"step":       {By: []accounting.Dimension{accounting.ByTime}, Step: "year"},
	} {
		if _, err := s.Usage(t.Context(), query); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Usage returns %v, want %q", err, says)
		}
	}
}

func TestOpenRejectsOtherAddresses(t *testing.T) {
	for _, address := range []string{"", "sqlite:", "history.db", "mysql://root:secret@host/db", "postgres:db"} {
		_, err := Open(t.Context(), address)
		var wrong *usererror.Error
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Hint, "sqlite:DIRECTORY") || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q) returns %v", address, err)
		}
	}
}

func testLockedDirectory(t *testing.T) {
	directory := t.TempDir()
	first := open(t, "sqlite:"+directory)
	_, err := Open(t.Context(), "sqlite:"+directory)
	if !errors.Is(err, accounting.ErrUnavailable) || !strings.Contains(err.Error(), directory+": another process uses it") {
		t.Errorf("the second Open returns %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, "sqlite:"+directory)
}

// large returns records that need some megabytes.
func large() []accounting.Record {
	all := sample(200)
	for i := range all {
		all[i].Ended, all[i].Document = epoch, make([]byte, 100_000)
		for j := range all[i].Document {
			all[i].Document[j] = byte(rand.IntN(256))
		}
	}
	return all
}

func testFullFile(t *testing.T) {
	s := open(t, "sqlite:"+t.TempDir())
	m, err := s.engine.open(t.Context(), epoch, true)
	if err != nil {
		t.Fatal(err)
	}
	m.db.SetMaxOpenConns(1) // the limit is that of a connection
	if _, err := m.db.ExecContext(t.Context(), "PRAGMA max_page_count = 100"); err != nil {
		t.Fatal(err)
	}
	records := large()
	if added, err := s.Add(t.Context(), records); added != 0 || !errors.Is(err, accounting.ErrFull) {
		t.Fatalf("Add to a full file returns %d, %v", added, err)
	}
	if _, err := m.db.ExecContext(t.Context(), "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	m.release()
	if added, err := s.Add(t.Context(), records); err != nil || added != len(records) {
		t.Errorf("Add to a larger file returns %d, %v", added, err)
	}
}

// smallDisk returns a directory on a file system with 16 MiB, which belongs to a user.
func smallDisk(t *testing.T, owner int) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "vc-small-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(directory) })
	if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(directory, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chown(directory, owner, -1); err != nil {
		t.Fatal(err)
	}
	return directory
}

// testFull fills a disk, makes room by dropping a month, and adds again.
func testFull(t *testing.T, address string) {
	s := open(t, address)
	first := sample(10)
	for i := range first {
		first[i].Ended = epoch
	}
	if _, err := s.Add(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if added, err := s.Add(t.Context(), large()); added != 0 || !errors.Is(err, accounting.ErrFull) {
		t.Fatalf("Add to a full disk returns %d, %v", added, err)
	}
	if got := collect(t, s.Records(t.Context(), accounting.Query{})); len(got) != len(first) {
		t.Errorf("%d of %d records after the disk was full", len(got), len(first))
	}
	if _, err := s.DropMonth(t.Context(), epoch, nil); err != nil {
		t.Error(err)
	}
	if added, err := s.Add(t.Context(), sample(20)); err != nil || added != 20 {
		t.Errorf("Add after DropMonth returns %d, %v", added, err)
	}
}

func testStoppedServer(t *testing.T) {
	var address string
	t.Run("server", func(t *testing.T) { address = postgres.Start(t).NewDatabase(t) })
	if _, err := Open(t.Context(), address); !errors.Is(err, accounting.ErrUnavailable) {
		t.Errorf("Open returns %v", err)
	}
}
