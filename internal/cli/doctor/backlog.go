package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/accounting"
)

const (
	// longBacklog is how long records may wait for the database without a finding.
	longBacklog = 5 * time.Minute
	// fullSpool is the used part of the spool from which it counts as almost full.
	fullSpool = 0.8
	// maxMetricsBytes limits the metrics that are read from a pod.
	maxMetricsBytes = 1 << 22
)

// backlogFacts describes the records that wait for the database in a pod of accounting.
type backlogFacts struct {
	pod             string
	age             time.Duration
	bytes, maxBytes int64
	// unreadable is the finding if they could not be read.
	unreadable *Finding
}

// readBacklogs reads the metrics of the pods of accounting.
func (r *reader) readBacklogs(ctx context.Context) []backlogFacts {
	pods := &corev1.PodList{}
	err := r.c.List(ctx, pods, client.InNamespace(r.namespace), client.MatchingLabels{deploy.NameLabel: deploy.AccountingWorkload})
	if err != nil {
		unknown := r.unreadable(err, "the list of pods in namespace "+r.namespace)
		return []backlogFacts{{unreadable: &unknown}}
	}
	var all []backlogFacts
	for i := range pods.Items {
		if pods.Items[i].Status.Phase == corev1.PodRunning {
			all = append(all, r.readBacklog(ctx, pods.Items[i].Name))
		}
	}
	return all
}

// readBacklog reads the metrics of a pod through the API server.
func (r *reader) readBacklog(ctx context.Context, pod string) backlogFacts {
	path := fmt.Sprintf("api/v1/namespaces/%s/pods/%s:%d/proxy/metrics", r.namespace, pod, deploy.MetricsPort)
	facts := backlogFacts{pod: pod}
	response, err := r.request(ctx, path, "")
	if err != nil {
		unknown := r.unreadable(err, "the metrics of pod "+pod)
		facts.unreadable = &unknown
		return facts
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		err = facts.readMetrics(io.LimitReader(response.Body, maxMetricsBytes))
	case http.StatusForbidden:
		forbidden := skipped("you may not read how many records wait for the database: it needs permission to get pods/proxy in namespace %s", r.namespace)
		facts.unreadable = &forbidden
	default:
		err = errors.New(readMessage(response))
	}
	if err != nil {
		unknown := skipped("the metrics of pod %s cannot be read: %v", pod, err)
		facts.unreadable = &unknown
	}
	return facts
}

// readMetrics reads metrics in Prometheus' text format.
func (b *backlogFacts) readMetrics(from io.Reader) error {
	found := false
	scanner := bufio.NewScanner(from)
	for scanner.Scan() {
		name, text, _ := strings.Cut(scanner.Text(), " ")
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue // a comment, or another form of metric
		}
		switch name {
		case accounting.SpoolAgeMetric:
			b.age, found = time.Duration(math.Round(number))*time.Second, true
		case accounting.SpoolBytesMetric:
			b.bytes = int64(number)
		case accounting.SpoolMaxBytesMetric:
			b.maxBytes = int64(number)
		}
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("they do not contain %s", accounting.SpoolAgeMetric)
	}
	return nil
}

// decideBacklogs returns the findings about records that wait for a long time.
func decideBacklogs(namespace string, all []backlogFacts) []Finding {
	var findings []Finding
	for i := range all {
		b := &all[i]
		look := fmt.Sprintf("kubectl -n %s logs %s", namespace, b.pod)
		found := fmt.Sprintf("records of ended jobs have been waiting for the database in pod %s for %s: %s of at most %s",
			b.pod, b.age, formatBytes(b.bytes), formatBytes(b.maxBytes))
		isAlmostFull := b.maxBytes > 0 && float64(b.bytes) >= fullSpool*float64(b.maxBytes)
		switch {
		case b.unreadable != nil:
			findings = append(findings, *b.unreadable)
		case isAlmostFull:
			findings = append(findings, failed(
				"repair or speed up the database, and see why records are not stored: "+look+
					"; when the space is full, deleted jobs stay; more space: --accounting-spool-size",
				"%s", found))
		case b.age > longBacklog:
			findings = append(findings, warning(
				"see why records are not stored: "+look+"; if vc_accounting_spool_bytes decreases, wait: the database is catching up",
				"%s", found))
		}
	}
	return findings
}

// formatBytes returns a size with a binary unit.
func formatBytes(bytes int64) string {
	const mebi = 1 << 20
	if bytes > mebi {
		bytes = bytes / mebi * mebi
	}
	return resource.NewQuantity(bytes, resource.BinarySI).String()
}
