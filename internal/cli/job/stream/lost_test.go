package stream_test

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// A command in a pod may have side effects. When its connection breaks, it is not run again, and the exit code is not
// one that the command could return.
func TestACommandWhoseConnectionBreaksIsNotRunAgain(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	got := golden.Run{Args: "job exec train -t worker -- cut"}.RunAgainst(t, server)
	runs := 0
	for _, request := range server.Requests() {
		if strings.HasSuffix(request, "/exec") {
			runs++
		}
	}
	if got.Code != cli.ExitLost || got.Out != "it runs\n" || runs != 1 {
		t.Errorf("exit %d after %d requests, want %d after 1: %s", got.Code, runs, cli.ExitLost, got.Out)
	}
	want := "error: the connection to pod \"train-worker-0\" was lost: it is unknown whether the command has ended\n" +
		"hint:  the command was not run again, because it may have side effects; check whether it is still running: vcctl job exec train -t worker -- ps\n"
	if got.Err != want {
		t.Errorf("it says\n%s, want\n%s", got.Err, want)
	}
}

// exec reports an unreachable API server like every other command, both before and after it has read the pod.
func TestExecWithoutAnAPIServerAnswersAsOtherCommandsDo(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	server.StartOutage()
	other := golden.Run{Args: "job view train"}.RunAgainst(t, server)
	got := golden.Run{Args: "job exec train -- true"}.RunAgainst(t, server)
	if got.Code != other.Code || got.Err != other.Err {
		t.Errorf("exec ends with %d and\n%swant %d and\n%s", got.Code, got.Err, other.Code, other.Err)
	}

	server = clitest.Start(t, golden.ClusterObjects()...)
	server.RejectRequests("*", "/api/v1/namespaces/nlp/pods/train-worker-0/exec", http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "no backend answers")
	if got = (golden.Run{Args: "job exec train -- true"}).RunAgainst(t, server); got.Code != other.Code || got.Err != other.Err {
		t.Errorf("exec that the server rejects ends with %d and\n%swant %d and\n%s", got.Code, got.Err, other.Code, other.Err)
	}
}
