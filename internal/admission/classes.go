package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// classSpec holds the fields of a job's or PodGroup's spec that name PriorityClasses.
type classSpec struct {
	PriorityClassName string `json:"priorityClassName"`
	Tasks             []struct {
		Template struct {
			Spec struct {
				PriorityClassName string `json:"priorityClassName"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"tasks"`
}

// classHolder holds the fields that name PriorityClasses in any kind of the project: a Job, a PodGroup, a JobTemplate,
// a CronJob or a JobFlow.
type classHolder struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		classSpec `json:",inline"`

		JobTemplate struct {
			Spec classSpec `json:"spec"`
		} `json:"jobTemplate"`
		Flows []struct {
			Patch struct {
				JobSpec classSpec `json:"jobSpec"`
			} `json:"patch"`
		} `json:"flows"`
	} `json:"spec"`
}

// collectClasses collects the classes that a spec names, each with the path of the first field that names it.
func (s *classSpec) collectClasses(named map[string]*field.Path, at *field.Path) {
	note := func(class string, at *field.Path) {
		if class != "" && named[class] == nil {
			named[class] = at
		}
	}
	note(s.PriorityClassName, at.Child("priorityClassName"))
	for i := range s.Tasks {
		note(s.Tasks[i].Template.Spec.PriorityClassName, at.Child("tasks").Index(i).Child("template", "spec", "priorityClassName"))
	}
}

// classesNamedBy returns the PriorityClasses that an object names, each with the path of the first field that names it,
// and whether the object has a controller.
func classesNamedBy(raw []byte) (named map[string]*field.Path, hasController bool) {
	var object classHolder
	if len(raw) == 0 || json.Unmarshal(raw, &object) != nil {
		return nil, false // the check of the object reports this error
	}
	named = map[string]*field.Path{}
	spec := field.NewPath("spec")
	object.Spec.collectClasses(named, spec)
	object.Spec.JobTemplate.Spec.collectClasses(named, spec.Child("jobTemplate", "spec"))
	for i := range object.Spec.Flows {
		object.Spec.Flows[i].Patch.JobSpec.collectClasses(named, spec.Child("flows").Index(i).Child("patch", "jobSpec"))
	}
	return named, metav1.GetControllerOf(&object.ObjectMeta) != nil
}

// rejectForbiddenClasses rejects an object that names PriorityClasses which its author may not use, if that permission
// is required. Objects created by the controllers are exempt, because their sources were checked when users created
// them. An owner reference alone does not prove that the controllers created an object, because every user can write
// one.
func (h *hooks) rejectForbiddenClasses(ctx context.Context, request *admission.Request) (field.ErrorList, error) {
	if !h.requireClassUse {
		return nil, nil
	}
	named, hasController := classesNamedBy(request.Object.Raw)
	before, _ := classesNamedBy(request.OldObject.Raw)
	maps.DeleteFunc(named, func(class string, _ *field.Path) bool {
		return before[class] != nil || h.isGrantedByQOS(request, class)
	})
	if len(named) == 0 {
		return nil, nil
	}
	if hasController {
		isController, err := h.isOurController(ctx, request)
		if err != nil || isController {
			return nil, err
		}
	}
	var errs field.ErrorList
	for _, class := range slices.Sorted(maps.Keys(named)) {
		allowed, err := isPermitted(ctx, h.reviews, &request.UserInfo, authorizationv1.ResourceAttributes{
			Verb: "use", Group: schedulingv1.GroupName, Resource: "priorityclasses", Name: class, Namespace: request.Namespace,
		})
		if err != nil {
			return nil, err
		}
		if !allowed {
			errs = append(errs, field.Forbidden(named[class], fmt.Sprintf(
				"user %q is not allowed to use priority class %s in this namespace; ask an administrator for the RBAC verb use on priorityclasses.%s", request.UserInfo.Username, class, schedulingv1.GroupName)))
		}
	}
	return errs, nil
}
