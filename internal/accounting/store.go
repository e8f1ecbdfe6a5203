package accounting

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors of stores. They can be found by errors.Is.
var (
	// ErrNewerSchema means that a later version of the program has changed the database.
	ErrNewerSchema = errors.New("the database has a newer schema than this program")
	// ErrFull means that the disk of the database is full. Nothing was stored.
	ErrFull = errors.New("the disk of the database is full")
	// ErrDamagedCopy means that the input of Restore is not a complete copy of a database.
	ErrDamagedCopy = errors.New("the copy cannot be restored")
	// ErrUnavailable means that the database cannot be reached. Nothing was stored, or it is unknown whether it was.
	ErrUnavailable = errors.New("the database is not available")
)

// The names of the metrics about records that wait for the database. Other programs read them.
const (
	SpoolAgeMetric      = "vc_accounting_spool_age_seconds"
	SpoolBytesMetric    = "vc_accounting_spool_bytes"
	SpoolMaxBytesMetric = "vc_accounting_spool_max_bytes"
)

// Store stores records, the use of resources that follows from them, and the changes of nodes. Its methods may be called
// by several goroutines.
type Store interface {
	// Add stores records in one transaction for each month of their ends. It ignores records whose key is stored
	// already, and returns how many were new. After an error, Add may be repeated.
	Add(ctx context.Context, records []Record) (added int, err error)
	// Records returns the selected records, ordered by end time and then by key. An error ends the sequence.
	Records(ctx context.Context, query Query) iter.Seq2[*Record, error]
	// Usage returns the selected use, ordered by all fields.
	Usage(ctx context.Context, query UsageQuery) ([]Usage, error)
	// AddNodeChanges stores changes of nodes in the months of their times. It ignores changes that are stored already.
	// After an error, it may be repeated.
	AddNodeChanges(ctx context.Context, changes []NodeChange) error
	// NodeChanges returns the changes that determine the state of the nodes between two times: those between them, and the
	// last one of each node before. They are ordered by CompareNodeChanges. An empty list of clusters selects all. A last
	// change is not found if it is more than a month older than from.
	NodeChanges(ctx context.Context, clusters []string, from, to time.Time) ([]NodeChange, error)
	// AddChanges stores changes of accounts and QOS. It ignores changes whose cluster and ID are stored already.
	AddChanges(ctx context.Context, changes []Change) error
	// Changes returns the selected changes of accounts and QOS, ordered by time and then by ID.
	Changes(ctx context.Context, query ChangeQuery) ([]Change, error)
	// Months returns the months for which records or changes of nodes, accounts or QOS are stored, oldest first.
	Months(ctx context.Context) ([]time.Time, error)
	// DropMonth removes all records that ended in a month, the usage that follows from them, and the changes of nodes, accounts
	// and QOS in this month. Before that, it calls beforeRemoval, for example to export the month. beforeRemoval may be nil, and
	// is not called if the month is empty. If beforeRemoval returns an error, nothing is removed. While DropMonth runs, no other
	// process adds records to the month or removes it. removed is false if the month is empty, or if another process is
	// adding records to it or removing it. The caller must not add records to the month during the call.
	DropMonth(ctx context.Context, month time.Time, beforeRemoval func(ctx context.Context) error) (removed bool, err error)
	// Backup writes a consistent copy of the database.
	Backup(ctx context.Context, to io.Writer) error
	// Restore replaces an empty database by a copy. It returns an error if the database is not empty.
	Restore(ctx context.Context, from io.Reader) error
	Close() error
}
