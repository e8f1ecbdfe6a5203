package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/usererror"
)

// Open opens a database, and creates what is missing in it. The address is sqlite:DIRECTORY or the URL of a PostgreSQL
// database.
func Open(ctx context.Context, address string) (accounting.Store, error) {
	return openAddress(ctx, address, openSQLite, openPostgres)
}

// OpenForReading opens a database that another process may be using. Nothing can be written to the returned store. The
// schema must be that of this program.
func OpenForReading(ctx context.Context, address string) (accounting.Store, error) {
	return openAddress(ctx, address, openSQLiteForReading, openPostgresForReading)
}

// openEngine opens a directory of SQLite, or a PostgreSQL database with a URL.
type openEngine func(ctx context.Context, address string) (engine, error)

// openAddress opens the database with an address.
func openAddress(ctx context.Context, address string, openDirectory, openServer openEngine) (accounting.Store, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	var engine engine
	var err error
	switch {
	case scheme == "sqlite" && rest != "":
		engine, err = openDirectory(ctx, rest)
	case (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//"):
		engine, err = openServer(ctx, address)
	default:
		return nil, unknownAddress(address)
	}
	if err != nil {
		return nil, err
	}
	s := &store{engine: engine}
	restoring, err := engine.restoring(ctx)
	if err != nil {
		_ = engine.close()
		return nil, engine.explain(err)
	}
	s.restoring.Store(restoring)
	return s, nil
}

// withoutPassword hides the password of a URL.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		scheme, _, _ := strings.Cut(address, ":")
		return scheme + ":…"
	}
	return u.Redacted()
}

// store implements accounting.Store on an engine.
type store struct {
	engine engine
	// restoring means that only Restore may use the database.
	restoring atomic.Bool
}

// ready returns an error while the database contains a part of a copy.
func (s *store) ready() error {
	if s.restoring.Load() {
		return usererror.Wrapf("restore the backup again: vcd accounting restore FILE",
			"the database contains an unfinished restore: %v", accounting.ErrUnavailable)
	}
	return nil
}

// Months implements accounting.Store.
func (s *store) Months(ctx context.Context) ([]time.Time, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	return s.usedMonths(ctx)
}

// usedMonths returns the months that have records or changes. Adding to a new month can fail after its tables were created.
func (s *store) usedMonths(ctx context.Context) ([]time.Time, error) {
	const isUsed = `SELECT 1 WHERE EXISTS (SELECT 1 FROM {records}) OR EXISTS (SELECT 1 FROM {nodes}) OR EXISTS (SELECT 1 FROM {changes})`
	var found []time.Time
	all, err := s.engine.months(ctx)
	for i := 0; i < len(all) && err == nil; i++ {
		err = s.query(ctx, all[i], isUsed, nil, func(*sql.Rows) (bool, error) {
			found = append(found, all[i])
			return true, nil
		})
	}
	if err != nil {
		return nil, s.engine.explain(fmt.Errorf("list months: %w", err))
	}
	return found, nil
}

// DropMonth implements accounting.Store.
func (s *store) DropMonth(ctx context.Context, at time.Time, before func(context.Context) error) (removed bool, err error) {
	if err := s.ready(); err != nil {
		return false, err
	}
	return s.drop(ctx, accounting.Month.Start(at), before)
}

func (s *store) drop(ctx context.Context, start time.Time, before func(context.Context) error) (removed bool, err error) {
	removed, err = s.engine.drop(ctx, start, before)
	if err != nil {
		return false, s.engine.explain(fmt.Errorf("drop month %s: %w", start.Format(monthFormat), err))
	}
	return removed, nil
}

// Close implements accounting.Store.
func (s *store) Close() error { return s.engine.close() }

// monthFormat is the format of months in names of files and in messages.
const monthFormat = "2006-01"
