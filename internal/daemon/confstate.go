package daemon

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/build"
)

// confState describes the state of the configuration for users.
type confState struct {
	text, source string
	warnings     []string
	refused      string // why the current file was rejected; empty if it was accepted
}

// confTeller publishes the state of the configuration in a ConfigMap, which `vcctl config check` reads, and records an
// event on the ConfigMap when the state changes.
type confTeller struct {
	client    client.Client
	namespace string
	component string
	log       logr.Logger
}

func newConfTeller(config *rest.Config, namespace, component string, log logr.Logger) (*confTeller, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("client for the configuration's state: %w", err)
	}
	return &confTeller{client: c, namespace: namespace, component: component, log: log}, nil
}

// publishState writes the state if it has changed. A failure is only logged, because scheduling can continue without
// the published state.
func (t *confTeller) publishState(ctx context.Context, s confState) {
	if t == nil {
		return
	}
	changed, err := t.writeState(ctx, s)
	if err == nil && changed {
		err = t.recordEvent(ctx, s)
	}
	if err != nil && ctx.Err() == nil {
		t.log.Error(err, "State of the scheduler configuration cannot be reported", "configMap", t.namespace+"/"+keys.ConfigurationName)
	}
}

func (t *confTeller) writeState(ctx context.Context, s confState) (changed bool, err error) {
	data := map[string]string{keys.ConfigurationText: s.text, keys.ConfigurationSource: s.source, keys.ConfigurationVersion: build.DescribeProgram().Version}
	if len(s.warnings) > 0 {
		data[keys.ConfigurationWarnings] = strings.Join(s.warnings, "\n")
	}
	if s.refused != "" {
		data[keys.ConfigurationRefused] = s.refused
	}
	fresh := &corev1.ConfigMap{ObjectMeta: newObjectMeta(t.namespace, keys.ConfigurationName), Data: data}
	var old corev1.ConfigMap
	err = t.client.Get(ctx, client.ObjectKeyFromObject(fresh), &old)
	switch {
	case apierrors.IsNotFound(err):
		return true, t.client.Create(ctx, fresh)
	case err != nil:
		return false, err
	case maps.Equal(old.Data, data):
		return false, nil
	}
	old.Data = data
	return true, t.client.Update(ctx, &old)
}

// maxMessage is the API server's limit for the length of an event's message.
const maxMessage = 1024

func (t *confTeller) recordEvent(ctx context.Context, s confState) error {
	kind, why, message := corev1.EventTypeNormal, "ConfigurationTaken", "the scheduler uses "+s.source
	if len(s.warnings) > 0 {
		kind = corev1.EventTypeWarning
		message += fmt.Sprintf("; number of warnings: %d; first warning: %s", len(s.warnings), s.warnings[0])
	}
	if s.refused != "" {
		kind, why, message = corev1.EventTypeWarning, "ConfigurationRefused", s.refused+"; the last valid configuration stays in use"
	}
	if len(message) > maxMessage {
		message = message[:maxMessage-3] + "..."
	}
	now := metav1.NewTime(time.Now())
	return t.client.Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: t.namespace, GenerateName: keys.ConfigurationName + "-"},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: t.namespace, Name: keys.ConfigurationName},
		Type:           kind, Reason: why, Message: message, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: t.component}, ReportingController: t.component,
	})
}
