package apiserver

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
)

// configurationStrategy is the strategy for a kind of webhook configurations. It does not validate a new configuration
// again if an equal one was valid, because the validation compiles all match conditions. Programs try to create their
// configurations whenever they start.
type configurationStrategy struct {
	strategyOfConfigurations
	valid *sync.Map // keys of valid configurations
}

// strategyOfConfigurations is implemented by the strategies of the real API server.
type strategyOfConfigurations interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
	rest.DeclarativeValidationStrategy
}

func newConfigurationStrategy(s strategyOfConfigurations) configurationStrategy {
	return configurationStrategy{s, &sync.Map{}}
}

// Validate implements rest.RESTCreateStrategy.
func (s configurationStrategy) Validate(ctx context.Context, o runtime.Object) fieldErrors {
	key := validationKey(o)
	if _, isValid := s.valid.Load(key); isValid && key != "" {
		return nil
	}
	errs := s.strategyOfConfigurations.Validate(ctx, o)
	if len(errs) == 0 && key != "" {
		s.valid.Store(key, nil)
	}
	return errs
}

// validationKey returns a text that is equal for configurations that differ only in what the validation does not read:
// the UID, the time of creation and the authorities of the webhooks. It returns "" if there is no such text.
func validationKey(o runtime.Object) string {
	var metadata metav1.ObjectMeta
	var webhooks any
	switch c := o.(type) {
	case *admissionregistration.MutatingWebhookConfiguration:
		copies := slices.Clone(c.Webhooks)
		for i := range copies {
			copies[i].ClientConfig.CABundle = nil
		}
		metadata, webhooks = c.ObjectMeta, copies
	case *admissionregistration.ValidatingWebhookConfiguration:
		copies := slices.Clone(c.Webhooks)
		for i := range copies {
			copies[i].ClientConfig.CABundle = nil
		}
		metadata, webhooks = c.ObjectMeta, copies
	}
	metadata.UID, metadata.CreationTimestamp = "", metav1.Time{}
	key, err := json.Marshal([]any{reflect.TypeOf(o).String(), metadata, webhooks})
	if err != nil {
		return ""
	}
	return string(key)
}
