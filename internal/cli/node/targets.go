package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// targets selects the nodes that a command changes, by name or by label.
type targets struct {
	names    []string
	selector string
	verb     string
}

func (t *targets) addFlags(cmd *cobra.Command) {
	t.verb = cmd.Name()
	cmd.Flags().StringVarP(&t.selector, "selector", "l", "", "Label selector, for example gpu=a100,stage!=test")
}

// addArguments stores the arguments. It returns an error if the command has neither names nor a selector, or both.
func (t *targets) addArguments(f *cli.Factory, cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if name := cli.BareName(arg, "nodes"); !slices.Contains(t.names, name) {
			t.names = append(t.names, name)
		}
	}
	switch {
	case len(t.names) == 0 && t.selector == "":
		return usererror.Errorf(fmt.Sprintf("%s NAME or -l SELECTOR; `%s node list` shows the names", cli.CommandPath(f, cmd), f.Program), "specify the name of a node")
	case len(t.names) > 0 && t.selector != "":
		return cli.UsageError(f, cmd, "names cannot be combined with --selector: remove one of them")
	}
	return nil
}

// readNodes returns the selected nodes. If a named node does not exist, it returns only an error, so that the command
// changes no nodes.
func (t *targets) readNodes(ctx context.Context, f *cli.Factory, c client.Client) ([]*corev1.Node, error) {
	if t.selector != "" {
		return t.readMatching(ctx, f, c)
	}
	var nodes []*corev1.Node
	var problems []error
	for _, name := range t.names {
		node := &corev1.Node{}
		err := c.Get(ctx, client.ObjectKey{Name: name}, node)
		if cli.IsMissing(err) {
			missing := cli.NotFoundError("node", name, "", f.SuggestNames(corev1.SchemeGroupVersion.WithKind("Node"), false)(ctx))
			if missing.Hint == "" {
				missing.Hint = "`" + f.Program + " node list` shows the names"
			}
			missing.Err, err = err, missing
		}
		nodes, problems = append(nodes, node), append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return nodes, nil
}

// readMatching returns the nodes that match the label selector. It prints a note if no node matches.
func (t *targets) readMatching(ctx context.Context, f *cli.Factory, c client.Client) ([]*corev1.Node, error) {
	labels, err := cli.ParseSelector(t.selector)
	if err != nil {
		return nil, err
	}
	nodes, err := cli.ListObjects[*corev1.Node](ctx, c, &corev1.NodeList{}, labels)
	if err == nil && len(nodes) == 0 {
		fmt.Fprintf(f.Streams.Err, "No node to %s.\n", t.verb)
	}
	return nodes, err
}
