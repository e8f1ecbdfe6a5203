package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/usererror"
)

// sqliteEngine stores each month in a file of a directory.
type sqliteEngine struct {
	directory string
	// lock is locked while the engine may write. It is nil if the engine only reads.
	lock *os.File

	mu    sync.Mutex
	files map[time.Time]*monthFile
}

// monthFile is the open file of a month.
type monthFile struct {
	// use is locked for reading while the file is used, and for writing while it is removed.
	use sync.RWMutex
	db  *sql.DB
}

const (
	// filePrefix and fileSuffix are around the month in the name of a file.
	filePrefix = "records-"
	fileSuffix = ".db"
	// lockName is the file that the process that uses the directory has locked.
	lockName = "lock"
	// restoringName is a file that exists while a copy is restored.
	restoringName = "restore-unfinished"
)

// sqliteNames replaces the names in braces in migrations and statements.
var sqliteNames = strings.NewReplacer(
	"{records}", "records", "{documents}", "documents", "{usage}", "usage",
	"{usage_details}", "usage_details", "{nodes}", "nodes", "{changes}", "changes",
	"{text}", "TEXT", "{bytes}", "BLOB",
	"{month column}", "", "{month key}", "", "{partitioned}", "", "{clustered}", "WITHOUT ROWID",
)

// openSQLite opens a directory, and creates it if it is missing. All files are opened at once, so that a file with a
// newer schema is found before anything is written.
func openSQLite(ctx context.Context, directory string) (engine, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return nil, fmt.Errorf("database directory: %w", err)
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("database directory: %w: %w", accounting.ErrUnavailable, err)
	}
	lock, err := lockDirectory(directory)
	if err != nil {
		return nil, err
	}
	e := &sqliteEngine{directory: directory, lock: lock, files: map[time.Time]*monthFile{}}
	if err := e.openAll(ctx); err != nil {
		_ = e.close()
		return nil, e.explain(err)
	}
	return e, nil
}

// openSQLiteForReading opens a directory without locking it, so that a backup can be made while another process records
// jobs.
func openSQLiteForReading(ctx context.Context, directory string) (engine, error) {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return nil, fmt.Errorf("database directory: %w", err)
	}
	if _, err := os.Stat(directory); errors.Is(err, fs.ErrNotExist) {
		return nil, usererror.Wrapf("specify the directory that vcd accounting uses",
			"database directory %s does not exist: %v", directory, accounting.ErrUnavailable)
	}
	e := &sqliteEngine{directory: directory, files: map[time.Time]*monthFile{}}
	if err := e.openAll(ctx); err != nil {
		_ = e.close()
		return nil, e.explain(err)
	}
	return e, nil
}

// lockDirectory locks a directory until the returned file is closed or the process ends.
func lockDirectory(directory string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(directory, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("database directory: %w: %w", accounting.ErrUnavailable, err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, usererror.Wrapf("stop the other process, for example vcd accounting, or use another directory",
			"database directory %s: another process uses it: %v", directory, accounting.ErrUnavailable)
	}
	return lock, nil
}

// openAll opens the files of all months.
func (e *sqliteEngine) openAll(ctx context.Context) error {
	entries, err := os.ReadDir(e.directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(strings.TrimPrefix(entry.Name(), filePrefix), fileSuffix)
		start, err := time.Parse(monthFormat, name)
		if err != nil || entry.Name() != fileName(start) {
			continue
		}
		if e.files[start], err = e.openFile(ctx, start); err != nil {
			delete(e.files, start)
			return err
		}
	}
	return nil
}

func fileName(start time.Time) string { return filePrefix + start.Format(monthFormat) + fileSuffix }

func (e *sqliteEngine) path(start time.Time) string {
	return filepath.Join(e.directory, fileName(start))
}

// idleTime is how long a connection to a file stays open after its last use.
const idleTime = time.Minute

// openFile opens the file of a month, and applies the migrations.
func (e *sqliteEngine) openFile(ctx context.Context, start time.Time) (*monthFile, error) {
	prepare, address := migrateFile, sqliteAddress(e.path(start))
	if e.lock == nil {
		prepare, address = checkFile, readOnlyAddress(e.path(start))
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return nil, err
	}
	db.SetConnMaxIdleTime(idleTime)
	if err := prepare(ctx, db, e.path(start)); err != nil {
		_ = db.Close()
		return nil, err
	}
	return &monthFile{db: db}, nil
}

// readOnlyAddress returns the address of a file that is only read.
func readOnlyAddress(path string) string {
	settings := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(10000)", "query_only(1)"}}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}).String()
}

// checkFile returns an error if the schema of a file is not that of this program.
func checkFile(ctx context.Context, db *sql.DB, path string) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if version < len(migrations) {
		return olderSchema(path, version)
	}
	return checkVersion(path, version)
}

// sqliteAddress returns the address of a file with its settings. synchronous=FULL means that a transaction that was
// committed survives the loss of power. WAL lets readers and a writer work at the same time.
func sqliteAddress(path string) string {
	settings := url.Values{
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-16384)"},
		"_txlock": {"immediate"},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}).String()
}

// migrateFile applies migrations in a transaction.
func migrateFile(ctx context.Context, db *sql.DB, path string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = tx.Rollback() }()
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if version == len(migrations) {
		return nil
	}
	if err := checkVersion(path, version); err != nil {
		return err
	}
	file := func(int) ([]*month, error) { return []*month{{db: db, names: sqliteNames}}, nil }
	if err := migrate(ctx, tx, sqliteNames, version, file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return tx.Commit()
}

func (e *sqliteEngine) months(context.Context) ([]time.Time, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]time.Time, 0, len(e.files))
	for start := range e.files {
		all = append(all, start)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all, nil
}

func (e *sqliteEngine) open(ctx context.Context, start time.Time, create bool) (*month, error) {
	for {
		file, err := e.file(ctx, start, create)
		if file == nil || err != nil {
			return nil, err
		}
		file.use.RLock()
		if e.isCurrent(start, file) {
			return &month{db: file.db, names: sqliteNames, release: file.use.RUnlock}, nil
		}
		file.use.RUnlock() // it was removed while this method waited
	}
}

func (e *sqliteEngine) file(ctx context.Context, start time.Time, create bool) (*monthFile, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	file, exists := e.files[start]
	if exists || !create {
		return file, nil
	}
	file, err := e.openFile(ctx, start)
	if err != nil {
		return nil, err
	}
	e.files[start] = file
	return file, nil
}

func (e *sqliteEngine) isCurrent(start time.Time, file *monthFile) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.files[start] == file
}

func (e *sqliteEngine) drop(ctx context.Context, start time.Time, beforeRemoval func(context.Context) error) (removed bool, err error) {
	file, err := e.file(ctx, start, false)
	if file == nil || err != nil {
		return false, err
	}
	if beforeRemoval != nil {
		if err := beforeRemoval(ctx); err != nil {
			return false, err
		}
	}
	file.use.Lock()
	defer file.use.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.files[start] != file {
		return false, nil
	}
	delete(e.files, start)
	err = file.db.Close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if failure := os.Remove(e.path(start) + suffix); !errors.Is(failure, fs.ErrNotExist) {
			err = errors.Join(err, failure)
		}
	}
	return err == nil, err
}

func (e *sqliteEngine) restoring(context.Context) (bool, error) {
	_, err := os.Stat(filepath.Join(e.directory, restoringName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (e *sqliteEngine) setRestoring(_ context.Context, restoring bool) error {
	path := filepath.Join(e.directory, restoringName)
	if restoring {
		return os.WriteFile(path, nil, 0o600)
	}
	return os.Remove(path)
}

// isMissing returns false: an open file stays while it is read.
func (e *sqliteEngine) isMissing(error) bool { return false }

// lockMonth does nothing, because the directory is locked.
func (e *sqliteEngine) lockMonth(context.Context, *sql.Tx, time.Time) error { return nil }

// explain wraps an error of SQLite.
func (e *sqliteEngine) explain(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("database directory %s: %w: %w", e.directory, accounting.ErrFull, err)
	}
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	// The shared memory of the WAL is a file: on a full disk it cannot grow.
	switch code := failure.Code(); {
	case code&0xff == sqlite3.SQLITE_FULL, code == sqlite3.SQLITE_IOERR_SHMSIZE:
		return fmt.Errorf("database directory %s: %w: %w", e.directory, accounting.ErrFull, err)
	case slices.Contains(unavailableCodes, code&0xff):
		return fmt.Errorf("database directory %s: %w: %w", e.directory, accounting.ErrUnavailable, err)
	}
	return fmt.Errorf("database directory %s: %w", e.directory, err)
}

// unavailableCodes are the codes of SQLite for files that cannot be used at the moment.
var unavailableCodes = []int{
	sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY,
}

func (e *sqliteEngine) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	for start, file := range e.files {
		err = errors.Join(err, file.db.Close())
		delete(e.files, start)
	}
	if e.lock == nil {
		return err
	}
	return errors.Join(err, e.lock.Close())
}
