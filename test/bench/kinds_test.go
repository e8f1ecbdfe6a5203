package bench

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/test/bench/figures"
)

// jobKind is our Job in another API group with another schema. It shows the API server's cost for a simpler schema.
type jobKind struct {
	figure string // the name of the figure for one create
	client client.Client
}

// installJobKinds installs Jobs whose schema omits the pod template, and Jobs whose schema is empty.
func (r *rig) installJobKinds(t *testing.T) []jobKind {
	t.Helper()
	anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	return []jobKind{
		{figures.CreateLooseJob, r.installJobKind(t, "loose.bench", func(job *apiextensionsv1.JSONSchemaProps) {
			spec := job.Properties["spec"]
			spec.Properties["tasks"].Items.Schema.Properties["template"] = anything
		})},
		{figures.CreateBlindJob, r.installJobKind(t, "blind.bench", func(job *apiextensionsv1.JSONSchemaProps) {
			job.Properties["spec"], job.Properties["status"] = anything, anything
		})},
	}
}

// installJobKind installs the CRD of Jobs in another API group with a changed schema. It returns a client that differs
// from that of Jobs only in the group.
func (r *rig) installJobKind(t *testing.T, group string, change func(*apiextensionsv1.JSONSchemaProps)) client.Client {
	t.Helper()
	var crd *apiextensionsv1.CustomResourceDefinition
	for _, c := range deploy.CRDs() {
		if c.Name == "jobs."+batchv1alpha1.GroupName {
			crd = c
		}
	}
	crd.Name, crd.Spec.Group = "jobs."+group, group
	crd.Spec.Names.ShortNames, crd.Spec.Names.Categories = nil, nil
	change(crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	if err := r.ours.Create(t.Context(), crd); err != nil {
		t.Fatalf("CRD %s: %v", crd.Name, err)
	}
	scheme, version := runtime.NewScheme(), schema.GroupVersion{Group: group, Version: crd.Spec.Versions[0].Name}
	scheme.AddKnownTypes(version, &batchv1alpha1.Job{}, &batchv1alpha1.JobList{})
	metav1.AddToGroupVersion(scheme, version)
	fast := rest.CopyConfig(r.config)
	fast.QPS = -1
	c, err := client.New(fast, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, crd.Name+" takes objects", func() bool {
		return c.Create(t.Context(), newJob("default", "first", 1, nil)) == nil
	})
	return c
}
