package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/internal/admission/matchcondition"
)

// ConfigurationPrefix is the name prefix of the webhook configurations. The names are Volcano's, so that configurations
// left by a Volcano installation are replaced and do not reject objects because their service is gone.
const ConfigurationPrefix = "volcano-admission-service-"

// webhookTimeoutSeconds is how long the API server waits for a response.
const webhookTimeoutSeconds = 10

// notOfOurJobs excludes PodGroups that the job controller creates, because their Job was already defaulted and checked.
const notOfOurJobs = `!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, ` +
	`has(o.controller) && o.controller && o.kind == 'Job' && o.apiVersion.startsWith('batch.volcano.sh/'))`

// specChanged excludes updates to labels, owners and finalizers, so that garbage collection continues while specs
// cannot be checked. It includes the annotations with a queue's place in the hierarchy and its desired state.
const specChanged = `request.operation != 'UPDATE' || !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec || ` +
	`['` + keys.Hierarchy + `', '` + keys.HierarchyWeights + `', '` + keys.QueueState + `'].exists(k, ` +
	`object.metadata.?annotations[?k].orValue('') != oldObject.metadata.?annotations[?k].orValue(''))`

// jobChanged excludes updates to jobs that need no check. Changes to the spec, to the number, to the account, to the QOS, and to
// the annotations listed in JudgedAnnotations need one.
var jobChanged = fmt.Sprintf("request.operation != 'UPDATE' || !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec || "+
	"['%s', '%s', '%s'].exists(k, object.metadata.?labels[?k].orValue('') != oldObject.metadata.?labels[?k].orValue('')) || ['%s'].exists(k, "+
	"object.metadata.?annotations[?k].orValue('') != oldObject.metadata.?annotations[?k].orValue(''))",
	keys.JobID, keys.Account, keys.QOS, strings.Join(batchv1alpha1.JudgedAnnotations, "', '"))

// rule describes one webhook by its path and the objects that are sent to it.
type rule struct {
	path       string
	suffix     string // suffix of the name, for a twin
	groups     string
	version    string
	resource   string
	scope      admissionregistrationv1.ScopeType
	operations []admissionregistrationv1.OperationType
	failOpen   bool
	// sideEffects is true if a request without dry run changes more than its object.
	sideEffects bool
	conditions  []admissionregistrationv1.MatchCondition
	// selector excludes objects by their labels, at almost no cost to the API server. A condition costs more, because
	// the API server converts the whole object first. This takes 0.15 ms of CPU time per pod, which is a twentieth of
	// the time to create the pod.
	selector metav1.LabelSelector
	// twin is a second webhook with the same path and configuration, for objects that the conditions of the first
	// exclude. It may be nil.
	twin *rule
	// off means that no objects are sent. The configuration that an earlier version of vcd installed is then emptied.
	off bool
}

// mutatingRules returns the webhooks that default the project's kinds, and record the changes of accounts and QOS. The webhooks
// that default fail open; see the package comment.
func mutatingRules() []rule {
	job, queue, group := kindsToReview()
	job.path, job.operations, job.failOpen = pathMutateJob, createAndUpdate(), true
	job.sideEffects = true // each request uses up job numbers, unless it is a dry run
	queue.path, queue.operations, queue.failOpen = pathMutateQueue, createAndUpdate(), true
	group.path, group.operations, group.failOpen = pathMutatePodGroup, createOnly(), true
	cron := rule{
		path: pathMutateCronJob, operations: createAndUpdate(), failOpen: true, scope: admissionregistrationv1.NamespacedScope,
		groups: batchv1alpha1.GroupName, version: batchv1alpha1.GroupVersion.Version, resource: "cronjobs",
		conditions: []admissionregistrationv1.MatchCondition{{Name: "names-no-user", Expression: fmt.Sprintf("object.metadata.?annotations[?'%s'].orValue('') == ''", keys.User)}},
	}
	flow := cron
	flow.path, flow.groups, flow.version, flow.resource = pathMutateJobFlow, flowv1alpha1.GroupName, flowv1alpha1.GroupVersion.Version, "jobflows"
	// It does not fail open, because no change of an account or a QOS may be made without being recorded.
	account := rule{
		path: pathMutateAccount, operations: createAndUpdate(), scope: admissionregistrationv1.ClusterScope,
		groups: accountv1alpha1.GroupName, version: accountv1alpha1.GroupVersion.Version, resource: "accounts",
	}
	qos := account
	qos.path, qos.resource = pathMutateQOS, "qoses"
	return []rule{job, queue, group, cron, flow, account, qos}
}

// recordsChanges reports whether the webhook only records the changes of objects, which needs Options.RecordJobs.
func (r *rule) recordsChanges() bool { return r.path == pathMutateAccount || r.path == pathMutateQOS }

// validatingRules returns the webhooks that check the project's kinds, and pods with a disruption budget and one of the
// given schedulers.
func validatingRules(schedulerNames []string) []rule {
	job, queue, group := kindsToReview()
	job.path, job.operations = pathValidateJob, createAndUpdate()
	queue.path, queue.operations = pathValidateQueue, append(createAndUpdate(), admissionregistrationv1.Delete)
	group.path, group.operations = pathValidatePodGroup, createAndUpdate()
	// The controllers create the groups of plain pods, and must be able to do so while the webhooks are not available.
	ofPods := group
	ofPods.failOpen, ofPods.suffix = true, "ofpods"
	ofPods.conditions = append(slices.Clone(group.conditions), onlyNewOrMoved("made-by-our-controllers", matchcondition.MadeByOurControllers))
	group.conditions = []admissionregistrationv1.MatchCondition{onlyNewOrMoved("not-made-by-our-controllers", "!("+matchcondition.MadeByOurControllers+")")}
	group.twin = &ofPods
	hyperNode := rule{
		path: pathValidateHyperNode, operations: createAndUpdate(), scope: admissionregistrationv1.ClusterScope,
		groups: topologyv1alpha1.GroupName, version: topologyv1alpha1.GroupVersion.Version, resource: "hypernodes", conditions: onlySpecChanged(),
	}
	pod := rule{
		path: pathValidatePod, groups: "", version: "v1", resource: "pods", scope: admissionregistrationv1.NamespacedScope,
		operations: createOnly(), failOpen: true, selector: excludeJobPods(),
		conditions: []admissionregistrationv1.MatchCondition{
			{Name: "our-scheduler", Expression: isOurConfiguration(schedulerNames)},
			{Name: "has-a-disruption-budget", Expression: fmt.Sprintf("has(object.metadata.annotations) && ('%s' in object.metadata.annotations || '%s' in object.metadata.annotations)",
				keys.JDBMinAvailable, keys.JDBMaxUnavailable)},
		},
	}
	cron := rule{
		path: pathValidateCronJob, operations: createAndUpdate(), scope: admissionregistrationv1.NamespacedScope,
		groups: batchv1alpha1.GroupName, version: batchv1alpha1.GroupVersion.Version, resource: "cronjobs", conditions: onlySpecChanged(),
	}
	flow, template := cron, cron
	flow.path, flow.groups, flow.version, flow.resource = pathValidateJobFlow, flowv1alpha1.GroupName, flowv1alpha1.GroupVersion.Version, "jobflows"
	template.path, template.groups, template.version, template.resource = pathValidateTemplate, flowv1alpha1.GroupName, flowv1alpha1.GroupVersion.Version, "jobtemplates"
	account := rule{
		path: pathValidateAccount, operations: append(createAndUpdate(), admissionregistrationv1.Delete), scope: admissionregistrationv1.ClusterScope,
		groups: accountv1alpha1.GroupName, version: accountv1alpha1.GroupVersion.Version, resource: "accounts", conditions: onlySpecChanged(),
		sideEffects: true, // a deletion is recorded, unless it is a dry run
	}
	qos := account
	qos.path, qos.resource = pathValidateQOS, "qoses"
	return []rule{job, queue, group, hyperNode, cron, flow, template, pod, account, qos}
}

// onlyNewOrMoved returns a match condition that selects the requests that match an expression, except updates of PodGroups
// that keep their queue. It is one expression, so that frequent updates of the status need no permission check.
func onlyNewOrMoved(name, expression string) admissionregistrationv1.MatchCondition {
	const moved = "(request.operation != 'UPDATE' || object.?spec.?queue.orValue('') != oldObject.?spec.?queue.orValue(''))"
	return admissionregistrationv1.MatchCondition{Name: name, Expression: moved + " && (" + expression + ")"}
}

// excludeJobPods excludes pods of jobs, because their budgets were checked with the Job.
func excludeJobPods() metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: keys.JobName, Operator: metav1.LabelSelectorOpDoesNotExist}}}
}

// isOurConfiguration returns a CEL expression that matches pods of these schedulers.
func isOurConfiguration(schedulerNames []string) string {
	quoted := make([]string, len(schedulerNames))
	for i, name := range schedulerNames {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("object.spec.schedulerName in [%s]", strings.Join(quoted, ", "))
}

func kindsToReview() (job, queue, group rule) {
	job = rule{groups: batchv1alpha1.GroupName, version: batchv1alpha1.GroupVersion.Version, resource: "jobs", scope: admissionregistrationv1.NamespacedScope}
	queue = rule{groups: schedulingv1beta1.GroupName, version: schedulingv1beta1.GroupVersion.Version, resource: "queues", scope: admissionregistrationv1.ClusterScope}
	group = rule{groups: schedulingv1beta1.GroupName, version: schedulingv1beta1.GroupVersion.Version, resource: "podgroups", scope: admissionregistrationv1.NamespacedScope}
	job.conditions = []admissionregistrationv1.MatchCondition{{Name: "spec-changed", Expression: jobChanged}}
	queue.conditions = onlySpecChanged()
	group.conditions = []admissionregistrationv1.MatchCondition{{Name: "not-of-our-jobs", Expression: notOfOurJobs}}
	return job, queue, group
}

func onlySpecChanged() []admissionregistrationv1.MatchCondition {
	return []admissionregistrationv1.MatchCondition{{Name: "spec-changed", Expression: specChanged}}
}

func createOnly() []admissionregistrationv1.OperationType {
	return []admissionregistrationv1.OperationType{admissionregistrationv1.Create}
}

func createAndUpdate() []admissionregistrationv1.OperationType {
	return append(createOnly(), admissionregistrationv1.Update)
}

// webhookConfigurations holds all configurations to install.
type webhookConfigurations struct {
	mutating   []*admissionregistrationv1.MutatingWebhookConfiguration
	validating []*admissionregistrationv1.ValidatingWebhookConfiguration
}

// DefaultConfigurations returns the webhook configurations that a daemon with default options installs, without the
// address of the webhooks. They show which objects the API server must send to the webhooks.
func DefaultConfigurations() ([]*admissionregistrationv1.MutatingWebhookConfiguration, []*admissionregistrationv1.ValidatingWebhookConfiguration) {
	mutating := mutatingRules()
	for i := range mutating {
		mutating[i].off = mutating[i].recordsChanges()
	}
	all := webhookConfigsFor(target{}, nil, mutating, validatingRules([]string{keys.DefaultSchedulerName}))
	return all.mutating, all.validating
}

// webhookConfigsFor returns the configurations of the webhooks at the target. caBundle verifies the target's
// certificate.
func webhookConfigsFor(where target, caBundle []byte, mutating, validating []rule) webhookConfigurations {
	var all webhookConfigurations
	for _, r := range mutating {
		configuration := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: r.objectMeta()}
		if !r.off {
			configuration.Webhooks = []admissionregistrationv1.MutatingWebhook{{
				Name:                    r.webhookName(),
				ClientConfig:            where.clientConfig(r.path, caBundle),
				Rules:                   r.operationRules(),
				FailurePolicy:           r.failurePolicy(),
				MatchPolicy:             new(admissionregistrationv1.Equivalent),
				NamespaceSelector:       ordinaryNamespaces(),
				ObjectSelector:          &r.selector,
				SideEffects:             r.sideEffectClass(),
				TimeoutSeconds:          new(int32(webhookTimeoutSeconds)),
				AdmissionReviewVersions: []string{"v1"},
				ReinvocationPolicy:      new(admissionregistrationv1.NeverReinvocationPolicy),
				MatchConditions:         r.conditions,
			}}
		}
		all.mutating = append(all.mutating, configuration)
	}
	for _, r := range validating {
		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: r.objectMeta()}
		for hook := &r; hook != nil && !hook.off; hook = hook.twin {
			configuration.Webhooks = append(configuration.Webhooks, hook.validatingWebhook(where, caBundle))
		}
		all.validating = append(all.validating, configuration)
	}
	return all
}

// validatingWebhook returns the configuration of a validating webhook.
func (r *rule) validatingWebhook(where target, caBundle []byte) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:                    r.webhookName(),
		ClientConfig:            where.clientConfig(r.path, caBundle),
		Rules:                   r.operationRules(),
		FailurePolicy:           r.failurePolicy(),
		MatchPolicy:             new(admissionregistrationv1.Equivalent),
		NamespaceSelector:       ordinaryNamespaces(),
		ObjectSelector:          &r.selector,
		SideEffects:             r.sideEffectClass(),
		TimeoutSeconds:          new(int32(webhookTimeoutSeconds)),
		AdmissionReviewVersions: []string{"v1"},
		MatchConditions:         r.conditions,
	}
}

// webhookName returns the name of Volcano's webhook: mutatejob.volcano.sh for /jobs/mutate.
func (r rule) webhookName() string {
	noun, verb, _ := strings.Cut(strings.TrimPrefix(r.path, "/"), "/")
	singular := strings.TrimSuffix(noun, "s")
	if r.path == pathValidateQOS {
		singular = "qos"
	}
	return verb + singular + r.suffix + ".volcano.sh"
}

func (r rule) objectMeta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: ConfigurationPrefix + strings.ReplaceAll(strings.TrimPrefix(r.path, "/"), "/", "-")}
}

func (r rule) operationRules() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: r.operations,
		Rule: admissionregistrationv1.Rule{
			APIGroups: []string{r.groups}, APIVersions: []string{r.version}, Resources: []string{r.resource}, Scope: &r.scope,
		},
	}}
}

func (r rule) sideEffectClass() *admissionregistrationv1.SideEffectClass {
	if r.sideEffects {
		return new(admissionregistrationv1.SideEffectClassNoneOnDryRun)
	}
	return new(admissionregistrationv1.SideEffectClassNone)
}

func (r rule) failurePolicy() *admissionregistrationv1.FailurePolicyType {
	if r.failOpen {
		return new(admissionregistrationv1.Ignore)
	}
	return new(admissionregistrationv1.Fail)
}

// ordinaryNamespaces returns a selector that excludes the namespace kube-system.
func ordinaryNamespaces() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{metav1.NamespaceSystem},
	}}}
}

// clientConfig returns the client configuration with which the API server calls one webhook.
func (t target) clientConfig(path string, caBundle []byte) admissionregistrationv1.WebhookClientConfig {
	if t.url != "" {
		return admissionregistrationv1.WebhookClientConfig{URL: new(t.url + path), CABundle: caBundle}
	}
	return admissionregistrationv1.WebhookClientConfig{CABundle: caBundle, Service: &admissionregistrationv1.ServiceReference{
		Namespace: t.serviceNamespace, Name: t.serviceName, Path: &path, Port: new(int32(443)),
	}}
}

// installWebhooks creates or corrects the configurations, and returns the names of those that it has written.
func installWebhooks(ctx context.Context, cluster *Cluster, all webhookConfigurations) ([]string, error) {
	var written []string
	for _, want := range all.mutating {
		wrote, err := createOrCorrect(ctx, cluster.Mutating, cluster.Owner, want, func(have *admissionregistrationv1.MutatingWebhookConfiguration) bool {
			same := apiequality.Semantic.DeepEqual(have.Webhooks, want.Webhooks)
			have.Webhooks = want.Webhooks
			return same
		})
		if err != nil {
			return written, fmt.Errorf("mutating webhook configuration %s: %w", want.Name, err)
		}
		if wrote {
			written = append(written, want.Name)
		}
	}
	for _, want := range all.validating {
		wrote, err := createOrCorrect(ctx, cluster.Validating, cluster.Owner, want, func(have *admissionregistrationv1.ValidatingWebhookConfiguration) bool {
			same := apiequality.Semantic.DeepEqual(have.Webhooks, want.Webhooks)
			have.Webhooks = want.Webhooks
			return same
		})
		if err != nil {
			return written, fmt.Errorf("validating webhook configuration %s: %w", want.Name, err)
		}
		if wrote {
			written = append(written, want.Name)
		}
	}
	return written, nil
}

// createOrCorrect creates want. If the object exists, the function correct corrects it and reports whether it was
// correct already. wrote reports whether anything was written. If other clients write the object at the same time, it
// tries again.
func createOrCorrect[T metav1.Object](ctx context.Context, client ObjectClient[T], owner ownerGetter, want T, correct func(T) bool) (wrote bool, err error) {
	for range writeAttempts {
		wrote, err = tryToCreateOrCorrect(ctx, client, owner, want, correct)
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
			return wrote, err
		}
	}
	return false, fmt.Errorf("it was changed by another client at the same time: %w", err)
}

func tryToCreateOrCorrect[T metav1.Object](ctx context.Context, client ObjectClient[T], owner ownerGetter, want T, correct func(T) bool) (wrote bool, err error) {
	have, err := client.Get(ctx, want.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		owners, err := owner.references(ctx)
		if err != nil {
			return false, err
		}
		want.SetOwnerReferences(owners)
		_, err = client.Create(ctx, want, metav1.CreateOptions{})
		return err == nil, err
	case err != nil, correct(have):
		return false, err
	}
	_, err = client.Update(ctx, have, metav1.UpdateOptions{})
	return err == nil, err
}

// ownerGetter reads the owner of new webhook configurations. It may be nil.
type ownerGetter func(ctx context.Context) (*rbacv1.ClusterRole, error)

// references returns the owner as a list of references, which is empty if there is no owner.
func (g ownerGetter) references(ctx context.Context) ([]metav1.OwnerReference, error) {
	if g == nil {
		return nil, nil
	}
	role, err := g(ctx)
	if err != nil {
		// This is not the error of a configuration that is missing, which would be created again.
		return nil, fmt.Errorf("the owner of new webhook configurations (--webhook-owner): %s", err.Error())
	}
	return []metav1.OwnerReference{{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole", Name: role.Name, UID: role.UID}}, nil
}
