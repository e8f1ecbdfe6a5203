package joblist

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// slow is a source whose lists start, and end when they are released or their client disconnects.
type slow struct{ began, letGo chan struct{} }

func (s slow) list(ctx context.Context, _ jobsummary.Query, to io.Writer) error {
	s.began <- struct{}{}
	select {
	case <-s.letGo:
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := io.WriteString(to, "list")
	return err
}

type everybody struct{}

func (everybody) missing(context.Context, user.Info, jobsummary.Query) (*resource, error) {
	return nil, nil
}

func TestSoManyListsAreUnderWayAtOnce(t *testing.T) {
	t.Parallel()
	source := slow{began: make(chan struct{}), letGo: make(chan struct{})}
	h := &handler{who: authenticator.RequestFunc(proxied), source: source, log: logr.Discard(), rights: everybody{}}
	ask := func(ctx context.Context, name string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, jobsummary.ListPathFor(""), nil)
		request.Header.Set("X-Remote-User", name)
		request.Header.Set("Accept", jobsummary.ContentType)
		answer := httptest.NewRecorder()
		h.newRequestMux().ServeHTTP(answer, request)
		return answer
	}
	var wait sync.WaitGroup
	codes := make(chan int, 2*mostLists)
	begin := func(ctx context.Context, name string) {
		wait.Go(func() { codes <- ask(ctx, name).Code })
		<-source.began
	}
	refused := func(name, when string) {
		t.Helper()
		answer := ask(t.Context(), name)
		if answer.Code != http.StatusTooManyRequests {
			t.Fatalf("%s: %s got %d %s", when, name, answer.Code, answer.Body)
		}
		if seconds, err := strconv.Atoi(answer.Header().Get("Retry-After")); err != nil || seconds < 1 {
			t.Errorf("%s: %s is to come again after %q", when, name, answer.Header().Get("Retry-After"))
		}
	}
	leaving, leave := context.WithCancel(t.Context())
	for range mostListsOfUser - 1 {
		begin(t.Context(), "mei")
	}
	begin(leaving, "mei")
	refused("mei", "when she has her half")
	for range mostLists - mostListsOfUser {
		begin(t.Context(), "ann")
	}
	refused("boss", "when all are taken")

	leave() // a disconnected client releases its seat
	if code := <-codes; code != http.StatusServiceUnavailable {
		t.Errorf("who left was told %d", code)
	}
	begin(t.Context(), "boss")
	refused("mei", "when boss has taken it")

	close(source.letGo)
	wait.Wait()
	for len(codes) > 0 {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("a list that was begun ended with %d", code)
		}
	}
	if h.seats.taken != 0 || len(h.seats.by) != 0 {
		t.Errorf("%d seats are taken by %v when nobody is there", h.seats.taken, h.seats.by)
	}
}
