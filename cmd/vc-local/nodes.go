package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/usererror"
)

// nodeFlags holds the flags that describe nodes for which the user specifies only a number, not individual names.
type nodeFlags struct {
	cpu, memory       string
	resources, labels []string
	taints            []string
}

// nodeSpec returns the node spec for the flags. The names of the flags in its errors begin with prefix, which is -- or
// --node-.
func (f nodeFlags) nodeSpec(prefix, kind string, count int) (nodespec.Spec, error) {
	spec := nodespec.Spec{Kind: kind, Count: &count, CPU: f.cpu, Memory: f.memory, Taints: f.taints}
	for _, quantity := range []struct{ flag, text string }{{"cpu", f.cpu}, {"memory", f.memory}} {
		if _, err := nodespec.ParseQuantity(quantity.text); err != nil && quantity.text != "" {
			return spec, &usererror.Error{What: prefix + quantity.flag + ": " + err.Error(), Hint: "for example " + prefix + "cpu 4 " + prefix + "memory 8Gi"}
		}
	}
	var err error
	if spec.Resources, err = nodespec.ParsePairs(f.resources); err != nil {
		return spec, &usererror.Error{What: prefix + "resource: " + err.Error(), Hint: "for example " + prefix + "resource nvidia.com/gpu=4"}
	}
	if spec.Labels, err = nodespec.ParsePairs(f.labels); err != nil {
		return spec, &usererror.Error{What: prefix + "label: " + err.Error(), Hint: "for example " + prefix + "label zone=a"}
	}
	return spec, nil
}

func newNodes() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "Add, remove and list the nodes of a running cluster",
		Args:  rejectArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNodesAdd(), newNodesRemove(), newNodesList())
	return cmd
}

func newNodesAdd() *cobra.Command {
	var path, name, file string
	var process, simulated int
	var node nodeFlags
	cmd := &cobra.Command{
		Use:   "add --process N | --simulated N | --nodes-file FILE",
		Short: "Add nodes and wait until they accept pods",
		Example: `  vc-local nodes add --process 1 --cpu 2 --memory 4Gi
  vc-local nodes add --simulated 100 --cpu 8 --memory 32Gi --resource nvidia.com/gpu=4
  vc-local nodes add --process 1 --name big --label zone=a`,
		Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			specs, err := readSpecsToAdd(cmd, file, name, process, simulated, node)
			if err != nil {
				return err
			}
			client, err := newClientFor(path)
			if err != nil {
				return err
			}
			names, err := client.AddNodes(cmd.Context(), specs)
			if err != nil {
				return err
			}
			printDone(cmd.OutOrStdout(), names, "added")
			return nil
		},
	}
	addRunningDirFlag(cmd, &path)
	flags := cmd.Flags()
	flags.IntVar(&process, "process", 0, "`number` of process nodes")
	flags.IntVar(&simulated, "simulated", 0, "`number` of simulated nodes")
	flags.StringVar(&file, "nodes-file", "", "YAML `file` that lists nodes; see vc-local up --help")
	flags.StringVar(&name, "name", "", "`name` of the node, or the name prefix if you add several nodes")
	flags.StringVar(&node.cpu, "cpu", "", "cpu of each node")
	flags.StringVar(&node.memory, "memory", "", "memory of each node")
	flags.StringArrayVar(&node.resources, "resource", nil, "additional resource of each node as `NAME=QUANTITY`; can be repeated")
	flags.StringArrayVar(&node.labels, "label", nil, "label of each node as `KEY=VALUE`; can be repeated")
	flags.StringArrayVar(&node.taints, "taint", nil, "taint of each node as `KEY=VALUE:EFFECT`; can be repeated")
	return cmd
}

func readSpecsToAdd(cmd *cobra.Command, file, name string, process, simulated int, node nodeFlags) ([]nodespec.Spec, error) {
	if process < 0 || simulated < 0 {
		return nil, usageError(cmd, fmt.Errorf("the number of nodes must not be negative"))
	}
	if name != "" && process > 0 && simulated > 0 {
		return nil, usageError(cmd, fmt.Errorf("--name applies to process nodes or to simulated nodes, not to both"))
	}
	var specs []nodespec.Spec
	if file != "" {
		var err error
		if specs, err = local.ReadNodesFile(file); err != nil {
			return nil, err
		}
	}
	for _, counted := range []struct {
		kind  string
		count int
	}{{nodespec.KindProcess, process}, {nodespec.KindSimulated, simulated}} {
		if counted.count == 0 {
			continue
		}
		spec, err := node.nodeSpec("--", counted.kind, counted.count)
		if err != nil {
			return nil, err
		}
		spec.Name = name
		specs = append(specs, spec)
	}
	if len(specs) == 0 {
		return nil, usageError(cmd, fmt.Errorf("no nodes are specified: use --process N, --simulated N or --nodes-file FILE"))
	}
	if _, err := nodespec.ExpandSpecs(specs, nil); err != nil {
		return nil, usageError(cmd, err)
	}
	return specs, nil
}

func newNodesList() *cobra.Command {
	var path, format string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the nodes",
		Example: `  vc-local nodes list -o json`,
		Args:    rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(format); err != nil {
				return err
			}
			client, err := newClientFor(path)
			if err != nil {
				return err
			}
			status, err := client.Status(cmd.Context())
			if err != nil {
				return err
			}
			if format == "json" {
				return printJSON(cmd.OutOrStdout(), status.Nodes)
			}
			return printNodes(cmd.OutOrStdout(), status.Nodes)
		},
	}
	addRunningDirFlag(cmd, &path)
	addFormatFlag(cmd, &format)
	return cmd
}

// newClientFor returns a client for the process that runs the cluster whose state is in a directory.
func newClientFor(path string) (*local.Client, error) {
	dir, err := local.RunningDir(path)
	if err != nil {
		return nil, err
	}
	record, running, err := local.FindRecord(dir)
	if err != nil {
		return nil, err
	}
	switch {
	case !running:
		return nil, &usererror.Error{What: fmt.Sprintf("no cluster is running in %s", dir), Hint: "start a cluster with vc-local up --detach, or specify another --dir"}
	case !record.Ready:
		return nil, &usererror.Error{What: fmt.Sprintf("the cluster in %s is still starting", dir), Hint: "try again in a few seconds"}
	}
	return local.NewClient(record), nil
}
