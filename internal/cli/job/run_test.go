package job_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/cli/golden"
)

// Flags that a job cannot take from where they were given are refused, or said to be passed over.
func TestFlagsOfRunGolden(t *testing.T) {
	t.Parallel()
	const queueFile = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: fresh}\nspec: {weight: 1}\n"
	compat := map[string]string{"VCCTL_COMPAT": "true"}
	golden.Hold(t, "runflags", []golden.Run{
		{About: "two names", Args: "job run a --name b", Check: golden.Stored(jobPath, 6)},
		{About: "Volcano's flags with a file: told, and passed over", Args: "job run -f - --name x -i other -r 4 -m 2 -S other", Input: golden.JobFile, Check: golden.Stored(jobPath, 7)},
		{About: "flags that Volcano does not have, with a file", Args: "job run -f - --name x --cpu 64 --queue research --gpus 8 --labels a=b", Input: golden.JobFile, Check: golden.Stored(jobPath, 6)},
		{About: "the same, to who wants Volcano's tables", Args: "job run -f - --cpu 64 --queue research", Input: golden.JobFile, Env: compat, Check: golden.Stored(jobPath, 6)},
		{About: "the name of a resource of which none is asked for", Args: "job run x --gpu-resource amd.com/gpu"},
		{About: "directories, and no file", Args: "job run x -R"},
		{About: "requests twice", Args: "job run x --requests cpu=1 -R cpu=2"},
		{About: "waiting in a dry run", Args: "job run x --wait --dry-run"},
		{About: "attached in a dry run of the server", Args: "job run x --attach --dry-run=server"},
		{About: "waiting for the end of a queue", Args: "job run -f - --wait", Input: queueFile, Check: golden.Stored("/apis/scheduling.volcano.sh/v1beta1/queues", 3)},
		{About: "a limit of a wait that is none", Args: "job run x --timeout 5s --attach=false", Check: golden.Stored(jobPath, 6)},
		{About: "a job is marked as its user's", Args: "job run x --image busybox --dry-run=client -o jsonpath={.metadata.annotations}", Env: map[string]string{"USER": "mei"}},
		{About: "times below a second are one", Args: "job run x --ttl 900ms --time 300ms --dry-run=client -o yaml"},
		{About: "a time that is no number of seconds", Args: "job run x --ttl 900000h"},
		{About: "Volcano's spelling in a dry run", Args: "job run -N x --dry-run=client", Check: golden.Stored(jobPath, 6)},
	})
}

// A name beside filters is one that is there and was not asked for, or one that is not there.
func TestNamesBesideFiltersGolden(t *testing.T) {
	t.Parallel()
	golden.Hold(t, "filters", []golden.Run{
		{About: "in another phase", Args: "job list train --phase Pending"},
		{About: "some of two", Args: "job list train eval --phase Pending"},
		{About: "in another queue, and one that is nowhere", Args: "job list train nosuch -q default"},
		{About: "without the label", Args: "job list train -l team=cv"},
		{About: "the pod of another job, in a phase that no pod has", Args: "pod list train-worker-0 --job eval --phase Bogus"},
		{About: "the pod of another job", Args: "pod list train-worker-0 --job eval"},
		{About: "a queue without the label", Args: "queue list research -l x=y"},
	})
}
