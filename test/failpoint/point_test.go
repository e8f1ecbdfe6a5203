package failpoint

import (
	"net/http"
	"strings"
	"testing"
)

func TestPointsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"after create pods 3 train", "before update jobs/status 1", `after patch jobs/status 2 train "phase":"Running"`} {
		p, err := Parse(text)
		if err != nil || p.String() != text {
			t.Errorf("%q is read as %q, %v", text, p, err)
		}
	}
}

func TestAPointThatIsNoneSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"after create pods":       "want MOMENT",
		"during create pods 1":    "want before or after",
		"after make pods 1":       "want create, update",
		"after create pods first": "want 1 or more",
		"after create pods 0":     "want 1 or more",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func TestAWriteIsKnownByItsRequest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ method, path, want string }{
		"a read is none":                 {http.MethodGet, "/api/v1/pods", ""},
		"a pod is created":               {http.MethodPost, "/api/v1/namespaces/ns/pods", "create pods"},
		"a pod is bound":                 {http.MethodPost, "/api/v1/namespaces/ns/pods/p/binding", "create pods/binding"},
		"a status is written":            {http.MethodPut, "/apis/batch.volcano.sh/v1alpha1/namespaces/ns/jobs/j/status", "update jobs/status"},
		"a queue has no namespace":       {http.MethodPatch, "/apis/scheduling.volcano.sh/v1beta1/queues/q/status", "patch queues/status"},
		"a namespace itself":             {http.MethodDelete, "/api/v1/namespaces/ns", "delete namespaces"},
		"what is no resource is not one": {http.MethodPost, "/api", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if w, ok := writeOf(test.method, test.path, nil); ok {
				got = w.verb + " " + w.resource
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestAPointCountsOnlyWhatItIsAbout(t *testing.T) {
	t.Parallel()
	p := Point{Moment: After, Verb: "update", Resource: "jobs/status", Nth: 1, Texts: []string{"train", `"phase":"Running"`}}
	tests := map[string]struct {
		path, body string
		want       bool
	}{
		"its job in its phase": {"/apis/b/v1/namespaces/ns/jobs/train/status", `{"state":{"phase":"Running"}}`, true},
		"another job":          {"/apis/b/v1/namespaces/ns/jobs/other/status", `{"state":{"phase":"Running"}}`, false},
		"another phase":        {"/apis/b/v1/namespaces/ns/jobs/train/status", `{"state":{"phase":"Pending"}}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := writeOf(http.MethodPut, test.path, []byte(test.body))
			if p.matches(w) != test.want {
				t.Errorf("counted %v, want %v", !test.want, test.want)
			}
		})
	}
}
