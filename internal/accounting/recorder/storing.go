package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/export"
	"github.com/vc-batch/vc/internal/accounting/spool"
)

const (
	// shortestPause and longestPause limit the delay before the next attempt to reach the database. It doubles
	// after each failure.
	shortestPause = 100 * time.Millisecond
	longestPause  = 30 * time.Second
	// readerPatience is how long a query waits until the database is up to date.
	readerPatience = 10 * time.Second
	// observationPeriod is the maximum time between two updates of the spool's metrics.
	observationPeriod = 10 * time.Second
)

// Storage stores the records of a spool in a database, which it opens when it is available.
type Storage struct {
	spool *spool.Spool
	open  OpenStore
	log   logr.Logger

	retention Retention
	nextDrop  time.Time // when old months are dropped next; only StoreUntilDone uses it

	mu    sync.Mutex
	store accounting.Store
	err   error // why the database is not open
}

// Retention describes how long the database keeps records.
type Retention struct {
	// KeepMonths is the number of months before the current one whose records are kept. 0 means all.
	KeepMonths int
	// ExportDirectory is the directory to which a month is exported before it is removed. If it is empty, months are
	// removed without an export.
	ExportDirectory string
}

// NewStorage returns a Storage. Close must be called at the end.
func NewStorage(records *spool.Spool, open OpenStore, retention Retention, log logr.Logger) *Storage {
	return &Storage{spool: records, open: open, retention: retention, log: log, err: errors.New("the accounting database is not open yet")}
}

// UpToDateStore returns the open database. It waits for a limited time until the database contains the records of all jobs
// that are gone, so that a job is at any time in the cluster or in the database. isUpToDate is false if the database was
// too slow.
func (s *Storage) UpToDateStore(ctx context.Context) (store accounting.Store, isUpToDate bool, err error) {
	if _, err := s.Store(); err != nil {
		return nil, false, err
	}
	waiting, cancel := context.WithTimeout(ctx, readerPatience)
	defer cancel()
	isUpToDate = s.spool.WaitUntilStored(waiting)
	store, err = s.Store()
	return store, isUpToDate, err
}

// Store returns the open database, or an error with the reason why it is not open.
func (s *Storage) Store() (accounting.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return nil, fmt.Errorf("%w: %w", accounting.ErrUnavailable, s.err)
	}
	return s.store, nil
}

// StoreUntilDone stores the batches of the spool, oldest first, until ctx is done. While the database fails, it tries
// again after increasing delays.
func (s *Storage) StoreUntilDone(ctx context.Context) {
	pause := shortestPause
	for ctx.Err() == nil {
		changed := s.spool.Changed()
		isEmpty, err := s.storeOldest(ctx)
		if err == nil {
			s.dropOldMonths(ctx, time.Now())
		}
		observeSpool(s.spool.Stats(), time.Now())
		switch {
		case ctx.Err() != nil:
		case err != nil:
			storeErrors.Inc()
			s.log.Error(err, "Accounting records could not be stored; trying again", "after", pause)
			waitFor(ctx, pause, nil)
			pause = min(2*pause, longestPause)
		case isEmpty:
			pause = shortestPause
			waitFor(ctx, observationPeriod, changed)
		default:
			pause = shortestPause
		}
	}
}

// dropPeriod is the time after which Storage looks for old months again.
const dropPeriod = time.Hour

// dropOldMonths removes the months that Retention does not keep, at most once in each dropPeriod.
func (s *Storage) dropOldMonths(ctx context.Context, now time.Time) {
	if s.retention.KeepMonths == 0 || now.Before(s.nextDrop) {
		return
	}
	s.nextDrop = now.Add(dropPeriod)
	if err := s.dropMonthsBefore(ctx, accounting.Month.Start(now).AddDate(0, -s.retention.KeepMonths, 0)); err != nil && ctx.Err() == nil {
		s.log.Error(err, "The accounting records of old months could not be removed; trying again", "after", dropPeriod)
	}
}

// dropMonthsBefore removes the months before a month.
func (s *Storage) dropMonthsBefore(ctx context.Context, oldest time.Time) error {
	store, err := s.Store()
	if err != nil {
		return err
	}
	months, err := store.Months(ctx)
	if err != nil {
		return err
	}
	for _, month := range months {
		if !month.Before(oldest) {
			continue
		}
		removed, err := store.DropMonth(ctx, month, func(ctx context.Context) error { return s.exportMonth(ctx, store, month) })
		if err != nil {
			return err
		}
		text := "The accounting records of an old month are in use by another process or removed by it; looking again later"
		if removed {
			text = "Removed the accounting records of an old month"
		}
		s.log.Info(text, "month", month.Format("2006-01"))
	}
	return nil
}

// exportMonth exports a month that will be removed, if there is a directory for it. Nothing is stored in the meantime, so
// that all records of the month are in the file.
func (s *Storage) exportMonth(ctx context.Context, store accounting.Store, month time.Time) error {
	if s.retention.ExportDirectory == "" {
		return nil
	}
	exported, err := export.Month(ctx, store, month, s.retention.ExportDirectory)
	if err != nil {
		return err
	}
	s.log.Info("Exported the accounting records of an old month", "month", month.Format("2006-01"), "file", exported.Path, "records", exported.Records)
	return nil
}

// waitFor waits until a duration has passed, ctx is done or a channel is closed.
func waitFor(ctx context.Context, d time.Duration, changed <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-changed:
	}
}

// storeOldest stores the oldest batch of the spool. It opens the database even if the spool is empty, because commands
// read from it.
func (s *Storage) storeOldest(ctx context.Context) (isEmpty bool, err error) {
	store, err := s.openStore(ctx)
	if err != nil {
		return false, err
	}
	batch, ok, err := s.spool.Oldest()
	var damaged *spool.DamagedError
	if errors.As(err, &damaged) {
		aside, asideErr := s.spool.SetAside(damaged.Batch)
		if asideErr == nil {
			s.log.Error(err, "A batch of accounting records is damaged and was set aside; its records are missing in the database", "file", aside)
		}
		return false, asideErr
	}
	if err != nil || !ok {
		return err == nil, err
	}
	added, err := store.Add(ctx, batch.Records)
	if err != nil {
		return false, err
	}
	storedAttempts.Add(float64(added))
	if len(batch.NodeChanges) > 0 {
		if err := store.AddNodeChanges(ctx, batch.NodeChanges); err != nil {
			return false, err
		}
	}
	if len(batch.Changes) > 0 {
		if err := store.AddChanges(ctx, batch.Changes); err != nil {
			return false, err
		}
	}
	return false, s.spool.Remove(batch)
}

// openStore opens the database unless it is open.
func (s *Storage) openStore(ctx context.Context) (accounting.Store, error) {
	s.mu.Lock()
	store := s.store
	s.mu.Unlock()
	if store != nil {
		return store, nil
	}
	store, err := s.open(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store, s.err = store, err
	if err != nil {
		s.store = nil
		return nil, err
	}
	return store, nil
}

// Close closes the database.
func (s *Storage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return nil
	}
	store := s.store
	s.store, s.err = nil, errors.New("the accounting database was closed")
	return store.Close()
}
