package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/cli"
)

// reader reads the facts for the checks.
type reader struct {
	o         *options
	c         client.WithWatch
	namespace string // of the installation
	server    serverFacts
	// deployments holds vc's Deployments by name. It is empty on a local cluster. deploymentsErr is the error of
	// reading them.
	deployments    map[string]*appsv1.Deployment
	deploymentsErr error
	// accounting is the StatefulSet of accounting, or nil if accounting is not installed. accountingErr is the error of
	// reading it.
	accounting    *appsv1.StatefulSet
	accountingErr error
}

// serverFacts holds the API server's response to a request for its version.
type serverFacts struct {
	version version.Info
	// date is the API server's clock, in seconds; before and after is this machine's clock at the request.
	date, before, after time.Time
}

// newReader connects to the API server. It returns an error if the API server cannot be reached.
func newReader(ctx context.Context, o *options) (*reader, error) {
	c, err := o.f.Client()
	if err != nil {
		return nil, err
	}
	r := &reader{o: o, c: c, namespace: deploy.Namespace, deployments: map[string]*appsv1.Deployment{}}
	if o.f.NamespaceGiven() {
		if r.namespace, err = o.f.Namespace(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if err := r.readServer(ctx); err != nil {
		return nil, err
	}
	for _, name := range []string{deploy.SchedulerAccount, deploy.ControllersAccount, deploy.AdmissionAccount} {
		deployment := &appsv1.Deployment{}
		switch err := c.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: name}, deployment); {
		case err == nil:
			r.deployments[name] = deployment
		case !apierrors.IsNotFound(err):
			r.deploymentsErr = err
		}
	}
	accounting := &appsv1.StatefulSet{}
	switch err := c.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: deploy.AccountingWorkload}, accounting); {
	case err == nil:
		r.accounting = accounting
	case !apierrors.IsNotFound(err):
		r.accountingErr = err
	}
	return r, nil
}

// request sends a GET request for a path of the API server, with the query part of the URL.
func (r *reader) request(ctx context.Context, path, query string) (*http.Response, error) {
	config, err := r.o.f.RESTConfig()
	if err != nil {
		return nil, err
	}
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	address = address.JoinPath(path)
	address.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	return web.Do(request)
}

// readServer reads the API server's version and clock.
func (r *reader) readServer(ctx context.Context) error {
	r.server.before = r.o.f.Now()
	response, err := r.request(ctx, "version", "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	r.server.after = r.o.f.Now()
	if response.StatusCode == http.StatusForbidden {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "version"}, "", errors.New("the API server does not permit you to read its version"))
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("version of the API server: %s: the response is %s", response.Request.URL, response.Status)
	}
	if r.server.date, err = http.ParseTime(response.Header.Get("Date")); err != nil {
		r.server.date = time.Time{}
	}
	if err := json.NewDecoder(response.Body).Decode(&r.server.version); err != nil {
		return fmt.Errorf("version of the API server: %s: %w", response.Request.URL, err)
	}
	return nil
}

// read reads an object. It returns false if the object does not exist. If the object cannot be read, it returns the
// finding.
func (r *reader) read(ctx context.Context, object client.Object, kind, namespace, name string) (bool, *Finding) {
	err := r.c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsNotFound(err):
		return false, nil
	}
	where := kind + " " + name
	if namespace != "" {
		where += " in namespace " + namespace
	}
	problem := r.unreadable(err, where)
	return false, &problem
}

// unreadable returns the finding for something that cannot be read.
func (r *reader) unreadable(err error, what string) Finding {
	if apierrors.IsForbidden(err) {
		return skipped("you may not read %s", what)
	}
	human := cli.HumanizeError(err, r.o.f.DescribeConnection())
	return failed(firstText(human.Hint, "run the command again"), "%s cannot be read: %s", what, strings.TrimSuffix(human.What, "."))
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
