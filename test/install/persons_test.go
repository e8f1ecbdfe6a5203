package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/deploy"
)

// The persons of the table. Each has the rights that an administrator would give them.
const (
	nobody               = "nobody"                // authenticated, without roles
	viewer               = "viewer"                // role view in namespace default
	user                 = "user"                  // role edit in namespace default, may use the queues default and shared
	queueAdministrator   = "queue-administrator"   // role volcano-queue-admin in the cluster
	clusterAdministrator = "cluster-administrator" // member of system:masters
)

var everybody = []string{nobody, viewer, user, queueAdministrator, clusterAdministrator}

// action is something that a person tries. The API server checks it, but stores nothing.
type action struct {
	name string
	try  func(ctx context.Context, c client.Client) error
	// who may do it.
	who []string
	// refusal is what the others are told.
	refusal string
}

func nobodyElse(who ...string) []string { return append(who, clusterAdministrator) }

func tryCreate(object func() client.Object) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.Create(ctx, object(), client.DryRunAll) }
}

func tryList(list func() client.ObjectList, options ...client.ListOption) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error { return c.List(ctx, list(), options...) }
}

func tryPatch(object func() client.Object, patch string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, object(), client.RawPatch(types.MergePatchType, []byte(patch)), client.DryRunAll)
	}
}

func jobOf(name string, change ...func(*batchv1alpha1.Job)) func() client.Object {
	return func() client.Object { return newJob(name, change...) }
}

func ofUser(name string) func(*batchv1alpha1.Job) {
	return func(job *batchv1alpha1.Job) { job.Annotations = map[string]string{keys.User: name} }
}

func inQueue(name string) func(*batchv1alpha1.Job) {
	return func(job *batchv1alpha1.Job) { job.Spec.Queue = name }
}

func inDefault(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "default"}
}

func queueNamed(name string) func() client.Object {
	return func() client.Object {
		return &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.QueueSpec{Weight: 1}}
	}
}

func podWith(annotation, value string) func() client.Object {
	return func() client.Object {
		pod := &corev1.Pod{ObjectMeta: inDefault("p"), Spec: newJob("").Spec.Tasks[0].Template.Spec}
		pod.Annotations = map[string]string{annotation: value}
		return pod
	}
}

// actions returns the table. Namespace default contains job "of-user" of the user.
func actions() []action {
	const forbidden = "cannot"
	cronJob := func(template batchv1alpha1.JobSpec) func() client.Object {
		return func() client.Object {
			return &batchv1alpha1.CronJob{ObjectMeta: inDefault("c"), Spec: batchv1alpha1.CronJobSpec{Schedule: "0 3 * * *", JobTemplate: batchv1alpha1.JobTemplateSpec{Spec: template}}}
		}
	}
	group := func(name string) func() client.Object {
		return func() client.Object {
			group := &schedulingv1beta1.PodGroup{ObjectMeta: inDefault("g")}
			group.Annotations = map[string]string{keys.User: name}
			return group
		}
	}
	return []action{
		{"list jobs", tryList(func() client.ObjectList { return &batchv1alpha1.JobList{} }, client.InNamespace("default")), nobodyElse(viewer, user), forbidden},
		{"list CronJobs", tryList(func() client.ObjectList { return &batchv1alpha1.CronJobList{} }, client.InNamespace("default")), nobodyElse(viewer, user), forbidden},
		{"list JobFlows", tryList(func() client.ObjectList { return &flowv1alpha1.JobFlowList{} }, client.InNamespace("default")), nobodyElse(viewer, user), forbidden},
		{"list JobTemplates", tryList(func() client.ObjectList { return &flowv1alpha1.JobTemplateList{} }, client.InNamespace("default")), nobodyElse(viewer, user), forbidden},
		{"list PodGroups", tryList(func() client.ObjectList { return &schedulingv1beta1.PodGroupList{} }, client.InNamespace("default")), nobodyElse(viewer, user), forbidden},
		{"list queues", tryList(func() client.ObjectList { return &schedulingv1beta1.QueueList{} }), everybody, ""},
		{"list HyperNodes", tryList(func() client.ObjectList { return &topologyv1alpha1.HyperNodeList{} }), everybody, ""},
		{"list accounts", tryList(func() client.ObjectList { return &accountv1alpha1.AccountList{} }), everybody, ""},
		{"list QOS", tryList(func() client.ObjectList { return &accountv1alpha1.QOSList{} }), everybody, ""},
		{"read the Slurm profile", func(ctx context.Context, c client.Client) error {
			return client.IgnoreNotFound(c.Get(ctx, client.ObjectKey{Namespace: deploy.Namespace, Name: "slurm-profile"}, &corev1.ConfigMap{}))
		}, everybody, ""},
		{"create a job", tryCreate(jobOf("new")), nobodyElse(user), forbidden},
		{"delete a job", func(ctx context.Context, c client.Client) error {
			return c.Delete(ctx, newJob("of-user"), client.DryRunAll)
		}, nobodyElse(user), forbidden},
		{"scale a job", tryPatch(jobOf("of-user"), `{"metadata":{"labels":{"a":"b"}}}`), nobodyElse(user), forbidden},
		{"write the status of a job", func(ctx context.Context, c client.Client) error {
			return c.Status().Patch(ctx, newJob("of-user"), client.RawPatch(types.MergePatchType, []byte(`{"status":{"running":7}}`)), &client.SubResourcePatchOptions{PatchOptions: client.PatchOptions{DryRun: []string{metav1.DryRunAll}}})
		}, nobodyElse(), forbidden},
		{"command a job", tryCreate(func() client.Object {
			return newCommand("Job", newJob("of-user"), busv1alpha1.AbortJobAction)
		}), nobodyElse(user), forbidden},
		{"create a CronJob", tryCreate(cronJob(newJob("").Spec)), nobodyElse(user), forbidden},
		{"create a queue", tryCreate(queueNamed("new")), nobodyElse(queueAdministrator), forbidden},
		{"change a queue", tryPatch(queueNamed("shared"), `{"spec":{"weight":7}}`), nobodyElse(queueAdministrator), forbidden},
		{"delete a queue", func(ctx context.Context, c client.Client) error {
			return c.Delete(ctx, queueNamed("private")(), client.DryRunAll)
		}, nobodyElse(queueAdministrator), forbidden},
		{"create a HyperNode", tryCreate(func() client.Object {
			return &topologyv1alpha1.HyperNode{ObjectMeta: metav1.ObjectMeta{Name: "new"}, Spec: topologyv1alpha1.HyperNodeSpec{Tier: 1, Members: []topologyv1alpha1.MemberSpec{{Type: topologyv1alpha1.MemberTypeNode, Selector: topologyv1alpha1.MemberSelector{ExactMatch: &topologyv1alpha1.ExactMatch{Name: "n"}}}}}}
		}), nobodyElse(), forbidden},
		{"create an account", tryCreate(func() client.Object {
			return &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "new"}}
		}), nobodyElse(), forbidden},
		{"create a QOS", tryCreate(func() client.Object {
			return &accountv1alpha1.QOS{ObjectMeta: metav1.ObjectMeta{Name: "new"}}
		}), nobodyElse(), forbidden},
		{"charge a PodGroup that seems to belong to a job to a QOS", tryCreate(func() client.Object {
			group := &schedulingv1beta1.PodGroup{ObjectMeta: inDefault("g")}
			group.Labels = map[string]string{keys.QOS: "high"}
			group.OwnerReferences = []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "of-user", UID: "u", Controller: new(true)}}
			return group
		}), nobodyElse(), `of a PodGroup cannot be set or changed to "high"`},
		{"charge a PodGroup that seems to belong to a job to an account", tryCreate(func() client.Object {
			group := &schedulingv1beta1.PodGroup{ObjectMeta: inDefault("g")}
			group.Labels = map[string]string{keys.Account: "physics"}
			group.OwnerReferences = []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "of-user", UID: "u", Controller: new(true)}}
			return group
		}), nobodyElse(), `of a PodGroup cannot be set or changed to "physics"`},
		{"submit a job as oneself", func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, newJob("own", ofUser(nameOf(ctx))), client.DryRunAll)
		}, nobodyElse(user), forbidden},
		{"submit a job for somebody else", tryCreate(jobOf("forged", ofUser("mei"))), nobodyElse(), `names user "mei", but you are "user"`},
		{"create a CronJob for somebody else", tryCreate(func() client.Object {
			c := cronJob(newJob("").Spec)()
			c.SetAnnotations(map[string]string{keys.User: "mei"})
			return c
		}), nobodyElse(), `names user "mei", but you are "user"`},
		{"create a PodGroup for somebody else", tryCreate(group("mei")), nobodyElse(), `names user "mei", but you are "user"`},
		{"create a pod for somebody else", tryCreate(podWith(keys.User, "mei")), nobodyElse(), `names user "mei", but you are "user"`},
		{"change the user of a job", tryPatch(jobOf("of-user"), `{"metadata":{"annotations":{"`+keys.User+`":"mei"}}}`), nil, "cannot be changed"},
		{"submit to a queue that the user may use", tryCreate(jobOf("new", inQueue("shared"))), nobodyElse(user), forbidden},
		{"submit to another queue", tryCreate(jobOf("new", inQueue("private"))), nobodyElse(), `user "user" is not allowed to use queue private`},
		{"move a job to another queue", tryPatch(jobOf("of-user"), `{"spec":{"queue":"private"}}`), nil, `queue`},
		{"create a CronJob for another queue", tryCreate(cronJob(newJob("", inQueue("private")).Spec)), nobodyElse(), `is not allowed to use queue private`},
		{"create a JobTemplate for another queue", tryCreate(func() client.Object {
			return &flowv1alpha1.JobTemplate{ObjectMeta: inDefault("t"), Spec: newJob("", inQueue("private")).Spec}
		}), nobodyElse(), `is not allowed to use queue private`},
		{"create a PodGroup in another queue", tryCreate(func() client.Object {
			return &schedulingv1beta1.PodGroup{ObjectMeta: inDefault("g"), Spec: schedulingv1beta1.PodGroupSpec{Queue: "private"}}
		}), nobodyElse(), `is not allowed to use queue private`},
		{"create a ReplicationController for pods in another queue", tryCreate(func() client.Object {
			template := podWith(keys.PodQueueName, "private")().(*corev1.Pod)
			labels := map[string]string{"a": "b"}
			template.Labels, template.Spec.RestartPolicy = labels, corev1.RestartPolicyAlways
			return &corev1.ReplicationController{ObjectMeta: inDefault("r"), Spec: corev1.ReplicationControllerSpec{
				Selector: labels, Template: &corev1.PodTemplateSpec{ObjectMeta: template.ObjectMeta, Spec: template.Spec},
			}}
		}), nobodyElse(), `is not allowed to use queue private`},
		{"create a CronJob of Kubernetes whose jobs are in another queue", tryCreate(func() client.Object {
			template := batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: newJob("").Spec.Tasks[0].Template.Spec}}}
			template.Annotations = map[string]string{keys.PodQueueName: "private"}
			return &batchv1.CronJob{ObjectMeta: inDefault("k"), Spec: batchv1.CronJobSpec{Schedule: "0 3 * * *", JobTemplate: template}}
		}), nobodyElse(), `is not allowed to use queue private`},
		{"create a JobFlow with many steps in the same queue", tryCreate(flowInQueues("shared", "shared", "shared", "shared", "default")), nobodyElse(user), forbidden},
		{"create a JobFlow with a step in another queue", tryCreate(flowInQueues("shared", "shared", "default", "private")), nobodyElse(), `is not allowed to use queue private`},
		{"charge a CronJob to somebody else by a label", func(ctx context.Context, c client.Client) error {
			cron := cronJob(newJob("").Spec)()
			cron.SetLabels(map[string]string{keys.User: "mei"})
			cron.SetAnnotations(map[string]string{keys.User: ""})
			if err := c.Create(ctx, cron, client.DryRunAll); err != nil {
				return err
			}
			if got := batchv1alpha1.UserOf(cron); got != nameOf(ctx) {
				return fmt.Errorf("the CronJob belongs to %q", got)
			}
			return nil
		}, nobodyElse(user), forbidden},
		{"take the label of a job from a pod that names somebody else", func(ctx context.Context, c client.Client) error {
			pod := &corev1.Pod{ObjectMeta: inDefault("of-no-job")}
			return c.Patch(ctx, pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+keys.JobName+`":null}}}`)), client.DryRunAll)
		}, nil, "vc-batch.dev/user"},
		{"create a pod in another queue", tryCreate(podWith(keys.PodQueueName, "private")), nobodyElse(), `is not allowed to use queue private`},
		{"take a pod out of its PodGroup", tryPatch(podNamed("of-job"), annotationPatch(keys.GroupName, "null")), nobodyElse(), `annotation scheduling.k8s.io/group-name cannot be changed from "g" to ""`},
		{"move a pod to another PodGroup", tryPatch(podNamed("of-job"), annotationPatch(keys.GroupName, `"other"`)), nobodyElse(), `cannot be changed from "g" to "other"`},
		{"hide the PodGroup of a pod behind another key", tryPatch(podNamed("of-operator"), annotationPatch(keys.GroupName, `"other"`)), nobodyElse(), `cannot be changed from "g" to "other"`},
		{"take the label of its job from a pod", tryPatch(podNamed("of-job"), labelPatch(keys.JobName, "null")), nobodyElse(), `label volcano.sh/job-name cannot be changed from "of-user" to ""`},
		{"take the annotation of its job from a pod", tryPatch(podNamed("of-job"), annotationPatch(keys.JobName, "null")), nobodyElse(), `annotation volcano.sh/job-name cannot be changed from "of-user" to ""`},
		{"give a pod another queue", tryPatch(podNamed("of-job"), labelPatch(keys.QueueName, `"shared"`)), nobodyElse(), `label volcano.sh/queue-name cannot be changed from "default" to "shared"`},
		{"give a pod the version of another attempt", tryPatch(podNamed("of-job"), annotationPatch(keys.JobVersion, `"7"`)), nobodyElse(), `annotation volcano.sh/job-version cannot be changed from "0" to "7"`},
		{"take a pod from its job", tryPatch(podNamed("of-job"), `{"metadata":{"ownerReferences":null}}`), nobodyElse(), `the Job in ownerReferences cannot be changed`},
		{"change a pod of a job beside that", tryPatch(podNamed("of-job"), `{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`), nobodyElse(user), forbidden},
		{"give a new pod a PodGroup", tryPatch(podNamed("plain"), annotationPatch(keys.GroupName, `"g"`)), nobodyElse(user), forbidden},
		{"give a pod with a node a PodGroup", tryPatch(podNamed("placed"), annotationPatch(keys.GroupName, `"g"`)), nobodyElse(), `cannot be changed from "" to "g"`},
		{"invent the usage of a pod with a node", tryPatch(podNamed("placed"), annotationPatch(keys.Used, `"{}"`)), nobodyElse(), `because it holds the measured usage of the pod: leave this annotation unchanged`},
		{"invent the usage of a pod without a node", tryPatch(podNamed("plain"), annotationPatch(keys.Used, `"{}"`)), nobodyElse(), `annotation vc-batch.dev/used cannot be changed from "" to "{}"`},
		{"create a pod with forged usage", tryCreate(podWith(keys.Used, `{"cpuMilliseconds":1}`)), nobodyElse(), `annotation vc-batch.dev/used cannot be set to "{"cpuMilliseconds":1}", because it holds the measured usage of the pod: remove it`},
		{"create a pod with a forged owner", tryCreate(func() client.Object {
			pod := podWith("a", "b")()
			pod.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "of-user", UID: "u", Controller: new(true)}})
			return pod
		}), nobodyElse(), `the Job in ownerReferences cannot be set to "u", because it determines to which job, queue and account the object belongs: remove this owner reference`},
		{"create a pod that is deleted with a job", tryCreate(func() client.Object {
			pod := podWith("a", "b")()
			pod.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "of-user", UID: "u"}})
			return pod
		}), nobodyElse(user), forbidden},
		{"create a pod for a Job of Kubernetes", tryCreate(func() client.Object {
			pod := podWith("a", "b")()
			pod.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "of-user", UID: "u", Controller: new(true)}})
			return pod
		}), nobodyElse(user), forbidden},
		{"take the usage from a pod", tryPatch(podNamed("of-job"), annotationPatch(keys.Used, "null")), nobodyElse(), `annotation vc-batch.dev/used cannot be changed from "{}" to ""`},
		{"move the PodGroup of a job to another queue", tryPatch(groupNamed("of-job"), `{"spec":{"queue":"shared"}}`), nobodyElse(), `spec.queue cannot be changed from "default" to "shared"`},
		{"take a PodGroup from its job", tryPatch(groupNamed("of-job"), `{"metadata":{"ownerReferences":null}}`), nobodyElse(), `the Job in ownerReferences cannot be changed`},
		{"change the PodGroup of a job beside that", tryPatch(groupNamed("of-job"), `{"metadata":{"labels":{"a":"b"}}}`), nobodyElse(user), forbidden},
		{"move a PodGroup to a queue that the user may use", tryPatch(groupNamed("plain"), `{"spec":{"queue":"shared"}}`), nobodyElse(user), forbidden},
		{"move a PodGroup to another queue", tryPatch(groupNamed("plain"), `{"spec":{"queue":"private"}}`), nobodyElse(), `is not allowed to use queue private`},
		{"move a PodGroup to a queue that does not exist", tryPatch(groupNamed("plain"), `{"spec":{"queue":"missing"}}`), nil, `missing`},
	}
}

func podNamed(name string) func() client.Object {
	return func() client.Object { return &corev1.Pod{ObjectMeta: inDefault(name)} }
}

func groupNamed(name string) func() client.Object {
	return func() client.Object { return &schedulingv1beta1.PodGroup{ObjectMeta: inDefault(name)} }
}

// annotationPatch and labelPatch return a patch that sets a key to a value in JSON.
func annotationPatch(key, value string) string {
	return `{"metadata":{"annotations":{"` + key + `":` + value + `}}}`
}

func labelPatch(key, value string) string {
	return `{"metadata":{"labels":{"` + key + `":` + value + `}}}`
}

// createMembers creates the pods and the PodGroups that the persons try to move: those of a job, and others.
func createMembers(t *testing.T, c client.Client, job *batchv1alpha1.Job) {
	t.Helper()
	owners := []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}}
	pod := func(name, annotation, value string) *corev1.Pod {
		pod := podWith(annotation, value)().(*corev1.Pod)
		pod.Name = name
		return pod
	}
	ofJob, placed := pod("of-job", keys.GroupName, "g"), pod("placed", "a", "b")
	ofJob.OwnerReferences, placed.Spec.NodeName = owners, "n"
	ofJob.Labels = map[string]string{keys.JobName: job.Name, keys.QueueName: "default", keys.TaskSpec: "main"}
	ofJob.Annotations[keys.JobName], ofJob.Annotations[keys.JobVersion] = job.Name, "0"
	ofJob.Annotations[keys.Used] = "{}"
	groupOfJob := &schedulingv1beta1.PodGroup{ObjectMeta: inDefault("of-job"), Spec: schedulingv1beta1.PodGroupSpec{Queue: "default"}}
	groupOfJob.OwnerReferences = owners
	for _, object := range []client.Object{
		ofJob, placed, pod("of-operator", keys.VolcanoGroupName, "g"), pod("plain", "a", "b"), groupOfJob,
		&schedulingv1beta1.PodGroup{ObjectMeta: inDefault("plain"), Spec: schedulingv1beta1.PodGroupSpec{Queue: "default"}},
	} {
		must(t, c.Create(t.Context(), object))
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), object, client.GracePeriodSeconds(0)) })
	}
}

// flowInQueues returns a JobFlow with a step in each of the queues.
func flowInQueues(queues ...string) func() client.Object {
	return func() client.Object {
		flow := &flowv1alpha1.JobFlow{ObjectMeta: inDefault("f")}
		for i, queue := range queues {
			flow.Spec.Flows = append(flow.Spec.Flows, flowv1alpha1.Flow{
				Name: fmt.Sprintf("step-%d", i), Patch: &flowv1alpha1.Patch{JobSpec: batchv1alpha1.JobSpec{Queue: queue}},
			})
		}
		return flow
	}
}

type nameKey struct{}

// nameOf returns the name of the person who tries an action.
func nameOf(ctx context.Context) string {
	name, _ := ctx.Value(nameKey{}).(string)
	return name
}

// person returns a client of a person.
func person(t *testing.T, name string) client.Client {
	t.Helper()
	config := rest.CopyConfig(plane.RESTConfig())
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	if name == clusterAdministrator {
		config.Impersonate.Groups = append(config.Impersonate.Groups, "system:masters")
	}
	c, err := newClient(config)
	must(t, err)
	return c
}

// introducePersons gives the persons their rights.
func introducePersons(t *testing.T, c client.Client) {
	t.Helper()
	subject := func(name string) []rbacv1.Subject {
		return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	}
	role := func(name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	}
	for _, object := range []client.Object{
		&rbacv1.RoleBinding{ObjectMeta: inDefault("person-viewer"), Subjects: subject(viewer), RoleRef: role("view")},
		&rbacv1.RoleBinding{ObjectMeta: inDefault("person-user"), Subjects: subject(user), RoleRef: role("edit")},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "use-of-queues"}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{schedulingv1beta1.GroupName}, Resources: []string{"queues"}, ResourceNames: []string{"default", "shared"}, Verbs: []string{"use"},
		}}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "person-user"}, Subjects: subject(user), RoleRef: role("use-of-queues")},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "person-queue-administrator"}, Subjects: subject(queueAdministrator), RoleRef: role("volcano-queue-admin")},
	} {
		must(t, c.Create(t.Context(), object))
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), object) })
	}
}

// TestEachPersonMayDoWhatTheirRolesSay tries a table of persons and actions against the API server, with webhooks and
// policies in force, and with the policy for the use of queues.
func TestEachPersonMayDoWhatTheirRolesSay(t *testing.T) {
	removeWebhooks(t)
	c := admin(t)
	introducePersons(t, c)
	stop := runAdmission(t)
	defer func() { stop(); removeWebhooks(t) }()
	makeQueue(t, c, "default", schedulingv1beta1.QueueStateOpen)
	makeQueue(t, c, "shared", schedulingv1beta1.QueueStateOpen)
	makeQueue(t, c, "private", schedulingv1beta1.QueueStateOpen)
	members := map[string]client.Client{}
	for _, name := range everybody {
		members[name] = person(t, name)
	}
	job := newJob("of-user")
	must(t, members[user].Create(t.Context(), job))
	defer func() { must(t, c.Delete(context.WithoutCancel(t.Context()), job)) }()
	if got := batchv1alpha1.UserOf(job); got != user {
		t.Errorf("admission wrote user %q into the job of %s", got, user)
	}
	pod := podWith(keys.User, "mei")()
	pod.SetName("of-no-job")
	pod.SetLabels(map[string]string{keys.JobName: ""})
	must(t, members[user].Create(t.Context(), pod)) // the policy skips the label of a job, and the controllers ignore the user
	defer func() { must(t, c.Delete(context.WithoutCancel(t.Context()), pod)) }()
	createMembers(t, c, job)
	binding, _ := deploy.QueueUseBinding().(client.Object)
	must(t, members[user].Create(t.Context(), newJob("before", inQueue("private")), client.DryRunAll)) // the permission is off by default
	must(t, c.Create(t.Context(), binding))
	defer func() { must(t, c.Delete(context.WithoutCancel(t.Context()), binding)) }()
	eventually(t, func(ctx context.Context) error {
		if err := members[user].Create(ctx, newJob("new", inQueue("private")), client.DryRunAll); !apierrors.IsForbidden(err) {
			return errors.Join(errors.New("the policy for the use of queues is not in force yet"), err)
		}
		return nil
	})
	for _, a := range actions() {
		t.Run(a.name, func(t *testing.T) {
			for _, name := range everybody {
				err := a.try(context.WithValue(t.Context(), nameKey{}, name), members[name])
				if err := checkOutcome(&a, name, err); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// checkOutcome checks whether an action of a person ended as the table says. The refusal that the table states is that of
// the person with the role edit, because the others are refused for lack of that role.
func checkOutcome(a *action, name string, err error) error {
	allowed := slices.Contains(a.who, name)
	switch {
	case allowed && err != nil:
		return fmt.Errorf("%s may not %s: %w", name, a.name, err)
	case !allowed && err == nil:
		return fmt.Errorf("%s may %s", name, a.name)
	case !allowed && name == user && !strings.Contains(err.Error(), a.refusal):
		return fmt.Errorf("the refusal does not say %q: %w", a.refusal, err)
	}
	return nil
}
