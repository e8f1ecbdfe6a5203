package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/store"
	"github.com/vc-batch/vc/internal/accounting/wire"
)

// userHeader is the header with the name of the user in a request of a test.
const userHeader = "X-Test-User"

// authenticate returns the user in a request.
func authenticate(r *http.Request) (*authenticator.Response, bool, error) {
	name := r.Header.Get(userHeader)
	return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, name != "", nil
}

// administrators lists the users that may list the records of all users.
type administrators []string

func (a administrators) IsAllowed(_ context.Context, who user.Info, access authorizationv1.ResourceAttributes) (bool, error) {
	if access.Verb != "list" || access.Group != wire.GroupName || access.Namespace != "" {
		return false, fmt.Errorf("unexpected access %+v", access)
	}
	switch access.Resource {
	case wire.RecordsResource, wire.UsageResource:
		return true, nil // all users have this permission, because otherwise the API server would reject their requests
	case wire.AllRecordsResource, wire.AllUsageResource:
		return len(a) > 0 && a[0] == who.GetName(), nil
	}
	return false, fmt.Errorf("unexpected access %+v", access)
}

func noAccounts(string) []string { return nil }

// newTestHandler returns a handler of a database with a record of Mei and one of Omar.
func newTestHandler(t *testing.T) http.Handler {
	t.Helper()
	return newHandlerOf(t, true)
}

// newHandlerOf returns a handler of such a database that is up to date or behind.
func newHandlerOf(t *testing.T, isUpToDate bool) http.Handler {
	t.Helper()
	records, err := store.Open(t.Context(), "sqlite:"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	})
	ended := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var all []accounting.Record
	for _, name := range []string{"mei", "omar"} {
		all = append(all, accounting.Record{
			Key:  accounting.Key{Cluster: "prod", JobUID: "job-of-" + name, Element: accounting.NoElement},
			User: name, Account: "team-of-" + name, Submitted: ended.Add(-time.Hour), Eligible: ended.Add(-time.Hour), Started: ended.Add(-time.Minute), Ended: ended,
			Requested: accounting.Resources{accounting.CPU: 2000}, Allocated: accounting.Resources{accounting.CPU: 2000},
		})
	}
	if _, err := records.Add(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	up := accounting.NodeChange{Cluster: "prod", Node: "n1", Time: ended.Add(-11 * time.Hour), State: accounting.NodeUp, Capacity: accounting.Resources{accounting.CPU: 4000}}
	down := accounting.NodeChange{Cluster: "prod", Node: "n2", Time: ended.Add(time.Hour), State: accounting.NodeDown, Reason: "NotReady"}
	if err := records.AddNodeChanges(t.Context(), []accounting.NodeChange{up, down}); err != nil {
		t.Fatal(err)
	}
	changes := []accounting.Change{
		{ID: "1", Time: ended, Actor: "admin", Account: "team-of-mei", Action: accounting.AddAccount}, {ID: "2", Time: ended, Actor: "admin", Account: "team-of-omar", Action: accounting.AddAccount},
	}
	if err := records.AddChanges(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	coordinated := func(user string) []string {
		return map[string][]string{"ada": {"team-of-omar"}}[user]
	}
	return newHandler(authenticator.RequestFunc(authenticate), administrators{"admin"}, coordinated, func(context.Context) (accounting.Store, bool, error) { return records, isUpToDate, nil }, logr.Discard())
}

// get sends a query of a user and returns the response.
func get(t *testing.T, h http.Handler, who, path string, query any) *httptest.ResponseRecorder {
	t.Helper()
	parameters, err := wire.EncodeQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+"?"+parameters, nil)
	request.Header.Set(userHeader, who)
	response := httptest.NewRecorder()
	h.ServeHTTP(response, request)
	return response
}

func TestUsersReadTheirOwnRecordsCoordinatorsThoseOfAccountsAndAdministratorsAll(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	for _, test := range []struct {
		who   string
		users []string
		want  []string
	}{
		{"mei", nil, []string{"mei"}},
		{"mei", []string{"omar", "mei"}, []string{"mei"}},
		{"mei", []string{"omar"}, nil},
		{"stranger", nil, nil},
		{"ada", nil, []string{"omar"}},
		{"ada", []string{"mei"}, nil},
		{"admin", nil, []string{"mei", "omar"}},
		{"admin", []string{"omar"}, []string{"omar"}},
	} {
		var records, usage []string
		response := get(t, h, test.who, wire.RecordsPath, accounting.Query{Users: test.users})
		for record, err := range wire.ReadRecords(response.Body) {
			if err != nil {
				t.Fatalf("%s: status %d: %v", test.who, response.Code, err)
			}
			records = append(records, record.User)
		}
		response = get(t, h, test.who, wire.UsagePath, accounting.UsageQuery{Users: test.users, By: []accounting.Dimension{accounting.ByUser}})
		sums, err := wire.ReadUsage(response.Body)
		if err != nil {
			t.Fatalf("%s: status %d: %v", test.who, response.Code, err)
		}
		for _, sum := range sums {
			if sum.Seconds != 2000*60 {
				t.Errorf("%s: use %+v", test.who, sum)
			}
			usage = append(usage, sum.User)
		}
		if !cmp.Equal(records, test.want) || !cmp.Equal(usage, test.want) {
			t.Errorf("%s asks for users %v: records of %v, use of %v, want %v", test.who, test.users, records, usage, test.want)
		}
	}
}

func TestAllUsersReadTheCapacityUntilNow(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	query := accounting.CapacityQuery{From: day, To: day.Add(24 * time.Hour)}
	seconds := func(query accounting.CapacityQuery) int64 {
		response := get(t, h, "stranger", wire.CapacityPath, query)
		sums, err := wire.ReadCapacity(response.Body)
		if err != nil || len(sums) != 1 {
			t.Fatalf("status %d, capacity %v, %v", response.Code, sums, err)
		}
		return sums[0].Seconds
	}
	if got := seconds(query); got != 4000*23*3600 {
		t.Errorf("capacity of a day: %d", got)
	}
	query.To = time.Now().AddDate(1, 0, 0)
	if got, most := seconds(query), 4000*int64(time.Since(day)/time.Second); got > most {
		t.Errorf("capacity %d includes the future; until now it is at most %d", got, most)
	}
}

func TestADatabaseThatIsBehindSaysSo(t *testing.T) {
	t.Parallel()
	for _, isUpToDate := range []bool{true, false} {
		h := newHandlerOf(t, isUpToDate)
		for path, query := range map[string]any{wire.RecordsPath: accounting.Query{}, wire.UsagePath: accounting.UsageQuery{}} {
			response := get(t, h, "mei", path, query)
			warnings, errs := net.ParseWarningHeaders(response.Header().Values("Warning"))
			hasWarning := len(warnings) == 1 && warnings[0].Text == notUpToDate
			if response.Code != http.StatusOK || len(errs) > 0 || hasWarning == isUpToDate {
				t.Errorf("%s, up to date %v: status %d, warnings %v, %v", path, isUpToDate, response.Code, warnings, errs)
			}
		}
	}
}

func TestBadRequestsAndAMissingDatabaseGetAReason(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	closed := newHandler(authenticator.RequestFunc(authenticate), administrators{}, noAccounts, func(context.Context) (accounting.Store, bool, error) {
		return nil, false, fmt.Errorf("%w: the disk is full", accounting.ErrUnavailable)
	}, logr.Discard())
	for _, test := range []struct {
		name     string
		response *httptest.ResponseRecorder
		code     int
		message  string
	}{
		{"unknown field", get(t, h, "mei", wire.RecordsPath, map[string]string{"Colour": "red"}), http.StatusBadRequest, "Colour"},
		{"not from the API server", get(t, h, "", wire.RecordsPath, accounting.Query{}), http.StatusServiceUnavailable, "unauthenticated"},
		{"no database", get(t, closed, "mei", wire.UsagePath, accounting.UsageQuery{}), http.StatusServiceUnavailable, "the disk is full"},
		{"unknown path", get(t, h, "mei", wire.Root+"/people", accounting.Query{}), http.StatusNotFound, "people"},
	} {
		var status metav1.Status
		if err := json.NewDecoder(test.response.Body).Decode(&status); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if test.response.Code != test.code || !strings.Contains(status.Message, test.message) {
			t.Errorf("%s: status %d, %q", test.name, test.response.Code, status.Message)
		}
	}
	if response := get(t, closed, "", wire.Root, nil); response.Code != http.StatusOK || !strings.Contains(response.Body.String(), wire.RecordsResource) {
		t.Errorf("discovery without a database: status %d, %s", response.Code, response.Body)
	}
}

func TestCoordinatorsReadTheChangesOfTheirAccountsAndAdministratorsAll(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	for who, want := range map[string]string{"admin": "1 2", "ada": "2"} {
		response := get(t, h, who, wire.TransactionsPath, accounting.ChangeQuery{})
		changes, err := wire.ReadChanges(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range changes {
			ids = append(ids, c.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s reads %s, want %s", who, got, want)
		}
	}
	if response := get(t, h, "mei", wire.TransactionsPath, accounting.ChangeQuery{}); response.Code != http.StatusForbidden {
		t.Errorf("a user who coordinates no account gets %d", response.Code)
	}
}

func TestAllUsersReadTheEventsOfNodes(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	day := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		query accounting.NodeEventQuery
		want  int
	}{
		{accounting.NodeEventQuery{From: day}, 1}, // it began earlier, and lasts
		{accounting.NodeEventQuery{To: day.AddDate(0, 0, -5)}, 0},
		{accounting.NodeEventQuery{Clusters: []string{"test"}}, 0},
		{accounting.NodeEventQuery{Nodes: []string{"n1"}}, 0},
	} {
		events, err := wire.ReadEvents(get(t, h, "stranger", wire.EventsPath, test.query).Body)
		if err != nil || len(events) != test.want {
			t.Errorf("%+v: %v, %v; want %d events", test.query, events, err, test.want)
			continue
		}
		if test.want > 0 && (events[0].Node != "n2" || events[0].Start.Day() != 21 || !events[0].End.IsZero()) {
			t.Errorf("%+v", events[0])
		}
	}
}

// slowStore is a store that reads the changes of nodes until it is released.
type slowStore struct {
	accounting.Store
	reading atomic.Int32
	release chan struct{}
}

func (s *slowStore) NodeChanges(context.Context, []string, time.Time, time.Time) ([]accounting.NodeChange, error) {
	s.reading.Add(1)
	<-s.release
	return nil, nil
}

func TestTheChangesOfNodesAreInMemoryOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &slowStore{release: make(chan struct{})}
		h := newHandler(authenticator.RequestFunc(authenticate), administrators{}, noAccounts, func(context.Context) (accounting.Store, bool, error) { return slow, true, nil }, logr.Discard())
		answers := make(chan *httptest.ResponseRecorder, 2)
		for range cap(answers) {
			go func() { answers <- get(t, h, "mei", wire.CapacityPath, accounting.CapacityQuery{}) }()
		}
		synctest.Wait()
		if n := slow.reading.Load(); n != 1 {
			t.Errorf("%d requests read the changes at the same time", n)
		}
		close(slow.release)
		for range cap(answers) {
			if answer := <-answers; answer.Code != http.StatusOK {
				t.Errorf("status %d: %s", answer.Code, answer.Body)
			}
		}
	})
}
