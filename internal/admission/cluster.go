package admission

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Cluster gives the webhooks access to the API server. The typed clients of client-go implement its interfaces.
type Cluster struct {
	// Queues holds the queues. A watch keeps it up to date. NewQueueIndexer creates it.
	Queues cache.Indexer
	// ReadQueue reads a queue without a cache. It returns nil if the queue does not exist.
	ReadQueue func(ctx context.Context, name string) (*schedulingv1beta1.Queue, error)
	// ListQueues lists all queues without a cache. If it is nil, queues are compared only with those of the cache.
	ListQueues func(ctx context.Context) ([]schedulingv1beta1.Queue, error)
	// Accounts reads the accounts. If it is nil, accounts are not checked.
	Accounts AccountReader
	// Submitted counts the jobs that have not ended. If it is nil, the limits for their number are not checked.
	Submitted *SubmittedJobs
	// Jobs reads jobs and JobTemplates without a cache.
	Jobs client.Reader
	// Namespaces reads namespaces; an annotation of a namespace may name its queue.
	Namespaces Getter[*corev1.Namespace]
	// Reviews checks the permissions of users.
	Reviews Creator[*authorizationv1.SubjectAccessReview]
	// Secrets reads and writes Secrets in the namespace of the certificate. If it is nil, the certificate stays in memory.
	Secrets ObjectClient[*corev1.Secret]
	// Deletions creates the ConfigMaps with deletions of accounts that are not recorded yet. Options.RecordJobs needs it.
	Deletions Creator[*corev1.ConfigMap]
	// Owner reads the object to which new webhook configurations belong. If it is nil, they belong to no object.
	Owner ownerGetter
	// Mutating and Validating read and write the webhook configurations.
	Mutating   ObjectClient[*admissionregistrationv1.MutatingWebhookConfiguration]
	Validating ObjectClient[*admissionregistrationv1.ValidatingWebhookConfiguration]
}

// Getter reads objects of one kind.
type Getter[T any] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
}

// Creator creates objects of one kind.
type Creator[T any] interface {
	Create(ctx context.Context, object T, options metav1.CreateOptions) (T, error)
}

// ObjectClient reads and writes objects of one kind.
type ObjectClient[T any] interface {
	Getter[T]
	Creator[T]
	Update(ctx context.Context, object T, options metav1.UpdateOptions) (T, error)
}

// newCluster returns the access of a process to the API server.
func newCluster(options *Options, config *rest.Config, clientset kubernetes.Interface, watches *watches) (Cluster, error) {
	jobs, err := newJobReader(config)
	if err != nil {
		return Cluster{}, err
	}
	cluster := Cluster{
		Queues: watches.queues.informer.GetIndexer(), ReadQueue: watches.queues.readLiveQueue, ListQueues: watches.queues.listLiveQueues, Jobs: jobs,
		Accounts: watches.accounts, Submitted: watches.submitted,
		Namespaces: clientset.CoreV1().Namespaces(), Reviews: clientset.AuthorizationV1().SubjectAccessReviews(),
		Mutating:   clientset.AdmissionregistrationV1().MutatingWebhookConfigurations(),
		Validating: clientset.AdmissionregistrationV1().ValidatingWebhookConfigurations(),
	}
	if options.SecretNamespace != "" {
		cluster.Secrets = clientset.CoreV1().Secrets(options.SecretNamespace)
	}
	if options.RecordNamespace != "" {
		cluster.Deletions = clientset.CoreV1().ConfigMaps(options.RecordNamespace)
	}
	if options.Owner != "" {
		cluster.Owner = func(ctx context.Context) (*rbacv1.ClusterRole, error) {
			return clientset.RbacV1().ClusterRoles().Get(ctx, options.Owner, metav1.GetOptions{})
		}
	}
	return cluster, nil
}
