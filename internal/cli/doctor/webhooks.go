package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/cli"
)

// hook is the part of a webhook that the checks compare: which objects are sent to it, and where.
type hook struct {
	name   string
	rules  []admissionregistrationv1.RuleWithOperations
	client admissionregistrationv1.WebhookClientConfig
}

// configuration is a mutating or validating webhook configuration.
type configuration struct {
	title string // the kind and the name
	found bool
	hooks []hook
}

// policyFacts compares one admission policy of the cluster, or its binding, with vc's.
type policyFacts struct {
	title       string
	found, same bool
}

// reviewFacts holds the API server's responses to two dry-run requests.
type reviewFacts struct {
	namespace string
	// wrong is the response to a job with a queue that does not exist, which the validating webhook rejects.
	wrong error
	// right is the response to a valid job. user is the user that the mutating webhook has written into it.
	right error
	user  string
}

// webhookFacts holds what is known about the webhooks.
type webhookFacts struct {
	have, want []configuration // in the same order
	policies   []policyFacts
	review     reviewFacts
	unreadable []Finding
}

// wantedConfigurations returns the configurations that vcd installs.
func wantedConfigurations() []configuration {
	mutating, validating := admission.DefaultConfigurations()
	var all []configuration
	for _, one := range mutating {
		all = append(all, fromMutating(one))
	}
	for _, one := range validating {
		all = append(all, fromValidating(one))
	}
	return all
}

func fromMutating(from *admissionregistrationv1.MutatingWebhookConfiguration) configuration {
	c := configuration{title: mutatingKind + " " + from.Name}
	for i := range from.Webhooks {
		c.hooks = append(c.hooks, hook{from.Webhooks[i].Name, from.Webhooks[i].Rules, from.Webhooks[i].ClientConfig})
	}
	return c
}

func fromValidating(from *admissionregistrationv1.ValidatingWebhookConfiguration) configuration {
	c := configuration{title: validatingKind + " " + from.Name}
	for i := range from.Webhooks {
		c.hooks = append(c.hooks, hook{from.Webhooks[i].Name, from.Webhooks[i].Rules, from.Webhooks[i].ClientConfig})
	}
	return c
}

const (
	mutatingKind   = "MutatingWebhookConfiguration"
	validatingKind = "ValidatingWebhookConfiguration"
)

// readConfigurations reads the cluster's configurations, in the order of want. It returns a finding if the user may not
// read them.
func (r *reader) readConfigurations(ctx context.Context, want []configuration) ([]configuration, *Finding) {
	var all []configuration
	for _, one := range want {
		kind, name, _ := strings.Cut(one.title, " ")
		have := configuration{title: one.title}
		var problem *Finding
		if kind == mutatingKind {
			object := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
			have.found, problem = r.read(ctx, object, kind, "", name)
			have.hooks = fromMutating(object).hooks
		} else {
			object := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
			have.found, problem = r.read(ctx, object, kind, "", name)
			have.hooks = fromValidating(object).hooks
		}
		if problem != nil {
			return nil, problem
		}
		all = append(all, have)
	}
	return all, nil
}

func checkWebhooks(ctx context.Context, r *reader) []Finding {
	facts := webhookFacts{want: wantedConfigurations()}
	var problem *Finding
	if facts.have, problem = r.readConfigurations(ctx, facts.want); problem != nil {
		facts.unreadable = append(facts.unreadable, *problem)
	}
	if facts.policies, problem = r.readPolicies(ctx); problem != nil {
		facts.unreadable = append(facts.unreadable, *problem)
	}
	facts.review = r.reviewJobs(ctx)
	return decideWebhooks(&facts)
}

// readPolicies compares the cluster's admission policies with vc's.
func (r *reader) readPolicies(ctx context.Context) ([]policyFacts, *Finding) {
	var all []policyFacts
	for _, object := range deploy.Objects() {
		var one policyFacts
		var problem *Finding
		switch want := object.(type) {
		case *admissionregistrationv1.ValidatingAdmissionPolicy:
			have := &admissionregistrationv1.ValidatingAdmissionPolicy{}
			one.title = "ValidatingAdmissionPolicy " + want.Name
			one.found, problem = r.read(ctx, have, "ValidatingAdmissionPolicy", "", want.Name)
			one.same = havePolicy(have, want)
		case *admissionregistrationv1.ValidatingAdmissionPolicyBinding:
			have := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
			one.title = "ValidatingAdmissionPolicyBinding " + want.Name
			one.found, problem = r.read(ctx, have, "ValidatingAdmissionPolicyBinding", "", want.Name)
			one.same = have.Spec.PolicyName == want.Spec.PolicyName && slices.Equal(have.Spec.ValidationActions, want.Spec.ValidationActions)
		default:
			continue
		}
		if problem != nil {
			return nil, problem
		}
		all = append(all, one)
	}
	return all, nil
}

// havePolicy reports whether two policies apply the same rules to the same requests.
func havePolicy(have, want *admissionregistrationv1.ValidatingAdmissionPolicy) bool {
	return equality.Semantic.DeepEqual(policyRules(have), policyRules(want)) &&
		slices.EqualFunc(have.Spec.Validations, want.Spec.Validations, func(a, b admissionregistrationv1.Validation) bool { return a.Expression == b.Expression }) &&
		slices.Equal(have.Spec.MatchConditions, want.Spec.MatchConditions)
}

// policyRules returns the requests to which a policy applies, with the default scope of the API server.
func policyRules(policy *admissionregistrationv1.ValidatingAdmissionPolicy) []admissionregistrationv1.NamedRuleWithOperations {
	if policy.Spec.MatchConstraints == nil {
		return nil
	}
	rules := slices.Clone(policy.Spec.MatchConstraints.ResourceRules)
	for i := range rules {
		if rules[i].Scope == nil {
			rules[i].Scope = new(admissionregistrationv1.AllScopes)
		}
	}
	return rules
}

// reviewJobs sends two dry-run requests, which show whether the API server reaches the webhooks.
func (r *reader) reviewJobs(ctx context.Context) reviewFacts {
	facts := reviewFacts{namespace: r.o.probeNamespace}
	ctx = cli.WithoutWarnings(ctx)
	wrong := r.o.newProbeJob()
	wrong.Spec.Queue = "vc-doctor-no-such-queue-" + rand.String(5)
	facts.wrong = r.c.Create(ctx, wrong, client.DryRunAll)
	right := r.o.newProbeJob()
	facts.right = r.c.Create(ctx, right, client.DryRunAll)
	facts.user = batchv1alpha1.UserOf(right)
	return facts
}

func decideWebhooks(facts *webhookFacts) []Finding {
	findings := judgeConfigurations(facts.have, facts.want)
	findings = append(findings, judgePolicies(facts.policies)...)
	findings = append(findings, judgeReview(&facts.review)...)
	findings = append(findings, facts.unreadable...)
	if fine := describeFine(facts); fine != "" {
		return orFine(findings, ok("%s", fine))
	}
	return findings
}

// describeFine returns what is in order if there is no problem. It returns "" if nothing could be checked.
func describeFine(facts *webhookFacts) string {
	var parts []string
	if len(facts.have) > 0 {
		parts = append(parts, fmt.Sprintf("%d webhook configurations exist", len(facts.have)))
	}
	if len(facts.policies) > 0 {
		parts = append(parts, fmt.Sprintf("%d admission policies exist", countPolicies(facts.policies)))
	}
	if isRejectedByWebhook(facts.review.wrong) {
		parts = append(parts, "the API server reaches the webhooks")
	}
	return strings.Join(parts, ", ")
}

func countPolicies(policies []policyFacts) int {
	n := 0
	for _, one := range policies {
		if strings.HasPrefix(one.title, "ValidatingAdmissionPolicy ") {
			n++
		}
	}
	return n
}

// judgeConfigurations returns the findings about the webhook configurations.
func judgeConfigurations(have, want []configuration) []Finding {
	const start = "check that vc-admission runs; it re-creates its configurations"
	var findings []Finding
	var missing, empty []string
	for i, one := range have {
		switch {
		case !one.found:
			missing = append(missing, one.title)
		case len(one.hooks) == 0 && len(want[i].hooks) > 0:
			empty = append(empty, one.title)
		default:
			if different := differentHooks(one.hooks, want[i].hooks); len(different) > 0 {
				findings = append(findings, warning("use a vcctl of the version of vc-admission, or update vc-admission", "%s: the webhook %s is missing or has other rules than in this vcctl's version",
					one.title, strings.Join(different, ", ")))
			}
		}
	}
	if len(missing) > 0 {
		findings = append(findings, failed(start, "%s", describeMissing(missing)))
	}
	if len(empty) > 0 {
		findings = append(findings, failed(start+", unless these webhooks are turned off with --enabled-admission", "no webhooks in %s", strings.Join(empty, ", ")))
	}
	return findings
}

// differentHooks returns the names of the wanted webhooks that are missing or have other rules.
func differentHooks(have, want []hook) []string {
	var different []string
	for _, one := range want {
		isSame := func(other hook) bool {
			return other.name == one.name && equality.Semantic.DeepEqual(other.rules, one.rules)
		}
		if !slices.ContainsFunc(have, isSame) {
			different = append(different, one.name)
		}
	}
	return different
}

func judgePolicies(policies []policyFacts) []Finding {
	const apply = "apply the manifest or the chart of the installed version again"
	var findings []Finding
	var missing []string
	for _, one := range policies {
		switch {
		case !one.found:
			missing = append(missing, one.title)
		case !one.same:
			findings = append(findings, warning(apply, "%s differs from that of this vcctl's version", one.title))
		}
	}
	if len(missing) > 0 {
		findings = append(findings, failed(apply, "%s: their rules are not enforced", describeMissing(missing)))
	}
	return findings
}

// judgeReview returns the findings about the dry-run requests.
func judgeReview(review *reviewFacts) []Finding {
	if cli.IsPermissionMissing(review.wrong) {
		return []Finding{skipped("you may not create jobs in namespace %s, so whether the API server reaches the webhooks is unknown", review.namespace)}
	}
	var findings []Finding
	reason, isUnreachable := cli.WebhookCallFailure(review.wrong)
	switch {
	case review.wrong == nil:
		findings = append(findings, failed("check that vc-admission runs, and see the other findings about webhooks",
			"the API server accepts a job with a queue that does not exist: no webhook checks jobs"))
	case isUnreachable:
		findings = append(findings, failed(reachHint(reason), "the API server cannot call the webhook for jobs: %s", reason))
	case !isRejectedByWebhook(review.wrong):
		findings = append(findings, warning("see why the API server rejects jobs", "whether the API server reaches the webhooks is unknown, because it rejects jobs for another reason: %v", review.wrong))
	}
	if review.right == nil && review.user == "" {
		findings = append(findings, warning("check that vc-admission runs, and that the API server can reach its Service",
			"the API server does not reach the webhook that writes the defaults of jobs"))
	}
	return findings
}

func isRejectedByWebhook(err error) bool { return err != nil && cli.RejectingWebhook(err) != "" }

// reachHint returns what to do if the API server cannot call a webhook for a reason.
func reachHint(reason string) string {
	if strings.Contains(reason, "x509") || strings.Contains(reason, "certificate") {
		return "see the check certificates; vc-admission renews its certificate and corrects the configurations when it starts"
	}
	return "check that vc-admission runs and is ready, and that the API server may connect to it: NetworkPolicies, firewalls, and its Service"
}
