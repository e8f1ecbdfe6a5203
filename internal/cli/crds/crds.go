// Package crds implements `vcctl crds`, which shows and updates the CRDs of vc in a cluster.
package crds

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/crdcompare"
)

// New returns `vcctl crds`.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.NewCommandGroup(f, "crds", "Show and update vc's resource definitions", `
		Show and update the definitions of vc's kinds in the cluster
		(CustomResourceDefinitions, CRDs). vcctl contains the CRDs of its own version.`)
	cmd.AddCommand(newApply(f, applyCRDs), newList(f, listCRDs))
	return cmd
}

// pair holds one CRD of this program, the same CRD of the cluster, and their comparison.
type pair struct {
	own, have *apiextensionsv1.CustomResourceDefinition // have is nil if the cluster has no such CRD
	crdcompare.Comparison
}

// readPairs reads the CRDs of the cluster that this program contains, and compares them.
func readPairs(ctx context.Context, c client.Reader) ([]*pair, error) {
	var pairs []*pair
	for _, own := range deploy.CRDs() {
		p := &pair{own: own}
		var have apiextensionsv1.CustomResourceDefinition
		err := c.Get(ctx, client.ObjectKeyFromObject(own), &have)
		switch {
		case err == nil:
			p.have = &have
		case !apierrors.IsNotFound(err):
			return nil, err
		}
		p.Comparison = crdcompare.Compare(p.have, own)
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// joinErrors calls do for each pair and joins the errors.
func joinErrors(pairs []*pair, do func(*pair) error) error {
	var problems []error
	for _, p := range pairs {
		problems = append(problems, do(p))
	}
	return errors.Join(problems...)
}
