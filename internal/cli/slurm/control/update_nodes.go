package control

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/scontrol"
	"github.com/vc-batch/vc/internal/slurm/sinfo"
	"github.com/vc-batch/vc/internal/usererror"
)

// findPartition returns the partition with this name or, if none exists, the partition whose queue has this name.
func findPartition(ctx context.Context, c *program.Call, name string) (*sinfo.Partition, error) {
	partitions, _, err := clusterdata.ReadPartitions(ctx, c)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(partitions, func(p *sinfo.Partition) bool { return p.Name == name })
	if i < 0 {
		i = slices.IndexFunc(partitions, func(p *sinfo.Partition) bool { return p.Queue.Name == name })
	}
	if i < 0 {
		return nil, usererror.Errorf("sinfo lists the partitions", "Invalid partition name specified: %s", name)
	}
	return partitions[i], nil
}

// updateNodes drains or resumes nodes.
func updateNodes(ctx context.Context, c *program.Call, list string, change []scontrol.Word) error {
	names, err := hostlist.ExpandList(list)
	if err != nil {
		return program.InvalidNodesError(list)
	}
	state, reason := "", ""
	for _, word := range change {
		switch {
		case word.HasName("State"):
			state = strings.ToUpper(word.Value)
		case word.HasName("Reason"):
			reason = word.Value
		default:
			return usererror.Errorf("only State (DRAIN, RESUME) and Reason of a node can be changed", "Update of this parameter is not supported: %s", word.Name)
		}
	}
	if state == "DRAIN" && reason == "" {
		return usererror.Errorf("add a reason, for example Reason='fan broken'", "You must specify a reason when DOWNING a node")
	}
	isOnlyReason := state == "" && reason != ""
	if !isOnlyReason && !slices.Contains([]string{"DRAIN", "RESUME", "UNDRAIN"}, state) {
		return usererror.Errorf("use DRAIN or RESUME; running jobs continue on a drained node", "Invalid node state: %s", state)
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	cluster := &clusterops.Cluster{Client: cl, Now: c.Factory.Now}
	for _, name := range names {
		if state != "" {
			if _, err := cluster.SetCordoned(ctx, name, state == "DRAIN"); err != nil {
				return explainNodeError(err, name)
			}
		}
		notes := map[string]any{keys.DrainReason: textOrNil(reason), keys.DrainedBy: nil, keys.DrainedAt: nil}
		if reason != "" {
			notes[keys.DrainedBy], notes[keys.DrainedAt] = c.UserName(), c.Factory.Now().UTC().Format(time.RFC3339)
		}
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": notes}})
		if err != nil {
			return err
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := cl.Patch(ctx, node, client.RawPatch(types.MergePatchType, text)); err != nil {
			return explainNodeError(err, name)
		}
	}
	return nil
}

// explainNodeError returns Slurm's error if a node does not exist, and err otherwise.
func explainNodeError(err error, name string) error {
	if apierrors.IsNotFound(err) {
		return program.InvalidNodesError(name)
	}
	return err
}

// updatePartition opens or closes a queue.
func updatePartition(ctx context.Context, c *program.Call, name string, change []scontrol.Word) error {
	const hint = "only State (UP, INACTIVE) of a partition can be changed; use vcctl queue update to change a queue"
	open := map[string]bool{"UP": true, "DOWN": false, "DRAIN": false, "INACTIVE": false}
	if len(change) != 1 || !change[0].HasName("State") {
		return usererror.Errorf(hint, "Update of this parameter is not supported")
	}
	wish, known := open[strings.ToUpper(change[0].Value)]
	if !known {
		return usererror.Errorf(hint, "Invalid partition state: %s", change[0].Value)
	}
	p, err := findPartition(ctx, c, name)
	if err != nil {
		return err
	}
	switch strings.ToUpper(change[0].Value) { // a queue is either open or closed
	case "DOWN":
		c.PrintNotef("warning", "State=DOWN has the same effect as INACTIVE: new jobs are also rejected")
	case "DRAIN":
		c.PrintNotef("warning", "State=DRAIN has the same effect as INACTIVE: pending jobs also do not start")
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	_, err = (&clusterops.Cluster{Client: cl, Now: c.Factory.Now}).SwitchQueue(ctx, p.Queue.Name, wish)
	return err
}
