package doctor

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/cli/configcmd"
)

// configurationFacts holds the scheduler's configuration. An empty map means that the ConfigMap does not exist.
type configurationFacts struct {
	namespace string
	// installed is the content of the ConfigMap that the administrator writes.
	installed map[string]string
	// published is the content of the ConfigMap in which the scheduler reports its configuration.
	published  map[string]string
	unreadable []Finding
}

func checkConfiguration(ctx context.Context, r *reader) []Finding {
	facts := configurationFacts{namespace: r.namespace}
	facts.installed = r.readConfigMap(ctx, deploy.SchedulerConfigMap, &facts.unreadable)
	facts.published = r.readConfigMap(ctx, keys.ConfigurationName, &facts.unreadable)
	return decideConfiguration(&facts)
}

// readConfigMap returns the data of a ConfigMap in the namespace of the installation. If it cannot be read, readConfigMap
// adds a finding.
func (r *reader) readConfigMap(ctx context.Context, name string, unreadable *[]Finding) map[string]string {
	var configMap corev1.ConfigMap
	_, problem := r.read(ctx, &configMap, "ConfigMap", r.namespace, name)
	if problem != nil {
		*unreadable = append(*unreadable, *problem)
	}
	return configMap.Data
}

func decideConfiguration(facts *configurationFacts) []Finding {
	where := "ConfigMap " + facts.namespace + "/" + deploy.SchedulerConfigMap
	edit := fmt.Sprintf("correct it: kubectl -n %s edit configmap %s; vcctl config check -f FILE checks a copy first", facts.namespace, deploy.SchedulerConfigMap)
	var findings []Finding
	text, isInstalled := facts.installed[deploy.SchedulerConfigKey]
	switch {
	case len(facts.installed) > 0 && !isInstalled:
		findings = append(findings, failed(edit, "%s: the key %s is missing; the scheduler cannot read its configuration", where, deploy.SchedulerConfigKey))
	case isInstalled:
		report := configcmd.CheckText(where, []byte(text))
		if !report.Valid {
			findings = append(findings, failed(edit, "%s: %s", where, withLine(report.Error, text)))
		}
		for _, one := range report.Warnings {
			findings = append(findings, warning(edit, "%s: %s", where, one))
		}
	}
	if refused := facts.published[keys.ConfigurationRefused]; refused != "" && !hasProblem(findings) {
		source := facts.published[keys.ConfigurationSource]
		findings = append(findings, failed("correct the file; the scheduler reads it again every few seconds", "the scheduler rejected %s and uses an older configuration: %s", source, refused))
	}
	findings = append(findings, facts.unreadable...)
	switch {
	case len(facts.installed) == 0 && len(facts.published) == 0 && len(facts.unreadable) > 0:
		return findings
	case len(facts.installed) == 0 && len(facts.published) == 0:
		return append(findings, warning("check that the scheduler runs in this namespace, or specify another one with -n",
			"namespace %s contains neither %s nor a configuration that a scheduler has reported", facts.namespace, deploy.SchedulerConfigMap))
	case !isInstalled:
		return orFine(findings, ok("the scheduler uses %s", firstText(facts.published[keys.ConfigurationSource], "its configuration")))
	}
	return orFine(findings, ok("%s is valid", where))
}

func hasProblem(findings []Finding) bool {
	for i := range findings {
		if findings[i].isProblem() {
			return true
		}
	}
	return false
}

// withLine adds the number of the line to an error about the configuration. An error about an action or a policy quotes
// the wrong word; its line is the first one that contains the word.
func withLine(message, text string) string {
	parts := strings.SplitN(message, `"`, 3)
	if strings.Contains(message, "line ") || len(parts) < 3 || parts[1] == "" {
		return message
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.Contains(line, parts[1]) {
			return fmt.Sprintf("line %d: %s", number, message)
		}
	}
	return message
}
