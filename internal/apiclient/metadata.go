package apiclient

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// metadataOnly is the media type that makes the API server return only the metadata of a written object. The caller
// already has the other fields, or receives them through a watch.
const metadataOnly = runtime.ContentTypeProtobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// MetadataClient is a client that transfers as few bytes as possible for the writes that occur once per pod or job,
// which are creating pods and PodGroups and updating the status of jobs. After such a write, the object has the
// metadata that the API server returned, and all other fields are as they were sent.
type MetadataClient struct {
	client.Client
	pods, groups, jobs rest.Interface
}

// NewMetadataClient returns a MetadataClient. It uses c for all other requests.
func NewMetadataClient(c client.Client, config *rest.Config) (*MetadataClient, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("kinds: %w", err)
		}
	}
	codecs := serializer.NewCodecFactory(scheme).WithoutConversion()
	m := &MetadataClient{Client: c}
	for _, kind := range []struct {
		version         schema.GroupVersion
		path, mediaType string
		client          *rest.Interface
	}{
		{corev1.SchemeGroupVersion, "/api", runtime.ContentTypeProtobuf, &m.pods},
		{schedulingv1beta1.GroupVersion, "/apis", runtime.ContentTypeJSON, &m.groups},
		{batchv1alpha1.GroupVersion, "/apis", runtime.ContentTypeJSON, &m.jobs},
	} {
		metav1.AddToGroupVersion(scheme, kind.version)
		own := groupConfig(config, kind.version, codecs)
		own.APIPath, own.ContentType = kind.path, kind.mediaType
		made, err := rest.RESTClientFor(own)
		if err != nil {
			return nil, fmt.Errorf("client of %s: %w", kind.version, err)
		}
		*kind.client = made
	}
	return m, nil
}

// Create implements client.Client.
func (m *MetadataClient) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if len(options) > 0 {
		return m.Client.Create(ctx, o, options...)
	}
	switch o := o.(type) {
	case *corev1.Pod:
		if err := requestMetadata(ctx, m.pods.Post().Resource("pods").Namespace(o.Namespace).Body(o), &o.ObjectMeta); err != nil {
			return err
		}
		if o.Status.Phase == "" {
			o.Status.Phase = corev1.PodPending // the API server sets this value
		}
		return nil
	case *schedulingv1beta1.PodGroup:
		return requestMetadata(ctx, m.groups.Post().Resource("podgroups").Namespace(o.Namespace).Body(o), &o.ObjectMeta)
	}
	return m.Client.Create(ctx, o)
}

// requestMetadata sends a request and stores the metadata of the written object in into.
func requestMetadata(ctx context.Context, request *rest.Request, into *metav1.ObjectMeta) error {
	var answer metav1.PartialObjectMetadata
	if err := request.SetHeader("Accept", metadataOnly).Do(ctx).Into(&answer); err != nil {
		return err
	}
	*into = answer.ObjectMeta
	into.ManagedFields = nil
	return nil
}

// Status implements client.Client.
func (m *MetadataClient) Status() client.SubResourceWriter {
	return statuses{SubResourceWriter: m.Client.Status(), jobs: m.jobs}
}

type statuses struct {
	client.SubResourceWriter
	jobs rest.Interface
}

// statusOf holds the fields that the API server reads when the status of a job is written. The server ignores all
// other fields.
type statusOf struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        reference               `json:"metadata"`
	Status          batchv1alpha1.JobStatus `json:"status"`
}

type reference struct {
	Namespace       string    `json:"namespace"`
	Name            string    `json:"name"`
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
}

// Update implements client.SubResourceWriter.
func (s statuses) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	job, ok := o.(*batchv1alpha1.Job)
	if !ok || len(options) > 0 {
		return s.SubResourceWriter.Update(ctx, o, options...)
	}
	body, err := json.Marshal(statusOf{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"},
		Metadata: reference{job.Namespace, job.Name, job.UID, job.ResourceVersion},
		Status:   job.Status,
	})
	if err != nil {
		return fmt.Errorf("status of job %s: %w", job.Name, err)
	}
	put := s.jobs.Put().Resource("jobs").Namespace(job.Namespace).Name(job.Name).SubResource("status").SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body)
	return requestMetadata(ctx, put, &job.ObjectMeta)
}
