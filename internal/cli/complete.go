package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Completion must feel instant, so it gives up after completionTime and offers at most completionNames names.
const (
	completionTime  = time.Second
	completionNames = 500
)

// Completer is cobra's completion function for an argument or a flag.
type Completer = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// CompleteJobs offers the names of the jobs in the namespace.
func (f *Factory) CompleteJobs() Completer {
	return f.CompleteKind(batchv1alpha1.GroupVersion.WithKind("Job"), true)
}

// CompleteQueues offers the names of the queues.
func (f *Factory) CompleteQueues() Completer {
	return f.CompleteKind(schedulingv1beta1.GroupVersion.WithKind("Queue"), false)
}

// CompleteLeafQueues offers the names of the queues that accept jobs: open queues without child queues.
func (f *Factory) CompleteLeafQueues() Completer {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completionTime)
		defer cancel()
		queues := f.ReadQueues(ctx)
		parents := map[string]bool{keys.RootQueue: true}
		for _, queue := range queues {
			parents[queue.ParentName()] = true
		}
		var names []string
		for _, queue := range queues {
			if !parents[queue.Name] && (queue.Status.State == "" || queue.IsOpen()) {
				names = append(names, queue.Name)
			}
		}
		return offerNames(names, args, prefix)
	}
}

// CompleteNodes offers the names of the nodes.
func (f *Factory) CompleteNodes() Completer {
	return f.CompleteKind(corev1.SchemeGroupVersion.WithKind("Node"), false)
}

// CompleteNodeLabels offers the labels of the nodes, as KEY=VALUE.
func (f *Factory) CompleteNodeLabels() Completer {
	nodes := &metav1.PartialObjectMetadataList{}
	nodes.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	return f.completeFromNodes(nodes, func() []string {
		labels := map[string]bool{}
		for i := range nodes.Items {
			for key, value := range nodes.Items[i].Labels {
				labels[key+"="+value] = true
			}
		}
		return slices.Collect(maps.Keys(labels))
	})
}

// CompleteTaints offers the taints of the nodes in kubectl's format, KEY=VALUE:EFFECT.
func (f *Factory) CompleteTaints() Completer {
	nodes := &corev1.NodeList{}
	return f.completeFromNodes(nodes, func() []string {
		var taints []string
		for i := range nodes.Items {
			for _, taint := range nodes.Items[i].Spec.Taints {
				if text := taint.ToString(); !slices.Contains(taints, text) {
					taints = append(taints, text)
				}
			}
		}
		return taints
	})
}

// completeFromNodes lists the objects into nodes and then offers the words that words returns.
func (f *Factory) completeFromNodes(nodes client.ObjectList, words func() []string) Completer {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completionTime)
		defer cancel()
		c, err := f.Client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if err := c.List(ctx, nodes, client.Limit(completionNames)); err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offerNames(words(), nil, prefix)
	}
}

// CompletePriorityClasses offers the names of the priority classes.
func (f *Factory) CompletePriorityClasses() Completer {
	return f.CompleteKind(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"), false)
}

// CompleteNamespaces offers the names of the namespaces.
func (f *Factory) CompleteNamespaces() Completer {
	return f.CompleteKind(corev1.SchemeGroupVersion.WithKind("Namespace"), false)
}

// CompleteContexts offers the contexts of the kubeconfig.
func (f *Factory) CompleteContexts() Completer {
	return f.completeConfig(func(raw clientcmdapi.Config) []string { return slices.Collect(maps.Keys(raw.Contexts)) })
}

// CompleteClusters offers the clusters of the kubeconfig.
func (f *Factory) CompleteClusters() Completer {
	return f.completeConfig(func(raw clientcmdapi.Config) []string { return slices.Collect(maps.Keys(raw.Clusters)) })
}

// CompleteUsers offers the users of the kubeconfig.
func (f *Factory) CompleteUsers() Completer {
	return f.completeConfig(func(raw clientcmdapi.Config) []string { return slices.Collect(maps.Keys(raw.AuthInfos)) })
}

func (f *Factory) completeConfig(names func(clientcmdapi.Config) []string) Completer {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		raw, err := f.Config.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offerNames(names(raw), nil, prefix)
	}
}

// CompleteEither offers the words from both completers, starting with the words from the first.
func CompleteEither(first, second Completer) Completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		words, _ := first(cmd, args, prefix)
		more, directive := second(cmd, args, prefix)
		return append(words, more...), directive
	}
}

// CompleteValues offers a fixed set of words.
func CompleteValues(words ...string) Completer {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return offerNames(words, nil, prefix)
	}
}

func offerNames(names, taken []string, prefix string) ([]string, cobra.ShellCompDirective) {
	kept := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.HasPrefix(name, prefix) || slices.Contains(taken, name)
	})
	slices.Sort(kept)
	return kept[:min(len(kept), completionNames)], cobra.ShellCompDirectiveNoFileComp
}

// CompleteKind offers the names of the objects of a kind. If namespaced is true, only objects in the namespace are
// offered.
func (f *Factory) CompleteKind(gvk schema.GroupVersionKind, namespaced bool) Completer {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completionTime)
		defer cancel()
		names, err := f.ListNames(ctx, gvk, namespaced)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offerNames(names, args, prefix)
	}
}

// WarnUnknown prints a warning if a flag names objects of a kind that do not exist. It does nothing if it cannot read
// the names.
func (f *Factory) WarnUnknown(ctx context.Context, flag, called string, gvk schema.GroupVersionKind, wanted ...string) {
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return name == "" })
	if len(wanted) == 0 {
		return
	}
	names, err := f.ListNames(ctx, gvk, false)
	if err != nil || len(names) == completionNames {
		return
	}
	for _, name := range wanted {
		if name = BareName(name, called+"s"); !slices.Contains(names, name) {
			missing := NotFoundError(called, name, "", names)
			f.Warnf("%s: %s", flag, strings.TrimSuffix(missing.What+"; "+missing.Hint, "; "))
		}
	}
}

// SuggestNames returns a function for List.Suggest, which returns the names of the objects of a kind, or an empty slice
// if there is an error.
func (f *Factory) SuggestNames(gvk schema.GroupVersionKind, namespaced bool) func(context.Context) []string {
	return func(ctx context.Context) []string {
		names, err := f.ListNames(ctx, gvk, namespaced)
		if err != nil {
			return []string{}
		}
		return names
	}
}

// ListNames returns up to completionNames names of objects of a kind, reading only metadata. For pods, it returns only
// the names of pods that belong to jobs.
func (f *Factory) ListNames(ctx context.Context, gvk schema.GroupVersionKind, namespaced bool) ([]string, error) {
	c, err := f.Client()
	if err != nil {
		return nil, err
	}
	options := []client.ListOption{client.Limit(completionNames)}
	if namespaced {
		namespace, err := f.Namespace()
		if err != nil {
			return nil, err
		}
		options = append(options, client.InNamespace(namespace))
	}
	if gvk == corev1.SchemeGroupVersion.WithKind("Pod") {
		options = append(options, client.HasLabels{keys.JobName})
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := c.List(ctx, list, options...); err != nil {
		return nil, err
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	return names, nil
}
