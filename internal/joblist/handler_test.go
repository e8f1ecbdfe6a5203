package joblist

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// answers is a source that writes a text, or fails before or after it.
type answers struct {
	text string
	err  error
}

func (a answers) list(_ context.Context, _ jobsummary.Query, to io.Writer) error {
	if a.text != "" {
		_, _ = io.WriteString(to, a.text)
	}
	return a.err
}

// proxied takes the user from a header, as behind the API server.
func proxied(r *http.Request) (*authenticator.Response, bool, error) {
	name := r.Header.Get("X-Remote-User")
	return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, name != "", nil
}

// allowing returns an API server that permits only these lists, each as "user resource namespace".
func allowing(reviews *int, all ...string) *rights {
	core := fake.NewClientset()
	core.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		*reviews++
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		a := review.Spec.ResourceAttributes
		for _, one := range all {
			review.Status.Allowed = review.Status.Allowed || one == strings.Join([]string{review.Spec.User, a.Resource, a.Namespace}, " ") && a.Verb == "list"
		}
		return true, review, nil
	})
	return &rights{aggregatedapi.NewPermissions(core.AuthorizationV1().SubjectAccessReviews(), time.Now)}
}

func TestUsersReceiveOnlyWhatTheyMayRead(t *testing.T) {
	t.Parallel()
	const all = "/apis/listing.vc-batch.dev/v1/jobfacts"
	for name, c := range map[string]struct {
		path, user, accept string
		source             answers
		code               int
		says               string
	}{
		"a list of all namespaces":                      {all, "boss", jobsummary.ContentType, answers{text: "list"}, 200, "list"},
		"a list of all namespaces with pods":            {all + "?pods=live", "boss", jobsummary.ContentType, answers{text: "list"}, 200, "list"},
		"a list of one namespace":                       {"/apis/listing.vc-batch.dev/v1/namespaces/nlp/jobfacts", "mei", jobsummary.ContentType, answers{text: "list"}, 200, "list"},
		"who may not list all namespaces":               {all, "mei", jobsummary.ContentType, answers{text: "list"}, 403, "jobs.batch.volcano.sh is forbidden: mei is not allowed to list jobs"},
		"who may not list the pods of a namespace":      {"/apis/listing.vc-batch.dev/v1/namespaces/nlp/jobfacts?pods=all", "mei", jobsummary.ContentType, answers{text: "list"}, 403, "pods is forbidden"},
		"another namespace":                             {"/apis/listing.vc-batch.dev/v1/namespaces/bio/jobfacts", "mei", jobsummary.ContentType, answers{text: "list"}, 403, "forbidden"},
		"who does not come through the API server":      {all, "", jobsummary.ContentType, answers{text: "list"}, 503, "only requests through the API server are accepted"},
		"a reader of JSON":                              {all, "boss", "application/json", answers{text: "list"}, 406, "this list is available only to squeue"},
		"nothing is in memory":                          {all, "boss", jobsummary.ContentType, answers{err: errNoCache}, 503, "the cache of jobs is not ready yet"},
		"another path":                                  {"/apis/listing.vc-batch.dev/v1/pods", "boss", jobsummary.ContentType, answers{}, 404, "was not found on this server"},
		"who may list jobs alone":                       {"/apis/listing.vc-batch.dev/v1/namespaces/nlp/jobfacts", "eve", jobsummary.ContentType, answers{text: "list"}, 403, "podgroups.scheduling.volcano.sh is forbidden: eve is not allowed to list jobs"},
		"what there is, also when nothing is in memory": {"/apis/listing.vc-batch.dev/v1", "", "", answers{err: errNoCache}, 200, `"name":"jobfacts","singularName":"jobfact","namespaced":true,"kind":"JobFact","verbs":["list"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &handler{who: authenticator.RequestFunc(proxied), source: c.source, log: logr.Discard(),
				rights: allowing(new(int), "boss jobs ", "boss podgroups ", "boss pods ", "mei jobs nlp", "mei podgroups nlp", "eve jobs nlp")}
			request := httptest.NewRequest(http.MethodGet, c.path, nil)
			request.Header.Set("X-Remote-User", c.user)
			request.Header.Set("Accept", c.accept)
			answer := httptest.NewRecorder()
			h.newRequestMux().ServeHTTP(answer, request)
			body := answer.Body.String()
			if answer.Code != c.code || !strings.Contains(body, c.says) {
				t.Errorf("%d %s", answer.Code, body)
			}
			if kind := answer.Header().Get("Content-Type"); c.says == "list" && kind != jobsummary.ContentType || c.says != "list" && kind != "application/json" {
				t.Errorf("it is told as %q", kind)
			}
			var status metav1.Status
			if c.code >= 400 && (json.Unmarshal([]byte(body), &status) != nil || int(status.Code) != c.code || status.Reason == "") {
				t.Errorf("no status that clients read: %s", body)
			}
		})
	}
}

func TestAListThatCannotBeCompletedIsCutOff(t *testing.T) {
	t.Parallel()
	h := &handler{who: authenticator.RequestFunc(proxied), source: answers{"part", errors.New("it lags behind")}, log: logr.Discard(), rights: allowing(new(int), "boss jobs ", "boss podgroups ")}
	server := httptest.NewServer(h.newRequestMux())
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+jobsummary.ListPathFor(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Remote-User", "boss")
	request.Header.Set("Accept", jobsummary.ContentType)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("%d %q was taken for all", answer.StatusCode, text)
	}
}

// asks is a source that stores the query.
type asks struct{ q *jobsummary.Query }

func (a asks) list(_ context.Context, q jobsummary.Query, _ io.Writer) error { *a.q = q; return nil }

func TestWhatIsAskedForReachesTheSource(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]jobsummary.Query{"": {}, "?arrays=only": {Arrays: true}, "?pods=live": {Pods: true}, "?pods=all&arrays=only": {Pods: true, Ended: true, Arrays: true}} {
		var got jobsummary.Query
		h := &handler{who: authenticator.RequestFunc(proxied), source: asks{&got}, log: logr.Discard(), rights: everybody{}}
		request := httptest.NewRequest(http.MethodGet, jobsummary.ListPathFor("")+query, nil)
		request.Header.Set("X-Remote-User", "boss")
		request.Header.Set("Accept", jobsummary.ContentType)
		h.newRequestMux().ServeHTTP(httptest.NewRecorder(), request)
		if got != want {
			t.Errorf("%q: %+v", query, got)
		}
	}
}

// halves is a source that writes the second half of a list after the first was read.
type halves struct{ read chan struct{} }

func (h halves) list(ctx context.Context, _ jobsummary.Query, to io.Writer) error {
	_, _ = io.WriteString(to, "first")
	select {
	case <-h.read:
	case <-ctx.Done():
	}
	_, err := io.WriteString(to, "second")
	return err
}

func TestWhatIsWrittenOfAListIsReadWhileTheRestIsWaitedFor(t *testing.T) {
	t.Parallel()
	source := halves{make(chan struct{})}
	server := httptest.NewServer((&handler{who: authenticator.RequestFunc(proxied), source: source, log: logr.Discard(), rights: everybody{}}).newRequestMux())
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // a timeout in case the first half never arrives
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+jobsummary.ListPathFor(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Remote-User", "boss")
	request.Header.Set("Accept", jobsummary.ContentType)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, len("first"))
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != "first" {
		t.Fatalf("%q, %v", first, err)
	}
	close(source.read)
	if rest, err := io.ReadAll(answer.Body); err != nil || string(rest) != "second" {
		t.Errorf("%q, %v", rest, err)
	}
}

// deadlined records the write deadline.
type deadlined struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (d *deadlined) SetWriteDeadline(until time.Time) error { d.until = until; return nil }

func TestASlowReaderKeepsNoListForEver(t *testing.T) {
	t.Parallel()
	to := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	if _, err := (&begun{ResponseWriter: to}).Write([]byte("list")); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(to.until); left <= 0 || left > slowest {
		t.Errorf("it may take %s", left)
	}
}
