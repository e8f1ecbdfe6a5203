package daemon

import (
	"testing"

	"github.com/vc-batch/vc/internal/admission"
)

func TestReplicasOfAdmissionBehindAURLShareTheirCertificate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options admission.Options
		want    string
	}{
		{"behind a URL", admission.Options{URL: "https://webhooks.example"}, "here"},
		{"behind a URL, with a namespace of its own", admission.Options{URL: "https://webhooks.example", SecretNamespace: "there"}, "there"},
		{"at the listen address, which is one process's own", admission.Options{}, ""},
	} {
		if got := admissionOptions(&Options{LeaseNamespace: "here", Admission: c.options}).SecretNamespace; got != c.want {
			t.Errorf("%s: the certificate is kept in namespace %q, want %q", c.name, got, c.want)
		}
	}
}
