package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

// column is a column of the table of records.
type column struct {
	name string
	// field returns a pointer to the field of the record, as an argument and as the target of a scan.
	field func(r *accounting.Record) any
}

// columns lists the columns of a record, without its document.
var columns = []column{
	{"cluster", func(r *accounting.Record) any { return (*text)(&r.Cluster) }},
	{"job_uid", func(r *accounting.Record) any { return (*text)(&r.JobUID) }},
	{"attempt", func(r *accounting.Record) any { return &r.Attempt }},
	{"element", func(r *accounting.Record) any { return &r.Element }},
	{"job_id", func(r *accounting.Record) any { return &r.JobID }},
	{"namespace", func(r *accounting.Record) any { return (*text)(&r.Namespace) }},
	{"name", func(r *accounting.Record) any { return (*text)(&r.Name) }},
	{"user_name", func(r *accounting.Record) any { return (*text)(&r.User) }},
	{"account", func(r *accounting.Record) any { return (*text)(&r.Account) }},
	{"qos", func(r *accounting.Record) any { return (*text)(&r.QOS) }},
	{"queue", func(r *accounting.Record) any { return (*text)(&r.Queue) }},
	{"outcome", func(r *accounting.Record) any { return (*text)(&r.Outcome) }},
	{"reason", func(r *accounting.Record) any { return (*text)(&r.Reason) }},
	{"exit_code", func(r *accounting.Record) any { return &r.ExitCode }},
	{"submitted", func(r *accounting.Record) any { return (*instant)(&r.Submitted) }},
	{"eligible", func(r *accounting.Record) any { return (*instant)(&r.Eligible) }},
	{"started", func(r *accounting.Record) any { return (*instant)(&r.Started) }},
	{"ended", func(r *accounting.Record) any { return (*instant)(&r.Ended) }},
	{"time_limit_ns", func(r *accounting.Record) any { return (*int64)(&r.TimeLimit) }},
	{"node_names", func(r *accounting.Record) any { return (*lines)(&r.NodeNames) }},
	{"pods", func(r *accounting.Record) any { return &r.Pods }},
	{"requested", func(r *accounting.Record) any { return (*amounts)(&r.Requested) }},
	{"allocated", func(r *accounting.Record) any { return (*amounts)(&r.Allocated) }},
	{"cpu_time_ns", func(r *accounting.Record) any { return (*int64)(&r.CPUTime) }},
	{"peak_memory_bytes", func(r *accounting.Record) any { return &r.PeakMemoryBytes }},
	{"gpu_time_ns", func(r *accounting.Record) any { return (*int64)(&r.GPUTime) }},
	{"gpu_measured_ns", func(r *accounting.Record) any { return (*int64)(&r.GPUMeasured) }},
}

// columnNames returns the names of all columns, separated by commas.
func columnNames() string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// fields returns the pointers to all fields of a record.
func fields(r *accounting.Record) []any {
	all := make([]any, len(columns), len(columns)+1)
	for i, c := range columns {
		all[i] = c.field(r)
	}
	return all
}

// fieldsOf returns the pointers to the fields of a record that are in some columns.
func fieldsOf(r *accounting.Record, names []string) []any {
	var all []any
	for _, name := range names {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		all = append(all, columns[i].field(r))
	}
	return all
}

// text is a string that every database can store: valid UTF-8 without the character NUL.
type text string

// storable removes what a database cannot store from a string.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// Value implements driver.Valuer.
func (t *text) Value() (driver.Value, error) { return storable(string(*t)), nil }

// Scan implements sql.Scanner.
func (t *text) Scan(value any) error {
	s, err := scanned[string](value)
	*t = text(s)
	return err
}

// instant is stored in seconds since 1970. The zero time is 0.
type instant time.Time

// unix returns the stored form of a time.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// unixCeiling returns the first full second that is not before a time, for comparisons with stored times.
func unixCeiling(t time.Time) int64 {
	return unix(t.Add(time.Second - time.Nanosecond))
}

// Value implements driver.Valuer.
func (t *instant) Value() (driver.Value, error) { return unix(time.Time(*t)), nil }

// Scan implements sql.Scanner.
func (t *instant) Scan(value any) error {
	seconds, err := scanned[int64](value)
	*t = instant{}
	if seconds != 0 {
		*t = instant(time.Unix(seconds, 0).UTC())
	}
	return err
}

// nanoseconds is a time that is stored in nanoseconds since 1970. The zero time is 0.
type nanoseconds time.Time

// Value implements driver.Valuer.
func (t *nanoseconds) Value() (driver.Value, error) {
	if time.Time(*t).IsZero() {
		return int64(0), nil
	}
	return time.Time(*t).UnixNano(), nil
}

// Scan implements sql.Scanner.
func (t *nanoseconds) Scan(value any) error {
	count, err := scanned[int64](value)
	*t = nanoseconds{}
	if count != 0 {
		*t = nanoseconds(time.Unix(0, count).UTC())
	}
	return err
}

// lines is a list of names, stored as lines of a text.
type lines []string

// Value implements driver.Valuer.
func (l *lines) Value() (driver.Value, error) { return storable(strings.Join(*l, "\n")), nil }

// Scan implements sql.Scanner.
func (l *lines) Scan(value any) error {
	s, err := scanned[string](value)
	*l = nil
	if s != "" {
		*l = strings.Split(s, "\n")
	}
	return err
}

// amounts holds amounts of resources, stored as JSON.
type amounts accounting.Resources

// Value implements driver.Valuer.
func (a *amounts) Value() (driver.Value, error) {
	if len(*a) == 0 {
		return "", nil
	}
	encoded, err := json.Marshal(*a)
	return storable(string(encoded)), err
}

// Scan implements sql.Scanner.
func (a *amounts) Scan(value any) error {
	s, err := scanned[string](value)
	*a = nil
	if s == "" || err != nil {
		return err
	}
	return json.Unmarshal([]byte(s), a)
}

// scanned returns a value of a database with its expected type.
func scanned[T any](value any) (T, error) {
	v, ok := value.(T)
	if !ok {
		return v, fmt.Errorf("the database returned %T in place of %T", value, v)
	}
	return v, nil
}
