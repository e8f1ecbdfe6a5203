package clusterdata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// Time limits for the daemon. When one is exceeded, the data is read from the API server instead.
const (
	factsPatience = 3 * time.Second // until the answer begins
	factsPause    = 8 * time.Second // between two parts of the answer; the daemon may wait 5 s for its caches
)

// factsGarbage is the garbage collection target, in percent, while facts are read. It is higher than the target for
// objects, which root.Main sets, because facts are ten times smaller than the objects they describe. With the lower
// target, garbage collection takes a quarter of squeue's time.
const factsGarbage = 400

// errNoFacts means that the daemon did not answer: it is missing or not ready, or the user has no permission.
var errNoFacts = errors.New("vcd returned no list of jobs")

// readFacts reads jobs, PodGroups and pods from the caches of the daemon.
func (v *View) readFacts(ctx context.Context, w Wants) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(factsPatience, cancel)
	defer late.Stop()
	answer, err := v.requestFacts(ctx, w)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), jobsummary.ContentType) {
		return errNoFacts
	}
	debug.SetGCPercent(factsGarbage)
	return v.storeFacts(jobsummary.NewReader(&inTime{Reader: answer.Body, late: late}), w)
}

// inTime is a reader that cancels its request if no data arrives within factsPause.
type inTime struct {
	io.Reader
	late *time.Timer
}

func (r *inTime) Read(into []byte) (int, error) {
	r.late.Reset(factsPause)
	return r.Reader.Read(into)
}

func (v *View) requestFacts(ctx context.Context, w Wants) (*http.Response, error) {
	server, _, err := rest.DefaultServerUrlFor(v.rest)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFacts, err)
	}
	asked := server.JoinPath(jobsummary.ListPathFor(v.namespace))
	query := url.Values{}
	if w.Pods {
		query.Set(jobsummary.Pods, podsQuery(w))
	}
	if w.arrays {
		query.Set(jobsummary.Arrays, "only")
	}
	asked.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, asked.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFacts, err)
	}
	request.Header.Set("Accept", jobsummary.ContentType)
	to, err := rest.HTTPClientFor(v.rest)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFacts, err)
	}
	answer, err := to.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFacts, err)
	}
	return answer, nil
}

func podsQuery(w Wants) string {
	if w.Ended {
		return jobsummary.PodsAll
	}
	return jobsummary.PodsLive
}

// storeFacts reads the daemon's answer into the view. If there is an error, it leaves the view unchanged.
func (v *View) storeFacts(from *jobsummary.Reader, w Wants) error {
	told := &View{groups: map[types.UID]*schedulingv1beta1.PodGroup{}, Pods: map[types.NamespacedName][]*corev1.Pod{}}
	seen := map[types.UID]int{}
	for {
		entry, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNoFacts, err)
		}
		if at, again := seen[entry.Job.UID]; again {
			told.Jobs[at] = entry.Job // a newer version of the job
			delete(told.groups, entry.Job.UID)
			delete(told.Pods, podsKey(entry.Job))
		} else {
			seen[entry.Job.UID] = len(told.Jobs)
			told.Jobs = append(told.Jobs, entry.Job)
		}
		if entry.Group != nil && w.Groups {
			told.groups[entry.Job.UID] = entry.Group
		}
		if len(entry.Pods) > 0 {
			told.Pods[podsKey(entry.Job)] = entry.Pods
		}
	}
	v.Jobs = told.Jobs
	if w.Groups {
		v.groups = told.groups
	}
	if w.Pods {
		v.Pods, v.podsRead = told.Pods, true
	}
	return nil
}

// podsKey returns the key of a job's pods in a view.
func podsKey(job *batchv1alpha1.Job) types.NamespacedName {
	return types.NamespacedName{Namespace: job.Namespace, Name: job.Name}
}
