package v1beta1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/textformat"
)

// namesInMessage is the maximum number of names in a message.
const namesInMessage = 10

// tierPair is Volcano's message if both ways to specify a tier are used at the same time.
const tierPair = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"

// ValidatePodGroup returns the validation errors of a new PodGroup. If queues is nil, the queue is not checked.
func ValidatePodGroup(pg *PodGroup, queues QueueLookup) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if pg.Spec.MinMember < 0 {
		errs = append(errs, field.Invalid(spec.Child("minMember"), pg.Spec.MinMember, "must not be negative"))
	}
	for _, task := range sortedKeys(pg.Spec.MinTaskMember) {
		if least := pg.Spec.MinTaskMember[task]; least < 0 {
			errs = append(errs, field.Invalid(spec.Child("minTaskMember").Key(task), least, "must not be negative"))
		}
	}
	if pg.Spec.MinResources != nil {
		errs = append(errs, ValidateResources(*pg.Spec.MinResources, spec.Child("minResources"))...)
	}
	errs = append(errs, validateTopology(pg.Spec.NetworkTopology, spec.Child("networkTopology"), tierPair)...)
	for i, group := range pg.Spec.SubGroupPolicy {
		text := fmt.Sprintf("in subGroupPolicy '%s': %s", group.Name, tierPair)
		errs = append(errs, validateTopology(group.NetworkTopology, spec.Child("subGroupPolicy").Index(i).Child("networkTopology"), text)...)
	}
	if queues != nil {
		errs = append(errs, validatePodGroupQueue(pg.Spec.Queue, spec.Child("queue"), queues)...)
		errs = append(errs, validateMinMember(pg, spec.Child("minMember"), queues)...)
	}
	return errs
}

func validateTopology(topology *NetworkTopologySpec, path *field.Path, text string) field.ErrorList {
	if topology == nil || topology.HighestTierAllowed == nil || topology.HighestTierName == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(path, topology.HighestTierName, text)}
}

// validatePodGroupQueue checks that the queue exists, is open and has no child queues.
func validatePodGroupQueue(name string, path *field.Path, queues QueueLookup) field.ErrorList {
	if name == "" {
		return nil
	}
	queue, ok := queues.Queue(name)
	switch {
	case !ok:
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			"unable to find queue: queue %q does not exist; open queues: %s", name, listOr(OpenQueueNames(queues, namesInMessage), "none")))}
	case !queue.IsOpen():
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			"can only submit PodGroup to queue with state `Open`, queue `%s` status is `%s`.", name, queue.Status.State))}
	case name == keys.RootQueue:
		return field.ErrorList{field.Invalid(path, name, "can not submit PodGroup to root queue")}
	}
	if children := queues.Children(name); len(children) > 0 {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			"can only submit PodGroup to leaf queue, queue `%s` has %d child queues: %s",
			name, len(children), strings.Join(children[:min(len(children), namesInMessage)], ", ")))}
	}
	return nil
}

func listOr(names []string, otherwise string) string {
	if len(names) == 0 {
		return otherwise
	}
	return strings.Join(names, ", ")
}

// validateMinMember checks that the PodGroup's minimum does not exceed the number of pods that the queue permits per
// job. The other limits of a queue apply only to jobs.
func validateMinMember(pg *PodGroup, path *field.Path, queues QueueLookup) field.ErrorList {
	most := EffectiveJobLimitsOf(pg.Spec.Queue, queues).MaxPods
	if most.Value == 0 || int64(pg.Spec.MinMember) <= most.Value {
		return nil
	}
	return field.ErrorList{field.Invalid(path, pg.Spec.MinMember, fmt.Sprintf("the PodGroup needs %d pods at the same time, but %s: lower minMember, or use another queue",
		pg.Spec.MinMember, most.Describe(pg.Spec.Queue, textformat.CountWithNoun(most.Value, "pod"))))}
}
