package recorded

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/wire"
)

var now = time.Date(2026, 11, 29, 15, 30, 0, 0, time.UTC)

func TestTimesAreAgesDatesOrWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"90m":                  now.Add(-90 * time.Minute),
		"0s":                   now,
		"7d":                   now.AddDate(0, 0, -7),
		"2w":                   now.AddDate(0, 0, -14),
		"now":                  now,
		"yesterday":            time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		"2026-11-01T10:15:00Z": time.Date(2026, 11, 1, 10, 15, 0, 0, time.UTC),
	} {
		if got, err := ParseTime("since", text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-3h", "-7d", "99999999999d", "soonish"} {
		if got, err := ParseTime("since", text, now); err == nil {
			t.Errorf("%q is accepted as %v", text, got)
		}
	}
}

func TestAnEmptyIntervalIsAnError(t *testing.T) {
	t.Parallel()
	if _, _, err := ParseInterval("1h", "2h", now); err == nil {
		t.Error("an interval that ends before it begins is accepted")
	}
}

// keptWarnings holds the warnings of responses.
type keptWarnings []string

func (k *keptWarnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	*k = append(*k, text)
}

func TestWarningsOfTheDatabaseReachTheUser(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Warning", `299 - "the database is behind"`)
		w.Header().Set("Content-Type", wire.ContentType)
		if err := wire.NewWriter(w).WriteEnd(); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	var kept keptWarnings
	config := &rest.Config{Host: server.URL, WarningHandlerWithContext: &kept}
	for _, err := range Records(t.Context(), config, accounting.Query{}) {
		t.Fatal(err)
	}
	if _, err := Usage(t.Context(), config, accounting.UsageQuery{}); err != nil {
		t.Fatal(err)
	}
	if want := (keptWarnings{"the database is behind", "the database is behind"}); !slices.Equal(kept, want) {
		t.Errorf("warnings %q, want %q", kept, want)
	}
}

func TestADatabaseThatDoesNotAnswerExists(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{http.StatusOK: true, http.StatusServiceUnavailable: true, http.StatusNotFound: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"kind":"APIResourceList","groupVersion":"accounting.vc-batch.dev/v1alpha1","resources":[]}`))
		}))
		got, err := HasDatabase(&rest.Config{Host: server.URL})
		server.Close()
		if err != nil || got != want {
			t.Errorf("response %d: database %t, %v; want %t", code, got, err, want)
		}
	}
	if _, err := HasDatabase(&rest.Config{Host: "http://127.0.0.1:1"}); err == nil {
		t.Error("no error if the API server does not answer")
	}
}
