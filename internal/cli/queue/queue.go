// Package queue implements `vcctl queue`. Its commands list, create, change, delete, open and close queues.
//
//	In:   arguments, files; Queues from the API server, counts and usage from their status
//	Out:  tables and trees; Queues created, patched and deleted; Commands that open and
//	      close; the effects of a change, as simulated by the scheduler
//
// A queue's usage is part of its status. Only `queue view` lists PodGroups, to show which jobs are waiting and why.
package queue

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// New returns `vcctl queue` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.NewCommandGroup(f, "queue", "List, create, change, open and close queues", `
		Work with queues (queues.scheduling.volcano.sh). Jobs are submitted to queues, and
		the cluster's resources are shared between queues. Queues are cluster-scoped.`, "queues", "q")
	cmd.AddCommand(
		newList(f, listQueues), newTree(f, printTree), newGet(f, listQueues), newView(f), newCreate(f, createQueues), newUpdate(f, updateQueues), newEdit(f, editQueue),
		newOpen(f, operateQueues), newClose(f, operateQueues), newOperate(f, operateQueues), newDelete(f, deleteQueues),
	)
	return cmd
}

// queueKind returns the GroupVersionKind of queues.
func queueKind() schema.GroupVersionKind { return schedulingv1beta1.GroupVersion.WithKind("Queue") }

// getQueue reads a queue; if it does not exist, the error suggests a similar name.
func getQueue(ctx context.Context, f *cli.Factory, c client.Client, name string) (*schedulingv1beta1.Queue, error) {
	queue := &schedulingv1beta1.Queue{}
	err := c.Get(ctx, types.NamespacedName{Name: name}, queue)
	if isMissing(err) {
		return nil, queueNotFoundError(ctx, f, name)
	}
	return queue, err
}

// isMissing reports whether err means that the object, not its kind, does not exist.
func isMissing(err error) bool {
	return cli.IsMissing(err)
}

func queueNotFoundError(ctx context.Context, f *cli.Factory, name string) error {
	names, err := f.ListNames(ctx, queueKind(), false)
	missing := cli.NotFoundError("queue", name, "", names)
	if err == nil && len(names) > 0 {
		if missing.Hint != "" {
			missing.Hint += " "
		}
		missing.Hint += "queues: " + strings.Join(names[:min(len(names), 10)], ", ")
	}
	return missing
}

// parseResourceList parses a list such as cpu=2,memory=4Gi.
func parseResourceList(flag, text string) (corev1.ResourceList, error) {
	if text == "" {
		return nil, nil
	}
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		name, amount, found := strings.Cut(strings.TrimSpace(part), "=")
		quantity, err := resource.ParseQuantity(amount)
		isAmount := err == nil && quantity.Sign() >= 0
		if !found || name == "" || !isAmount {
			return nil, usererror.Errorf("an example: "+flag+" cpu=16,memory=64Gi,nvidia.com/gpu=8", "%s: %q is not NAME=AMOUNT", flag, part)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return list, nil
}

// countWithNoun formats a count with its noun: "1 job", "2 jobs".
func countWithNoun(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
