{{- /* vc.check stops the installation if values contradict each other. */ -}}
{{- define "vc.check" -}}
{{- if ne .Release.Namespace "volcano-system" }}
{{- fail (printf "vc must be installed in the namespace volcano-system, and not in %s: add --namespace volcano-system --create-namespace. Its commands, leases and webhooks use this namespace." .Release.Namespace) }}
{{- end }}
{{- if and (eq .Values.certificates.source "certManager") (not .Values.certificates.issuerRef.name) }}
{{- fail "certificates.source is certManager, but certificates.issuerRef.name is empty: set it to the name of an issuer" }}
{{- end }}
{{- if and (eq .Values.certificates.source "secret") (not .Values.certificates.secretName) }}
{{- fail "certificates.source is secret, but certificates.secretName is empty: set it to the name of a Secret in volcano-system with tls.crt, tls.key and ca.crt" }}
{{- end }}
{{- end }}

{{- define "vc.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* vc.image returns the name of an image. A digest replaces the tag. */ -}}
{{- define "vc.image" -}}
{{- if .image.digest -}}
{{ printf "%s@%s" .image.repository .image.digest | quote }}
{{- else -}}
{{ printf "%s:%s" .image.repository (.image.tag | default .version) | quote }}
{{- end -}}
{{- end }}

{{- /* vc.certificateSecret returns the Secret with a certificate that vcd does not issue itself. */ -}}
{{- define "vc.certificateSecret" -}}
{{- if eq .Values.certificates.source "certManager" -}}
vc-admission-certificate
{{- else -}}
{{ .Values.certificates.secretName | quote }}
{{- end -}}
{{- end }}

{{- define "vc.testPod" -}}
restartPolicy: Never
{{- with .Values.doctor.image.pullSecrets | default .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "vc.testContainer" -}}
image: {{ include "vc.image" (dict "image" .Values.doctor.image "version" .Chart.AppVersion) }}
{{- with .Values.doctor.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "vc.sizes" -}}
{
  "large": {
    "accounting": {
      "cpu": "200m",
      "memoryMiB": 1024
    },
    "admission": {
      "cpu": "100m",
      "memoryMiB": 256
    },
    "controllers": {
      "cpu": "200m",
      "memoryMiB": 1024
    },
    "scheduler": {
      "cpu": "500m",
      "memoryMiB": 2048
    }
  },
  "medium": {
    "accounting": {
      "cpu": "100m",
      "memoryMiB": 512
    },
    "admission": {
      "cpu": "100m",
      "memoryMiB": 256
    },
    "controllers": {
      "cpu": "200m",
      "memoryMiB": 512
    },
    "scheduler": {
      "cpu": "250m",
      "memoryMiB": 1024
    }
  },
  "small": {
    "accounting": {
      "cpu": "100m",
      "memoryMiB": 256
    },
    "admission": {
      "cpu": "100m",
      "memoryMiB": 128
    },
    "controllers": {
      "cpu": "100m",
      "memoryMiB": 256
    },
    "scheduler": {
      "cpu": "100m",
      "memoryMiB": 512
    }
  }
}
{{- end }}
