package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/render"
)

// hyperOptions holds the inputs of `vcctl node hypernodes`.
type hyperOptions struct {
	f         *cli.Factory
	out       cli.Output
	names     []string
	noHeaders bool
}

func newHyperNodes(f *cli.Factory, run func(context.Context, *hyperOptions) error) *cobra.Command {
	o := &hyperOptions{f: f}
	cmd := &cobra.Command{
		Use:     "hypernodes [NAME...]",
		Aliases: []string{"hypernode", "hn"},
		Short:   "Show the tree of HyperNodes: tiers, nodes and idle resources",
		Long: cli.FormatHelp(`
			Show which nodes are near each other: the tree that the scheduler builds from the
			HyperNodes (topology.volcano.sh), with the tier of each HyperNode, the number of
			its nodes, and their total idle resources. The lower the tier, the closer
			together the nodes are. Nodes that are cordoned or not ready are counted, but
			their idle resources are not. NOTE shows which part of a HyperNode the scheduler
			cannot use, and why.

			With names, only the trees below these HyperNodes are shown. -o wide lists the
			names of the nodes; -o json prints the HyperNodes.`),
		Example: f.FormatExamples(`
			# The whole tree; its last line shows the nodes that belong to no HyperNode
			vcctl node hypernodes

			# One subtree, with the names of its nodes
			vcctl node hypernodes leaf-1 -o wide

			# The number of nodes in a HyperNode, for a script
			vcctl node hypernodes leaf-1 -o jsonpath='{.status.nodeCount}'`),
		ValidArgsFunction: f.CompleteKind(hyperNodeKind(), false),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				o.names = append(o.names, cli.BareName(arg, "hypernodes"))
			}
			return run(cmd.Context(), o)
		},
	}
	o.out.AddFormatFlags(cmd, true)
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Omit the header row")
	return cmd
}

func listHyperNodes(ctx context.Context, o *hyperOptions) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	hypers, err := readHyperNodes(ctx, c)
	if err != nil {
		return err
	}
	if err := o.checkNames(hypers); err != nil {
		return err
	}
	if o.out.IsMachineReadable() {
		return o.printObjects(hypers)
	}
	if len(hypers) == 0 {
		_, err := fmt.Fprintln(o.f.Streams.Err, "No resources found.")
		return err
	}
	nodes, err := ReadNodes(ctx, c)
	if err != nil {
		return err
	}
	pods, _, err := ReadPods(ctx, c, "")
	unknown := apierrors.IsForbidden(err)
	if unknown {
		o.f.Warnf("idle resources are unknown: %s", cli.HumanizeError(err, cli.Connection{}).What)
	} else if err != nil {
		return err
	}
	return o.printTrees(newNear(hypers, nodes, nodecapacity.RoomOfAllNodes(nodes, pods), unknown))
}

func hyperNodeKind() schema.GroupVersionKind {
	return topologyv1alpha1.GroupVersion.WithKind("HyperNode")
}

func readHyperNodes(ctx context.Context, c client.Client) ([]*topologyv1alpha1.HyperNode, error) {
	return cli.ListObjects[*topologyv1alpha1.HyperNode](ctx, c, &topologyv1alpha1.HyperNodeList{})
}

// checkNames returns an error for names that are not hypernodes.
func (o *hyperOptions) checkNames(hypers []*topologyv1alpha1.HyperNode) error {
	names := make([]string, len(hypers))
	for i, h := range hypers {
		names[i] = h.Name
	}
	for _, name := range o.names {
		if !slices.Contains(names, name) {
			e := cli.NotFoundError("hypernode", name, "", names)
			e.Hint = strings.TrimSpace(e.Hint + " vcctl node hypernodes shows the existing ones")
			return e
		}
	}
	return nil
}

func (o *hyperOptions) printObjects(hypers []*topologyv1alpha1.HyperNode) error {
	var objects []client.Object
	for _, h := range hypers {
		if len(o.names) == 0 || slices.Contains(o.names, h.Name) {
			objects = append(objects, h)
		}
	}
	return o.out.PrintObjects(o.f, objects, len(o.names) == 1)
}

// near holds the tree of hypernodes from the scheduler's model, and the resources of the nodes.
type near struct {
	names    []string // node names, indexed by model.NodeID
	topology *model.Topology
	rooms    map[string]nodecapacity.Room
	tiers    map[string]string // display names of tiers, by hypernode
	unknown  bool
}

func newNear(hypers []*topologyv1alpha1.HyperNode, nodes []*corev1.Node, rooms []nodecapacity.Room, unknown bool) *near {
	cluster := model.New()
	t := &near{rooms: map[string]nodecapacity.Room{}, tiers: map[string]string{}, unknown: unknown}
	for _, node := range nodes {
		cluster.Apply(model.NodeFrom(node))
	}
	for _, h := range hypers {
		cluster.Apply(model.HyperNodeFrom(h))
		t.tiers[h.Name] = strconv.Itoa(h.Spec.Tier)
		if h.Spec.TierName != "" {
			t.tiers[h.Name] += " " + h.Spec.TierName
		}
	}
	for i := range rooms {
		t.rooms[rooms[i].Name] = rooms[i]
	}
	t.names, t.topology = cluster.Nodes.Name, cluster.Topology()
	return t
}

// printTrees prints the trees below the named hypernodes. Without names, it prints all trees and the nodes outside of
// them.
func (o *hyperOptions) printTrees(t *near) error {
	table := render.Table{NoHeader: o.noHeaders, FreeText: true, Header: []string{"NAME", "TIER", "NODES", "IDLE CPU", "IDLE MEMORY", "IDLE DEVICES"}}
	if o.out.IsWide() {
		table.Header = append(table.Header, "NODE NAMES")
	} else {
		table.MaxWidth = o.f.Streams.Width
	}
	table.Header = append(table.Header, "NOTE")
	table.SetSpareColumns("TIER", "IDLE MEMORY")
	add := func(d *model.Domain, name, tier, indent string, ids []model.NodeID) {
		table.Rows = append(table.Rows, t.treeRow(o, d, indent+name, tier, ids))
	}
	fork, last, down := "|- ", "`- ", "|  "
	if o.f.Streams.SupportsUnicode() {
		fork, last, down = "├─ ", "└─ ", "│  "
	}
	var walk func(d *model.Domain, own, below string)
	walk = func(d *model.Domain, own, below string) {
		add(d, d.Name, t.tiers[d.Name], own, d.All)
		for i, child := range sortByName(d.Children) {
			if i == len(d.Children)-1 {
				walk(child, below+last, below+"   ")
			} else {
				walk(child, below+fork, below+down)
			}
		}
	}
	for _, d := range t.selectRoots(o.names) {
		walk(d, "", "")
	}
	if root := t.topology.Root; len(o.names) == 0 && len(root.Own) > 0 {
		add(root, "(none)", "-", "", root.Own)
	}
	return table.Fprint(o.f.Streams.Out)
}

// selectRoots returns the roots of the trees to print: the named hypernodes or, without names, all hypernodes that have
// no parent, including unusable ones.
func (t *near) selectRoots(names []string) []*model.Domain {
	var tops []*model.Domain
	for _, d := range t.topology.Domains {
		selected := slices.Contains(names, d.Name)
		if len(names) == 0 {
			selected = d.Parent == nil || d.Parent == t.topology.Root
		}
		if selected && d != t.topology.Root {
			tops = append(tops, d)
		}
	}
	return sortByName(tops)
}

func sortByName(domains []*model.Domain) []*model.Domain {
	sorted := slices.Clone(domains)
	slices.SortFunc(sorted, func(a, b *model.Domain) int { return cmp.Compare(a.Name, b.Name) })
	return sorted
}

// treeRow returns the table row for a hypernode, or for the nodes outside of all hypernodes.
func (t *near) treeRow(o *hyperOptions, d *model.Domain, name, tier string, ids []model.NodeID) []string {
	var idle, has nodecapacity.Amounts
	var names []string
	for _, id := range ids {
		at := t.rooms[t.names[id]]
		names = append(names, t.names[id])
		has.Add(at.Has, 1)
		if at.Usable {
			idle.Add(at.Idle, 1)
		}
	}
	row := []string{name, tier, strconv.Itoa(len(ids)), textOrUnknown(false, t.unknown, render.FormatCores(idle.MilliCPU)),
		textOrUnknown(false, t.unknown, render.FormatMemory(idle.MemoryBytes)), devicesText(idle, has, t.unknown)}
	if o.out.IsWide() {
		row = append(row, cmp.Or(strings.Join(names, ","), "-"))
	}
	return append(row, cmp.Or(d.Problem, d.Lacks))
}
