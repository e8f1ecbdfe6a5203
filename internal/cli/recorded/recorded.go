// Package recorded reads records and the use of resources from the accounting database, through the API server.
//
//	In:   queries
//	Out:  records; sums of use; ErrNoDatabase if the cluster has no accounting database
package recorded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/usererror"
)

// ErrNoDatabase means that the cluster has no accounting database.
var ErrNoDatabase = errors.New("the cluster has no accounting database")

// Records returns the selected records. An error ends the sequence.
func Records(ctx context.Context, config *rest.Config, query accounting.Query) iter.Seq2[*accounting.Record, error] {
	return func(yield func(*accounting.Record, error) bool) {
		response, err := request(ctx, config, wire.RecordsPath, query)
		if err != nil {
			yield(nil, err)
			return
		}
		defer response.Body.Close()
		for record, err := range wire.ReadRecords(response.Body) {
			if !yield(record, err) {
				return
			}
		}
	}
}

// Usage returns the selected use of resources.
func Usage(ctx context.Context, config *rest.Config, query accounting.UsageQuery) ([]accounting.Usage, error) {
	response, err := request(ctx, config, wire.UsagePath, query)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return wire.ReadUsage(response.Body)
}

// Capacity returns the recorded capacity of the nodes of clusters.
func Capacity(ctx context.Context, config *rest.Config, query accounting.CapacityQuery) ([]accounting.Capacity, error) {
	response, err := request(ctx, config, wire.CapacityPath, query)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return wire.ReadCapacity(response.Body)
}

// Changes returns the selected changes of accounts and QOS.
func Changes(ctx context.Context, config *rest.Config, query accounting.ChangeQuery) ([]accounting.Change, error) {
	response, err := request(ctx, config, wire.TransactionsPath, query)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return wire.ReadChanges(response.Body)
}

// NodeEvents returns the selected times during which nodes were down or drained.
func NodeEvents(ctx context.Context, config *rest.Config, query accounting.NodeEventQuery) ([]accounting.NodeEvent, error) {
	response, err := request(ctx, config, wire.EventsPath, query)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return wire.ReadEvents(response.Body)
}

// HasDatabase reports whether the cluster has an accounting database, also if the database does not answer.
func HasDatabase(config *rest.Config) (bool, error) {
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return false, err
	}
	_, err = c.ServerResourcesForGroupVersion(wire.GroupName + "/" + wire.Version)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case apierrors.IsServiceUnavailable(err): // the API is registered, and its server is down
		return true, nil
	}
	return err == nil, err
}

// MayReadAll reports whether the user may read the data of all users in the accounting database. The resource is
// wire.AllRecordsResource or wire.AllUsageResource.
func MayReadAll(ctx context.Context, c client.Client, resource string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Verb: "list", Group: wire.GroupName, Version: wire.Version, Resource: resource,
	}}}
	if err := c.Create(ctx, review); err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// WarnOwnOnly warns if the user may read only their own data in the accounting database. what names the data, for example
// "jobs".
func WarnOwnOnly(ctx context.Context, f *cli.Factory, resource, what string) {
	c, err := f.Client()
	if err != nil {
		return // the query reports this error
	}
	if allowed, err := MayReadAll(ctx, c, resource); err == nil && !allowed {
		f.Warnf("only your own %s can be shown: ask the administrator for the ClusterRole vc-accounting-admin", what)
	}
}

// Explain adds a hint to the error of a command that needs the accounting database.
func Explain(err error) error {
	if errors.Is(err, ErrNoDatabase) {
		return usererror.Errorf("ask the administrator to enable accounting; vcctl job list shows jobs that still exist", "%s", err)
	}
	return err
}

// request sends a query to the accounting database.
func request(ctx context.Context, config *rest.Config, path string, query any) (*http.Response, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	address := server.JoinPath(path)
	if address.RawQuery, err = wire.EncodeQuery(query); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	to, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	response, err := to.Do(request)
	if err != nil {
		return nil, err
	}
	handleWarnings(ctx, config, response)
	isList := response.Header.Get("Content-Type") == wire.ContentType
	if response.StatusCode == http.StatusOK && isList {
		return response, nil
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusOK {
		return nil, ErrNoDatabase // the API group, or this version of it, is not served
	}
	var status metav1.Status
	if json.NewDecoder(response.Body).Decode(&status) != nil || status.Message == "" {
		return nil, fmt.Errorf("the accounting database: %s", response.Status)
	}
	return nil, fmt.Errorf("the accounting database: %w", &apierrors.StatusError{ErrStatus: status})
}

// handleWarnings passes the warnings of a response to the handler in the configuration.
func handleWarnings(ctx context.Context, config *rest.Config, response *http.Response) {
	if config.WarningHandlerWithContext == nil {
		return
	}
	warnings, _ := net.ParseWarningHeaders(response.Header.Values("Warning")) // invalid ones are left out, as in client-go
	for _, warning := range warnings {
		config.WarningHandlerWithContext.HandleWarningHeaderWithContext(ctx, warning.Code, warning.Agent, warning.Text)
	}
}

// ParseTime parses the value of a flag such as --since: an age (90m, 12h, 7d, 4w), a date (2026-11-21), a date with a time
// (2026-11-21T22:00), or a word such as now or yesterday.
func ParseTime(flag, text string, now time.Time) (time.Time, error) {
	if age, ok := parseAge(text); ok {
		return now.Add(-age), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if text == "yesterday" {
		return time.Date(now.Year(), now.Month(), now.Day()-1, 0, 0, 0, 0, now.Location()), nil
	}
	at, err := optionvalue.ParseDate(text, now, optionvalue.Past)
	if err != nil {
		return at, usererror.Errorf("use an age such as 12h, 7d or 4w, a date such as 2026-11-21, or a time such as 2026-11-21T22:00", "--%s: invalid time %q", flag, text)
	}
	return at, nil
}

// maxAgeDays limits ages, because longer ones do not fit into a time.Duration.
const maxAgeDays = 100 * 365

// parseAge parses a duration, also in days or weeks.
func parseAge(text string) (time.Duration, bool) {
	for suffix, days := range map[string]int{"d": 1, "w": 7} {
		number, found := strings.CutSuffix(text, suffix)
		count, err := strconv.Atoi(number)
		isNumber := found && err == nil && count >= 0
		if isNumber && count <= maxAgeDays/days {
			return time.Duration(count*days) * 24 * time.Hour, true
		}
	}
	age, err := time.ParseDuration(text)
	return age, err == nil && age >= 0
}

// ParseInterval parses the values of --since and --until.
func ParseInterval(since, until string, now time.Time) (from, to time.Time, err error) {
	if from, err = ParseTime("since", since, now); err != nil {
		return from, to, err
	}
	if to, err = ParseTime("until", until, now); err != nil {
		return from, to, err
	}
	if !from.Before(to) {
		err = usererror.Errorf("specify a --since that is before --until", "the time from %s to %s is empty", from.Format(time.RFC3339), to.Format(time.RFC3339))
	}
	return from, to, err
}
