package submit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/translate"
)

// site holds the data about the cluster that a submission depends on.
type site struct {
	namespace, cluster string
	profile            *profile.Profile
	facts              translate.Facts
}

// effectiveOptions returns the options that have no effect by default but have an effect with this site's profile.
func (s *site) effectiveOptions() []string {
	if s.profile.NumaHints {
		return []string{"hint", "mem-bind"}
	}
	return nil
}

// readSite reads the profile, and the data about the cluster that the request needs.
func readSite(ctx context.Context, c *program.Call, r *request.Request) (*site, error) {
	namespace, err := c.Factory.Namespace()
	if err != nil {
		return nil, err
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return nil, err
	}
	s := &site{namespace: namespace}
	if s.profile, s.facts.HiddenProfile, err = clusterdata.ReadProfile(ctx, c, cl, namespace); err != nil {
		return nil, err
	}
	s.cluster = cmp.Or(s.profile.ClusterName, c.ClusterName())
	s.facts.Queues = listQueues(ctx, cl)
	s.facts.ServiceAccount = hasServiceAccount(ctx, cl, namespace, s.profile.ServiceAccount)
	if r.QOS != "" {
		s.facts.Classes, s.facts.QOS = clusterdata.ListPriorityClasses(ctx, cl), clusterdata.ListQOS(ctx, cl)
	}
	nodeCountFollows := r.Nodes == nil && (r.Tasks > 0 || len(r.GPUs) > 0)
	lacksImage := r.Image == "" && s.profile.DefaultImage == ""
	if nodeCountFollows || len(r.Nodelist) > 0 || lacksImage {
		s.readNodes(ctx, cl, translate.SelectableLabels(s.profile, r))
	}
	return s, nil
}

// hasServiceAccount reports whether a namespace has a service account. It returns false if the service account cannot
// be read, because pods that refer to a missing one are rejected.
func hasServiceAccount(ctx context.Context, cl client.Client, namespace, name string) bool {
	if name == "" {
		return false
	}
	return cl.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &corev1.ServiceAccount{}) == nil
}

// listQueues returns the queues. It returns nil if they cannot be read, in which case the API server validates the
// queue and its limits.
func listQueues(ctx context.Context, cl client.Client) []translate.Queue {
	list, err := cli.ListObjects[*schedulingv1beta1.Queue](ctx, cl, &schedulingv1beta1.QueueList{})
	if err != nil {
		return nil
	}
	lookup := schedulingv1beta1.NewQueueLookup(list...)
	queues := []translate.Queue{}
	for _, q := range list {
		queues = append(queues, translate.Queue{Name: q.Name, Admits: q.AdmitsGroup, Open: q.IsOpen(), Limits: schedulingv1beta1.EffectiveJobLimitsOf(q.Name, lookup)})
	}
	return queues
}

// readNodes reads the nodes. It records the resources of nodes that accept ordinary pods, and the values of the
// specified labels. It also records whether all nodes were created by vc-local, because their pods use the programs
// that are installed on this machine.
func (s *site) readNodes(ctx context.Context, cl client.Client, labels []string) {
	list := &corev1.NodeList{}
	nodes, plain := 0, 0
	seen := map[string]int{}
	err := cli.ListPages(ctx, cl, list, func() error {
		for i := range list.Items {
			node := &list.Items[i]
			nodes++
			s.facts.NodeNames = append(s.facts.NodeNames, node.Name)
			if node.Labels[keys.NodeKind] != "" {
				plain++
			}
			if slices.ContainsFunc(node.Spec.Taints, excludesPods) {
				continue
			}
			like := translate.Node{Group: node.Labels[keys.NodeGroup], Labels: selectLabels(node.Labels, labels), Allocatable: node.Status.Allocatable,
				Away: node.Spec.Unschedulable || slices.ContainsFunc(node.Spec.Taints, isTemporary)}
			key := fmt.Sprint(like)
			if _, known := seen[key]; !known {
				seen[key] = len(s.facts.Nodes)
				s.facts.Nodes = append(s.facts.Nodes, like)
			}
			s.facts.Nodes[seen[key]].Count++
		}
		return nil
	})
	if err != nil {
		s.facts.Nodes, s.facts.NodeNames = nil, nil
	}
	s.facts.Helper = err == nil && nodes > 0 && nodes == plain
}

// selectLabels returns the labels whose keys are in looked.
func selectLabels(of map[string]string, looked []string) map[string]string {
	labels := map[string]string{}
	for _, key := range looked {
		if value, has := of[key]; has {
			labels[key] = value
		}
	}
	return labels
}

// ofConditions is the prefix of the taints that Kubernetes sets while a node is drained, not ready, or short of a
// resource.
const ofConditions = "node.kubernetes.io/"

// excludesPods reports whether a taint permanently excludes pods without a toleration.
func excludesPods(t corev1.Taint) bool {
	return (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute) && !strings.HasPrefix(t.Key, ofConditions)
}

// isTemporary reports whether a taint excludes pods only temporarily.
func isTemporary(t corev1.Taint) bool {
	return t.Effect != corev1.TaintEffectPreferNoSchedule && strings.HasPrefix(t.Key, ofConditions)
}
