package joblist

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
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
	return &rights{api: core.AuthorizationV1().SubjectAccessReviews(), now: time.Now}
}

func TestWhoIsToldWhat(t *testing.T) {
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
		"nothing is in memory":                          {all, "boss", jobsummary.ContentType, answers{err: errNoCache}, 503, "the cache is not filled yet"},
		"another path":                                  {"/apis/listing.vc-batch.dev/v1/pods", "boss", jobsummary.ContentType, answers{}, 404, "is not served here"},
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

func TestRightsAreAskedForOnceInAWhile(t *testing.T) {
	t.Parallel()
	reviews := 0
	r, now := allowing(&reviews, "mei jobs nlp", "mei podgroups nlp"), time.Now()
	r.now = func() time.Time { return now }
	ask := func(who user.Info, namespace string) bool {
		lacking, err := r.missing(t.Context(), who, jobsummary.Query{Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		return lacking == nil
	}
	mei := &user.DefaultInfo{Name: "mei", Groups: []string{"nlp"}}
	for _, c := range []struct {
		what    string
		allowed bool
		reviews int
		ask     func() bool
	}{
		{"the first time", true, 2, func() bool { return ask(mei, "nlp") }},
		{"again", true, 2, func() bool { return ask(mei, "nlp") }},
		{"another namespace", false, 4, func() bool { return ask(mei, "bio") }},
		{"that one again", false, 4, func() bool { return ask(mei, "bio") }},
		{"with other groups", true, 6, func() bool { return ask(&user.DefaultInfo{Name: "mei"}, "nlp") }},
		{"with another UID", true, 8, func() bool { return ask(&user.DefaultInfo{Name: "mei", UID: "2"}, "nlp") }},
		{"with something else that rights may rest on", true, 10, func() bool {
			return ask(&user.DefaultInfo{Name: "mei", Extra: map[string][]string{"scopes": {"jobs"}}}, "nlp")
		}},
		{"later", true, 12, func() bool { now = now.Add(trusted); return ask(mei, "nlp") }},
	} {
		if got := c.ask(); got != c.allowed || reviews != c.reviews {
			t.Errorf("%s: allowed %v after %d reviews", c.what, got, reviews)
		}
	}
}

// TestRightsAreThoseOfTheWholeUser verifies that all properties of a user are sent to the API server, and that errors
// are not cached.
func TestRightsAreThoseOfTheWholeUser(t *testing.T) {
	t.Parallel()
	core, away := fake.NewClientset(), true
	var asked []authorizationv1.SubjectAccessReviewSpec
	core.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		asked = append(asked, review.Spec)
		review.Status.Allowed = true
		if away {
			return true, nil, errors.New("away")
		}
		return true, review, nil
	})
	r := &rights{api: core.AuthorizationV1().SubjectAccessReviews(), now: time.Now}
	mei := &user.DefaultInfo{Name: "mei", UID: "7", Groups: []string{"nlp"}, Extra: map[string][]string{"scopes": {"jobs"}}}
	if lacking, err := r.missing(t.Context(), mei, jobsummary.Query{Namespace: "nlp"}); err == nil || lacking != nil {
		t.Errorf("an API server that does not say: %v, %v", lacking, err)
	}
	away = false
	if lacking, err := r.missing(t.Context(), mei, jobsummary.Query{Namespace: "nlp"}); err != nil || lacking != nil {
		t.Errorf("when it is back: %v, %v", lacking, err)
	}
	for _, spec := range asked {
		if spec.User != "mei" || spec.UID != "7" || !slices.Equal(spec.Groups, mei.Groups) || !slices.Equal(spec.Extra["scopes"], authorizationv1.ExtraValue{"jobs"}) {
			t.Errorf("asked about %+v", spec)
		}
	}
}

func TestSoManyRightsAreRememberedAtMost(t *testing.T) {
	t.Parallel()
	r := allowing(new(int), "mei jobs nlp", "mei podgroups nlp")
	r.known = map[string]verdict{}
	for i := range mostRights {
		r.known[strconv.Itoa(i)] = verdict{}
	}
	if lacking, err := r.missing(t.Context(), &user.DefaultInfo{Name: "mei"}, jobsummary.Query{Namespace: "nlp"}); err != nil || lacking != nil || len(r.known) > mostRights {
		t.Errorf("%v, %v, %d are remembered", lacking, err, len(r.known))
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
