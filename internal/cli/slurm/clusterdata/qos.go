package clusterdata

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// ListQOS returns the names of the QOS. It returns nil if there are none, or if they cannot be read, for example because the
// cluster does not have the kind.
func ListQOS(ctx context.Context, cl client.Client) []string {
	list := &accountv1alpha1.QOSList{}
	var names []string
	err := cli.ListPages(ctx, cl, list, func() error {
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	slices.Sort(names)
	return names
}
