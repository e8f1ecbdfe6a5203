package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/usererror"
)

// allNodes is the flag value that selects all nodes of a kind.
const allNodes = "all"

func newNodesRemove() *cobra.Command {
	var path, process, simulated string
	cmd := &cobra.Command{
		Use:   "remove NAME... | --process N|all | --simulated N|all",
		Short: "Remove nodes and the pods on them",
		Long: `Remove nodes and the pods on them. If you specify a number of nodes instead of names,
the nodes with the highest numbers are removed first. If a node cannot be removed,
the others are still removed, and the error is reported at the end.`,
		Example: `  vc-local nodes remove node-2
  vc-local nodes remove --simulated 50
  vc-local nodes remove --simulated all --process 1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted := removal{process: process, simulated: simulated}
			for _, arg := range args {
				wanted.names = append(wanted.names, strings.TrimPrefix(arg, "node/"))
			}
			if err := wanted.checkArguments(); err != nil {
				return usageError(cmd, err)
			}
			client, err := newClientFor(path)
			if err != nil {
				return err
			}
			names, err := wanted.nodesToRemove(cmd.Context(), client)
			if err != nil {
				return err
			}
			return removeNodes(cmd.Context(), cmd.OutOrStdout(), names, client.RemoveNode)
		},
	}
	addRunningDirFlag(cmd, &path)
	cmd.Flags().StringVar(&process, "process", "", "`number` of process nodes, or all")
	cmd.Flags().StringVar(&simulated, "simulated", "", "`number` of simulated nodes, or all")
	return cmd
}

// removal holds the nodes to remove.
type removal struct {
	names              []string
	process, simulated string // a number, "all", or ""
}

// checkArguments validates the arguments before any node is removed.
func (r removal) checkArguments() error {
	if len(r.names) == 0 && r.process == "" && r.simulated == "" {
		return errors.New("no nodes are specified: use NAME..., --process N|all or --simulated N|all")
	}
	if slices.Contains(r.names, "") {
		return errors.New("node names must not be empty")
	}
	for _, flag := range []struct{ name, text string }{{"--process", r.process}, {"--simulated", r.simulated}} {
		if flag.text == "" || flag.text == allNodes {
			continue
		}
		if n, err := strconv.Atoi(flag.text); err != nil || n < 1 {
			return fmt.Errorf("%s %q: specify a number of nodes, or %s", flag.name, flag.text, allNodes)
		}
	}
	return nil
}

// nodesToRemove returns the names of the nodes to remove, without duplicates.
func (r removal) nodesToRemove(ctx context.Context, client *local.Client) ([]string, error) {
	if r.process == "" && r.simulated == "" {
		return r.pickNodes(nil)
	}
	status, err := client.Status(ctx)
	if err != nil {
		return nil, err
	}
	return r.pickNodes(status.Nodes)
}

// pickNodes returns the names of the nodes to remove: the specified names and, for each kind, the specified number of
// other nodes. Of those, it selects the nodes with the highest numbers in their names.
func (r removal) pickNodes(nodes []local.NodeStatus) ([]string, error) {
	var picked []string
	for _, name := range r.names {
		if !slices.Contains(picked, name) {
			picked = append(picked, name)
		}
	}
	for _, kind := range []struct{ name, count string }{{nodespec.KindProcess, r.process}, {nodespec.KindSimulated, r.simulated}} {
		if kind.count == "" {
			continue
		}
		var there []string
		for _, node := range nodes {
			if node.Kind == kind.name && !slices.Contains(r.names, node.Name) {
				there = append(there, node.Name)
			}
		}
		slices.SortFunc(there, func(a, b string) int { return compareNumbered(b, a) })
		if n, err := strconv.Atoi(kind.count); err == nil {
			if n > len(there) {
				return nil, &usererror.Error{
					What: fmt.Sprintf("cannot remove %d %s nodes: only %d exist", n, kind.name, len(there)),
					Hint: fmt.Sprintf("no nodes were removed; use --%s %s to remove all nodes of this kind", kind.name, allNodes),
				}
			}
			there = there[:n]
		}
		picked = append(picked, there...)
	}
	return picked, nil
}

// compareNumbered compares names first by the part before the number and then by number, so that sim-9 sorts before
// sim-10.
func compareNumbered(a, b string) int {
	stemA, stemB := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	numberA, numberB := strings.TrimLeft(a[len(stemA):], "0"), strings.TrimLeft(b[len(stemB):], "0")
	return cmp.Or(strings.Compare(stemA, stemB), cmp.Compare(len(numberA), len(numberB)), strings.Compare(numberA, numberB), strings.Compare(a, b))
}

// atOnce is the maximum number of nodes that are removed concurrently. Concurrency helps because a removal consists
// mainly of waiting.
const atOnce = 32

// removeNodes removes nodes and prints the results in the order of names. The returned error contains all failures.
func removeNodes(ctx context.Context, out io.Writer, names []string, remove func(context.Context, string) error) error {
	errs := make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, name := range names {
		group.Go(func() error {
			errs[i] = remove(ctx, name)
			return nil
		})
	}
	_ = group.Wait()
	var removed []string
	failure := &usererror.Error{}
	for i, name := range names {
		err := errs[i]
		if err == nil {
			removed = append(removed, name)
			continue
		}
		// If the cluster does not respond, all removals fail with the same message.
		if text := err.Error(); !strings.Contains(failure.What, text) {
			failure.What += text + "\n"
		}
		var human *usererror.Error
		if errors.As(err, &human) && failure.Hint == "" {
			failure.Hint = human.Hint
		}
	}
	printDone(out, removed, "removed")
	if ctx.Err() != nil && failure.What != "" {
		return errInterrupted
	}
	if failure.What != "" {
		return failure
	}
	if len(names) == 0 {
		fmt.Fprintln(out, "no such nodes exist, so no nodes were removed")
	}
	return nil
}

// maxLines is the maximum number of nodes for which printDone prints one line each.
const maxLines = 10

// printDone prints what was done to the nodes, with one line for each node, or a single line if there are many nodes.
func printDone(out io.Writer, names []string, done string) {
	if len(names) > maxLines {
		sorted := slices.SortedFunc(slices.Values(names), compareNumbered)
		fmt.Fprintf(out, "%d nodes %s: %s ... %s\n", len(names), done, sorted[0], sorted[len(sorted)-1])
		return
	}
	for _, name := range names {
		fmt.Fprintf(out, "node/%s %s\n", name, done)
	}
}
