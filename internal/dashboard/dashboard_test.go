package dashboard

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
)

const twoClusters = `apiVersion: v1
kind: Config
clusters: [{name: here, cluster: {server: "https://127.0.0.1:1"}}, {name: there, cluster: {server: "https://127.0.0.1:2"}}]
contexts: [{name: here, context: {cluster: here, user: mei, namespace: nlp}}, {name: staging, context: {cluster: there, user: mei, namespace: cv}}]
users: [{name: mei, user: {token: secret}}]
current-context: here
`

func TestAnotherContextKeepsWhatTheCommandLineSaysOfTheUser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(twoClusters), 0o600); err != nil {
		t.Fatal(err)
	}
	streams, _, _ := iostreams.TestStreams("", 0)
	f := cli.NewFactory("vcctl", &streams)
	flags := pflag.NewFlagSet("vcctl", pflag.ContinueOnError)
	f.Config.AddFlags(flags)
	if err := flags.Parse([]string{"--kubeconfig", path, "--as", "viewer", "--as-group", "readers", "--request-timeout", "7s", "--token", "of-here", "--insecure-skip-tls-verify", "-n", "mine"}); err != nil {
		t.Fatal(err)
	}
	other, left := factoryForContext(f, "staging")
	if diff := cmp.Diff([]string{"--insecure-skip-tls-verify", "--token"}, left); diff != "" {
		t.Errorf("named as left out: %s", diff)
	}
	config, err := other.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	want := rest.ImpersonationConfig{UserName: "viewer", Groups: []string{"readers"}, Extra: map[string][]string{}}
	got := config.Impersonate
	if got.Extra == nil {
		got.Extra = map[string][]string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	namespace, err := other.Namespace()
	if err != nil || namespace != "cv" || config.Host != "https://127.0.0.1:2" || config.BearerToken != "secret" || config.Insecure || config.Timeout.String() != "7s" {
		t.Errorf("namespace %q, %v, %s as %q, insecure %v, within %s", namespace, err, config.Host, config.BearerToken, config.Insecure, config.Timeout)
	}
}
