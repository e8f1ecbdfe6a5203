// Package export writes the records of a month to a Parquet file, which other programs can analyse.
//
//	In:   a store
//	Out:  a file
//
// # Invariants
//
//   - A file with its final name is complete, and is on the disk.
//   - No file is replaced. If the directory has a file with other records of the month, another name is chosen.
//   - The memory does not depend on the number of records.
package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/vc-batch/vc/internal/accounting"
)

const (
	// monthFormat is the format of months in names of files.
	monthFormat = "2006-01"
	// rowsPerGroup is the number of records that are compressed together, and that are in memory.
	rowsPerGroup = 50_000
	// batch is the number of records that are passed to the library at once.
	batch = 500
	// digestKey is the key of the file's metadata under which the digest of its records is stored.
	digestKey = "vc-batch.dev/records"
)

// Row is a row of a file. Its columns are a Record without its document.
type Row struct {
	Cluster string `parquet:"cluster,dict"`
	JobUID  string `parquet:"job_uid"`
	Attempt int32  `parquet:"attempt"`
	// Element is null if the job is not an array.
	Element   *int32 `parquet:"element,optional"`
	JobID     int64  `parquet:"job_id"`
	Namespace string `parquet:"namespace,dict"`
	Name      string `parquet:"name,dict"`
	User      string `parquet:"user,dict"`
	Account   string `parquet:"account,dict"`
	QOS       string `parquet:"qos,dict"`
	Queue     string `parquet:"queue,dict"`
	Outcome   string `parquet:"outcome,dict"`
	Reason    string `parquet:"reason,dict"`
	ExitCode  int32  `parquet:"exit_code"`
	// Eligible and Started are null if the attempt was never eligible or did not start.
	Submitted time.Time  `parquet:"submitted,timestamp(millisecond)"`
	Eligible  *time.Time `parquet:"eligible,optional,timestamp(millisecond)"`
	Started   *time.Time `parquet:"started,optional,timestamp(millisecond)"`
	Ended     time.Time  `parquet:"ended,timestamp(millisecond)"`
	// TimeLimitSeconds is null if there is no limit.
	TimeLimitSeconds *int64   `parquet:"time_limit_seconds,optional"`
	NodeNames        []string `parquet:"node_names,list"`
	Pods             int32    `parquet:"pods"`
	// Requested and Allocated have CPUs in thousandths and memory in mebibytes.
	Requested       map[string]int64 `parquet:"requested"`
	Allocated       map[string]int64 `parquet:"allocated"`
	CPUTimeSeconds  float64          `parquet:"cpu_time_seconds"`
	PeakMemoryBytes int64            `parquet:"peak_memory_bytes"`
	// GPUTimeSeconds and GPUMeasuredSeconds are null if the use of GPUs was not measured.
	GPUTimeSeconds     *float64 `parquet:"gpu_time_seconds,optional"`
	GPUMeasuredSeconds *float64 `parquet:"gpu_measured_seconds,optional"`
}

// rowOf returns the row of a record.
func rowOf(r *accounting.Record) Row {
	row := Row{
		Cluster: r.Cluster, JobUID: r.JobUID, Attempt: r.Attempt, JobID: r.JobID, Namespace: r.Namespace, Name: r.Name,
		User: r.User, Account: r.Account, QOS: r.QOS, Queue: r.Queue, Outcome: string(r.Outcome), Reason: r.Reason, ExitCode: r.ExitCode,
		Submitted: r.Submitted, Eligible: timeOrNull(r.Eligible), Started: timeOrNull(r.Started), Ended: r.Ended,
		NodeNames: r.NodeNames, Pods: r.Pods, Requested: r.Requested, Allocated: r.Allocated,
		CPUTimeSeconds: r.CPUTime.Seconds(), PeakMemoryBytes: r.PeakMemoryBytes,
	}
	if r.Element != accounting.NoElement {
		row.Element = &r.Element
	}
	if r.GPUMeasured > 0 {
		busy, measured := r.GPUTime.Seconds(), r.GPUMeasured.Seconds()
		row.GPUTimeSeconds, row.GPUMeasuredSeconds = &busy, &measured
	}
	if r.TimeLimit > 0 {
		seconds := int64(r.TimeLimit / time.Second)
		row.TimeLimitSeconds = &seconds
	}
	return row
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Result describes the file of a month.
type Result struct {
	// Path is the path of the file. It is empty if the month has no records.
	Path    string
	Records int
}

// Month writes the records that ended in a month to a file in a directory, which is created if it is missing. If the
// directory has a file with the same records, that file stays, and its path is returned.
func Month(ctx context.Context, store accounting.Store, month time.Time, directory string) (Result, error) {
	month = accounting.Month.Start(month)
	result, err := writeMonth(ctx, store, month, directory)
	if err != nil {
		return Result{}, fmt.Errorf("export month %s: %w", month.Format(monthFormat), err)
	}
	return result, nil
}

func writeMonth(ctx context.Context, store accounting.Store, month time.Time, directory string) (Result, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return Result{}, err
	}
	file, err := os.CreateTemp(directory, "records-"+month.Format(monthFormat)+"-*.tmp")
	if err != nil {
		return Result{}, err
	}
	defer os.Remove(file.Name()) // it also has its final name then
	count, digest, err := writeRecords(ctx, store, month, file)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil || count == 0 {
		return Result{}, err
	}
	path, err := linkFile(file.Name(), directory, month, digest)
	return Result{Path: path, Records: count}, err
}

// writeRecords writes the records of a month, and returns their number and a digest of their keys.
func writeRecords(ctx context.Context, store accounting.Store, month time.Time, to *os.File) (count int, digest string, err error) {
	writer := parquet.NewGenericWriter[Row](to, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowsPerGroup))
	keys := sha256.New()
	rows := make([]Row, 0, batch)
	flush := func() error {
		_, err := writer.Write(rows)
		rows = rows[:0]
		return err
	}
	end := accounting.Month.End(month)
	for r, err := range store.Records(ctx, accounting.Query{From: month, To: end}) {
		if err != nil {
			return 0, "", err
		}
		if !r.Ended.Before(end) { // records are in the order of their ends
			break
		}
		if err := addKey(keys, r); err != nil {
			return 0, "", err
		}
		rows = append(rows, rowOf(r))
		count++
		if len(rows) < batch {
			continue
		}
		if err := flush(); err != nil {
			return 0, "", err
		}
	}
	if err := flush(); err != nil {
		return 0, "", err
	}
	digest = hex.EncodeToString(keys.Sum(nil))
	writer.SetKeyValueMetadata(digestKey, digest)
	return count, digest, writer.Close()
}

// addKey adds the key of a record to a digest.
func addKey(digest hash.Hash, r *accounting.Record) error {
	return json.NewEncoder(digest).Encode(r.Key)
}

// linkFile gives a complete file its final name, unless a file of the month with the same records exists. It returns the path
// of the file.
func linkFile(temporary, directory string, month time.Time, digest string) (string, error) {
	for i := 1; ; i++ {
		name := "records-" + month.Format(monthFormat)
		if i > 1 {
			name += "-" + strconv.Itoa(i)
		}
		path := filepath.Join(directory, name+".parquet")
		err := os.Link(temporary, path)
		if err == nil {
			return path, syncDirectory(directory)
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if existing, err := digestOf(path); err == nil && existing == digest {
			return path, nil
		}
	}
}

// digestOf returns the digest in a file.
func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	opened, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return "", err
	}
	digest, _ := opened.Lookup(digestKey)
	return digest, nil
}

// syncDirectory waits until the names of files are on the disk.
func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}
