package recorder

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/spool"
	"github.com/vc-batch/vc/internal/accounting/store"
)

func TestOldMonthsAreRemovedOnceAnHour(t *testing.T) {
	t.Parallel()
	records, err := spool.Open(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	database := "sqlite:" + t.TempDir()
	s := NewStorage(records, func(ctx context.Context) (accounting.Store, error) { return store.Open(ctx, database) }, Retention{KeepMonths: 2}, logr.Discard())
	defer s.Close()
	opened, err := s.openStore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 0, 30, 0, 0, time.UTC)
	add := func(month time.Month) {
		t.Helper()
		at := time.Date(2026, month, 28, 12, 0, 0, 0, time.UTC)
		record := accounting.Record{
			Key:       accounting.Key{Cluster: "prod", JobUID: month.String(), Element: accounting.NoElement},
			Submitted: at, Eligible: at, Started: at, Ended: at,
		}
		if _, err := opened.Add(t.Context(), []accounting.Record{record}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...string) {
		t.Helper()
		months, err := opened.Months(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, month := range months {
			got = append(got, month.Format("2006-01"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("months (-want +got):\n%s", diff)
		}
	}
	for month := time.June; month <= time.October; month++ {
		add(month)
	}
	s.dropOldMonths(t.Context(), now)
	check("2026-09", "2026-10")
	add(time.May) // a record that waited for the database for a long time
	s.dropOldMonths(t.Context(), now.Add(time.Minute))
	check("2026-05", "2026-09", "2026-10")
	s.dropOldMonths(t.Context(), now.Add(time.Hour))
	check("2026-09", "2026-10")
	s.retention.KeepMonths = 0
	s.dropOldMonths(t.Context(), now.AddDate(9, 0, 0))
	check("2026-09", "2026-10")
}

func TestAnOldMonthIsRemovedOnlyAfterItsExport(t *testing.T) {
	t.Parallel()
	records, err := spool.Open(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	database, directory := "sqlite:"+t.TempDir(), filepath.Join(t.TempDir(), "export")
	s := NewStorage(records, func(ctx context.Context) (accounting.Store, error) { return store.Open(ctx, database) },
		Retention{KeepMonths: 1, ExportDirectory: directory}, logr.Discard())
	defer s.Close()
	opened, err := s.openStore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	old := accounting.Record{Key: accounting.Key{JobUID: "old"}, Ended: now.AddDate(0, -3, 0)}
	if _, err := opened.Add(t.Context(), []accounting.Record{old}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(directory, nil, 0o600); err != nil { // a file in the place of the directory
		t.Fatal(err)
	}
	s.dropOldMonths(t.Context(), now)
	if months, err := opened.Months(t.Context()); err != nil || len(months) != 1 {
		t.Fatalf("months %v, %v after an export that failed", months, err)
	}
	if err := os.Remove(directory); err != nil {
		t.Fatal(err)
	}
	s.dropOldMonths(t.Context(), now.Add(dropPeriod))
	if months, err := opened.Months(t.Context()); err != nil || len(months) != 0 {
		t.Errorf("months %v, %v after an export", months, err)
	}
	if _, err := os.Stat(filepath.Join(directory, "records-2026-08.parquet")); err != nil {
		t.Error(err)
	}
}

// sharedStore has one old month, which another process removes or has removed.
type sharedStore struct {
	accounting.Store
	month       time.Time
	removedByUs bool
}

func (s sharedStore) Months(context.Context) ([]time.Time, error) { return []time.Time{s.month}, nil }

func (s sharedStore) DropMonth(context.Context, time.Time, func(context.Context) error) (bool, error) {
	return s.removedByUs, nil
}

func TestOnlyTheProcessThatRemovesAMonthLogsIt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for _, removed := range []bool{true, false} {
		var logged []string
		log := funcr.New(func(_, text string) { logged = append(logged, text) }, funcr.Options{})
		s := NewStorage(nil, nil, Retention{KeepMonths: 1}, log)
		s.store = sharedStore{month: now.AddDate(0, -3, 0), removedByUs: removed}
		s.dropOldMonths(t.Context(), now)
		if text := strings.Join(logged, "\n"); len(logged) != 1 || strings.Contains(text, "Removed") != removed {
			t.Errorf("removed %v: the log is %q", removed, text)
		}
	}
}

// slowStore is a database that stores nothing until it may.
type slowStore struct {
	accounting.Store
	mayStore chan struct{}
}

func (s slowStore) Add(ctx context.Context, records []accounting.Record) (int, error) {
	select {
	case <-s.mayStore:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return len(records), nil
}

func TestReadersWaitForASlowDatabaseAndLearnWhetherItIsUpToDate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		records, err := spool.Open(t.TempDir(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer records.Close()
		mayStore := make(chan struct{})
		s := NewStorage(records, func(context.Context) (accounting.Store, error) { return slowStore{mayStore: mayStore}, nil }, Retention{}, logr.Discard())
		if err := records.Append(accounting.Batch{Records: []accounting.Record{{Key: accounting.Key{JobUID: "deleted"}}}}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.StoreUntilDone(ctx)
		synctest.Wait()
		begun := time.Now()
		if _, isUpToDate, err := s.UpToDateStore(ctx); err != nil || isUpToDate || time.Since(begun) != readerPatience {
			t.Errorf("database that does not answer: up to date %v after %v, %v", isUpToDate, time.Since(begun), err)
		}
		time.AfterFunc(readerPatience/2, func() { close(mayStore) })
		if _, isUpToDate, err := s.UpToDateStore(ctx); err != nil || !isUpToDate {
			t.Errorf("database that answers in time: up to date %v, %v", isUpToDate, err)
		}
	})
}
