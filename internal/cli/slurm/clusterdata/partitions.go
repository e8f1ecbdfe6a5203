package clusterdata

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/sinfo"
	"github.com/vc-batch/vc/internal/usererror"
)

// ReadPartitions reads nodes, pods and queues, and returns the partitions and all nodes. If the user is not allowed to
// list pods, all nodes appear unused.
func ReadPartitions(ctx context.Context, c *program.Call) ([]*sinfo.Partition, []*sinfo.Node, error) {
	cl, err := c.Factory.Client()
	if err != nil {
		return nil, nil, err
	}
	v := &View{Client: cl}
	if err := v.ReadQueues(ctx); err != nil {
		return nil, nil, err
	}
	var nodes []corev1.Node
	page := &corev1.NodeList{}
	err = cli.ListPages(ctx, cl, page, func() error {
		nodes = append(nodes, page.Items...)
		page.Items = nil
		return nil
	})
	if apierrors.IsForbidden(err) {
		c.PrintNoteOnce("you are not allowed to list nodes: partitions are shown without nodes")
	} else if err != nil {
		return nil, nil, err
	}
	var pods []corev1.Pod
	podPage := &corev1.PodList{}
	err = cli.ListPages(ctx, cl, podPage, func() error {
		pods = append(pods, podPage.Items...)
		podPage.Items = nil
		return nil
	}, client.MatchingFieldsSelector{Selector: unended})
	if apierrors.IsForbidden(err) {
		c.PrintNoteOnce("you are not allowed to list pods in all namespaces: nodes in use may be shown as idle")
	} else if err != nil {
		return nil, nil, err
	}
	var queues []*schedulingv1beta1.Queue
	for _, q := range v.Queues {
		queues = append(queues, q)
	}
	site, err := ReadSiteProfile(ctx, c, cl)
	if err != nil {
		return nil, nil, err
	}
	list := sinfo.NodesOf(nodes, pods, site, c.Factory.Now())
	return sinfo.PartitionsOf(queues, list, site), list, nil
}

// ReadSiteProfile returns the site's profile. If the profile cannot be read, it prints a note and returns an empty one.
func ReadSiteProfile(ctx context.Context, c *program.Call, cl client.Client) (*profile.Profile, error) {
	namespace, err := c.Factory.Namespace()
	if err != nil {
		return nil, err
	}
	p, _, err := ReadProfile(ctx, c, cl, namespace)
	switch {
	case apierrors.IsForbidden(err):
		c.PrintNoteOnce("you are not allowed to read ConfigMap %s in namespace %s: the site's profile is not used", profile.Name, namespace)
	case err != nil:
		c.PrintNoteOnce("ConfigMap %s is ignored: %s", profile.Name, c.ToSlurmError(err).What)
	default:
		return p, nil
	}
	return &profile.Profile{}, nil
}

// SystemNamespace is the namespace of the site's default profile.
const SystemNamespace = "volcano-system"

// ReadProfile reads the profile in the namespace or, if none exists, the profile in the system namespace. If neither
// exists, it returns an empty profile. If the user is not allowed to read the profile in the system namespace, it prints
// a note, returns an empty profile, and hidden is that namespace.
func ReadProfile(ctx context.Context, c *program.Call, cl client.Client, namespace string) (p *profile.Profile, hidden string, err error) {
	for _, where := range []string{namespace, SystemNamespace} {
		found := &corev1.ConfigMap{}
		err := cl.Get(ctx, client.ObjectKey{Namespace: where, Name: profile.Name}, found)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case apierrors.IsForbidden(err) && where != namespace:
			c.PrintNoteOnce("you are not allowed to read ConfigMap %s in namespace %s: the site's partitions, accounts, limits and volumes are not used; an administrator can bind the role vc-slurm-profile there", profile.Name, where)
			hidden = where
			continue
		case err != nil:
			return nil, "", err
		}
		if p, err = profile.ParseProfile([]byte(found.Data[profile.Key])); err != nil {
			return nil, "", usererror.Errorf("the profile is in namespace "+where, "%v", err)
		}
		return p, "", nil
	}
	return &profile.Profile{}, hidden, nil
}

// ListPriorityClasses returns the names of the priority classes, or nil if they cannot be read.
func ListPriorityClasses(ctx context.Context, cl client.Client) []string {
	classes := ReadPriorityClasses(ctx, cl)
	if classes == nil {
		return nil
	}
	return append([]string{}, slices.Sorted(maps.Keys(classes))...) // not nil: the classes are known
}

// ReadPriorityClasses returns the values of the priority classes by name. It returns nil if they cannot be read.
func ReadPriorityClasses(ctx context.Context, cl client.Client) map[string]int32 {
	list := &schedulingv1.PriorityClassList{}
	classes := map[string]int32{}
	err := cli.ListPages(ctx, cl, list, func() error {
		for i := range list.Items {
			classes[list.Items[i].Name] = list.Items[i].Value
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return classes
}
