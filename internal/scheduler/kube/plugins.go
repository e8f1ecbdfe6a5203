package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"

	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// plugin is the set of kube-scheduler's extension points that this package calls.
type plugin interface {
	fwk.PreFilterPlugin
	fwk.FilterPlugin
}

// plugins holds the enabled plugins; a nil plugin is disabled.
type plugins struct {
	restrictions, limits, zone plugin
	binding                    *volumebinding.VolumeBinding
	devices                    *dynamicresources.DynamicResources
}

// featureGates returns Kubernetes' feature gates, but disables the features that need more than a verdict, such as
// extended resources backed by devices, and conditions that devices must meet before binding.
func featureGates(conf framework.Attaching) feature.Features {
	f := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	f.EnableDRAExtendedResource = false
	f.EnableDRADeviceBindingConditions = false
	f.EnableDRAWorkloadResourceClaims = false
	f.EnableDRANodeAllocatableResources = false
	f.EnableDynamicResourceAllocation = true
	f.EnableStorageCapacityScoring = conf.Points > 0
	return f
}

// createPlugins creates the plugins that the configuration enables.
func createPlugins(ctx context.Context, h *handle, conf framework.Attaching) (p plugins, err error) {
	f := featureGates(conf)
	restrictions, err := volumerestrictions.New(ctx, nil, h, f)
	if err != nil {
		return p, fmt.Errorf("plugin VolumeRestrictions: %w", err)
	}
	p.restrictions = restrictions.(plugin)
	if conf.Limits {
		limits, err := nodevolumelimits.NewCSI(ctx, nil, h, f)
		if err != nil {
			return p, fmt.Errorf("plugin NodeVolumeLimits: %w", err)
		}
		p.limits = limits.(plugin)
	}
	if conf.Zones {
		zone, err := volumezone.New(ctx, nil, h, f)
		if err != nil {
			return p, fmt.Errorf("plugin VolumeZone: %w", err)
		}
		p.zone = zone.(plugin)
	}
	if conf.Binding {
		binding, err := volumebinding.New(ctx, bindingArgs(conf), h, f)
		if err != nil {
			return p, fmt.Errorf("plugin VolumeBinding: %w", err)
		}
		p.binding = binding.(*volumebinding.VolumeBinding)
	}
	if conf.Devices {
		devices, err := dynamicresources.New(ctx, &config.DynamicResourcesArgs{FilterTimeout: &metav1.Duration{Duration: conf.DeviceTimeout}}, h, f)
		if err != nil {
			return p, fmt.Errorf("plugin DynamicResources: %w", err)
		}
		p.devices = devices.(*dynamicresources.DynamicResources)
	}
	return p, nil
}

// bindingArgs returns the arguments for VolumeBinding. The plugin never waits in this package, so its timeout has no
// effect.
func bindingArgs(conf framework.Attaching) *config.VolumeBindingArgs {
	args := &config.VolumeBindingArgs{BindTimeoutSeconds: int64(conf.BindTimeout.Seconds())}
	for _, p := range conf.Curve[:conf.Points] {
		args.Shape = append(args.Shape, config.UtilizationShapePoint{Utilization: p.Utilization, Score: p.Score})
	}
	return args
}
