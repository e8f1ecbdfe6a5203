package change_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

const commandPath = "/apis/bus.volcano.sh/v1alpha1/namespaces/nlp/commands"

// commanded checks the wire format of Commands: exactly one is stored, and its owner reference is its job.
func commanded(action, prefix string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		commands := server.ObjectsBelow(commandPath)
		if len(commands) != 1 {
			t.Fatalf("%d commands, want 1", len(commands))
		}
		command := commands[0]
		meta := command["metadata"].(map[string]any)
		owners, _ := meta["ownerReferences"].([]any)
		if command["action"] != action || !strings.HasPrefix(meta["name"].(string), prefix) || len(owners) != 1 {
			t.Fatalf("command %v, want action %s, name %s… and an owner", command, action, prefix)
		}
		if diff := cmp.Diff(owners[0], command["target"]); diff != "" {
			t.Errorf("the target is not the owner: %s", diff)
		}
		if target := command["target"].(map[string]any); target["kind"] != "Job" || target["uid"] == "" || target["controller"] != true {
			t.Errorf("target %v", target)
		}
	}
}

func TestJobChangeGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "commands", []golden.Run{
		{About: "suspend", Args: "job suspend train", Check: commanded("AbortJob", "train-abortjob-")},
		{About: "suspend, Volcano's way, is silent", Args: "job suspend -N train", Check: golden.CheckStored(commandPath, 1)},
		{About: "suspend two, some of which cannot be", Args: "job suspend train done nosuch", Check: golden.CheckStored(commandPath, 1)},
		{About: "suspend by label without a terminal needs --yes", Args: "job suspend -l team=nlp", Check: golden.CheckStored(commandPath, 0)},
		{About: "suspend what is suspended", Args: "job suspend paused", Check: golden.CheckStored(commandPath, 0)},
		{About: "resume what runs", Args: "job resume train", Check: golden.CheckStored(commandPath, 0)},
		{About: "resume a job that is about to be suspended", Args: "job resume train", Prepare: suspending, Check: golden.CheckStored(commandPath, 2)},
		{About: "resume all finds the suspended one", Args: "job resume --all --yes", Check: golden.CheckStored(commandPath, 1)},
		{About: "suspend all, asked and declined", Args: "job suspend --all", Width: 80, Input: "n\n", Check: golden.CheckStored(commandPath, 0)},
		{About: "a dry run", Args: "job suspend train --dry-run=client", Check: golden.CheckStored(commandPath, 0)},
		{About: "resume", Args: "job resume paused", Check: commanded("ResumeJob", "paused-resumejob-")},
		{About: "resume a job that has ended", Args: "job resume done"},
		{About: "waiting has an end", Args: "job resume paused --wait --timeout 50ms"},
		{About: "restart", Args: "job restart train", Check: commanded("RestartJob", "train-restartjob-")},
		{About: "restart what cannot be", Args: "job restart done paused", Check: golden.CheckStored(commandPath, 0)},
		{About: "restart, looked at", Args: "job restart train -o name --dry-run=server", Check: golden.CheckStored(commandPath, 0)},
		{About: "cancel", Args: "job cancel train eval", Check: golden.CheckStored(commandPath, 2)},
		{About: "cancel one", Args: "job cancel eval", Check: commanded("TerminateJob", "eval-terminatejob-")},
		{About: "cancel what has ended, and what is suspended", Args: "job cancel done paused", Check: golden.CheckStored(commandPath, 1)},
		{About: "cancel all of all namespaces, asked and agreed", Args: "job cancel --all -A", Width: 80, Input: "y\n",
			Check: golden.CheckStored("/apis/bus.volcano.sh/v1alpha1/commands", 5)},
		{About: "a name in all namespaces", Args: "job cancel train -A", Check: golden.CheckStored(commandPath, 0)},
		{About: "delete", Args: "job delete train", Check: golden.CheckStored(golden.JobsPath, 5)},
		{About: "delete, Volcano's way", Args: "job delete -N train -n nlp", Check: golden.CheckStored(golden.JobsPath, 5)},
		{About: "delete by label, asked and agreed", Args: "job delete -l team=nlp", Width: 80, Input: "y\n", Check: golden.CheckStored(golden.JobsPath, 5)},
		{About: "delete all without a terminal needs --yes", Args: "job delete --all", Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "delete what a file made", Args: "job delete -f - --ignore-not-found", Input: "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\n", Check: golden.CheckStored(golden.JobsPath, 5)},
		{About: "delete what a file made, a queue and a namespace among it", Args: "job delete -f -", Input: "apiVersion: v1\nkind: Namespace\nmetadata: {name: nlp}\n---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: research}\n---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\n", Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "a server dry run", Args: "job delete train --dry-run=server", Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "delete what is not there", Args: "job delete trian"},
		{About: "delete what is not there, on purpose", Args: "job delete trian --ignore-not-found"},
		{About: "nothing named", Args: "job delete"},
		{About: "names and a label", Args: "job delete train -l a=b"},
	})
}

// suspending adds a Command that suspends the job train and has not been carried out yet.
func suspending(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	command := clusterops.JobCommand(train, busv1alpha1.AbortJobAction)
	command.Name = "train-abortjob-x7k2p"
	s.SetObjects(train, command)
}

// several adds a second task to the job train.
func several(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Spec.Tasks[0].Replicas, train.Spec.MinAvailable = 3, 4
	least := int32(3)
	train.Spec.Tasks[0].MinAvailable = &least
	master := *train.Spec.Tasks[0].DeepCopy()
	master.Name, master.Replicas, master.MinAvailable = "master", 1, nil
	train.Spec.Tasks = append(train.Spec.Tasks, master)
	s.SetObjects(train)
}

// arrayed makes the job train an array of three elements in partitions of one task.
func arrayed(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Annotations = map[string]string{keys.Array: "0-2"}
	train.Spec.Tasks[0].Replicas = 3
	s.SetObjects(train)
}

func partitioned(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Spec.Tasks[0].Replicas = 4
	train.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 2, PartitionSize: 2}
	least := int32(2)
	train.Spec.Tasks[0].MinAvailable = &least
	s.SetObjects(train)
}

func TestJobScaleGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "scale", []golden.Run{
		{About: "more pods", Args: "job scale train --replicas 5", Check: golden.CheckJobField("train", "5", "spec", "tasks", "0", "replicas")},
		{About: "the number without its flag", Args: "job scale train 5"},
		{About: "the number of a task without its flags", Args: "job scale train worker=5"},
		{About: "fewer than the job needs", Args: "job scale train --replicas 2"},
		{About: "fewer, of which fewer are needed", Args: "job scale train --replicas 2 --min-available 1", Check: golden.CheckJobField("train", "1", "spec", "minAvailable")},
		{About: "the same pods, fewer needed", Args: "job scale train --min-available 2", Check: golden.CheckJobField("train", "2", "spec", "minAvailable")},
		{About: "a task of several", Args: "job scale train --task worker --replicas 6 --min-available 4", Prepare: several, Check: golden.CheckJobField("train", "5", "spec", "minAvailable")},
		{About: "no task of several", Args: "job scale train --replicas 6", Prepare: several},
		{About: "a task that is not there", Args: "job scale train --task wrker --replicas 6", Prepare: several},
		{About: "a task that needs more", Args: "job scale train --task worker --replicas 2", Prepare: several},
		{About: "more needed than there are", Args: "job scale train --min-available 7"},
		{About: "more than any job may have", Args: "job scale train --replicas 2000000"},
		{About: "less than none", Args: "job scale train --replicas=-1"},
		{About: "whole partitions", Args: "job scale train --replicas 6", Prepare: partitioned, Check: golden.CheckJobField("train", "3", "spec", "tasks", "0", "partitionPolicy", "totalPartitions")},
		{About: "half a partition", Args: "job scale train --replicas 5", Prepare: partitioned},
		{About: "an array", Args: "job scale train --replicas 5", Prepare: arrayed},
		{About: "a job that has ended", Args: "job scale done --replicas 5"},
		{About: "another number than expected", Args: "job scale train --replicas 5 --current-replicas 4"},
		{About: "the expected number", Args: "job scale train --replicas 5 --current-replicas 3 --dry-run=client", Check: golden.CheckJobField("train", "3", "spec", "tasks", "0", "replicas")},
		{About: "nothing to change", Args: "job scale train"},
	})
}
