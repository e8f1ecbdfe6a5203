package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/usererror"
)

// A copy is a stream of JSON lines, compressed by zstd: a header, a line for each record and for each change of a node or
// an account, and a last line with the number of all these. It does not depend on the database. The use of resources is
// not part of it, because it follows from the records.

const (
	copyFormat  = "vc-accounting"
	copyVersion = 2
	// oldestVersion is the oldest version that Restore reads. It has no changes.
	oldestVersion = 1
)

// header is the first line of a copy.
type header struct {
	Format  string
	Version int
}

// line is every other line of a copy. It has one of the fields.
type line struct {
	Record *accounting.Record     `json:",omitempty"`
	Node   *accounting.NodeChange `json:",omitempty"`
	Change *accounting.Change     `json:",omitempty"`
	// Records is the number of records and changes, in the last line.
	Records *int `json:",omitempty"`
}

// Backup implements accounting.Store. Each month is read by one statement, and is therefore consistent.
func (s *store) Backup(ctx context.Context, to io.Writer) error {
	compressed, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer compressed.Close()
	encoder := json.NewEncoder(compressed)
	if err := encoder.Encode(header{copyFormat, copyVersion}); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	count := 0
	for r, err := range s.Records(ctx, accounting.Query{WithDocuments: true}) {
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		if err := encoder.Encode(line{Record: r}); err != nil {
			return fmt.Errorf("write backup: %w", err)
		}
		count++
	}
	nodes, err := s.NodeChanges(ctx, nil, time.Time{}, time.Time{})
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	for i := range nodes {
		if err := encoder.Encode(line{Node: &nodes[i]}); err != nil {
			return fmt.Errorf("write backup: %w", err)
		}
		count++
	}
	changes, err := s.Changes(ctx, accounting.ChangeQuery{})
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	for i := range changes {
		if err := encoder.Encode(line{Change: &changes[i]}); err != nil {
			return fmt.Errorf("write backup: %w", err)
		}
		count++
	}
	if err := encoder.Encode(line{Records: &count}); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	if err := compressed.Close(); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

// restoreBatch is the number of records that Restore adds at once.
const restoreBatch = 1000

// Restore implements accounting.Store. After an error the database is empty again. If the process ends before Restore
// does, the database accepts nothing but another Restore, which starts again.
func (s *store) Restore(ctx context.Context, from io.Reader) error {
	unfinished := s.restoring.Swap(true)
	if err := s.prepareRestore(ctx, unfinished); err != nil {
		s.restoring.Store(unfinished)
		return fmt.Errorf("restore: %w", err)
	}
	if err := s.restore(ctx, from); err != nil {
		return fmt.Errorf("restore: %w", errors.Join(err, s.finishRestore(context.WithoutCancel(ctx), true)))
	}
	if err := s.finishRestore(ctx, false); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// prepareRestore checks that the database is empty, or removes the part of a copy, and marks the database.
func (s *store) prepareRestore(ctx context.Context, unfinished bool) error {
	if unfinished {
		return s.dropAll(ctx)
	}
	months, err := s.usedMonths(ctx)
	if err != nil {
		return err
	}
	if len(months) > 0 {
		return usererror.Errorf("restore into another directory, or into a new PostgreSQL database", "the database is not empty: it has records of %s", describeMonths(months))
	}
	return s.engine.explain(s.engine.setRestoring(ctx, true))
}

// describeMonths returns a text about one or more months.
func describeMonths(months []time.Time) string {
	first, last := months[0].Format(monthFormat), months[len(months)-1].Format(monthFormat)
	if len(months) == 1 {
		return first
	}
	return fmt.Sprintf("%d months from %s to %s", len(months), first, last)
}

// finishRestore removes the mark, and the records if the copy is invalid.
func (s *store) finishRestore(ctx context.Context, remove bool) error {
	if remove {
		if err := s.dropAll(ctx); err != nil {
			return err
		}
	}
	if err := s.engine.setRestoring(ctx, false); err != nil {
		return s.engine.explain(err)
	}
	s.restoring.Store(false)
	return nil
}

func (s *store) dropAll(ctx context.Context) error {
	months, err := s.engine.months(ctx)
	if err != nil {
		return s.engine.explain(err)
	}
	for _, start := range months {
		removed, err := s.drop(ctx, start, nil)
		if err == nil && !removed {
			err = fmt.Errorf("the records of %s are in use by another process: %w", start.Format(monthFormat), accounting.ErrUnavailable)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restore adds the records of a copy.
func (s *store) restore(ctx context.Context, from io.Reader) error {
	decompressed, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("read copy: %w", err)
	}
	defer decompressed.Close()
	decoder := json.NewDecoder(decompressed)
	decoder.DisallowUnknownFields()
	if err := checkHeader(decoder); err != nil {
		return err
	}
	count := 0
	var batch accounting.Batch
	for {
		var l line
		if err := decoder.Decode(&l); err != nil {
			return fmt.Errorf("%w: it is damaged or incomplete after record %d: %w", accounting.ErrDamagedCopy, count, notEOF(err))
		}
		switch {
		case l.Record != nil:
			count++
			batch.Records = append(batch.Records, *l.Record)
		case l.Node != nil:
			count++
			batch.NodeChanges = append(batch.NodeChanges, *l.Node)
		case l.Change != nil:
			count++
			batch.Changes = append(batch.Changes, *l.Change)
		case l.Records == nil || *l.Records != count:
			return fmt.Errorf("%w: it is damaged: the last line after %d records has another number", accounting.ErrDamagedCopy, count)
		}
		isEnd := l.Records != nil
		if isEnd || len(batch.Records)+len(batch.NodeChanges)+len(batch.Changes) == restoreBatch {
			if _, err := s.add(ctx, batch.Records); err != nil {
				return err
			}
			if err := s.addNodeChanges(ctx, batch.NodeChanges); err != nil {
				return err
			}
			if err := s.addChanges(ctx, batch.Changes); err != nil {
				return err
			}
			batch = accounting.Batch{}
		}
		if isEnd {
			return checkEnd(decoder)
		}
	}
}

// checkHeader reads the first line.
func checkHeader(decoder *json.Decoder) error {
	var h header
	if err := decoder.Decode(&h); err != nil || h.Format != copyFormat {
		return fmt.Errorf("%w: it is not a copy of an accounting database%s", accounting.ErrDamagedCopy, afterColon(err))
	}
	if h.Version < oldestVersion || h.Version > copyVersion {
		return fmt.Errorf("the copy has version %d, this program reads versions %d to %d", h.Version, oldestVersion, copyVersion)
	}
	return nil
}

// checkEnd returns an error if the stream continues or its checksum is wrong.
func checkEnd(decoder *json.Decoder) error {
	if err := decoder.Decode(&line{}); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is damaged at its end%s", accounting.ErrDamagedCopy, afterColon(err))
	}
	return nil
}

// afterColon returns the text that adds the cause to a message, or "" if there is none.
func afterColon(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// notEOF converts the end of the input to an error that says that it came too early.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
