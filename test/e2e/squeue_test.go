package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/joblist"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// TestSqueueReadsWhatTheDaemonHasInMemory checks on a real cluster, with the real aggregator, that squeue shows each
// job immediately after its submission, and prints the same with and without the daemon.
func TestSqueueReadsWhatTheDaemonHasInMemory(t *testing.T) {
	u := &slurmUser{cluster: startCluster(t, "--process-nodes=0", "--simulated-nodes=2", "--node-cpu=4"), dir: t.TempDir()}
	u.eventually(30*time.Second, "the daemon answers lists", func() error { return u.askForFacts() })
	for i := range 50 {
		id := u.submit("true", "-n", fmt.Sprint(1+i%3), "--mem=1M")
		if got := strings.Fields(u.says("squeue", "-h", "-o", "%A")); !slices.Contains(got, id) {
			t.Fatalf("job %s was submitted, and squeue lists %v", id, got)
		}
	}
	u.submit("true", "--array=0-9%2", "-c", "3")
	u.submit("true", "--hold")
	const format = "-t all -r -o %A|%i|%j|%P|%u|%t|%D|%C|%m|%N|%r|%Q|%V|%o|%Z"
	list := func() string { return u.says(append([]string{"squeue"}, strings.Fields(format)...)...) }
	told := ""
	// Simulated nodes run no scripts, so nothing starts. Two elements of the array get pods, and the others wait for
	// them.
	settled := map[string]int{"BadConstraints": 52, "JobArrayTaskLimit": 8, "JobHeldUser": 1}
	u.eventually(60*time.Second, "every job says for good why it waits", func() error {
		told = list()
		if diff := cmp.Diff(settled, reasons(told)); diff != "" {
			return fmt.Errorf("jobs by reason (-want +got):\n%s", diff)
		}
		return nil
	})
	registration := &unstructured.Unstructured{}
	registration.SetAPIVersion("apiregistration.k8s.io/v1")
	registration.SetKind("APIService")
	registration.SetName(joblist.Group.RegistrationName())
	if err := u.Delete(t.Context(), registration); err != nil {
		t.Fatal(err)
	}
	u.eventually(30*time.Second, "the daemon is not asked any more", func() error {
		if u.askForFacts() == nil {
			return fmt.Errorf("it still answers")
		}
		return nil
	})
	if diff := cmp.Diff(strings.Split(told, "\n"), strings.Split(list(), "\n")); diff != "" {
		t.Errorf("squeue lists other rows without the daemon (-with +without):\n%s", diff)
	}
}

// reasons counts the rows of squeue by reason, the eleventh column.
func reasons(rows string) map[string]int {
	count := map[string]int{}
	for row := range strings.Lines(rows) {
		if columns := strings.Split(row, "|"); len(columns) > 10 && columns[0] != "JOBID" {
			count[columns[10]]++
		}
	}
	return count
}

// askForFacts returns an error unless the daemon answers a list request through the API server.
func (u *slurmUser) askForFacts() error {
	to, err := rest.HTTPClientFor(u.config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(u.t.Context(), http.MethodGet, u.config.Host+jobsummary.ListPathFor(metav1.NamespaceDefault), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", jobsummary.ContentType)
	answer, err := to.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	return nil
}
