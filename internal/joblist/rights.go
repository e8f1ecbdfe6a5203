package joblist

import (
	"context"
	"fmt"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// resource is a resource that users may or may not list.
type resource struct{ group, name string }

func (r resource) String() string { return strings.TrimSuffix(r.name+"."+r.group, ".") }

// resourcesInResponse returns the resources contained in the response to a query.
func resourcesInResponse(q jobsummary.Query) []resource {
	all := []resource{{batchv1alpha1.GroupName, "jobs"}, {schedulingv1beta1.GroupName, "podgroups"}}
	if q.Pods {
		all = append(all, resource{"", "pods"})
	}
	return all
}

// rights checks with the API server which resources users may list.
type rights struct{ permissions *aggregatedapi.Permissions }

// missing returns the first resource of a query that a user may not list, or nil.
func (r *rights) missing(ctx context.Context, who user.Info, q jobsummary.Query) (*resource, error) {
	kinds := resourcesInResponse(q)
	allowed, errs := make([]bool, len(kinds)), make([]error, len(kinds))
	var wait sync.WaitGroup
	for i := range kinds {
		wait.Go(func() { allowed[i], errs[i] = r.mayListResource(ctx, who, kinds[i], q.Namespace) })
	}
	wait.Wait()
	for i := range kinds {
		if errs[i] != nil {
			return nil, fmt.Errorf("rights on %s: %w", kinds[i], errs[i])
		}
		if !allowed[i] {
			return &kinds[i], nil
		}
	}
	return nil, nil
}

// mayListResource reports whether a user may list a resource in a namespace, or in all namespaces if it is "".
func (r *rights) mayListResource(ctx context.Context, who user.Info, kind resource, namespace string) (bool, error) {
	return r.permissions.IsAllowed(ctx, who, authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Group: kind.group, Resource: kind.name})
}
