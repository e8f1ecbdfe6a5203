package v1alpha1

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

func TestBadFlows(t *testing.T) {
	t.Parallel()
	after := func(probe *Probe, targets ...string) []Flow {
		return []Flow{{Name: "a"}, {Name: "b", DependsOn: &DependsOn{Targets: targets, Probe: probe}}}
	}
	patched := func(patch batchv1alpha1.JobSpec) []Flow { return []Flow{{Name: "a", Patch: &Patch{JobSpec: patch}}} }
	for name, test := range map[string]struct {
		steps       []Flow
		where, says string // "" for a valid flow
	}{
		"no step":                              {nil, "", ""},
		"one step after another":               {after(nil, "a"), "", ""},
		"a probe that is right":                {after(&Probe{HTTPGetList: []HTTPGet{{TaskName: "t", Port: 80}}, TaskStatusList: []TaskStatus{{TaskName: "t", Phase: "Running"}}}, "a"), "", ""},
		"a step twice":                         {[]Flow{{Name: "a"}, {Name: "a"}}, "spec.flows[1].name", `Duplicate value: "a": spec.flows[0] has the same name: rename one of them`},
		"a step whose job's name is too long":  {[]Flow{{Name: strings.Repeat("x", 62)}}, "spec.flows[0].name", "the step's job would be named f-xxx"},
		"a step with capitals":                 {[]Flow{{Name: "A"}}, "spec.flows[0].name", "the step's job would be named f-A: "},
		"a target that is no step":             {after(nil, "c"), "spec.flows[1].dependsOn.targets[0]", "vertex is not defined: c"},
		"a step after itself":                  {after(nil, "b"), "spec.flows", "b -> b"},
		"a probe without targets":              {after(&Probe{TCPSocketList: []TCPSocket{{TaskName: "t", Port: 80}}}), "spec.flows[1].dependsOn.targets", "specify targets, because the probe checks the tasks of the targets"},
		"a probe of no task":                   {after(&Probe{HTTPGetList: []HTTPGet{{Port: 80}}}, "a"), "spec.flows[1].dependsOn.probe.httpGetList[0].taskName", "specify the task whose pods the probe checks"},
		"a probe of no port":                   {after(&Probe{TCPSocketList: []TCPSocket{{TaskName: "t"}}}, "a"), "spec.flows[1].dependsOn.probe.tcpSocketList[0].port", "65535"},
		"a probe of a phase that is none":      {after(&Probe{TaskStatusList: []TaskStatus{{TaskName: "t", Phase: "Happy"}}}, "a"), "spec.flows[1].dependsOn.probe.taskStatusList[0].phase", `supported values: "Pending"`},
		"a patch to queue root":                {patched(batchv1alpha1.JobSpec{Queue: "root"}), "spec.flows[0].patch.jobSpec.queue", "can not submit job to root queue"},
		"a patch with an internal event":       {patched(batchv1alpha1.JobSpec{Policies: []batchv1alpha1.LifecyclePolicy{{Event: "OutOfSync", Action: "RestartJob"}}}), "spec.flows[0].patch.jobSpec.policies[0].event", "invalid policy event"},
		"a patch with an unknown plugin":       {patched(batchv1alpha1.JobSpec{Plugins: map[string][]string{"scp": nil}}), "spec.flows[0].patch.jobSpec.plugins[scp]", "unable to find job plugin"},
		"a patch with a volume of nothing":     {patched(batchv1alpha1.JobSpec{Volumes: []batchv1alpha1.VolumeSpec{{MountPath: "/a"}}}), "spec.flows[0].patch.jobSpec.volumes[0]", "either VolumeClaim or VolumeClaimName"},
		"a patch with a task without a name":   {patched(batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Replicas: 2}}}), "spec.flows[0].patch.jobSpec.tasks[0].name", "are matched with the template's tasks by name"},
		"a patch with a minimum and no number": {patched(batchv1alpha1.JobSpec{MinAvailable: -1}), "spec.flows[0].patch.jobSpec.minAvailable", "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := ValidateJobFlow(&JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f"}, Spec: JobFlowSpec{Flows: test.steps}})
			if test.where == "" && len(errs) > 0 {
				t.Errorf("refused: %v", errs)
			}
			if test.where != "" && (len(errs) != 1 || errs[0].Field != test.where || !strings.Contains(errs[0].Error(), test.says)) {
				t.Errorf("want one error at %s: %s, got %v", test.where, test.says, errs)
			}
		})
	}
}
