package node

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/render"
)

// listOptions holds the inputs of `vcctl node list`.
type listOptions struct {
	f      *cli.Factory
	out    cli.Output
	names  []string
	labels string
}

func newList(f *cli.Factory, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{f: f}
	cmd := &cobra.Command{
		Use:     "list [NAME...]",
		Aliases: []string{"ls", "get"},
		Short:   "List nodes with their allocatable and idle resources",
		Long: cli.FormatHelp(`
			List nodes with their allocatable and idle resources. DEVICES shows
			the idle and the allocatable number of each device, as IDLE/ALLOCATABLE.

			The idle amount is a node's allocatable amount minus the requests of its pods,
			as the scheduler calculates it; it does not depend on actual usage. To see idle
			resources, you need permission to list pods.`),
		Example: f.FormatExamples(`
			# All nodes
			vcctl node list

			# Nodes with a label, with taints, pods and addresses
			vcctl node list -l gpu=a100 -o wide

			# Sorted by idle CPU, lowest first
			vcctl node list --sort-by 'idle cpu'

			# Add a row whenever a pod starts or ends on either of two nodes
			vcctl node list n1 n2 -w`),
		ValidArgsFunction: f.CompleteNodes(),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				o.names = append(o.names, cli.BareName(arg, "nodes"))
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "List the nodes that match this label selector")
	o.out.AddListFlags(cmd)
	cli.AcceptAllNamespaces(cmd)
	cli.CompleteColumns(cmd, func() []cli.Column[*corev1.Node] { return listColumns(f, &podTracker{f: f}) })
	return cmd
}

func listNodes(ctx context.Context, o *listOptions) error {
	labels, err := cli.ParseSelector(o.labels)
	if err != nil {
		return err
	}
	b := &podTracker{f: o.f}
	if len(o.names) == 1 {
		b.only = o.names[0]
	}
	l := &cli.List[*corev1.Node]{
		Kind: "nodes", New: func() client.ObjectList { return &corev1.NodeList{} },
		Columns: listColumns(o.f, b), Spare: spare, Names: o.names, Selector: labels, Single: len(o.names) == 1,
		Suggest: o.f.SuggestNames(corev1.SchemeGroupVersion.WithKind("Node"), false), Prepare: b.readPodsOnce, Touched: b.watchPods,
	}
	return l.Run(ctx, o.f, &o.out)
}

// podTracker tracks the pods on each node and derives the nodes' resources from them.
type podTracker struct {
	f *cli.Factory
	// only is the only node whose pods are tracked; if empty, the pods of all nodes are tracked.
	only    string
	ready   bool
	unknown bool
	version string
	pods    map[string]map[types.UID]*corev1.Pod // by node
	at      map[types.UID]string
}

// readPodsOnce reads the pods on the first call and does nothing on later calls.
func (b *podTracker) readPodsOnce(ctx context.Context, _ []*corev1.Node) error {
	if b.ready {
		return nil
	}
	b.ready = true
	c, err := b.f.Client()
	if err != nil {
		return err
	}
	pods, version, err := ReadPods(ctx, c, b.only)
	if apierrors.IsForbidden(err) {
		b.unknown = true
		b.f.Warnf("idle resources are unknown: %s", cli.HumanizeError(err, cli.Connection{}).What)
		return nil
	}
	b.replacePods(pods)
	b.version = version
	return err
}

// replacePods replaces all tracked pods.
func (b *podTracker) replacePods(pods []*corev1.Pod) {
	b.pods, b.at = map[string]map[types.UID]*corev1.Pod{}, map[types.UID]string{}
	for _, pod := range pods {
		b.storePod(pod)
	}
}

// storePod adds or updates a pod.
func (b *podTracker) storePod(pod *corev1.Pod) {
	b.removePod(pod.UID)
	node := pod.Spec.NodeName
	if node == "" {
		return
	}
	if b.pods[node] == nil {
		b.pods[node] = map[types.UID]*corev1.Pod{}
	}
	b.pods[node][pod.UID], b.at[pod.UID] = pod, node
}

func (b *podTracker) removePod(uid types.UID) {
	if node, known := b.at[uid]; known {
		delete(b.pods[node], uid)
		delete(b.at, uid)
	}
}

// nodeResources returns the allocatable and requested resources of a node.
func (b *podTracker) nodeResources(node *corev1.Node) nodecapacity.Room {
	held := &nodecapacity.Amounts{}
	for _, pod := range b.pods[node.Name] {
		held.Add(nodecapacity.RequestedByPod(pod), 1)
	}
	r := nodecapacity.RoomOfNode(node, held)
	r.Unknown = b.unknown
	return r
}

// watchPods watches the pods, so that rows are updated when pods on their nodes start or end.
func (b *podTracker) watchPods(ctx context.Context) (<-chan cli.Touch, error) {
	touches := make(chan cli.Touch)
	if b.unknown {
		return touches, nil
	}
	c, err := b.f.Client()
	if err != nil {
		return nil, err
	}
	send := func(touch cli.Touch) bool {
		select {
		case touches <- touch:
			return true
		case <-ctx.Done():
			return false
		}
	}
	anew := func(ctx context.Context) (string, error) {
		pods, version, err := ReadPods(ctx, c, b.only)
		if err == nil {
			send(cli.Touch{All: true, Apply: func() { b.replacePods(pods) }})
		}
		return version, err
	}
	go func() {
		err := cli.WatchChanges(ctx, b.f.RetryingClient(c), func() client.ObjectList { return &corev1.PodList{} }, b.version, anew, func(kind watch.EventType, pod *corev1.Pod) bool {
			return send(b.newTouch(kind, slimPod(pod)))
		}, assignedTo(b.only))
		if err != nil {
			send(cli.Touch{Err: err})
		}
	}()
	return touches, nil
}

// newTouch converts a pod event to a change to the row of the pod's node.
func (b *podTracker) newTouch(kind watch.EventType, pod *corev1.Pod) cli.Touch {
	return cli.Touch{Key: types.NamespacedName{Name: pod.Spec.NodeName}, Apply: func() {
		if kind == watch.Deleted {
			b.removePod(pod.UID)
			return
		}
		b.storePod(pod)
	}}
}

func listColumns(f *cli.Factory, b *podTracker) []cli.Column[*corev1.Node] {
	type node = *corev1.Node
	type column = cli.Column[node]
	style := render.Style{Enabled: f.Streams.IsColored()}
	amount := func(title string, idle bool, of func(*nodecapacity.Amounts) int64, text func(int64) string) column {
		value := func(n node) int64 {
			r := b.nodeResources(n)
			if idle {
				return of(&r.Idle)
			}
			return of(&r.Has)
		}
		return column{Title: title, Text: func(n node) string { return textOrUnknown(!idle, b.unknown, text(value(n))) },
			Compare: func(x, y node) int { return cmp.Compare(value(x), value(y)) }}
	}
	cpu, memory := func(a *nodecapacity.Amounts) int64 { return a.MilliCPU }, func(a *nodecapacity.Amounts) int64 { return a.MemoryBytes }
	return []column{
		{Title: "NAME", Text: func(n node) string { return n.Name }},
		{Title: "STATUS", Text: func(n node) string { return style.PaintPhase(nodecapacity.StatusText(n)) }},
		amount("CPU", false, cpu, render.FormatCores), amount("IDLE CPU", true, cpu, render.FormatCores),
		amount("MEMORY", false, memory, render.FormatMemory), amount("IDLE MEMORY", true, memory, render.FormatMemory),
		{Title: "DEVICES", Text: func(n node) string { r := b.nodeResources(n); return devicesText(r.Idle, r.Has, r.Unknown) }},
		{Title: "PODS", Wide: true, Text: func(n node) string {
			return textOrUnknown(false, b.unknown, strconv.Itoa(len(b.pods[n.Name]))) + "/" + n.Status.Allocatable.Pods().String()
		}},
		{Title: "TAINTS", Wide: true, Text: taintsText},
		{Title: "ADDRESS", Wide: true, Text: func(n node) string { return cmp.Or(nodecapacity.InternalAddress(n), "-") }},
		{Title: "AGE", Wide: true, Volatile: true, Text: func(n node) string { return render.FormatAgeSince(f.Now(), n.CreationTimestamp.Time) },
			Compare: func(a, b node) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) }},
	}
}

func taintsText(n *corev1.Node) string {
	texts := make([]string, len(n.Spec.Taints))
	for i := range n.Spec.Taints {
		texts[i] = n.Spec.Taints[i].ToString()
	}
	return cmp.Or(strings.Join(texts, ","), "-")
}
