package install

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/cli"
)

// TestWebhookAndCommandLineSayTheSame sends every invalid object to the webhook itself, to the API server and to vcctl.
// The webhook and vcctl must return the same errors, and all three must reject the object. In the API server, the
// schema, a CEL rule or the webhook must name the problem and the field.
func TestWebhookAndCommandLineSayTheSame(t *testing.T) {
	c := admin(t)
	stop := runAdmission(t)
	defer stop()
	surroundings(t, c)
	all := refusedJobs()
	maps.Copy(all, refusedAnnotations())
	maps.Copy(all, refusedOthers())
	maps.Copy(all, refusedFlows())
	if len(all) < len(refusedJobs())+len(refusedAnnotations())+len(refusedOthers())+len(refusedFlows()) {
		t.Errorf("only %d rows: a name is used twice", len(all))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		bad := all[name]
		t.Run(strings.ReplaceAll("§"+bad.section+" "+name, " ", "_"), func(t *testing.T) {
			objects, err := decode([]byte(bad.manifest))
			if err != nil || len(objects) != 1 {
				t.Fatalf("%v", err)
			}
			object := objects[0]
			if err := c.Create(t.Context(), object.DeepCopy()); err == nil {
				t.Error("the API server lets it in")
			} else if err := mentions(err.Error(), cmp.Or(strings.Join(bad.kube, sep), words(bad))); err != nil {
				t.Errorf("the API server: %v", err)
			}
			fromCLI := vcctlRefuses(t, bad.manifest)
			if err := mentions(strings.Join(fromCLI, "\n"), words(bad)); err != nil {
				t.Errorf("vcctl: %v", err)
			}
			if bad.kubeOnly {
				return
			}
			fromHook := hookRefuses(t, c, object)
			for i := range fromHook { // vcctl also rewrites the webhook's errors
				fromHook[i] = cli.SimplifyMessage(fromHook[i])
			}
			if !bad.chosen && !slices.Equal(fromHook, fromCLI) {
				t.Errorf("the webhook says\n\t%s\nand vcctl\n\t%s", strings.Join(fromHook, "\n\t"), strings.Join(fromCLI, "\n\t"))
			}
		})
	}
}

// sep separates the words that a text must contain.
const sep = "\x00"

// words returns the field and the words of a row.
func words(bad refused) string { return strings.Join(append([]string{bad.where}, bad.says...), sep) }

func mentions(text, words string) error {
	for word := range strings.SplitSeq(words, sep) {
		if !strings.Contains(text, word) {
			return fmt.Errorf("no %q in: %.600s", word, text)
		}
	}
	return nil
}

// surroundings creates the queues that the rows of the table use.
func surroundings(t *testing.T, c client.Client) {
	t.Helper()
	makeQueue(t, c, "default", schedulingv1beta1.QueueStateOpen)
	makeQueue(t, c, "shut", schedulingv1beta1.QueueStateClosed)
	cpu := func(n string) corev1.ResourceList { return quantities(n) }
	for _, q := range []*schedulingv1beta1.Queue{
		{ObjectMeta: metav1.ObjectMeta{Name: "root"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "org"}, Spec: schedulingv1beta1.QueueSpec{Capability: cpu("16"), Deserved: cpu("8"), Guarantee: schedulingv1beta1.Guarantee{Resource: cpu("2")}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: schedulingv1beta1.QueueSpec{Parent: "org", Deserved: cpu("4")}},
		{ObjectMeta: metav1.ObjectMeta{Name: "busy"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "sci", Annotations: map[string]string{"volcano.sh/hierarchy": "root/sci/bio", "volcano.sh/hierarchy-weights": "1/2/3"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "deep1"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "deep2"}, Spec: schedulingv1beta1.QueueSpec{Parent: "deep1"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "deep3"}, Spec: schedulingv1beta1.QueueSpec{Parent: "deep2"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "deep4"}, Spec: schedulingv1beta1.QueueSpec{Parent: "deep3"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "deep5"}, Spec: schedulingv1beta1.QueueSpec{Parent: "deep4"}},
	} {
		q.Spec.Weight = 1
		if err := client.IgnoreAlreadyExists(c.Create(t.Context(), q)); err != nil {
			t.Fatal(err)
		}
	}
	template, err := decode([]byte(strings.Replace(templateYAML("tasks: ["+work+"]"), "name: bad", "name: step", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.IgnoreAlreadyExists(c.Create(t.Context(), template[0])); err != nil {
		t.Fatal(err)
	}
	busy := &schedulingv1beta1.Queue{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "busy"}, busy); err != nil {
		t.Fatal(err)
	}
	busy.Status.Allocated = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")}
	if err := c.Status().Update(t.Context(), busy); err != nil {
		t.Fatal(err)
	}
}

// vcctlRefuses returns the sorted errors of `vcctl job run -f -`.
func vcctlRefuses(t *testing.T, manifest string) []string {
	t.Helper()
	return vcctlSays(t, manifest, "job", "run", "-f", "-")
}

// hookRefuses sends a new object to the validating webhook of its kind, as the API server does, and returns the sorted
// errors.
func hookRefuses(t *testing.T, c client.Client, object *unstructured.Unstructured) []string {
	t.Helper()
	return hookAnswers(t, c, object, &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: raw(t, object)})
}

// hookAnswers sends a request to the validating webhook of an object's kind, which must reject it.
func hookAnswers(t *testing.T, c client.Client, object *unstructured.Unstructured, request *admissionv1.AdmissionRequest) []string {
	t.Helper()
	plural := strings.ToLower(object.GetKind()) + "s"
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	name := admission.ConfigurationPrefix + plural + "-validate"
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, configuration); err != nil || len(configuration.Webhooks) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	to := configuration.Webhooks[0].ClientConfig
	request.UID, request.Name, request.Namespace = "1", object.GetName(), object.GetNamespace()
	answer := review(t, *to.URL, to.CABundle, request)
	if answer.Allowed {
		t.Fatal("the webhook lets it in")
	}
	if answer.Result.Details == nil {
		t.Fatalf("the webhook: %s", answer.Result.Message)
	}
	var found []string
	for _, cause := range answer.Result.Details.Causes {
		found = append(found, cause.Field+": "+cause.Message)
	}
	slices.Sort(found)
	return found
}

// review sends one request to a webhook.
func review(t *testing.T, url string, ca []byte, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}, Request: request,
	})
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	defer trusting.CloseIdleConnections()
	post, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/json")
	response, err := trusting.Do(post)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(text, &answer); err != nil || answer.Response == nil {
		t.Fatalf("%s: %v: %.300s", url, err, text)
	}
	return answer.Response
}
