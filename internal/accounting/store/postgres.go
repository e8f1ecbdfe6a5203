package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/usererror"
)

// postgresEngine stores each month in partitions.
type postgresEngine struct {
	db *sql.DB
	// what names the database in messages.
	what string
}

const (
	// postgresSchema is PostgreSQL's schema that contains the tables.
	postgresSchema = "vc_accounting"
	// advisoryLock is the number of the lock that a process holds while it changes tables.
	advisoryLock = 0x76636163
	// monthLock is the first of the two keys of the advisory lock of a month. numberOf returns the second key.
	monthLock = advisoryLock
	// connections is the maximum number of connections of a store.
	connections = 8
	// partitionFormat is the format of months in names of partitions.
	partitionFormat = "200601"
)

// postgresNames returns the replacement of the names in braces. The suffix is that of a month, or empty for the
// partitioned tables.
func postgresNames(suffix string) *strings.Replacer {
	names := []string{
		"{text}", `TEXT COLLATE "C"`, "{bytes}", "BYTEA",
		"{month column}", ", month BIGINT NOT NULL", "{month key}", ", month",
		"{partitioned}", "PARTITION BY RANGE (month)", "{clustered}", "",
	}
	for _, table := range tablesOf(len(migrations)) {
		names = append(names, "{"+table+"}", postgresSchema+"."+table+suffix)
	}
	return strings.NewReplacer(names...)
}

// openPostgres connects to a database, and applies the migrations.
func openPostgres(ctx context.Context, address string) (engine, error) {
	e, err := connectPostgres(address)
	if err != nil {
		return nil, err
	}
	if err := e.change(ctx, e.migrate); err != nil {
		_ = e.close()
		return nil, e.explain(err)
	}
	return e, nil
}

// openPostgresForReading connects to a database without changing its tables, because a process of an older version may
// be using it.
func openPostgresForReading(ctx context.Context, address string) (engine, error) {
	e, err := connectPostgres(address)
	if err != nil {
		return nil, err
	}
	if err := e.checkTables(ctx); err != nil {
		_ = e.close()
		return nil, e.explain(err)
	}
	return e, nil
}

// connectPostgres returns the engine of a database. It connects when it is used.
func connectPostgres(address string) (*postgresEngine, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	// A statement is planned with its arguments each time: the best index depends on them. It also works behind a pooler
	// of connections.
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	e := &postgresEngine{db: stdlib.OpenDB(*config), what: fmt.Sprintf("database %s of %s", config.Database, config.Host)}
	e.db.SetMaxOpenConns(connections)
	e.db.SetMaxIdleConns(connections)
	e.db.SetConnMaxIdleTime(idleTime)
	return e, nil
}

// checkTables returns an error if the database does not have the schema of this program.
func (e *postgresEngine) checkTables(ctx context.Context) error {
	var version int
	err := e.db.QueryRowContext(ctx, "SELECT schema_version FROM "+postgresSchema+".state").Scan(&version)
	if e.isMissing(err) {
		return usererror.Wrapf("specify the database that vcd accounting uses", "%s has no tables for records: %v", e.what, accounting.ErrUnavailable)
	}
	if err == nil && version < len(migrations) {
		return olderSchema(e.what, version)
	}
	if err != nil {
		return err
	}
	return checkVersion(e.what, version)
}

// lockMonth locks a month until the end of a transaction that adds records to it. It does not wait for a process that is
// removing the month, because an export takes long and needs connections, too.
func (e *postgresEngine) lockMonth(ctx context.Context, tx *sql.Tx, start time.Time) error {
	var isLocked bool
	if err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock_shared($1, $2)", monthLock, numberOf(start)).Scan(&isLocked); err != nil {
		return err
	}
	if !isLocked {
		return fmt.Errorf("%s: the records of %s are being exported or removed by another process: %w", e.what, start.Format(monthFormat), accounting.ErrUnavailable)
	}
	return e.lockVersion(ctx, tx)
}

// numberOf returns the number of a month in locks.
func numberOf(start time.Time) int { return start.Year()*12 + int(start.Month()) - 1 }

// lockVersion returns an error if another process has migrated the database to a newer schema. Until the end of the
// transaction, no process migrates it.
func (e *postgresEngine) lockVersion(ctx context.Context, tx *sql.Tx) error {
	var version int
	if err := tx.QueryRowContext(ctx, "SELECT schema_version FROM "+postgresSchema+".state FOR SHARE").Scan(&version); err != nil {
		return err
	}
	return checkVersion(e.what, version)
}

// change runs a transaction that changes tables. Only one process at a time does.
func (e *postgresEngine) change(ctx context.Context, do func(context.Context, *sql.Tx) error) error {
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", advisoryLock); err != nil {
		return err
	}
	if err := do(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// migrate creates the schema if it is missing, and applies migrations.
func (e *postgresEngine) migrate(ctx context.Context, tx *sql.Tx) error {
	var exists bool
	err := tx.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", postgresSchema+".state").Scan(&exists)
	if err != nil {
		return err
	}
	if !exists {
		if err := createState(ctx, tx); err != nil {
			return err
		}
	}
	var version int
	if err := tx.QueryRowContext(ctx, "SELECT schema_version FROM "+postgresSchema+".state FOR UPDATE").Scan(&version); err != nil {
		return err
	}
	if err := checkVersion(e.what, version); err != nil {
		return err
	}
	if version == 1 { // programs of this version add records without lockVersion
		if _, err := tx.ExecContext(ctx, "LOCK TABLE "+postgresSchema+".records IN SHARE MODE"); err != nil {
			return err
		}
	}
	partitions := func(version int) ([]*month, error) { return e.partitions(ctx, tx, version) }
	if err := migrate(ctx, tx, postgresNames(""), version, partitions); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE "+postgresSchema+".state SET schema_version = $1 WHERE schema_version <> $1", len(migrations))
	return err
}

// createState creates the schema and the table with the one row that describes the database.
func createState(ctx context.Context, tx *sql.Tx) error {
	var exists bool
	err := tx.QueryRowContext(ctx, "SELECT to_regnamespace($1) IS NOT NULL", postgresSchema).Scan(&exists)
	if err != nil {
		return err
	}
	statements := []string{
		"CREATE TABLE " + postgresSchema + ".state (schema_version BIGINT NOT NULL, restoring BOOLEAN NOT NULL)",
		"INSERT INTO " + postgresSchema + ".state VALUES (0, false)",
	}
	if !exists { // a user who may not create schemas can use one that exists
		statements = slices.Insert(statements, 0, "CREATE SCHEMA "+postgresSchema)
	}
	for _, text := range statements {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

func (e *postgresEngine) months(ctx context.Context) ([]time.Time, error) {
	return listMonths(ctx, e.db)
}

// listMonths returns the months that have partitions, oldest first.
func listMonths(ctx context.Context, from interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}) ([]time.Time, error) {
	rows, err := from.QueryContext(ctx, `SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
		WHERE inhparent = $1::regclass ORDER BY relname`, postgresSchema+".records")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []time.Time
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		start, err := time.Parse("records_"+partitionFormat, name)
		if err != nil {
			return nil, fmt.Errorf("partition %s: %w", name, err)
		}
		all = append(all, start)
	}
	return all, rows.Err()
}

func suffix(start time.Time) string { return "_" + start.Format(partitionFormat) }

func (e *postgresEngine) open(ctx context.Context, start time.Time, create bool) (*month, error) {
	var exists bool
	err := e.db.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", postgresSchema+".records"+suffix(start)).Scan(&exists)
	if err != nil {
		return nil, err
	}
	if !exists && !create {
		return nil, nil
	}
	if !exists {
		err := e.change(ctx, func(ctx context.Context, tx *sql.Tx) error { return createPartitions(ctx, tx, start, len(migrations)) })
		if err != nil {
			return nil, err
		}
	}
	return e.month(start), nil
}

// month returns the partitions of a month.
func (e *postgresEngine) month(start time.Time) *month {
	return &month{db: e.db, names: postgresNames(suffix(start)), numbered: true, release: func() {}}
}

// partitions returns all months, after it has created the partitions that they lack in a version of the schema.
func (e *postgresEngine) partitions(ctx context.Context, tx *sql.Tx, version int) ([]*month, error) {
	starts, err := listMonths(ctx, tx)
	if err != nil {
		return nil, err
	}
	var all []*month
	for _, start := range starts {
		if err := createPartitions(ctx, tx, start, version); err != nil {
			return nil, err
		}
		all = append(all, e.month(start))
	}
	return all, nil
}

// createPartitions creates the partitions of a month in a version of the schema. Statements use a partition by its name.
// Its rows get the month by default.
func createPartitions(ctx context.Context, tx *sql.Tx, start time.Time, version int) error {
	for _, table := range tablesOf(version) {
		name := postgresSchema + "." + table
		text := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s PARTITION OF %s (month DEFAULT %d) FOR VALUES FROM (%d) TO (%d)",
			name, suffix(start), name, start.Unix(), start.Unix(), accounting.Month.End(start).Unix())
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("create partition %s%s: %w", name, suffix(start), err)
		}
	}
	return nil
}

// drop holds the lock of the month in the transaction that removes the tables. It does not wait for
// a process that has the lock, because an export takes long and can hang. If the connection is lost during beforeRemoval, the
// transaction fails, and the month stays.
func (e *postgresEngine) drop(ctx context.Context, start time.Time, beforeRemoval func(context.Context) error) (removed bool, err error) {
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	isLocked, err := lockForRemoval(ctx, tx, start)
	if err != nil || !isLocked {
		return false, err
	}
	if beforeRemoval != nil {
		if err := beforeRemoval(ctx); err != nil {
			return false, err
		}
	}
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", advisoryLock); err != nil {
		return false, err
	}
	for _, table := range tablesOf(len(migrations)) {
		if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS "+postgresSchema+"."+table+suffix(start)); err != nil {
			return false, err
		}
	}
	if err := tx.Commit(); err != nil {
		return false, err
	}
	return true, nil
}

// lockForRemoval locks a month until the end of a transaction that removes it. It reports whether the month can be removed:
// false if another process has a lock or has removed the month.
func lockForRemoval(ctx context.Context, tx *sql.Tx, start time.Time) (ok bool, err error) {
	// The transaction is idle during an export.
	if _, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		return false, err
	}
	err = tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock($1, $2)", monthLock, numberOf(start)).Scan(&ok)
	if err != nil || !ok {
		return false, err
	}
	err = tx.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", postgresSchema+".records"+suffix(start)).Scan(&ok)
	return ok, err
}

func (e *postgresEngine) restoring(ctx context.Context) (bool, error) {
	var restoring bool
	err := e.db.QueryRowContext(ctx, "SELECT restoring FROM "+postgresSchema+".state").Scan(&restoring)
	return restoring, err
}

func (e *postgresEngine) setRestoring(ctx context.Context, restoring bool) error {
	_, err := e.db.ExecContext(ctx, "UPDATE "+postgresSchema+".state SET restoring = $1", restoring)
	return err
}

// explain wraps an error of PostgreSQL or of the connection to it.
func (e *postgresEngine) explain(err error) error {
	var failure *pgconn.PgError
	switch {
	case errors.As(err, &failure) && failure.Code == diskFull:
		return fmt.Errorf("%s: %w: %w", e.what, accounting.ErrFull, err)
	case failure != nil && !isUnavailable(failure.Code):
		return fmt.Errorf("%s: %w", e.what, err)
	case failure != nil || isConnectionError(err):
		return fmt.Errorf("%s: %w: %w", e.what, accounting.ErrUnavailable, err)
	}
	return err
}

// PostgreSQL's codes.
const (
	diskFull       = "53100"
	undefinedTable = "42P01"
)

// isUnavailable reports whether a code of PostgreSQL means that the server cannot answer at the moment: a lost
// connection, missing resources, or a server that starts or stops.
func isUnavailable(code string) bool {
	return slices.ContainsFunc([]string{"08", "53", "57P"}, func(class string) bool { return strings.HasPrefix(code, class) })
}

// isConnectionError reports whether there is no connection to the server, or it was lost.
func isConnectionError(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connect), errors.As(err, &network):
		return true
	case pgconn.SafeToRetry(err): // nothing was sent to the server
		return true
	}
	return slices.ContainsFunc(lostConnection, func(lost error) bool { return errors.Is(err, lost) })
}

// lostConnection lists errors of connections that ended.
var lostConnection = []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn}

func (e *postgresEngine) isMissing(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && failure.Code == undefinedTable
}

func (e *postgresEngine) close() error { return e.db.Close() }
