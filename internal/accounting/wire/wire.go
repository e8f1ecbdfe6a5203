// Package wire defines the format in which records and sums of use travel from the daemon to the commands.
//
//	In:   queries; records
//	Out:  URLs of an aggregated API; streams of JSON
//
// # Invariants
//
//   - A stream that was cut off is never mistaken for a complete one: its last line says that it is complete.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"

	"github.com/vc-batch/vc/internal/accounting"
)

// The API group. The API server forwards a request only if its user has the verb list on the requested resource. All
// authenticated users have it on RecordsResource, UsageResource, CapacityResource, TransactionsResource and EventsResource. It
// permits reading their own records and usage, the changes of the accounts that they coordinate, and the capacity and the
// events of all nodes. The verb list on AllRecordsResource and AllUsageResource permits reading the records and the usage of
// all users. These two resources exist only in roles.
const (
	GroupName        = "accounting.vc-batch.dev"
	Version          = "v1alpha1"
	Root             = "/apis/" + GroupName + "/" + Version
	RecordsResource  = "records"
	UsageResource    = "usage"
	CapacityResource = "capacity"
	// TransactionsResource contains the changes of accounts and QOS. AllRecordsResource permits reading all of them.
	TransactionsResource = "transactions"
	// EventsResource contains the times during which nodes were down or drained. All users may read them.
	EventsResource     = "nodeevents"
	AllRecordsResource = "allrecords"
	AllUsageResource   = "allusage"
	RecordsPath        = Root + "/" + RecordsResource
	UsagePath          = Root + "/" + UsageResource
	CapacityPath       = Root + "/" + CapacityResource
	TransactionsPath   = Root + "/" + TransactionsResource
	EventsPath         = Root + "/" + EventsResource
	ContentType        = "application/x-ndjson"
	// QueryParameter is the parameter of a URL that contains an accounting.Query, UsageQuery, CapacityQuery, ChangeQuery
	// or NodeEventQuery as JSON.
	QueryParameter = "query"
)

// EncodeQuery returns the query part of a URL.
func EncodeQuery(query any) (string, error) {
	text, err := json.Marshal(query)
	if err != nil {
		return "", fmt.Errorf("query: %w", err)
	}
	return url.Values{QueryParameter: {string(text)}}.Encode(), nil
}

// DecodeQuery parses the query part of a URL into one of the queries of package accounting. Unknown fields are errors,
// because a later version of a command may have set them to select fewer records.
func DecodeQuery(values url.Values, into any) error {
	text := values.Get(QueryParameter)
	if text == "" {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("parameter %s: %w", QueryParameter, err)
	}
	return nil
}

// line is a line of a stream: an item, or the end.
type line struct {
	Record   *accounting.Record    `json:"record,omitempty"`
	Usage    *accounting.Usage     `json:"usage,omitempty"`
	Capacity *accounting.Capacity  `json:"capacity,omitempty"`
	Change   *accounting.Change    `json:"change,omitempty"`
	Event    *accounting.NodeEvent `json:"event,omitempty"`
	End      bool                  `json:"end,omitempty"`
}

// Writer writes a stream.
type Writer struct{ encoder *json.Encoder }

// NewWriter returns a Writer.
func NewWriter(to io.Writer) *Writer { return &Writer{json.NewEncoder(to)} }

// WriteRecord writes a record.
func (w *Writer) WriteRecord(record *accounting.Record) error {
	return w.encoder.Encode(line{Record: record})
}

// WriteUsage writes a sum of use.
func (w *Writer) WriteUsage(usage *accounting.Usage) error {
	return w.encoder.Encode(line{Usage: usage})
}

// WriteCapacity writes a sum of capacity.
func (w *Writer) WriteCapacity(capacity *accounting.Capacity) error {
	return w.encoder.Encode(line{Capacity: capacity})
}

// WriteChange writes a change of an account.
func (w *Writer) WriteChange(change *accounting.Change) error {
	return w.encoder.Encode(line{Change: change})
}

// WriteEvent writes an event of a node.
func (w *Writer) WriteEvent(event *accounting.NodeEvent) error {
	return w.encoder.Encode(line{Event: event})
}

// WriteEnd writes the last line.
func (w *Writer) WriteEnd() error { return w.encoder.Encode(line{End: true}) }

// errCutOff means that a stream has no last line.
var errCutOff = errors.New("the list from the accounting database was cut off")

// ReadRecords returns the records of a stream. An error ends the sequence.
func ReadRecords(from io.Reader) iter.Seq2[*accounting.Record, error] {
	return func(yield func(*accounting.Record, error) bool) {
		for l, err := range readLines(from) {
			if err != nil {
				yield(nil, err)
				return
			}
			if l.Record != nil && !yield(l.Record, nil) {
				return
			}
		}
	}
}

// ReadUsage returns the sums of use in a stream.
func ReadUsage(from io.Reader) ([]accounting.Usage, error) {
	var all []accounting.Usage
	for l, err := range readLines(from) {
		if err != nil {
			return nil, err
		}
		if l.Usage != nil {
			all = append(all, *l.Usage)
		}
	}
	return all, nil
}

// ReadCapacity returns the sums of capacity in a stream.
func ReadCapacity(from io.Reader) ([]accounting.Capacity, error) {
	var all []accounting.Capacity
	for l, err := range readLines(from) {
		if err != nil {
			return nil, err
		}
		if l.Capacity != nil {
			all = append(all, *l.Capacity)
		}
	}
	return all, nil
}

// ReadChanges returns the changes of accounts in a stream.
func ReadChanges(from io.Reader) ([]accounting.Change, error) {
	var all []accounting.Change
	for l, err := range readLines(from) {
		if err != nil {
			return nil, err
		}
		if l.Change != nil {
			all = append(all, *l.Change)
		}
	}
	return all, nil
}

// ReadEvents returns the events of nodes in a stream.
func ReadEvents(from io.Reader) ([]accounting.NodeEvent, error) {
	var all []accounting.NodeEvent
	for l, err := range readLines(from) {
		if err != nil {
			return nil, err
		}
		if l.Event != nil {
			all = append(all, *l.Event)
		}
	}
	return all, nil
}

// readLines returns the lines of a stream up to its end.
func readLines(from io.Reader) iter.Seq2[*line, error] {
	return func(yield func(*line, error) bool) {
		decoder := json.NewDecoder(from)
		for {
			var l line
			err := decoder.Decode(&l)
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				yield(nil, errCutOff)
				return
			case err != nil:
				yield(nil, fmt.Errorf("list from the accounting database: %w", err))
				return
			case l.End, !yield(&l, nil):
				return
			}
		}
	}
}
