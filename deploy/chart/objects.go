package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/deploy"
)

// valuesByAccount holds the name of each component's values by its service account.
var valuesByAccount = map[string]string{
	deploy.SchedulerAccount: "scheduler", deploy.ControllersAccount: "controllers", deploy.AdmissionAccount: "admission",
	deploy.AccountingAccount: "accounting",
}

// certificateDir is the directory with a certificate that vcd does not issue itself.
const certificateDir = "/etc/vc/certificate"

func (d *document) kind() string { return fmt.Sprint(d.content["kind"]) }

func (d *document) name() string {
	metadata, _ := d.content["metadata"].(map[string]any)
	return fmt.Sprint(metadata["name"])
}

// file returns the name of the template with the object.
func (d *document) file() string {
	switch kind := d.kind(); {
	case strings.HasPrefix(kind, "ValidatingAdmissionPolicy"):
		return "policies.yaml"
	case strings.HasSuffix(kind, "WebhookConfiguration"):
		return "webhooks.yaml"
	case kind == "Service", kind == "Deployment", kind == "StatefulSet", kind == "PodDisruptionBudget", kind == "NetworkPolicy":
		if component, ok := valuesByAccount[d.name()]; ok {
			return component + ".yaml"
		}
		return "service.yaml"
	default:
		return "rbac.yaml"
	}
}

// parametrize replaces the fields that depend on values.
func (d *document) parametrize() {
	d.setEntries("vc.labels", "metadata", "labels")
	switch d.kind() {
	case "Deployment":
		component := valuesByAccount[d.name()]
		d.parametrizePods(component)
		d.set(expression(".Values."+component+".replicas | int"), "spec", "replicas")
	case "StatefulSet":
		d.parametrizePods(valuesByAccount[d.name()])
		d.parametrizeStore()
	case "PodDisruptionBudget":
		d.condition = ".Values.podDisruptionBudget.enabled"
		d.set(expression(".Values.podDisruptionBudget.maxUnavailable | int"), "spec", "maxUnavailable")
	case "NetworkPolicy":
		d.condition = ".Values.networkPolicy.enabled"
		d.set(metricsSenders, "spec", "ingress", 1, "from")
	case "ValidatingAdmissionPolicyBinding":
		if d.name() == deploy.QueueUsePolicyName {
			d.condition = ".Values.queueUse.required"
		}
	}
}

// require adds an expression that must be true to the condition of the document.
func (d *document) require(expression string) {
	if d.condition != "" {
		expression = "and " + expression + " " + d.condition
	}
	d.condition = expression
}

// parametrizePods replaces the fields of a workload that depend on the values of its component.
func (d *document) parametrizePods(component string) {
	values := ".Values." + component
	d.before = fmt.Sprintf(`{{- $size := index (include "vc.sizes" . | fromJson) .Values.size %q }}
{{- $cpu := %s.cpu | default $size.cpu }}
{{- $memory := %s.memoryMiB | default $size.memoryMiB | int }}
`, component, values, values)
	pod := []any{"spec", "template", "spec"}
	container := path(pod, "containers", 0)
	d.set(optional(values+".podAnnotations"), "spec", "template", "metadata", "annotations")
	for _, field := range []string{"nodeSelector", "tolerations", "affinity"} {
		d.set(optional(values+"."+field), path(pod, field)...)
	}
	d.set(optional(".Values.image.pullSecrets"), path(pod, "imagePullSecrets")...)
	d.set(expression(values+".priorityClassName | quote"), path(pod, "priorityClassName")...)
	d.set(expression(".Values.topologySpread.zones"), path(pod, "topologySpreadConstraints", 0, "whenUnsatisfiable")...)
	d.set(expression(".Values.topologySpread.hosts"), path(pod, "topologySpreadConstraints", 1, "whenUnsatisfiable")...)
	d.set(expression(`include "vc.image" (dict "image" .Values.image "version" .Chart.AppVersion)`), path(container, "image")...)
	d.set(optionalWord(".Values.image.pullPolicy"), path(container, "imagePullPolicy")...)
	d.set(expression("$cpu"), path(container, "resources", "requests", "cpu")...)
	d.set(expression(`printf "%dMi" $memory`), path(container, "resources", "requests", "memory")...)
	d.set(expression(`printf "%dMi" $memory`), path(container, "resources", "limits", "memory")...)
	d.set(expression(fmt.Sprintf(`printf "%%dMiB" (div (mul $memory %d) 100)`, deploy.GoMemoryPercent)), path(container, "env", 0, "value")...)
	if component == "admission" {
		d.mountCertificate(pod, container)
		d.append(lines("{{- if .Values.accounting.enabled }}", "- --record-jobs", "{{- end }}"), path(container, "args")...)
		d.append(lines("{{- if .Values.accounts.required }}", "- --require-accounts", "{{- end }}"), path(container, "args")...)
	}
	if component == "controllers" {
		d.append(lines("{{- with .Values.monitoring.traces.endpoint }}", "- --otlp-endpoint={{ . }}", "{{- end }}"), path(container, "args")...)
	}
	d.append(items(values+".extraArgs"), path(container, "args")...)
}

// mountCertificate lets admission use a certificate from a Secret, unless vcd issues it.
func (d *document) mountCertificate(pod, container []any) {
	const given = `{{- if ne .Values.certificates.source "vcd" }}`
	d.append(lines(given, "- --webhook-certificate-dir="+certificateDir, "{{- end }}"), path(container, "args")...)
	d.set(lines(given, "%s", "- mountPath: "+certificateDir, "  name: certificate", "  readOnly: true", "{{- end }}"), path(container, "volumeMounts")...)
	d.set(lines(given, "%s", "- name: certificate", "  secret:", `    secretName: {{ include "vc.certificateSecret" . }}`, "{{- end }}"), path(pod, "volumes")...)
}

// parametrizeStore replaces the fields of accounting that depend on the database. A Secret with the address of a PostgreSQL
// database replaces the SQLite database.
func (d *document) parametrizeStore() {
	const postgres = ".Values.accounting.store.postgres"
	inPostgres := "{{- if " + postgres + ".existingSecret }}"
	container := []any{"spec", "template", "spec", "containers", 0}
	args := d.list(path(container, "args")...)
	d.set(lines("{{- if not "+postgres+".existingSecret }}", "%s "+deploy.AccountingSQLite, "{{- end }}"),
		path(container, "args", slices.Index(args, any(deploy.AccountingSQLite)))...)
	d.set(expression(`printf "--cluster-name=%s" .Values.accounting.clusterName | quote`),
		path(container, "args", slices.Index(args, any("--cluster-name=default")))...)
	d.append(lines("{{- with .Values.accounting.prometheus }}", `- {{ print "--accounting-prometheus=" . | quote }}`, "{{- end }}"), path(container, "args")...)
	d.append(lines("{{- with "+postgres+" }}", "{{- if .existingSecret }}", "- name: "+deploy.AccountingStoreVariable, "  valueFrom:", "    secretKeyRef:",
		"      name: {{ .existingSecret | quote }}", "      key: {{ .secretKey | quote }}", "{{- end }}", "{{- end }}"), path(container, "env")...)
	d.set(lines(inPostgres, "%s {{ .Values.accounting.replicas | int }}", "{{- else }}", "%s 1", "{{- end }}"), "spec", "replicas")
	claim := []any{"spec", "volumeClaimTemplates", 0, "spec"}
	d.set(lines(inPostgres, "%s {{ "+postgres+".spoolSize | quote }}", "{{- else }}", "%s {{ .Values.accounting.store.sqlite.size | quote }}", "{{- end }}"),
		path(claim, "resources", "requests", "storage")...)
	d.set(lines("{{- with ternary "+postgres+".storageClass .Values.accounting.store.sqlite.storageClass (ne "+postgres+`.existingSecret "") }}`, "%s {{ . | quote }}", "{{- end }}"),
		path(claim, "storageClassName")...)
}

// sizesByComponent returns the sizes with the names that components have in values.
func sizesByComponent() map[string]any {
	all := map[string]any{}
	for size, components := range deploy.Sizes {
		requests := map[string]any{}
		for account, request := range components {
			requests[valuesByAccount[account]] = map[string]any{"cpu": request.CPU, "memoryMiB": request.MemoryMiB}
		}
		all[size] = requests
	}
	return all
}

// sizesTable returns the table of sizes for the README.
func sizesTable() string {
	var out strings.Builder
	out.WriteString("| `size` | Cluster with at most | Scheduler | Controllers | Admission | Accounting |\n|---|---|---|---|---|---|\n")
	for _, size := range []string{deploy.SizeSmall, deploy.SizeMedium, deploy.SizeLarge} {
		fmt.Fprintf(&out, "| `%s` | %s |", size, deploy.SizeLimits[size])
		for _, account := range []string{deploy.SchedulerAccount, deploy.ControllersAccount, deploy.AdmissionAccount, deploy.AccountingAccount} {
			request := deploy.Sizes[size][account]
			fmt.Fprintf(&out, " CPU %s, %d MiB |", request.CPU, request.MemoryMiB)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// path returns a longer path. It does not change start.
func path(start []any, steps ...any) []any { return slices.Concat(start, steps) }

// metricsSenders writes the senders that may read metrics, which are the first field of a rule. It omits an empty list: the
// API server stores none, and would count each upgrade with an empty list as a change of the object.
func metricsSenders(indent, _ string) string {
	inner := indent + "  "
	return indent + "-\n" + inner + "{{- with .Values.networkPolicy.metricsFrom }}\n" + inner + "from: {{ toJson . }}\n" + inner + "{{- end }}"
}
