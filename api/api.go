// Package api registers all API kinds: the kinds of Volcano, some of them with optional additions, and this project's
// own.
package api

import (
	"k8s.io/apimachinery/pkg/runtime"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
)

// AddToScheme registers every kind of the project in s.
func AddToScheme(s *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{
		accountv1alpha1.AddToScheme,
		batchv1alpha1.AddToScheme,
		busv1alpha1.AddToScheme,
		flowv1alpha1.AddToScheme,
		insightv1alpha1.AddToScheme,
		nodeinfov1alpha1.AddToScheme,
		schedulingv1beta1.AddToScheme,
		topologyv1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}
