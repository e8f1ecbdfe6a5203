package v1alpha1

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// notADAG is Volcano's message for invalid dependencies between steps.
const notADAG = "jobflow Flow is not DAG"

// JobName returns the name of a step's job.
func JobName(flow *JobFlow, step string) string { return flow.Name + "-" + step }

// ValidateJobFlow returns the validation errors of a new or updated flow.
func ValidateJobFlow(flow *JobFlow) field.ErrorList {
	path := field.NewPath("spec", "flows")
	targets := map[string][]string{}
	var errs field.ErrorList
	for i := range flow.Spec.Flows {
		step := &flow.Spec.Flows[i]
		if _, twice := targets[step.Name]; twice {
			first := slices.IndexFunc(flow.Spec.Flows, func(other Flow) bool { return other.Name == step.Name })
			twice := field.Duplicate(path.Index(i).Child("name"), step.Name)
			twice.Detail = fmt.Sprintf("%s has the same name: rename one of them", path.Index(first))
			errs = append(errs, twice)
		}
		targets[step.Name] = nil
		if step.DependsOn != nil {
			targets[step.Name] = step.DependsOn.Targets
		}
		for _, why := range validation.IsDNS1123Label(JobName(flow, step.Name)) {
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), step.Name, "the step's job would be named "+JobName(flow, step.Name)+": "+why))
		}
	}
	for i := range flow.Spec.Flows {
		if patch := flow.Spec.Flows[i].Patch; patch != nil {
			errs = append(errs, batchv1alpha1.ValidatePatch(&patch.JobSpec, path.Index(i).Child("patch", "jobSpec"))...)
		}
		errs = append(errs, validateDependsOn(&flow.Spec.Flows[i], targets, path.Index(i).Child("dependsOn"))...)
	}
	if len(errs) > 0 {
		return errs
	}
	if circle := circleOf(flow.Spec.Flows, targets); circle != nil {
		errs = append(errs, field.Invalid(path, strings.Join(circle, " -> "), fmt.Sprintf("%s: step %s depends on itself", notADAG, circle[0])))
	}
	return errs
}

func validateDependsOn(step *Flow, steps map[string][]string, path *field.Path) field.ErrorList {
	if step.DependsOn == nil {
		return nil
	}
	var errs field.ErrorList
	for i, target := range step.DependsOn.Targets {
		if _, there := steps[target]; !there {
			errs = append(errs, field.Invalid(path.Child("targets").Index(i), target, notADAG+": vertex is not defined: "+target+"; a target must be the name of a step in the same flow"))
		}
	}
	probe := step.DependsOn.Probe
	if probe == nil {
		return errs
	}
	if len(step.DependsOn.Targets) == 0 {
		errs = append(errs, field.Required(path.Child("targets"), "specify targets, because the probe checks the tasks of the targets"))
	}
	path = path.Child("probe")
	for i, get := range probe.HTTPGetList {
		errs = append(errs, validateProbed(get.TaskName, get.Port, path.Child("httpGetList").Index(i))...)
	}
	for i, socket := range probe.TCPSocketList {
		errs = append(errs, validateProbed(socket.TaskName, socket.Port, path.Child("tcpSocketList").Index(i))...)
	}
	phases := []string{"Pending", "Running", "Succeeded", "Failed"}
	for i, status := range probe.TaskStatusList {
		at := path.Child("taskStatusList").Index(i)
		errs = append(errs, validateProbed(status.TaskName, 1, at)...)
		if !slices.Contains(phases, status.Phase) {
			errs = append(errs, field.NotSupported(at.Child("phase"), status.Phase, phases))
		}
	}
	return errs
}

func validateProbed(task string, port int, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if task == "" {
		errs = append(errs, field.Required(path.Child("taskName"), "specify the task whose pods the probe checks"))
	}
	for _, why := range validation.IsValidPortNum(port) {
		errs = append(errs, field.Invalid(path.Child("port"), port, why))
	}
	return errs
}

// circleOf returns the names of the first cycle of steps, with the first name repeated at the end, or nil if there is
// no cycle.
func circleOf(flows []Flow, targets map[string][]string) []string {
	done := map[string]bool{}
	var trail []string
	var visit func(name string) []string
	visit = func(name string) []string {
		if i := slices.Index(trail, name); i >= 0 {
			return append(slices.Clone(trail[i:]), name)
		}
		if done[name] {
			return nil
		}
		trail = append(trail, name)
		for _, next := range targets[name] {
			if circle := visit(next); circle != nil {
				return circle
			}
		}
		trail = trail[:len(trail)-1]
		done[name] = true
		return nil
	}
	for i := range flows {
		if circle := visit(flows[i].Name); circle != nil {
			return circle
		}
	}
	return nil
}
