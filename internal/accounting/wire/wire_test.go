package wire

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
)

func TestAStreamIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := []accounting.Record{
		{Key: accounting.Key{JobUID: "1", Element: accounting.NoElement}, User: "mei", Ended: time.Unix(1_700_000_000, 0).UTC(), Document: []byte{0, 1}},
		{Key: accounting.Key{JobUID: "2", Element: 7}, Allocated: accounting.Resources{accounting.CPU: 500}},
	}
	var stream strings.Builder
	w := NewWriter(&stream)
	for i := range want {
		if err := w.WriteRecord(&want[i]); err != nil {
			t.Fatal(err)
		}
	}
	complete := stream.String()
	if err := w.WriteEnd(); err != nil {
		t.Fatal(err)
	}
	var got []accounting.Record
	for record, err := range ReadRecords(strings.NewReader(stream.String())) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *record)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
	for _, cut := range []string{"", complete, complete[:len(complete)-5]} {
		var last error
		for _, err := range ReadRecords(strings.NewReader(cut)) {
			last = err
		}
		if last == nil {
			t.Errorf("a stream of %d bytes without its end has no error", len(cut))
		}
	}
}

func TestAQueryIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	want := accounting.Query{Users: []string{"mei"}, Outcomes: []accounting.Outcome{accounting.Failed}, From: time.Unix(1_700_000_000, 0).UTC(), LatestOnly: true}
	text, err := EncodeQuery(want)
	if err != nil {
		t.Fatal(err)
	}
	values, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	var got accounting.Query
	if err := DecodeQuery(values, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
	if err := DecodeQuery(url.Values{QueryParameter: {`{"Colours":["red"]}`}}, &got); err == nil || !strings.Contains(err.Error(), "Colours") {
		t.Errorf("an unknown field: %v", err)
	}
}
