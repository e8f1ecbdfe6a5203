package job_test

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// listening gives worker 1 of the job train a standard input.
func listening(s *clitest.Server) {
	one := golden.NewPod(golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour), 1, "192.168.51.67")
	one.Spec.Containers[0].Stdin = true
	s.SetObjects(one)
}

// heldBy sets a hold on the job plain.
func heldBy(whom string) func(*clitest.Server) {
	return func(s *clitest.Server) {
		plain := golden.NewJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
		plain.Annotations = map[string]string{keys.Hold: whom}
		s.SetObjects(plain)
	}
}

// needsFewer is a user's edit: it lowers minAvailable of the job train by one.
func needsFewer(text string) string {
	return strings.Replace(text, "minAvailable: 3", "minAvailable: 2", 1)
}

// TestEveryJobCommandGolden runs each command in the five ways.
func TestEveryJobCommandGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "every", golden.RunsForCommands(
		golden.Command{Args: "job run hello --image busybox --replicas 3 --gpus 1 -- sh -c true", Wrong: "job run hello --gpus many"},
		golden.Command{Args: "job rerun done", Wrong: "job rerun dnoe"},
		golden.Command{Args: "job scale train --replicas 5", Wrong: "job scale train --replicas many"},
		golden.Command{Args: "job edit train", Editor: needsFewer, Wrong: "job edit trian"},
		golden.Command{Args: "job list", Wrong: "job list --sort-by quue"},
		golden.Command{Args: "job view eval", Wrong: "job view evla"},
		golden.Command{Args: "job explain eval", Wrong: "job explain evla", Report: true},
		golden.Command{Args: "job logs train --tail 1", Wrong: "job logs trian", NoJSON: true},
		golden.Command{Args: "job wait done paused --for=jsonpath={.status.state.phase}", Wrong: "job wait done --for=runing"},
		golden.Command{Args: "job hold eval", Wrong: "job hold train"},
		golden.Command{Args: "job release plain", Prepare: heldBy(keys.HoldUser), Wrong: "job release plain", WrongPrepare: heldBy(keys.HoldAdmin)},
		golden.Command{Args: "job suspend train", Wrong: "job suspend done"},
		golden.Command{Args: "job resume paused", Wrong: "job resume done"},
		golden.Command{Args: "job restart train", Wrong: "job restart paused"},
		golden.Command{Args: "job cancel train", Wrong: "job cancel trian"},
		golden.Command{Args: "job delete train", Wrong: "job delete trian"},
		golden.Command{Args: "job exec train -- echo hello", Wrong: "job exec train -t wrker -- true", NoJSON: true},
		golden.Command{Args: "job attach train -t worker-1", Input: "typed\n", Prepare: listening, Wrong: "job attach trian", NoJSON: true},
	))
}
