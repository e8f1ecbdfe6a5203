package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/admission"
)

const (
	volcanoConfig  = "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: gang\n  - name: proportion\n"
	volcanoWebhook = "volcano-admission-service-jobs-validate"
	volcanoPath    = "/jobs/validate-by-volcano"
)

// volcanoDeployments are the Deployments that docs/guides/from-volcano.md stops.
var volcanoDeployments = []string{"volcano-scheduler", "volcano-controllers", "volcano-admission"}

// volcanoTemplate has the objects of Volcano's chart that vc takes over, apart from the CRDs, and a Deployment.
const volcanoTemplate = `
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: {{ .Files.Get "volcano-scheduler.conf" | quote }}
---
apiVersion: v1
kind: Service
metadata: {name: volcano-admission-service, namespace: volcano-system, labels: {app: volcano-admission}}
spec:
  ports: [{port: 443, protocol: TCP, targetPort: 8443}]
  selector: {app: volcano-admission}
  sessionAffinity: None
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: volcano-admission-service-jobs-validate}
webhooks:
- name: validatejob.volcano.sh
  admissionReviewVersions: [v1]
  failurePolicy: Ignore
  sideEffects: NoneOnDryRun
  clientConfig: {service: {name: volcano-admission-service, namespace: volcano-system, path: /jobs/validate-by-volcano, port: 443}}
  rules:
  - {apiGroups: [batch.volcano.sh], apiVersions: [v1alpha1], operations: [CREATE, UPDATE], resources: [jobs]}
{{- range list "scheduler" "controllers" "admission" }}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: volcano-{{ . }}, namespace: volcano-system}
spec:
  replicas: 1
  selector: {matchLabels: {app: volcano-{{ . }}}}
  template:
    metadata: {labels: {app: volcano-{{ . }}}}
    spec: {containers: [{name: main, image: "docker.io/volcanosh/{{ . }}:v1.14.0"}]}
{{- end }}
`

// writeVolcanoChart writes a chart that stands for Volcano's, whose images cannot be had, and returns its directory. Its
// CRDs are templates, as in Volcano's chart, so they belong to the release.
func writeVolcanoChart(t *testing.T) string {
	t.Helper()
	chart := t.TempDir()
	files := map[string][]byte{
		"Chart.yaml":             []byte("apiVersion: v2\nname: volcano\nversion: 1.14.0\n"),
		"volcano-scheduler.conf": []byte(volcanoConfig),
		"templates/volcano.yaml": []byte(volcanoTemplate),
	}
	crds, err := deploy.CRDFiles()
	must(t, err)
	for name, text := range crds {
		if strings.Contains(name, ".volcano.sh_") {
			files["templates/"+filepath.Base(name)] = text
		}
	}
	must(t, os.Mkdir(filepath.Join(chart, "templates"), 0o700))
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(chart, name), text, 0o600))
	}
	return chart
}

// admissionSelector returns the selector of the Service of the webhooks.
func (k *helmCluster) admissionSelector(t *testing.T) map[string]string {
	t.Helper()
	service := &corev1.Service{}
	must(t, k.c.Get(t.Context(), client.ObjectKey{Namespace: deploy.Namespace, Name: "volcano-admission-service"}, service))
	return service.Spec.Selector
}

// scale sets the replicas of Deployments.
func (k *helmCluster) scale(t *testing.T, replicas int, names ...string) {
	t.Helper()
	for _, name := range names {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: name}}
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
		must(t, k.c.Patch(t.Context(), deployment, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("kubectl")))
	}
}

// forceIfNeeded runs a command line of helm as the guide says: if Helm reports conflicts, again with --force-conflicts.
func (k *helmCluster) forceIfNeeded(t *testing.T, args ...string) {
	t.Helper()
	got := k.run(t, args...)
	if got.code != 0 && strings.Contains(got.err, "conflict") {
		k.mustRun(t, append(args, "--force-conflicts")...)
		return
	}
	got.expect(t, 0, "")
}

// TestHelmMovesFromVolcanoAndBack runs the commands of docs/guides/from-volcano.md on a release with the objects of
// Volcano that vc takes over. Pods do not run here.
func TestHelmMovesFromVolcanoAndBack(t *testing.T) {
	k := newHelmCluster(t)
	chart := writeVolcanoChart(t)
	job := newJob("survivor", inQueue("research"))
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "research"}}
	var crds []client.Object
	for _, crd := range crdsOfVC() {
		if strings.HasSuffix(crd.GetName(), ".volcano.sh") {
			crds = append(crds, crd)
		}
	}
	survivors := append(crds, job, queue)
	var before map[string]types.UID
	var stopAdmission func()
	whole := t

	requireSurvivors := func(t *testing.T) {
		t.Helper()
		if diff := cmp.Diff(before, k.uids(t, survivors...)); diff != "" {
			t.Errorf("objects were lost (-before +after):\n%s", diff)
		}
		k.requireConfig(t, volcanoConfig)
	}
	webhookPath := func(ctx context.Context) (string, error) {
		webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		if err := k.c.Get(ctx, client.ObjectKey{Name: volcanoWebhook}, webhook); err != nil || len(webhook.Webhooks) == 0 {
			return "", err
		}
		if service := webhook.Webhooks[0].ClientConfig.Service; service != nil {
			return *service.Path, nil
		}
		return "", nil
	}
	moveToVC := func(t *testing.T) {
		t.Helper()
		k.scale(t, 0, volcanoDeployments...)
		k.forceIfNeeded(t, "upgrade", "--install", "vc-crds", crdChart, "--take-ownership")
		k.forceIfNeeded(t, "upgrade", "--install", "vc", vcChart, "--take-ownership", "--set", "image.repository=registry.example.com/vcd", "--set", "image.tag=v0.1.0")
		stopAdmission = runAdmissionIn(whole, k.config, admission.Options{Owner: deploy.AdmissionAccount})
		k.requireWebhooks(t)
		if path, err := webhookPath(t.Context()); err != nil || path == volcanoPath {
			t.Errorf("the webhook of jobs still calls %s: %v", path, err)
		}
		if got := k.admissionSelector(t); got["app"] != "" || got["app.kubernetes.io/name"] != "vc-admission" {
			t.Errorf("the Service of the webhooks selects %v", got)
		}
		requireSurvivors(t)
	}

	runSteps(t, []step{
		{"Volcano is installed", func(t *testing.T) {
			k.mustRun(t, "install", "volcano", chart, "--create-namespace")
			makeQueue(t, k.c, queue.Name, schedulingv1beta1.QueueStateOpen)
			eventually(t, func(ctx context.Context) error { return k.c.Create(ctx, job) }) // the API server serves a new kind after a moment
			before = k.uids(t, survivors...)
		}},
		{"move to vc", moveToVC},
		{"go back to Volcano", func(t *testing.T) {
			stopAdmission()
			k.scale(t, 0, "vc-scheduler", "vc-controllers", "vc-admission")
			ofVC := client.MatchingLabels{"app.kubernetes.io/instance": "vc"}
			must(t, k.c.DeleteAllOf(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{}, ofVC))
			must(t, k.c.DeleteAllOf(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{}, ofVC))
			k.forceIfNeeded(t, "upgrade", "volcano", chart)
			if path, err := webhookPath(t.Context()); err != nil || path != volcanoPath {
				t.Errorf("the webhook of jobs calls %s: %v", path, err)
			}
			webhooks, err := k.webhooks(t.Context())
			must(t, err)
			if diff := cmp.Diff(map[string]int{volcanoWebhook: 1}, webhooks); diff != "" {
				t.Errorf("webhooks in the configurations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{"app": "volcano-admission"}, k.admissionSelector(t)); diff != "" {
				t.Errorf("selector of the Service of the webhooks (-want +got):\n%s", diff)
			}
			for _, name := range volcanoDeployments {
				deployment := &appsv1.Deployment{}
				must(t, k.c.Get(t.Context(), client.ObjectKey{Namespace: deploy.Namespace, Name: name}, deployment))
				if *deployment.Spec.Replicas != 1 {
					t.Errorf("%s has %d replicas, want 1", name, *deployment.Spec.Replicas)
				}
			}
			requireSurvivors(t)
		}},
		{"move to vc again", moveToVC},
		{"forget Volcano's release", func(t *testing.T) {
			for _, name := range volcanoDeployments {
				must(t, k.c.Delete(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: name}}))
			}
			must(t, k.c.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(deploy.Namespace), client.MatchingLabels{"owner": "helm", "name": "volcano"}))
			if releases := strings.Fields(k.mustRun(t, "list", "--short")); !cmp.Equal(releases, []string{"vc", "vc-crds"}) {
				t.Errorf("Helm has the releases %v", releases)
			}
			for _, release := range []string{"vc", "vc-crds"} {
				k.installed(t, release) // fails if an object is missing
			}
			requireSurvivors(t)
			stopAdmission()
		}},
		{"an uninstallation of vc keeps jobs, queues and the configuration", func(t *testing.T) {
			k.mustRun(t, "uninstall", "vc")
			k.mustRun(t, "uninstall", "vc-crds")
			requireSurvivors(t)
			webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{}
			eventually(t, func(ctx context.Context) error {
				err := k.c.Get(ctx, client.ObjectKey{Name: volcanoWebhook}, webhook)
				if apierrors.IsNotFound(err) {
					return nil
				}
				return fmt.Errorf("the webhook of jobs still exists: %w", err)
			})
		}},
	})
}
