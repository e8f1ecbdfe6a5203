package install

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
)

// TestWebhookAndCommandLineSayTheSameOfChanges creates objects and tries to make invalid changes to them with the
// webhook, the API server and the command line. All must reject the changes with the same messages.
func TestWebhookAndCommandLineSayTheSameOfChanges(t *testing.T) {
	c := admin(t)
	stop := runAdmission(t)
	defer stop()
	surroundings(t, c)
	for name, row := range refusedChanges() {
		t.Run(strings.ReplaceAll("§"+row.section+" "+name, " ", "_"), func(t *testing.T) {
			old := letIn(t, c, row.object)
			patch, err := yaml.YAMLToJSON([]byte(row.patch))
			if err != nil {
				t.Fatal(err)
			}
			want := words(row.refused)
			if err := c.Patch(t.Context(), old.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); err == nil {
				t.Error("the API server lets it happen")
			} else if err := mentions(err.Error(), cmp.Or(strings.Join(row.kube, sep), want)); err != nil {
				t.Errorf("the API server: %v", err)
			}
			if row.kubeOnly {
				return
			}
			changed := patched(t, old, patch)
			fromHook := hookAnswers(t, c, old, &admissionv1.AdmissionRequest{
				Operation: admissionv1.Update, Object: raw(t, changed), OldObject: raw(t, old),
			})
			if err := mentions(strings.Join(fromHook, "\n"), want); err != nil {
				t.Errorf("the webhook: %v", err)
			}
			fromCLI := vcctlOrJudge(t, row.vcctl, func(f *cli.Factory) error {
				return f.ValidateUpdate(f.ValidationContext(t.Context(), true), old, changed, false)
			})
			if row.chosen {
				if err := mentions(strings.Join(fromCLI, "\n"), want); err != nil {
					t.Errorf("vcctl: %v", err)
				}
			} else if !slices.Equal(fromHook, fromCLI) {
				t.Errorf("the webhook says\n\t%s\nand vcctl\n\t%s", strings.Join(fromHook, "\n\t"), strings.Join(fromCLI, "\n\t"))
			}
		})
	}
}

// TestWebhookAndCommandLineSayTheSameOfDeletions tries to delete queues that must not be deleted.
func TestWebhookAndCommandLineSayTheSameOfDeletions(t *testing.T) {
	c := admin(t)
	stop := runAdmission(t)
	defer stop()
	surroundings(t, c)
	for name, says := range map[string]string{
		"default": "`default` queue can not be deleted",
		"root":    "`root` queue can not be deleted",
		"org":     "queue org can not be deleted because it has 1 child queues: team",
	} {
		t.Run(name, func(t *testing.T) {
			object := &schedulingv1beta1.Queue{}
			object.Name = name
			if err := c.Delete(t.Context(), object); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("the API server: %v", err)
			}
			queue := &unstructured.Unstructured{}
			queue.SetGroupVersionKind(schedulingv1beta1.GroupVersion.WithKind("Queue"))
			queue.SetName(name)
			fromHook := hookAnswers(t, c, queue, &admissionv1.AdmissionRequest{Operation: admissionv1.Delete})
			if err := mentions(strings.Join(fromHook, "\n"), "metadata.name"+sep+says); err != nil {
				t.Errorf("the webhook: %v", err)
			}
			if fromCLI := vcctlOrJudge(t, "queue delete "+name+" --yes", nil); !slices.Equal(fromHook, fromCLI) {
				t.Errorf("the webhook says\n\t%s\nand vcctl\n\t%s", strings.Join(fromHook, "\n\t"), strings.Join(fromCLI, "\n\t"))
			}
		})
	}
	t.Run("one in which pods run may go, with a warning", func(t *testing.T) {
		told := &warnings{}
		config := rest.CopyConfig(plane.RESTConfig())
		config.WarningHandlerWithContext = told
		warned, err := newClient(config)
		if err != nil {
			t.Fatal(err)
		}
		busy := &schedulingv1beta1.Queue{}
		busy.Name = "busy"
		if err := warned.Delete(t.Context(), busy, client.DryRunAll); err != nil {
			t.Fatal(err)
		}
		if err := mentions(strings.Join(told.texts, "\n"), "queue busy has allocated Pods: 3"); err != nil {
			t.Error(err)
		}
	})
}

// warnings collects the warning headers that a client receives.
type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.texts = append(w.texts, text)
}

// letIn returns the stored object of a manifest. It creates the object for this test if it does not exist.
func letIn(t *testing.T, c client.Client, manifest string) *unstructured.Unstructured {
	t.Helper()
	objects, err := decode([]byte(manifest))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%v", err)
	}
	object := objects[0]
	err = c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	if !apierrors.IsNotFound(err) {
		if err != nil {
			t.Fatal(err)
		}
		return object
	}
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatalf("before it is changed: %v", err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := c.Delete(ctx, object, client.GracePeriodSeconds(0)); err != nil {
			t.Error(err)
		}
	})
	return object
}

func patched(t *testing.T, object *unstructured.Unstructured, patch []byte) *unstructured.Unstructured {
	t.Helper()
	text, err := jsonpatch.MergePatch(raw(t, object).Raw, patch)
	if err != nil {
		t.Fatal(err)
	}
	changed := &unstructured.Unstructured{}
	if err := changed.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return changed
}

func raw(t *testing.T, object *unstructured.Unstructured) runtime.RawExtension {
	t.Helper()
	text, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: text}
}

// vcctlOrJudge returns the sorted errors of a vcctl command or, without a command, those of the validation that its
// commands share.
func vcctlOrJudge(t *testing.T, command string, judge func(*cli.Factory) error) []string {
	t.Helper()
	if command != "" {
		return vcctlSays(t, "", strings.Fields(command)...)
	}
	streams, _, _ := iostreams.TestStreams("", 0)
	f := cli.NewFactory("vcctl", &streams)
	*f.Config.KubeConfig = kubeconfig
	var told bytes.Buffer
	cli.ReportError(&told, judge(f), cli.Connection{})
	return errorsIn(told.String())
}

// vcctlSays returns the sorted errors of vcctl, which must fail and print nothing to stdout.
func vcctlSays(t *testing.T, stdin string, args ...string) []string {
	t.Helper()
	streams, out, errOut := iostreams.TestStreams(stdin, 0)
	code := root.Main(t.Context(), "vcctl", append(args, "--kubeconfig", kubeconfig), streams)
	if code == 0 || out.Len() > 0 {
		t.Errorf("vcctl ends with %d and prints %q", code, out)
	}
	return errorsIn(errOut.String())
}

func errorsIn(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "error: "); ok {
			found = append(found, text)
		}
	}
	slices.Sort(found)
	return found
}
