package install

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
)

// mistyped returns objects of all our kinds with an unknown field, and the path of that field.
func mistyped() map[string]struct{ manifest, field string } {
	return map[string]struct{ manifest, field string }{
		"Job":                     {jobYAML("minAvailble: 1, tasks: [" + work + "]"), "spec.minAvailble"},
		"Job, deep in a template": {tasksYAML("{name: work, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, comand: [a]}]}}}"), "spec.tasks[0].template.spec.containers[0].comand"},
		"CronJob":                 {cronYAML("0 1 * * *", ", suspended: true, jobTemplate: {spec: {tasks: ["+work+"]}}"), "spec.suspended"},
		"CronJob, in its jobs":    {cronYAML("0 1 * * *", ", jobTemplate: {spec: {retries: 3, tasks: ["+work+"]}}"), "spec.jobTemplate.spec.retries"},
		"JobFlow":                 {flowYAML("{name: a, dependOn: {targets: [b]}}"), "spec.flows[0].dependOn"},
		"JobTemplate":             {templateYAML("minavailable: 1, tasks: [" + work + "]"), "spec.minavailable"},
		"Queue":                   {queueYAML("bad", "capacity: {cpu: 1}"), "spec.capacity"},
		"PodGroup":                {groupYAML("minMembers: 2"), "spec.minMembers"},
		"HyperNode":               {hyperNodeYAML("tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: a, flags: i}}}]"), "spec.members[0].selector.regexMatch.flags"},
		"Account":                 {"apiVersion: account.vc-batch.dev/v1alpha1\nkind: Account\nmetadata: {name: bad}\nspec: {limits: {maxJobs: 1}}\n", "spec.limits.maxJobs"},
		"QOS":                     {"apiVersion: account.vc-batch.dev/v1alpha1\nkind: QOS\nmetadata: {name: bad}\nspec: {limits: {maxJobs: 1}}\n", "spec.limits.maxJobs"},
		"Pod":                     {strings.Replace(podYAML("a: b"), "schedulerName: volcano", "schedulerName: volcano, tolerance: []", 1), "spec.tolerance"},
		"Command":                 {"apiVersion: bus.volcano.sh/v1alpha1\nkind: Command\nmetadata: {name: bad, namespace: default}\naction: AbortJob\nactions: []\n", "actions"},
		"Numatopology":            {"apiVersion: nodeinfo.volcano.sh/v1alpha1\nkind: Numatopology\nmetadata: {name: bad}\nspec: {policy: {}}\n", "spec.policy"},
	}
}

// TestUnknownFieldsAreTold sends objects of every kind with a misspelled field. If the client requests warnings, the
// API server and vcctl return one with the field's path. By default, vcctl rejects the object, as kubectl does.
func TestUnknownFieldsAreTold(t *testing.T) {
	stop := runAdmission(t)
	defer stop()
	c := admin(t)
	surroundings(t, c)
	all := mistyped()
	for _, kind := range check.Kinds() {
		if _, ok := all[kind.Kind]; !ok {
			t.Errorf("no row for %s", kind.Kind)
		}
	}
	for name, row := range all {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			want := `unknown field "` + row.field + `"`
			objects, err := decode([]byte(row.manifest))
			if err != nil {
				t.Fatal(err)
			}
			told := &warnings{}
			config := rest.CopyConfig(plane.RESTConfig())
			config.WarningHandlerWithContext = told
			warned, err := newClient(config)
			if err != nil {
				t.Fatal(err)
			}
			if err := client.WithFieldValidation(warned, "Warn").Create(t.Context(), objects[0], client.DryRunAll); err != nil {
				t.Fatalf("the API server: %v", err)
			}
			if err := mentions(strings.Join(told.texts, "\n"), want); err != nil {
				t.Errorf("the API server's warnings: %v", err)
			}
			streams, _, errOut := iostreams.TestStreams(row.manifest, 0)
			code := root.Main(t.Context(), "vcctl", []string{"job", "run", "-f", "-", "--validate=warn", "--dry-run=server", "--kubeconfig", kubeconfig}, streams)
			if err := mentions(errOut.String(), "warning: "+sep+want); code != 0 || err != nil {
				t.Errorf("vcctl --validate=warn ends with %d: %v", code, err)
			}
			if err := mentions(strings.Join(vcctlRefuses(t, row.manifest), "\n"), want); err != nil {
				t.Errorf("vcctl: %v", err)
			}
		})
	}
}
