package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/usererror"
)

// engine is the part of a store that differs between databases.
type engine interface {
	// months returns the months that have tables, oldest first.
	months(ctx context.Context) ([]time.Time, error)
	// open returns the tables of a month, or nil if there are none and create is false. The caller releases them.
	open(ctx context.Context, start time.Time, create bool) (*month, error)
	// drop calls beforeRemoval, which may be nil, and removes the tables of a month. If there are none, or
	// another process adds records to the month or removes it, drop does nothing and returns false. While it runs, no other
	// process does so.
	drop(ctx context.Context, start time.Time, beforeRemoval func(context.Context) error) (removed bool, err error)
	// restoring reports whether a copy is being restored, or was when the process ended.
	restoring(ctx context.Context) (bool, error)
	setRestoring(ctx context.Context, restoring bool) error
	// lockMonth locks a month until the end of the transaction, so that no other process removes it or migrates the database.
	// It returns an error if another process is removing the month, or if the database got a newer schema since it was opened.
	lockMonth(ctx context.Context, tx *sql.Tx, start time.Time) error
	// isMissing reports whether an error means that the tables of the month were removed.
	isMissing(err error) bool
	// explain wraps an error in an error of package accounting.
	explain(err error) error
	close() error
}

// month is the tables of a month.
type month struct {
	db *sql.DB
	// names replaces the names in braces.
	names *strings.Replacer
	// numbered reports whether the database has parameters $1, $2 in place of ?.
	numbered bool
	release  func()
}

// statement returns a statement in the language of the database.
func (m *month) statement(text string) string {
	text = m.names.Replace(text)
	if !m.numbered {
		return text
	}
	var b strings.Builder
	parts := strings.Split(text, "?")
	for i, part := range parts {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// values returns the parameters of an INSERT of several rows.
func values(rows, columns int) string {
	row := "(" + strings.Repeat("?, ", columns-1) + "?)"
	return strings.Repeat(row+", ", rows-1) + row
}

// checkVersion returns an error if a schema is newer than this program.
func checkVersion(what string, version int) error {
	if version > len(migrations) {
		return fmt.Errorf("%s: schema version %d, this program knows version %d: %w",
			what, version, len(migrations), accounting.ErrNewerSchema)
	}
	return nil
}

// olderSchema returns the error about a database that must be migrated before it can be read.
func olderSchema(what string, version int) error {
	return usererror.Errorf("start vcd accounting of this version first: it migrates the database",
		"%s has schema version %d, this program reads version %d", what, version, len(migrations))
}

// migrate applies the migrations that follow a version. monthsOf returns the months whose tables must be filled, with the
// tables of a version.
func migrate(ctx context.Context, tx *sql.Tx, names *strings.Replacer, version int, monthsOf func(version int) ([]*month, error)) error {
	for i, migration := range migrations[version:] {
		to := version + i + 1
		for _, text := range migration.statements {
			if _, err := tx.ExecContext(ctx, names.Replace(text)); err != nil {
				return fmt.Errorf("migration to schema version %d: %w", to, err)
			}
		}
		months, err := monthsOf(to)
		if err != nil {
			return fmt.Errorf("migration to schema version %d: %w", to, err)
		}
		for _, m := range months {
			if migration.fill == nil {
				continue
			}
			if err := migration.fill(ctx, tx, m); err != nil {
				return fmt.Errorf("migration to schema version %d: %w", to, err)
			}
		}
	}
	return nil
}
