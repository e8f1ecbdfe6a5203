package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/test/charttest"
)

const (
	vcChart  = "../../deploy/charts/vc"
	crdChart = "../../deploy/charts/vc-crds"
)

// foreign is a part of helm's message about an object that does not belong to the release.
const foreign = "exists and cannot be imported into the current release"

// operatorsConfig is a valid volcano-scheduler.conf that differs from the built-in one.
const operatorsConfig = "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n"

// helmCluster is a cluster of its own, and the program helm with empty directories for its settings.
type helmCluster struct {
	config      *rest.Config
	c           client.Client
	program     string
	environment []string
}

// newHelmCluster builds helm and starts a cluster. It skips the test if the modules of helm cannot be downloaded.
func newHelmCluster(t *testing.T) *helmCluster {
	t.Helper()
	program := buildHelm(t)
	kubeconfig := startCluster(t)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	c, err := newClient(config)
	must(t, err)
	must(t, apiextensionsv1.AddToScheme(c.Scheme()))
	home := t.TempDir()
	environment := append(os.Environ(), "KUBECONFIG="+kubeconfig, "HELM_NAMESPACE="+deploy.Namespace)
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		environment = append(environment, name+"="+filepath.Join(home, name))
	}
	return &helmCluster{config, c, program, environment}
}

// buildHelm builds the version of helm in tools.mod and returns the path of the program.
func buildHelm(t *testing.T) string {
	t.Helper()
	const command = "helm.sh/helm/v4/cmd/helm"
	if out, err := exec.Command("go", "list", "-modfile=../../tools.mod", "-deps", command).CombinedOutput(); err != nil {
		t.Skipf("not tested: the modules of helm in tools.mod cannot be downloaded: %v\n%s", err, out)
	}
	program := filepath.Join(t.TempDir(), "helm")
	build := exec.Command("go", "build", "-modfile=../../tools.mod", "-ldflags=-s -w", "-o", program, command)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", command, err, out)
	}
	return program
}

// run runs a command line of helm.
func (k *helmCluster) run(t *testing.T, args ...string) answer {
	t.Helper()
	var out, errOut bytes.Buffer
	command := exec.CommandContext(t.Context(), k.program, args...)
	command.Env, command.Stdout, command.Stderr = k.environment, &out, &errOut
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("helm %s: %v", strings.Join(args, " "), err)
	}
	return answer{out.String(), errOut.String(), command.ProcessState.ExitCode()}
}

// mustRun runs a command line of helm, which must succeed, and returns its output.
func (k *helmCluster) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	got := k.run(t, args...)
	if got.code != 0 {
		t.Fatalf("helm %s: exit code %d\n%s%s", strings.Join(args, " "), got.code, got.out, got.err)
	}
	return got.out
}

// installed returns the objects of a release as the API server stores them, by kind and name. It omits what controllers
// write: the status, and the resource version of objects that have one.
func (k *helmCluster) installed(t *testing.T, release string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := charttest.Objects(k.mustRun(t, "get", "manifest", release))
	must(t, err)
	stored := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		must(t, k.c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		object.SetManagedFields(nil)
		if _, hasStatus := object.Object["status"]; hasStatus {
			delete(object.Object, "status")
			object.SetResourceVersion("")
		}
		stored[object.GetKind()+" "+object.GetName()] = object
	}
	return stored
}

// requireGone fails unless the API server has none of the objects, except those with the names in kept.
func (k *helmCluster) requireGone(t *testing.T, objects map[string]*unstructured.Unstructured, kept ...string) {
	t.Helper()
	for name, object := range objects {
		if slices.Contains(kept, name) {
			continue
		}
		eventually(t, func(ctx context.Context) error {
			err := k.c.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy())
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(fmt.Errorf("%s still exists", name), err)
		})
	}
}

// scheduler returns the Deployment of the scheduler.
func (k *helmCluster) scheduler(t *testing.T) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	must(t, k.c.Get(t.Context(), client.ObjectKey{Namespace: deploy.Namespace, Name: "vc-scheduler"}, deployment))
	return deployment
}

// requireScheduler fails unless the Deployment of the scheduler has an image and a number of replicas.
func (k *helmCluster) requireScheduler(t *testing.T, image string, replicas int32) {
	t.Helper()
	d := k.scheduler(t)
	if got := d.Spec.Template.Spec.Containers[0].Image; got != image || *d.Spec.Replicas != replicas {
		t.Errorf("the scheduler has %d replicas of %s, want %d of %s", *d.Spec.Replicas, got, replicas, image)
	}
}

// requireConfig fails unless the scheduler's ConfigMap has a text.
func (k *helmCluster) requireConfig(t *testing.T, want string) {
	t.Helper()
	stored := &corev1.ConfigMap{}
	must(t, k.c.Get(t.Context(), client.ObjectKey{Namespace: deploy.Namespace, Name: deploy.SchedulerConfigMap}, stored))
	if got := stored.Data[deploy.SchedulerConfigKey]; got != want {
		t.Errorf("the scheduler's configuration is %q, want %q", got, want)
	}
}

// webhooks returns the number of webhooks in each webhook configuration.
func (k *helmCluster) webhooks(ctx context.Context) (map[string]int, error) {
	mutating := &admissionregistrationv1.MutatingWebhookConfigurationList{}
	validating := &admissionregistrationv1.ValidatingWebhookConfigurationList{}
	err := errors.Join(k.c.List(ctx, mutating), k.c.List(ctx, validating))
	sizes := map[string]int{}
	for _, m := range mutating.Items {
		sizes[m.Name] = len(m.Webhooks)
	}
	for _, v := range validating.Items {
		sizes[v.Name] = len(v.Webhooks)
	}
	return sizes, err
}

// requireWebhooks fails unless the webhook of jobs rejects a job. It returns the number of webhooks in each configuration.
func (k *helmCluster) requireWebhooks(t *testing.T) map[string]int {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		err := k.c.Create(ctx, newJob("bad", inQueue("reserch")), client.DryRunAll)
		if err == nil {
			return errors.New("a job in a queue that does not exist is accepted")
		}
		return mentions(err.Error(), `queue "reserch" does not exist`)
	})
	sizes, err := k.webhooks(t.Context())
	must(t, err)
	return sizes
}

// uids returns the UIDs of objects.
func (k *helmCluster) uids(t *testing.T, objects ...client.Object) map[string]types.UID {
	t.Helper()
	uids := map[string]types.UID{}
	for _, object := range objects {
		must(t, k.c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		if object.GetDeletionTimestamp() != nil {
			t.Errorf("%s is being deleted", object.GetName())
		}
		uids[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetUID()
	}
	return uids
}

// writeConfig writes operatorsConfig to a file and returns its path.
func writeConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), deploy.SchedulerConfigKey)
	must(t, os.WriteFile(path, []byte(operatorsConfig), 0o600))
	return path
}

// crdsOfVC returns an empty CRD for each name of vc's.
func crdsOfVC() []client.Object {
	var crds []client.Object
	for _, crd := range deploy.CRDs() {
		crds = append(crds, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Name}})
	}
	return crds
}

// step is a part of a test that needs all parts before it.
type step struct {
	name string
	run  func(t *testing.T)
}

func runSteps(t *testing.T, steps []step) {
	t.Helper()
	for _, s := range steps {
		if !t.Run(s.name, s.run) {
			return
		}
	}
}

// TestHelmInstallsUpgradesAndRemovesVCWithoutLoss runs the commands of docs/guides/install.md and docs/guides/uninstall.md
// with the program helm, while the webhooks are served. Pods do not run here, so no command waits for them.
func TestHelmInstallsUpgradesAndRemovesVCWithoutLoss(t *testing.T) {
	k := newHelmCluster(t)
	config := writeConfig(t)
	installVC := []string{"install", "vc", vcChart, "--set", "image.repository=registry.example.com/vcd", "--set", "image.tag=v0.1.0", "--set", "size=small", "--set", "scheduler.replicas=1"}
	upgradeVC := append([]string{"upgrade"}, installVC[1:]...)
	job := newJob("survivor", inQueue("research"))
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "research"}}
	survivors := append(crdsOfVC(), job, queue)
	var before map[string]types.UID
	var webhooks map[string]int
	var stopAdmission func()
	whole := t

	runSteps(t, []step{
		{"install", func(t *testing.T) {
			k.mustRun(t, "install", "vc-crds", crdChart, "--create-namespace")
			k.mustRun(t, installVC...)
			k.requireScheduler(t, "registry.example.com/vcd:v0.1.0", 1)
		}},
		{"a queue and a job are created through the webhooks", func(t *testing.T) {
			stopAdmission = runAdmissionIn(whole, k.config, admission.Options{Owner: deploy.AdmissionAccount})
			makeQueue(t, k.c, queue.Name, schedulingv1beta1.QueueStateOpen)
			eventually(t, func(ctx context.Context) error { return k.c.Create(ctx, job) })
			webhooks = k.requireWebhooks(t)
			before = k.uids(t, survivors...)
			must(t, k.c.Create(t.Context(), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: deploy.SchedulerConfigMap},
				Data:       map[string]string{deploy.SchedulerConfigKey: "# the administrator's\n"},
			}, client.FieldOwner("kubectl-create")))
		}},
		{"an upgrade with the same values changes no object", func(t *testing.T) {
			vc, crds := k.installed(t, "vc"), k.installed(t, "vc-crds")
			k.mustRun(t, upgradeVC...)
			k.mustRun(t, "upgrade", "vc-crds", crdChart)
			if diff := cmp.Diff(vc, k.installed(t, "vc")); diff != "" {
				t.Errorf("chart vc (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(crds, k.installed(t, "vc-crds")); diff != "" {
				t.Errorf("chart vc-crds (-before +after):\n%s", diff)
			}
		}},
		{"an upgrade keeps other values, the administrator's configuration and the webhooks", func(t *testing.T) {
			k.mustRun(t, "upgrade", "vc", vcChart, "--reset-then-reuse-values", "--set", "image.tag=v0.2.0", "--set", "scheduler.replicas=3")
			k.requireScheduler(t, "registry.example.com/vcd:v0.2.0", 3)
			k.requireConfig(t, "# the administrator's\n")
			if diff := cmp.Diff(webhooks, k.requireWebhooks(t)); diff != "" {
				t.Errorf("the webhooks changed (-before +after):\n%s", diff)
			}
		}},
		{"a rollback returns to the previous values", func(t *testing.T) {
			k.mustRun(t, "rollback", "vc")
			k.requireScheduler(t, "registry.example.com/vcd:v0.1.0", 1)
			k.requireConfig(t, "# the administrator's\n")
			if diff := cmp.Diff(webhooks, k.requireWebhooks(t)); diff != "" {
				t.Errorf("the webhooks changed (-before +after):\n%s", diff)
			}
		}},
		{"the chart takes over the configuration only if asked to", func(t *testing.T) {
			takeOver := []string{"upgrade", "vc", vcChart, "--reset-then-reuse-values", "--set-file", "scheduler.config=" + config}
			k.run(t, takeOver...).expect(t, 1, `ConfigMap "volcano-scheduler-configmap" in namespace "volcano-system" `+foreign)
			k.requireConfig(t, "# the administrator's\n")
			k.mustRun(t, append(takeOver, "--take-ownership", "--force-conflicts")...)
			k.requireConfig(t, operatorsConfig)
		}},
		{"the configuration stays when the value is removed", func(t *testing.T) {
			k.mustRun(t, "upgrade", "vc", vcChart, "--reset-then-reuse-values", "--set", "scheduler.config=")
			k.requireConfig(t, operatorsConfig)
		}},
		{"uninstall vc", func(t *testing.T) {
			objects := k.installed(t, "vc")
			k.mustRun(t, "uninstall", "vc")
			k.requireGone(t, objects)
			eventually(t, func(ctx context.Context) error {
				left, err := k.webhooks(ctx)
				if len(left) > 0 {
					err = errors.Join(err, fmt.Errorf("webhook configurations are left: %v", left))
				}
				return err
			})
			stopAdmission()
			k.requireConfig(t, operatorsConfig)
			if diff := cmp.Diff(before, k.uids(t, survivors...)); diff != "" {
				t.Errorf("objects were lost (-before +after):\n%s", diff)
			}
		}},
		{"uninstall vc-crds", func(t *testing.T) {
			k.mustRun(t, "uninstall", "vc-crds")
			if diff := cmp.Diff(before, k.uids(t, survivors...)); diff != "" {
				t.Errorf("objects were lost (-before +after):\n%s", diff)
			}
		}},
		{"install again over what was kept", func(t *testing.T) {
			k.mustRun(t, "install", "vc-crds", crdChart, "--create-namespace")
			k.mustRun(t, append(installVC, "--set-file", "scheduler.config="+config)...)
			k.requireScheduler(t, "registry.example.com/vcd:v0.1.0", 1)
			k.requireConfig(t, operatorsConfig)
			if diff := cmp.Diff(before, k.uids(t, survivors...)); diff != "" {
				t.Errorf("objects were lost (-before +after):\n%s", diff)
			}
		}},
		{"the configuration of the release stays when it is uninstalled", func(t *testing.T) {
			objects := k.installed(t, "vc")
			k.mustRun(t, "uninstall", "vc")
			k.requireGone(t, objects, "ConfigMap "+deploy.SchedulerConfigMap)
			k.requireConfig(t, operatorsConfig)
		}},
		{"without crds.keep, the CRDs are deleted", func(t *testing.T) {
			k.mustRun(t, "upgrade", "vc-crds", crdChart, "--set", "crds.keep=false")
			k.mustRun(t, "uninstall", "vc-crds")
			for _, crd := range crdsOfVC() {
				err := k.c.Get(t.Context(), client.ObjectKeyFromObject(crd), crd)
				if !apierrors.IsNotFound(err) && crd.GetDeletionTimestamp() == nil {
					t.Errorf("%s is not being deleted: %v", crd.GetName(), err)
				}
			}
		}},
	})
}

// createInstallYAML creates the objects of install.yaml that do not exist, with the field manager of kubectl apply.
func (k *helmCluster) createInstallYAML(t *testing.T) {
	t.Helper()
	objects, err := decode(deploy.InstallYAML)
	must(t, err)
	for _, object := range objects {
		err := k.c.Create(t.Context(), object, client.FieldOwner("kubectl-client-side-apply"))
		if client.IgnoreAlreadyExists(err) != nil {
			t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// TestHelmRemovesAndTakesOverInstallYAML deletes the objects of install.yaml with the command in docs/guides/uninstall.md,
// creates them again, and installs the charts over them.
func TestHelmRemovesAndTakesOverInstallYAML(t *testing.T) {
	k := newHelmCluster(t)
	runSteps(t, []step{
		{"the manifest of helm template deletes all but the CRDs and the namespace", func(t *testing.T) {
			k.createInstallYAML(t)
			objects, err := charttest.Objects(k.mustRun(t, "template", "vc", vcChart, "--no-hooks"))
			must(t, err)
			for _, object := range objects {
				if err := k.c.Delete(t.Context(), object); err != nil {
					t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
				}
			}
			all, err := decode(deploy.InstallYAML)
			must(t, err)
			removed := map[string]*unstructured.Unstructured{}
			for _, object := range all {
				switch object.GetKind() {
				case "Namespace", "CustomResourceDefinition":
					k.uids(t, object)
				default:
					removed[object.GetKind()+" "+object.GetName()] = object
				}
			}
			k.requireGone(t, removed)
		}},
		{"vc-crds needs --take-ownership", func(t *testing.T) {
			k.createInstallYAML(t)
			before := k.uids(t, crdsOfVC()...)
			install := []string{"upgrade", "--install", "vc-crds", crdChart}
			k.run(t, install...).expect(t, 1, foreign)
			k.mustRun(t, append(install, "--take-ownership")...)
			if diff := cmp.Diff(before, k.uids(t, crdsOfVC()...)); diff != "" {
				t.Errorf("CRDs were replaced (-before +after):\n%s", diff)
			}
		}},
		{"vc needs --take-ownership and --force-conflicts", func(t *testing.T) {
			install := []string{"upgrade", "--install", "vc", vcChart, "--set", "image.tag=v0.2.0", "--set", "scheduler.replicas=3"}
			k.run(t, install...).expect(t, 1, foreign)
			install = append(install, "--take-ownership")
			k.run(t, install...).expect(t, 1, `conflict with "kubectl-client-side-apply"`)
			k.mustRun(t, append(install, "--force-conflicts")...)
			k.requireScheduler(t, "ghcr.io/vc-batch/vcd:v0.2.0", 3)
		}},
	})
}

// TestTheProgramHelmHasTheVersionThatRendersTheCharts compares tools.mod with go.mod.
func TestTheProgramHelmHasTheVersionThatRendersTheCharts(t *testing.T) {
	versions := map[string]string{}
	for _, name := range []string{"go.mod", "tools.mod"} {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		must(t, err)
		parsed, err := modfile.Parse(name, text, nil)
		must(t, err)
		for _, require := range parsed.Require {
			if require.Mod.Path == "helm.sh/helm/v4" {
				versions[name] = require.Mod.Version
			}
		}
	}
	if versions["go.mod"] != versions["tools.mod"] || versions["go.mod"] == "" {
		t.Errorf("the versions of Helm are %v, want the same; run go get -modfile=tools.mod -tool helm.sh/helm/v4/cmd/helm@%s", versions, versions["go.mod"])
	}
}
