package run_test

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/test/golden"
)

// Flags that do not apply to jobs from the given source are rejected, or reported as ignored.
func TestFlagsOfRunGolden(t *testing.T) {
	t.Parallel()
	const queueFile = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: fresh}\nspec: {weight: 1}\n"
	compat := map[string]string{"VCCTL_COMPAT": "true"}
	golden.CompareRuns(t, "runflags", []golden.Run{
		{About: "no run at all", Args: "job run zero --image x --max-retry 0"},
		{About: "two names", Args: "job run a --name b", Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "Volcano's flags with a file: told, and passed over", Args: "job run -f - --name x -i other -r 4 -m 2 -S other", Input: golden.JobFile, Check: golden.CheckStored(golden.JobsPath, 7)},
		{About: "flags that Volcano does not have, with a file", Args: "job run -f - --name x --cpu 64 --queue research --gpus 8 --labels a=b", Input: golden.JobFile, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "the same, to who wants Volcano's tables", Args: "job run -f - --cpu 64 --queue research", Input: golden.JobFile, Env: compat, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "the name of a resource of which none is asked for", Args: "job run x --gpu-resource amd.com/gpu"},
		{About: "directories, and no file", Args: "job run x -R"},
		{About: "requests twice", Args: "job run x --requests cpu=1 -R cpu=2"},
		{About: "waiting in a dry run", Args: "job run x --wait --dry-run"},
		{About: "attached in a dry run of the server", Args: "job run x --attach --dry-run=server"},
		{About: "waiting for the end of a queue", Args: "job run -f - --wait", Input: queueFile, Check: golden.CheckStored("/apis/scheduling.volcano.sh/v1beta1/queues", 3)},
		{About: "a limit of a wait that is none", Args: "job run x --timeout 5s --attach=false", Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "a job is marked as its user's", Args: "job run x --image busybox -o jsonpath={.metadata.annotations}", Env: map[string]string{"USER": "mei"}},
		{About: "times below a second are one", Args: "job run x --ttl 900ms --time 300ms --dry-run=client -o yaml"},
		{About: "a time that is no number of seconds", Args: "job run x --ttl 900000h"},
		{About: "a name, a queue and a start for the job of a file", Args: "job run second -f - --queue research --labels a=b --priority-class system-cluster-critical --hold --begin 90m -o yaml", Input: golden.JobFile},
		{About: "the name as a flag", Args: "job run -f - --name second", Input: golden.JobFile, Check: golden.CheckJobField("second", "fresh", "spec", "queue")},
		{About: "one name for two jobs", Args: "job run second -f -", Input: golden.JobFile + "---\n" + strings.SplitN(golden.JobFile, "\n---", 2)[0], Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "a queue for a file without jobs", Args: "job run -f - --queue research", Input: queueFile, Check: golden.CheckStored("/apis/scheduling.volcano.sh/v1beta1/queues", 3)},
		{About: "a queue that is not there", Args: "job run -f - --queue reserch", Input: golden.JobFile, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "an array", Args: "job run sweep --array 0-9:3%2 --dry-run=client -o yaml"},
		{About: "an array of elements of two pods", Args: "job run sweep --array 1,3 --replicas 2 --dry-run=server -o jsonpath={.spec.tasks[0].partitionPolicy}"},
		{About: "an array that is none", Args: "job run sweep --array 5-2"},
		{About: "an array with a gang", Args: "job run sweep --array 0-3 --min 2"},
		{About: "when it may start", Args: "job run late --after train,afterany:42 --begin 2026-03-02T08:00 --hold --dry-run=client -o jsonpath={.metadata.annotations}"},
		{About: "after a job that is not there", Args: "job run late --after trian --dry-run=server"},
		{About: "volumes, taints and an account", Args: "job run reads --volume data:/data:ro --volume /srv:/host --volume /scratch --volume configmap/conf:/conf --volume secret/key:/key --toleration dedicated=train:NoSchedule --toleration nvidia.com/gpu --toleration spot:NoExecute --service-account runner --dry-run=client -o yaml"},
		{About: "a volume without a path", Args: "job run x --volume data"},
		{About: "a volume whose mode is none", Args: "job run x --volume data:/data:rwx"},
		{About: "a volume of a source that is none", Args: "job run x --volume nfs/server:/data"},
		{About: "an empty volume to read", Args: "job run x --volume /data:ro"},
		{About: "two volumes in one place", Args: "job run x --volume a:/data --volume b:/data"},
		{About: "a toleration without a key", Args: "job run x --toleration =x"},
		{About: "a toleration of an effect that is none", Args: "job run x --toleration a:Never"},
		{About: "Volcano's spelling in a dry run", Args: "job run -N x --dry-run=client", Check: golden.CheckStored(golden.JobsPath, 6)},
	})
}
