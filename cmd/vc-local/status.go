package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// mostRows is the maximum number of nodes in the table.
const mostRows = 30

func newStatus() *cobra.Command {
	var path, format string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the cluster, its components and its nodes",
		Example: `  vc-local status
  vc-local status -o json`,
		Args: rejectArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(format); err != nil {
				return err
			}
			dir, err := local.RunningDir(path)
			if err != nil {
				return err
			}
			status, err := local.ReadClusterStatus(cmd.Context(), dir)
			if err != nil {
				return err
			}
			if format == "json" {
				return printJSON(cmd.OutOrStdout(), status)
			}
			return printStatus(cmd.OutOrStdout(), status)
		},
	}
	addRunningDirFlag(cmd, &path)
	addFormatFlag(cmd, &format)
	return cmd
}

func addFormatFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVarP(format, "output", "o", "", "output `format`: json (default: text)")
}

func checkFormat(format string) error {
	if format == "" || format == "json" {
		return nil
	}
	return &usererror.Error{What: fmt.Sprintf("unknown output format %q", format), Hint: "use -o json, or omit -o"}
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func printStatus(out io.Writer, s local.Status) error {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-12s %s\n", name+":", fmt.Sprintf(format, args...))
	}
	if s.PID == 0 {
		line("State", "%s", s.State)
	} else {
		line("State", "%s (process %d, for %s)", s.State, s.PID, duration.HumanDuration(time.Since(*s.Since)))
	}
	line("Directory", "%s", s.Dir)
	if s.Note != "" {
		line("Note", "%s", s.Note)
	}
	if s.Server == "" {
		return nil
	}
	line("API server", "%s (Kubernetes %s)", s.Server, s.Kubernetes)
	line("Kubeconfig", "%s", s.Kubeconfig)
	line("Memory", "%d MiB", s.MemoryBytes>>20)
	for i, part := range s.Components {
		name := ""
		if i == 0 {
			name = "Parts:"
		}
		fmt.Fprintf(out, "%-12s %s: %s\n", name, part.Name, part.State)
	}
	fmt.Fprintln(out)
	return printNodes(out, s.Nodes)
}

func printNodes(out io.Writer, nodes []local.NodeStatus) error {
	if len(nodes) == 0 {
		_, err := fmt.Fprintln(out, "no nodes; add a node with: vc-local nodes add --process 1")
		return err
	}
	table := render.Table{Header: []string{"NODE", "KIND", "READY", "CPU", "MEMORY", "PODS"}}
	nodes = slices.SortedFunc(slices.Values(nodes), func(a, b local.NodeStatus) int { return compareNumbered(a.Name, b.Name) })
	for _, node := range nodes[:min(len(nodes), mostRows)] {
		table.Rows = append(table.Rows, []string{node.Name, node.Kind, yesNo(node.Ready), formatAmount(corev1.ResourceCPU, node.CPU), formatAmount(corev1.ResourceMemory, node.Memory), fmt.Sprint(node.Pods)})
	}
	if err := table.Fprint(out); err != nil {
		return err
	}
	if more := len(nodes) - mostRows; more > 0 {
		fmt.Fprintf(out, "and %d more; use -o json to list all nodes\n", more)
	}
	return nil
}

// formatAmount formats a quantity for users.
func formatAmount(name corev1.ResourceName, text string) string {
	quantity, err := resource.ParseQuantity(text)
	switch {
	case err != nil:
		return text
	case name == corev1.ResourceCPU:
		return render.FormatAmount(name, quantity.MilliValue())
	}
	return render.FormatAmount(name, quantity.Value())
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
