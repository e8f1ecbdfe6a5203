package wait_test

import (
	"testing"

	"github.com/vc-batch/vc/test/golden"
)

func TestJobWaitGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "wait", []golden.Run{
		{About: "wait for what is done", Args: "job wait done"},
		{About: "wait for what failed", Args: "job wait broken"},
		{About: "wait for several, some of which failed", Args: "job wait done broken nosuch"},
		{About: "wait until a job runs", Args: "job wait train --for=running"},
		{About: "wait for success of what is suspended", Args: "job wait paused --for succeeded"},
		{About: "wait until suspended", Args: "job wait paused --for=suspended -o name"},
		{About: "wait until gone what is not there", Args: "job wait nosuch --for=deleted"},
		{About: "wait for a field", Argv: []string{"job", "wait", "train", "--for=jsonpath={.status.running}=3"}},
		{About: "wait in vain", Args: "job wait train eval --timeout 50ms"},
		{About: "wait for jobs of which there are none", Args: "job wait -l typo=x"},
		{About: "wait for all where there is none", Args: "job wait --all -n empty"},
		{About: "wait until those are gone of which there are none", Args: "job wait -l typo=x --for=deleted"},
		{About: "wait by label", Args: "job wait -l team=nlp"},
		{About: "wait for a word that does not exist", Args: "job wait train --for=runing"},
		{About: "wait for a path that is none", Args: "job wait train --for=jsonpath=.status"},
		{About: "wait for nothing", Args: "job wait"},
	})
}
