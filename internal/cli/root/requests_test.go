package root_test

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/cli/clitest"
	"github.com/vc-batch/vc/internal/cli/golden"
)

// Whatever shows or changes one job asks for the pods of that job, never for those
// of the namespace or of the cluster, and for events only about its objects.
func TestOneJobNeverAsksForThePodsOfOthers(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"job list train", "job list train -o wide", "job view train", "job view eval", "job view broken", "job explain train", "job explain plain",
		"job explain eval", "job logs train", "job logs broken", "job wait train --for=running", "job wait done",
		"job exec train -- true", "job attach train -t worker", "job suspend train", "job resume paused", "job restart train", "job cancel train",
		"job delete train --wait=false", "job run x --queue research",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.Cluster()...)
			golden.Logs(server)
			golden.Run{Args: args}.Do(t, server)
			queries := server.Queries()
			for i, request := range server.Requests() {
				switch {
				case strings.HasSuffix(request, "/pods") && !strings.Contains(queries[i], "volcano.sh/job-name="):
					t.Errorf("%s?%s lists pods of others", request, queries[i])
				case strings.HasSuffix(request, "/events") && !strings.Contains(queries[i], "involvedObject.uid="):
					t.Errorf("%s?%s lists events about others", request, queries[i])
				case strings.HasSuffix(request, " /api/v1/pods"), strings.HasSuffix(request, "/v1alpha1/jobs"), strings.HasSuffix(request, "/v1beta1/podgroups") && !strings.Contains(request, "/namespaces/"):
					t.Errorf("%s asks the whole cluster", request)
				}
			}
			if len(queries) == 0 {
				t.Error("nothing was asked")
			}
		})
	}
}
