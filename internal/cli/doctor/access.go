package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
)

// right is a permission that a user of vc needs.
type right struct {
	verb, group, resource string
	subresource           string
	clusterScoped         bool
}

// String returns the right as "create jobs.batch.volcano.sh".
func (r right) String() string {
	name := r.resource
	if r.group != "" {
		name += "." + r.group
	}
	if r.subresource != "" {
		name += "/" + r.subresource
	}
	return r.verb + " " + name
}

// userRights lists what a person needs to submit, watch and delete jobs.
func userRights() []right {
	const jobs, queues = batchv1alpha1.GroupName, schedulingv1beta1.GroupName
	return []right{
		{verb: "create", group: jobs, resource: "jobs"},
		{verb: "get", group: jobs, resource: "jobs"},
		{verb: "list", group: jobs, resource: "jobs"},
		{verb: "watch", group: jobs, resource: "jobs"},
		{verb: "delete", group: jobs, resource: "jobs"},
		{verb: "list", group: queues, resource: "podgroups"},
		{verb: "list", group: queues, resource: "queues", clusterScoped: true},
		{verb: "list", resource: "pods"},
		{verb: "get", resource: "pods", subresource: "log"},
	}
}

// roleFacts compares the permissions that a component needs with the permissions that a role grants.
type roleFacts struct {
	// title is the kind and the name of the role.
	title string
	// found is false if the role does not exist.
	found   bool
	missing []rbacv1.PolicyRule // permissions that the role does not grant
}

// accessFacts holds what is known about rights.
type accessFacts struct {
	namespace string // of the jobs
	denied    []right
	// hasDeployments is true if the components run as Deployments, and therefore need roles.
	hasDeployments bool
	roles          []roleFacts
	unreadable     []Finding
}

func checkAccess(ctx context.Context, r *reader) []Finding {
	facts := accessFacts{namespace: r.o.probeNamespace, hasDeployments: len(r.deployments) > 0 || r.deploymentsErr != nil}
	for _, one := range userRights() {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: one.verb, Group: one.group, Resource: one.resource, Subresource: one.subresource, Namespace: r.o.probeNamespace,
		}}}
		if one.clusterScoped {
			review.Spec.ResourceAttributes.Namespace = ""
		}
		if err := r.c.Create(ctx, review); err != nil {
			facts.unreadable = append(facts.unreadable, r.unreadable(err, "your rights"))
			break
		}
		if !review.Status.Allowed {
			facts.denied = append(facts.denied, one)
		}
	}
	r.readRoles(ctx, &facts)
	return decideAccess(&facts)
}

// readRoles reads the roles of the components. It stops at the first role that the user may not read.
func (r *reader) readRoles(ctx context.Context, facts *accessFacts) {
	objects := deploy.RBAC()
	if r.accounting != nil {
		objects = append(objects, deploy.AccountingRBAC()...)
	}
	for _, object := range objects {
		var one roleFacts
		var problem *Finding
		switch want := object.(type) {
		case *rbacv1.ClusterRole:
			have := &rbacv1.ClusterRole{}
			one.title = "ClusterRole " + want.Name
			one.found, problem = r.read(ctx, have, "ClusterRole", "", want.Name)
			one.missing = missingRules(have.Rules, want.Rules)
		case *rbacv1.Role:
			have := &rbacv1.Role{}
			one.title = "Role " + r.namespace + "/" + want.Name
			one.found, problem = r.read(ctx, have, "Role", r.namespace, want.Name)
			one.missing = missingRules(have.Rules, want.Rules)
		case *rbacv1.ClusterRoleBinding:
			one.title = "ClusterRoleBinding " + want.Name
			one.found, problem = r.read(ctx, &rbacv1.ClusterRoleBinding{}, "ClusterRoleBinding", "", want.Name)
		case *rbacv1.RoleBinding:
			one.title = "RoleBinding " + r.inNamespace(want.Namespace) + "/" + want.Name
			one.found, problem = r.read(ctx, &rbacv1.RoleBinding{}, "RoleBinding", r.inNamespace(want.Namespace), want.Name)
		default:
			continue
		}
		if problem != nil {
			facts.unreadable = append(facts.unreadable, *problem)
			return
		}
		facts.roles = append(facts.roles, one)
	}
}

// inNamespace replaces the default namespace of the installation by the actual one.
func (r *reader) inNamespace(namespace string) string {
	if namespace == deploy.Namespace {
		return r.namespace
	}
	return namespace
}

// missingRules returns the permissions in want that have does not grant.
func missingRules(have, want []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	_, missing := validation.Covers(have, want)
	return missing
}

func decideAccess(facts *accessFacts) []Finding {
	var findings []Finding
	if len(facts.denied) > 0 {
		var names []string
		for _, one := range facts.denied {
			names = append(names, one.String())
		}
		findings = append(findings, warning(
			fmt.Sprintf("ask an administrator for a RoleBinding to the ClusterRole edit in namespace %s, or check another one with --probe-namespace", facts.namespace),
			"in namespace %s, you may not %s", facts.namespace, strings.Join(names, ", ")))
	}
	findings = append(findings, judgeRoles(facts)...)
	findings = append(findings, facts.unreadable...)
	return orFine(findings, ok("you may submit jobs in namespace %s%s", facts.namespace, describeRoles(facts)))
}

func describeRoles(facts *accessFacts) string {
	if !facts.hasDeployments || len(facts.unreadable) > 0 {
		return ""
	}
	return "; vc's service accounts have the rights that they need"
}

// judgeRoles returns the findings about the roles that could be read.
func judgeRoles(facts *accessFacts) []Finding {
	const apply = "apply the manifest or the chart of the installed version again"
	if !facts.hasDeployments {
		return []Finding{skipped("no Deployments: the components need no roles of their own, as in vc-local")}
	}
	var findings []Finding
	var missing []string
	for _, role := range facts.roles {
		switch {
		case !role.found:
			missing = append(missing, role.title)
		case len(role.missing) > 0:
			findings = append(findings, failed(apply, "%s does not permit %s", role.title, describeRules(role.missing)))
		}
	}
	if len(missing) > 0 {
		findings = append(findings, failed(apply, "%s", describeMissing(missing)))
	}
	return findings
}

// describeRules returns rules as text: "list pods, watch pods". It names at most five.
func describeRules(rules []rbacv1.PolicyRule) string {
	var parts []string
	for _, rule := range rules {
		for _, verb := range rule.Verbs {
			for _, resource := range rule.Resources {
				name := resource
				if group := strings.Join(rule.APIGroups, ","); group != "" {
					name += "." + group
				}
				parts = append(parts, verb+" "+name)
			}
		}
	}
	parts = slices.Compact(parts)
	const most = 5
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("%d more", len(parts)-most))
	}
	return strings.Join(parts, ", ")
}
