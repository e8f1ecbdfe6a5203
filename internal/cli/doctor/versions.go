package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/version"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/build"
)

// oldestMinor and newestMinor are the minor versions of Kubernetes with which vc is tested.
const (
	oldestMinor = 34
	newestMinor = 37
)

// versionFacts holds the versions in a cluster.
type versionFacts struct {
	own        string
	kubernetes version.Info
	namespace  string
	// components maps the name of a component to its version, or to "" if its version is unknown.
	components map[string]string
	unreadable []Finding
}

func checkVersions(ctx context.Context, r *reader) []Finding {
	facts := versionFacts{own: build.DescribeProgram().Version, kubernetes: r.server.version, namespace: r.namespace, components: map[string]string{}}
	for name, deployment := range r.deployments {
		facts.components[name] = imageTag(&deployment.Spec.Template)
	}
	if r.accounting != nil {
		facts.components[deploy.AccountingAccount] = imageTag(&r.accounting.Spec.Template)
	}
	if r.deploymentsErr != nil {
		facts.unreadable = append(facts.unreadable, r.unreadable(r.deploymentsErr, "the Deployments in namespace "+r.namespace))
	}
	if r.accountingErr != nil {
		facts.unreadable = append(facts.unreadable, r.unreadable(r.accountingErr, "StatefulSet "+deploy.AccountingWorkload+" in namespace "+r.namespace))
	}
	var state corev1.ConfigMap
	found, problem := r.read(ctx, &state, "ConfigMap", r.namespace, keys.ConfigurationName)
	if problem != nil {
		facts.unreadable = append(facts.unreadable, *problem)
	}
	if found {
		// The scheduler reports the version that runs, which the tag of its image may not show.
		facts.components[deploy.SchedulerAccount] = firstText(state.Data[keys.ConfigurationVersion], facts.components[deploy.SchedulerAccount])
	}
	return decideVersions(&facts)
}

// imageTag returns the tag of the first container's image, or "" if the image has no tag.
func imageTag(template *corev1.PodTemplateSpec) string {
	for _, container := range template.Spec.Containers {
		image, _, _ := strings.Cut(container.Image, "@")
		if at := strings.LastIndex(image, ":"); at > strings.LastIndex(image, "/") {
			return image[at+1:]
		}
		return ""
	}
	return ""
}

func decideVersions(facts *versionFacts) []Finding {
	var findings []Finding
	if problem := judgeKubernetes(&facts.kubernetes); problem != nil {
		findings = append(findings, *problem)
	}
	for _, name := range slices.Sorted(maps.Keys(facts.components)) {
		running := facts.components[name]
		if differInMinor(facts.own, running) {
			findings = append(findings, warning("use a vcctl of version "+running+", or update the installation",
				"%s runs version %s, but this vcctl has version %s", name, running, facts.own))
		}
	}
	if len(facts.components) == 0 && len(facts.unreadable) == 0 {
		findings = append(findings, failed("install vc, or specify its namespace with -n",
			"namespace %s contains no Deployments of vc, and no scheduler has reported its version there", facts.namespace))
	}
	findings = append(findings, facts.unreadable...)
	return orFine(findings, ok("vcctl %s, Kubernetes %s, %s", facts.own, facts.kubernetes.GitVersion, describeComponents(facts.components)))
}

// judgeKubernetes returns a finding if the version of Kubernetes is not supported.
func judgeKubernetes(kubernetes *version.Info) *Finding {
	minor, err := strconv.Atoi(strings.TrimRight(kubernetes.Minor, "+"))
	var finding Finding
	switch {
	case err != nil || kubernetes.Major != "1":
		finding = warning(supportedHint(), "the API server has version %s.%s, which vc does not recognize", kubernetes.Major, kubernetes.Minor)
	case minor < oldestMinor:
		finding = failed("upgrade the cluster; "+supportedHint(), "Kubernetes 1.%d is too old", minor)
	case minor > newestMinor:
		finding = warning("check whether a newer version of vc supports it; "+supportedHint(), "vc has not been tested with Kubernetes 1.%d", minor)
	default:
		return nil
	}
	return &finding
}

func supportedHint() string {
	return fmt.Sprintf("vc supports Kubernetes 1.%d to 1.%d", oldestMinor, newestMinor)
}

// differInMinor reports whether two versions have different major or minor numbers. It returns false if one of them is
// not a semantic version.
func differInMinor(a, b string) bool {
	first, errFirst := utilversion.ParseSemantic(a)
	second, errSecond := utilversion.ParseSemantic(b)
	if errFirst != nil || errSecond != nil {
		return false
	}
	return first.Major() != second.Major() || first.Minor() != second.Minor()
}

func describeComponents(components map[string]string) string {
	if len(components) == 0 {
		return "components unknown"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(components)) {
		parts = append(parts, name+" "+firstText(components[name], "(version unknown)"))
	}
	return strings.Join(parts, ", ")
}
