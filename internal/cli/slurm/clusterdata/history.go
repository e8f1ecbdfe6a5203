package clusterdata

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/extract"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/cli/recorded"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/listrow"
)

// ErrNoHistory means that the cluster has no accounting database.
var ErrNoHistory = recorded.ErrNoDatabase

// AddHistory adds the jobs that the accounting database has recorded and that no longer exist in the cluster. Each job
// has the state in which its last attempt ended. If the query selects all attempts, it also adds the earlier ones.
func (v *View) AddHistory(ctx context.Context, query accounting.Query) error {
	query.WithDocuments = true
	if v.namespace != "" {
		query.Namespaces = []string{v.namespace}
	}
	exists, latest := map[types.UID]bool{}, map[types.UID]*accounting.Record{}
	for _, job := range v.Jobs {
		exists[job.UID] = true
	}
	var order []types.UID
	for record, err := range recorded.Records(ctx, v.rest, query) {
		if err != nil {
			return err
		}
		uid := types.UID(record.JobUID)
		if !query.LatestOnly {
			v.addAttempt(uid, record)
		}
		if exists[uid] || len(record.Document) == 0 {
			continue
		}
		known := latest[uid]
		if known == nil {
			order = append(order, uid)
		}
		if known == nil || record.Attempt > known.Attempt { // the elements of an array share a document
			latest[uid] = record
		}
	}
	for _, uid := range order {
		record := latest[uid]
		document, err := extract.DecodeDocument(record.Document)
		if err != nil {
			return fmt.Errorf("record of job %s/%s: %w", record.Namespace, record.Name, err)
		}
		v.addDocument(document)
	}
	return nil
}

// addAttempt adds a recorded attempt.
func (v *View) addAttempt(uid types.UID, record *accounting.Record) {
	if v.earlier == nil {
		v.earlier = map[types.UID][]listrow.Attempt{}
	}
	v.earlier[uid] = append(v.earlier[uid], extract.AttemptOf(record))
}

// attemptsOf returns the earlier attempts of a job, from its status and from the accounting database, oldest first.
func (v *View) attemptsOf(job *batchv1alpha1.Job) []listrow.Attempt {
	attempts := listrow.AttemptsOf(job)
	inStatus := map[int32]int{}
	for i := range attempts {
		inStatus[attempts[i].Number] = i
	}
	for _, attempt := range v.earlier[job.UID] {
		i, isInStatus := inStatus[attempt.Number]
		switch {
		case isInStatus:
			attempts[i].Use = attempt.Use // the status does not contain it
		case attempt.Number != job.Attempt():
			attempts = append(attempts, attempt)
		}
	}
	slices.SortStableFunc(attempts, func(a, b listrow.Attempt) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Element, b.Element))
	})
	return attempts
}

// addDocument adds a job that no longer exists, and its pods.
func (v *View) addDocument(document extract.Document) {
	v.Jobs = append(v.Jobs, document.Job)
	if v.recordedPods == nil {
		v.recordedPods = map[types.UID][]*corev1.Pod{}
	}
	v.recordedPods[document.Job.UID] = document.Pods
}

// ReadUsage returns the use of resources that the accounting database has summed up.
func ReadUsage(ctx context.Context, c *program.Call, query accounting.UsageQuery) ([]accounting.Usage, error) {
	config, err := c.Factory.RESTConfig()
	if err != nil {
		return nil, err
	}
	return recorded.Usage(ctx, config, query)
}

// MayReadUseOfAll reports whether the accounting database shows the use of all users, and not only that of the user.
func MayReadUseOfAll(ctx context.Context, c *program.Call) (bool, error) {
	cl, err := c.Factory.Client()
	if err != nil {
		return false, err
	}
	return recorded.MayReadAll(ctx, cl, wire.AllUsageResource)
}

// ReadCapacity returns the recorded capacity of the nodes of clusters.
func ReadCapacity(ctx context.Context, c *program.Call, query accounting.CapacityQuery) ([]accounting.Capacity, error) {
	config, err := c.Factory.RESTConfig()
	if err != nil {
		return nil, err
	}
	return recorded.Capacity(ctx, config, query)
}

// ReadAccountParents returns the parent of each account that has one. A cluster without the kind Account has none.
func ReadAccountParents(ctx context.Context, c *program.Call) (map[string]string, error) {
	cl, err := c.Factory.Client()
	if err != nil {
		return nil, err
	}
	accounts := unstructured.UnstructuredList{}
	accounts.SetGroupVersionKind(accountv1alpha1.GroupVersion.WithKind("AccountList"))
	err = cl.List(ctx, &accounts)
	if apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tree of accounts: %w", err)
	}
	parents := map[string]string{}
	for i := range accounts.Items {
		if parent, _, _ := unstructured.NestedString(accounts.Items[i].Object, "spec", "parent"); parent != "" {
			parents[accounts.Items[i].GetName()] = parent
		}
	}
	return parents, nil
}
