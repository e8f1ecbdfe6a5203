package deploy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// door applies the checks of the API server itself, without webhooks, to an object of a kind of the project.
type door struct {
	schema     *structuralschema.Structural
	properties *apiextensions.JSONSchemaProps
}

func newDoor(t *testing.T, name string) door {
	t.Helper()
	for _, crd := range CRDs() {
		if crd.Name != name {
			continue
		}
		properties := &apiextensions.JSONSchemaProps{}
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
			crd.Spec.Versions[0].Schema.OpenAPIV3Schema, properties, nil)
		if err != nil {
			t.Fatal(err)
		}
		structural, err := structuralschema.NewStructural(properties)
		if err != nil {
			t.Fatal(err)
		}
		return door{schema: structural, properties: properties}
	}
	t.Fatalf("no CRD %q", name)
	return door{}
}

// refusals returns the errors that the API server would return; old is nil for a creation.
func (d door) refusals(t *testing.T, object, old map[string]any) field.ErrorList {
	t.Helper()
	defaulting.Default(object, d.schema)
	validator, _, err := validation.NewSchemaValidator(d.properties)
	if err != nil {
		t.Fatal(err)
	}
	errs := validation.ValidateCustomResource(nil, object, validator)
	if len(errs) > 0 {
		return errs // like the API server, which evaluates rules only if the schema is satisfied
	}
	var oldObject any
	if old != nil {
		oldObject = old
	}
	rules := cel.NewValidator(d.schema, true, celconfig.PerCallLimit)
	found, _ := rules.Validate(context.Background(), nil, d.schema, object, oldObject, celconfig.RuntimeCELCostBudget)
	return append(errs, found...)
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return whole(object).(map[string]any)
}

// whole converts float64 values from YAML to int64 if that is lossless, as the API server's decoder does.
func whole(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = whole(value[key])
		}
	case []any:
		for i := range value {
			value[i] = whole(value[i])
		}
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
	}
	return value
}

const jobHead = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, namespace: n}\n"

func tasks(n int) string {
	var b strings.Builder
	b.WriteString("spec:\n  tasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {name: t%d, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}\n", i)
	}
	return b.String()
}

func TestJobsRefusedWithoutAnyWebhook(t *testing.T) {
	t.Parallel()
	jobs := newDoor(t, "jobs.batch.volcano.sh")
	for name, test := range map[string]struct{ spec, where, what string }{
		"no spec":                        {"", "spec", "Required"},
		"no tasks":                       {"spec: {queue: q}\n", "spec.tasks", "No task specified in job spec"},
		"an empty list of tasks":         {"spec: {tasks: []}\n", "spec.tasks", "No task specified in job spec"},
		"minAvailable over replicas":     {"spec: {minAvailable: 3, tasks: [{name: a, replicas: 1}, {name: b, replicas: 1}]}\n", "spec.minAvailable", "job 'minAvailable' should not be greater than total replicas in tasks; the total is 2"},
		"minAvailable of a task":         {"spec: {tasks: [{name: a, replicas: 1, minAvailable: 2}]}\n", "spec.tasks[0].minAvailable", "'minAvailable' is greater than 'replicas' in task: a; the task has 1 replicas"},
		"duplicate task names":           {"spec: {tasks: [{name: a, replicas: 1}, {name: a, replicas: 1}]}\n", "spec.tasks", "duplicated task name a"},
		"a task name with an underscore": {"spec: {tasks: [{name: a_b, replicas: 1}]}\n", "spec.tasks[0].name", "should match"},
		"a queue that is no name":        {"spec: {queue: A B, tasks: [{name: a, replicas: 1}]}\n", "spec.queue", "should match"},
		"negative replicas":              {"spec: {tasks: [{name: a, replicas: -1}]}\n", "spec.tasks[0].replicas", "greater than or equal to 0"},
		"negative minAvailable":          {"spec: {minAvailable: -1, tasks: [{name: a, replicas: 1}]}\n", "spec.minAvailable", "greater than or equal to 0"},
		"negative retries":               {"spec: {maxRetry: -1, tasks: [{name: a, replicas: 1}]}\n", "spec.maxRetry", "greater than or equal to 0"},
		"ten thousand tasks":             {tasks(10_000), "spec.tasks", "must have at most 500 items"},
		"event and exit code":            {"spec: {tasks: [{name: a, replicas: 1, policies: [{event: PodFailed, exitCode: 3, action: RestartJob}]}]}\n", "spec.tasks[0].policies[0]", "event and exitCode simultaneously"},
		"neither event nor exit code":    {"spec: {policies: [{action: RestartJob}], tasks: [{name: a, replicas: 1}]}\n", "spec.policies[0]", "either event and exitCode"},
		"exit code 0":                    {"spec: {policies: [{exitCode: 0, action: RestartJob}], tasks: [{name: a, replicas: 1}]}\n", "spec.policies[0].exitCode", "0 is not a valid"},
		"an unknown action":              {"spec: {policies: [{event: PodFailed, action: Explode}], tasks: [{name: a, replicas: 1}]}\n", "spec.policies[0].action", "invalid policy action; valid actions are AbortJob, RestartJob"},
		"an unknown event":               {"spec: {policies: [{event: PodBored, action: RestartJob}], tasks: [{name: a, replicas: 1}]}\n", "spec.policies[0].event", "Unsupported"},
		"an unknown plugin":              {"spec: {plugins: {scp: []}, tasks: [{name: a, replicas: 1}]}\n", "spec.plugins", "unable to find job plugin: scp"},
		"one plugin of two unknown":      {"spec: {plugins: {svc: [], horovod: []}, tasks: [{name: a, replicas: 1}]}\n", "spec.plugins", "unable to find job plugin: horovod; valid plugins are env, hcclrank, mpi, pytorch, ray, ssh, svc, tensorflow"},
		"both kinds of tier":             {"spec: {networkTopology: {highestTierAllowed: 1, highestTierName: rack}, tasks: [{name: a, replicas: 1}]}\n", "spec.networkTopology", "simultaneously"},
		"partitions that do not add up":  {"spec: {tasks: [{name: a, replicas: 5, partitionPolicy: {totalPartitions: 2, partitionSize: 2}}]}\n", "spec.tasks[0].partitionPolicy", "not equal to TotalPartitions*PartitionSize in task: a"},
		"a volume without a claim":       {"spec: {volumes: [{mountPath: /d}], tasks: [{name: a, replicas: 1}]}\n", "spec.volumes[0]", "either VolumeClaim or VolumeClaimName"},
		"a volume with two claims":       {"spec: {volumes: [{mountPath: /d, volumeClaimName: c, volumeClaim: {}}], tasks: [{name: a, replicas: 1}]}\n", "spec.volumes", "conflict: If you want to use an existing PVC"},
		"two volumes in one place":       {"spec: {volumes: [{mountPath: /d, volumeClaimName: c}, {mountPath: /d, volumeClaimName: d}], tasks: [{name: a, replicas: 1}]}\n", "spec.volumes", "duplicated mountPath"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireRefusal(t, jobs.refusals(t, parse(t, jobHead+test.spec), nil), test.where, test.what)
		})
	}
}

func TestJobsThatPassWithoutAnyWebhook(t *testing.T) {
	t.Parallel()
	jobs := newDoor(t, "jobs.batch.volcano.sh")
	for name, spec := range map[string]string{
		"the least that a job can be":           "spec: {tasks: [{replicas: 1}]}\n",
		"a job scaled to nothing":               "spec: {tasks: [{name: a, replicas: 0, minAvailable: 0}, {name: b}]}\n",
		"tasks without names":                   "spec: {tasks: [{replicas: 1}, {replicas: 1}]}\n",
		"as many tasks as may be":               tasks(500),
		"a policy for several events":           "spec: {policies: [{events: [PodFailed, PodEvicted], action: RestartJob, timeout: 1h}], tasks: [{replicas: 1}]}\n",
		"a policy for an exit code":             "spec: {policies: [{exitCode: 3, action: RestartJob}], tasks: [{replicas: 1}]}\n",
		"labels of the template are kept":       "spec: {tasks: [{replicas: 1, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}]}\n",
		"no limit on a task's restarts":         "spec: {tasks: [{replicas: 1, maxRetry: -1}]}\n",
		"a number as a quantity":                "spec: {tasks: [{replicas: 1, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}]}\n",
		"empty names where none has to be":      "spec: {priorityClassName: '', networkTopology: {highestTierAllowed: 1, highestTierName: ''}, tasks: [{replicas: 1}]}\n",
		"a claim to be made, named by somebody": "spec: {volumes: [{mountPath: /d, volumeClaim: {accessModes: [ReadWriteOnce]}}], tasks: [{replicas: 1}]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if errs := jobs.refusals(t, parse(t, jobHead+spec), nil); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestTheControllerMayFillInTheNameOfAClaim(t *testing.T) {
	t.Parallel()
	jobs := newDoor(t, "jobs.batch.volcano.sh")
	old := parse(t, jobHead+"spec: {volumes: [{mountPath: /d, volumeClaim: {}}], tasks: [{replicas: 1}]}\n")
	updated := parse(t, jobHead+"spec: {volumes: [{mountPath: /d, volumeClaimName: j-pvc-1, volumeClaim: {}}], tasks: [{replicas: 1}]}\n")
	if errs := jobs.refusals(t, updated, old); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestATaskCannotBeAddedLater(t *testing.T) {
	t.Parallel()
	jobs := newDoor(t, "jobs.batch.volcano.sh")
	old := parse(t, jobHead+"spec: {tasks: [{replicas: 1}]}\n")
	updated := parse(t, jobHead+"spec: {tasks: [{replicas: 1}, {replicas: 1}]}\n")
	requireRefusal(t, jobs.refusals(t, updated, old), "spec.tasks", "may not add or remove tasks")
}

func TestQueuesAndPodGroupsWithoutAnyWebhook(t *testing.T) {
	t.Parallel()
	queue := "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"
	group := "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g, namespace: n}\n"
	for name, test := range map[string]struct{ kind, text, where, what string }{
		"a negative weight":             {"queues", queue + "spec: {weight: -1}\n", "spec.weight", "greater than or equal to 1"},
		"a weight too large":            {"queues", queue + "spec: {weight: 65536}\n", "spec.weight", "less than or equal to 65535"},
		"a negative capability":         {"queues", queue + "spec: {capability: {cpu: -1}}\n", "spec.capability", "must not be negative"},
		"a negative guarantee":          {"queues", queue + "spec: {guarantee: {resource: {memory: -1Gi}}}\n", "spec.guarantee.resource", "must not be negative"},
		"deserved below the guarantee":  {"queues", queue + "spec: {deserved: {cpu: 500m}, guarantee: {resource: {cpu: 1}}}\n", "spec.deserved", "deserved[r] must be >= guarantee[r]"},
		"a guarantee without deserved":  {"queues", queue + "spec: {guarantee: {resource: {cpu: 1}}}\n", "spec.deserved", "deserved[r] must be >= guarantee[r]"},
		"deserved above the capability": {"queues", queue + "spec: {deserved: {cpu: 3}, capability: {cpu: 2500m}}\n", "spec.deserved", "deserved[r] must be <= capability[r]"},
		"its own parent":                {"queues", queue + "spec: {parent: q}\n", "spec.parent", "itself as parent"},
		"a run time that is none":       {"queues", queue + "spec: {jobLimits: {maxRunTime: 1 day}}\n", "spec.jobLimits.maxRunTime", "should match"},
		"a run time too large to parse": {"queues", queue + "spec: {jobLimits: {maxRunTime: 99999999999999h}}\n", "spec.jobLimits.maxRunTime", "must be between 1s"},
		"a negative run time":           {"queues", queue + "spec: {jobLimits: {defaultRunTime: -1h}}\n", "spec.jobLimits.defaultRunTime", "should match"},
		"a run time below a second":     {"queues", queue + "spec: {jobLimits: {maxRunTime: 10ms}}\n", "spec.jobLimits.maxRunTime", "must be between 1s and 596523h14m7s"},
		"a default run time too long":   {"queues", queue + "spec: {jobLimits: {maxRunTime: 1h30m, defaultRunTime: 91m}}\n", "spec.jobLimits.defaultRunTime", "must not be longer than maxRunTime"},
		"no nodes for a job":            {"queues", queue + "spec: {jobLimits: {maxNodes: 0}}\n", "spec.jobLimits.maxNodes", "greater than or equal to 1"},
		"no pods for a job":             {"queues", queue + "spec: {jobLimits: {maxPods: 0}}\n", "spec.jobLimits.maxPods", "greater than or equal to 1"},
		"limits for jobs":               {"queues", queue + "spec: {jobLimits: {maxRunTime: 24h0m0s, defaultRunTime: 1.5h, maxNodes: 1, maxPods: 1}}\n", "", ""},
		"a queue with everything":       {"queues", queue + "spec: {weight: 2, parent: root, reclaimable: false, capability: {cpu: '4', memory: 1Gi}, deserved: {cpu: 3}, guarantee: {resource: {cpu: 1500m}}}\nstatus: {allocated: null}\n", "", ""},
		"a queue with nothing":          {"queues", queue, "", ""},
		"a group of fewer than none":    {"podgroups", group + "spec: {minMember: -1}\n", "spec.minMember", "greater than or equal to 0"},
		"a task of fewer than none":     {"podgroups", group + "spec: {minTaskMember: {a: -1}}\n", "spec.minTaskMember", "must not be negative"},
		"both kinds of tier":            {"podgroups", group + "spec: {subGroupPolicy: [{name: s, networkTopology: {highestTierAllowed: 1, highestTierName: rack}}]}\n", "spec.subGroupPolicy[0].networkTopology", "simultaneously"},
		"a group with everything":       {"podgroups", group + "spec: {minMember: 2, minTaskMember: {a: 1}, minResources: {cpu: 1, count/pods: '2'}}\nstatus: {phase: Pending}\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := newDoor(t, test.kind+".scheduling.volcano.sh").refusals(t, parse(t, test.text), nil)
			if test.where != "" {
				requireRefusal(t, errs, test.where, test.what)
			} else if len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestAccountsWithoutAnyWebhook(t *testing.T) {
	t.Parallel()
	head := "apiVersion: account.vc-batch.dev/v1alpha1\nkind: Account\nmetadata: {name: a}\n"
	for name, test := range map[string]struct{ text, where, what string }{
		"an account with nothing":          {head, "", ""},
		"an account with everything":       {head + "spec: {parent: b, shares: 0, limits: {maxRunningJobs: 0, maxSubmittedJobs: 0, maxResources: {cpu: 4}}, userLimits: {maxRunTime: 1h30m}, users: [{name: 'system:serviceaccount:a:b', default: true, limits: {maxResourcesPerJob: {memory: 1Gi}}}], coordinators: [ada], queues: [q], namespaces: [lab]}\n", "", ""},
		"its own parent":                   {head + "spec: {parent: a}\n", "spec.parent", "cannot be its own parent"},
		"a negative number of jobs":        {head + "spec: {limits: {maxSubmittedJobs: -1}}\n", "spec.limits.maxSubmittedJobs", "greater than or equal to 0"},
		"negative resources":               {head + "spec: {limits: {maxResources: {cpu: -1}}}\n", "spec.limits.maxResources", "must not be negative"},
		"negative resources of a user":     {head + "spec: {users: [{name: ada, limits: {maxResources: {cpu: -1}}}]}\n", "spec.users[0].limits.maxResources", "must not be negative"},
		"a run time that cannot be parsed": {head + "spec: {userLimits: {maxRunTime: 1 day}}\n", "spec.userLimits.maxRunTime", "should match"},
		"negative shares":                  {head + "spec: {shares: -1}\n", "spec.shares", "greater than or equal to 0"},
		"a user without a name":            {head + "spec: {users: [{default: true}]}\n", "spec.users[0].name", "Required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := newDoor(t, "accounts.account.vc-batch.dev").refusals(t, parse(t, test.text), nil)
			if test.where != "" {
				requireRefusal(t, errs, test.where, test.what)
			} else if len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestQOSWithoutAnyWebhook(t *testing.T) {
	t.Parallel()
	head := "apiVersion: account.vc-batch.dev/v1alpha1\nkind: QOS\nmetadata: {name: a}\n"
	for name, test := range map[string]struct{ text, where, what string }{
		"a QOS with nothing":               {head, "", ""},
		"a QOS with everything":            {head + "spec: {description: d, priorityClassName: urgent, limits: {maxRunningJobs: 0, maxSubmittedJobs: 0, maxResources: {cpu: 4}}, userLimits: {maxRunningJobs: 1}, accountLimits: {maxRunningJobs: 1}, jobLimits: {maxRunTime: 1h30m, maxResources: {pods: 4}}}\n", "", ""},
		"a negative number of jobs":        {head + "spec: {userLimits: {maxSubmittedJobs: -1}}\n", "spec.userLimits.maxSubmittedJobs", "greater than or equal to 0"},
		"negative resources":               {head + "spec: {accountLimits: {maxResources: {cpu: -1}}}\n", "spec.accountLimits.maxResources", "must not be negative"},
		"a run time that cannot be parsed": {head + "spec: {jobLimits: {maxRunTime: 1 day}}\n", "spec.jobLimits.maxRunTime", "should match"},
		"an invalid priority class":        {head + "spec: {priorityClassName: Urgent!}\n", "spec.priorityClassName", "should match"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := newDoor(t, "qoses.account.vc-batch.dev").refusals(t, parse(t, test.text), nil)
			if test.where != "" {
				requireRefusal(t, errs, test.where, test.what)
			} else if len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

// requireRefusal fails unless there is exactly one error, with this field and text.
func requireRefusal(t *testing.T, errs field.ErrorList, where, what string) {
	t.Helper()
	for _, err := range errs {
		if strings.HasPrefix(err.Field, where) && strings.Contains(err.Error(), what) {
			return
		}
	}
	t.Errorf("want a refusal of %s that says %q, got %v", where, what, errs.ToAggregate())
}
