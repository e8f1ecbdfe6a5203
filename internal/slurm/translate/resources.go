package translate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/usererror"
)

// podResources returns the Kubernetes resources that each pod of a job with the given size requests. It omits unknown
// resources.
func (b *source) podResources(s *size) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(s.cpus, resource.DecimalSI)}
	if s.memory > 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(s.memory.ToBytes(), resource.BinarySI)
	}
	if b.r.Tmp > 0 {
		list[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(b.r.Tmp.ToBytes(), resource.BinarySI)
	}
	for _, g := range s.gres {
		known, _ := b.p.FindGres(g.Name)
		total := list[known.Resource]
		total.Add(*resource.NewQuantity(g.Count, resource.DecimalSI))
		if known.Resource != "" && total.Sign() > 0 {
			list[known.Resource] = total
		}
	}
	return list
}

// containerResources returns the requests and limits of each pod's container. The container has no CPU limit if the job
// uses whole nodes exclusively.
func (b *topic) containerResources() corev1.ResourceRequirements {
	list := b.podResources(&b.size)
	b.recordFields("tmp", containerPath("resources.requests[ephemeral-storage]"))
	for _, g := range b.size.gres {
		known, ok := b.p.FindGres(g.Name)
		if !ok {
			b.addError(unknownGresError(b.p, g.Name))
			continue
		}
		for _, name := range []string{"gres", "gpus", "gpus-per-node", "gpus-per-task", "tres-per-task"} {
			b.recordFields(name, containerPath("resources.limits["+string(known.Resource)+"]"))
		}
	}
	b.addLicences(list)
	limits := list.DeepCopy()
	if b.r.Exclusive == wholeNode {
		delete(limits, corev1.ResourceCPU)
		b.launch.Exclusive = true
		b.recordFields("exclusive", containerPath("resources.limits"))
	}
	return corev1.ResourceRequirements{Requests: list, Limits: limits}
}

func unknownGresError(p *profile.Profile, name string) error {
	return usererror.Errorf("known resources: "+joinWords(p.GresNames())+"; the site's profile can define others", "Batch job submission failed: Invalid generic resource (gres) specification: %s", name)
}

// addLicences adds the extended resources to which the profile maps the requested licences.
func (b *topic) addLicences(list corev1.ResourceList) {
	if b.r.Licenses == "" {
		return
	}
	all, err := optionvalue.ParseGres(b.r.Licenses)
	if err != nil {
		b.addError(usererror.Errorf("use a comma-separated list of NAME or NAME:NUMBER", "Invalid --licenses specification"))
	}
	for _, one := range all {
		name, known := b.p.Licenses[one.Name]
		if !known {
			b.addError(usererror.Errorf("the site's profile can map a license to an extended resource", "--licenses: the site's profile does not define license %q", one.Name))
			continue
		}
		list[corev1.ResourceName(name)] = *resource.NewQuantity(one.Count, resource.DecimalSI)
		b.recordFields("licenses", containerPath("resources.limits["+name+"]"))
	}
}

// wholeUnits returns an amount in whole processors, rounded down, or in bytes or devices.
func wholeUnits(name corev1.ResourceName, amount resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return amount.MilliValue() / 1000
	}
	return amount.Value()
}

func sameAmount(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }
