package sim

import (
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/test/apiserver"
)

func init() {
	registerAction("webhooks-down", 3, func(s *drawing) *action {
		length := between(s.Rand, time.Second, 40*time.Second)
		return s.action(func(w *World) {
			w.webhookService.isDown = true
			w.add(w.now.Add(length), nil, func() { w.webhookService.isDown = false })
		}, "for %s, the webhooks refuse connections", length.Round(time.Second))
	})
	registerAction("webhooks-slow", 3, func(s *drawing) *action {
		length, slow := between(s.Rand, time.Second, 40*time.Second), between(s.Rand, 100*time.Millisecond, 12*time.Second)
		return s.action(func(w *World) {
			w.webhookService.slow = slow
			w.add(w.now.Add(length), nil, func() { w.webhookService.slow = 0 })
		}, "for %s, the way to the webhooks and back takes up to %s longer each", length.Round(time.Second), slow.Round(time.Millisecond))
	})
	registerAction("webhooks-removed", 1, func(s *drawing) *action {
		length := between(s.Rand, time.Second, 40*time.Second)
		return s.action(func(w *World) { w.removeAdmission(length) }, "admission is removed with its configurations, and installed again after %s", length.Round(time.Second))
	})
	registerAction("webhook-configuration-deleted", 2, onConfiguration("deletes", func(w *World, o client.Object) {
		w.changeConfiguration("deleted webhook configuration", apiserver.Delete, o)
	}))
	registerAction("webhook-configuration-emptied", 1, onConfiguration("removes the webhooks from", func(w *World, o client.Object) {
		switch c := o.(type) {
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			c.Webhooks = nil
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			c.Webhooks = nil
		}
		w.changeConfiguration("emptied webhook configuration", apiserver.Update, o)
	}))
	registerAction("webhook-authority-replaced", 2, onConfiguration("replaces the authority in", replaceAuthority))
	registerAction("webhook-authorities-stay-replaced", 2, func(s *drawing) *action {
		length := between(s.Rand, 2*time.Second, 30*time.Second)
		return s.action(func(w *World) { w.keepAuthoritiesReplaced(length) },
			"administrator replaces the authority in all webhook configurations, and for %s the API server returns errors to admission, which cannot repair them", length.Round(time.Second))
	})
	registerAction("webhook-certificate-deleted", 1, func(s *drawing) *action {
		return s.action(deleteCertificate, "administrator deletes the certificate of the webhooks")
	})
	for _, fault := range []string{"removed webhook configuration", "deleted webhook configuration",
		"emptied webhook configuration", "replaced authority of webhooks", "webhook that the API server does not trust"} {
		expectCoverage(fault, 4)
	}
	expectCoverage("webhooks down", 3)
	expectCoverage("slow webhooks", 3)
	expectCoverage("deleted certificate of webhooks", 1)
}

// changeConfiguration deletes or updates a webhook configuration because of a fault.
func (w *World) changeConfiguration(fault string, verb apiserver.Verb, o client.Object) {
	r := &apiserver.Request{Verb: verb, Kind: w.kindOf(o), Name: o.GetName()}
	if verb == apiserver.Update {
		r.Object = o
	}
	if _, err := w.users.do(r); err == nil {
		w.cover(fault, o.GetName())
	}
}

// coverCall records that a fault has affected the call of a webhook.
func (s *webhookService) coverCall(fault string, c *apiserver.WebhookCall) {
	s.world.cover(fault, string(c.Request.Operation)+" "+c.Request.Kind.Kind)
}

// onConfiguration draws an action that changes one webhook configuration, or all. change receives copies.
func onConfiguration(verb string, change func(w *World, o client.Object)) func(s *drawing) *action {
	return func(s *drawing) *action {
		one, isAll := s.IntN(100), s.IntN(3) == 0
		do := func(w *World) {
			objects := w.configurations()
			for i, o := range objects {
				if isAll || i == one%len(objects) {
					change(w, o.DeepCopyObject().(client.Object))
				}
			}
		}
		if isAll {
			return s.action(do, "administrator %s all webhook configurations", verb)
		}
		return s.action(do, "administrator %s webhook configuration %d", verb, one)
	}
}

// replaceAuthority replaces the authorities in a configuration.
func replaceAuthority(w *World, o client.Object) {
	another := []byte("another authority")
	switch c := o.(type) {
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for i := range c.Webhooks {
			c.Webhooks[i].ClientConfig.CABundle = another
		}
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for i := range c.Webhooks {
			c.Webhooks[i].ClientConfig.CABundle = another
		}
	}
	w.changeConfiguration("replaced authority of webhooks", apiserver.Update, o)
}

// keepAuthoritiesReplaced replaces the authorities in all configurations. For some time, admission cannot repair them.
func (w *World) keepAuthoritiesReplaced(length time.Duration) {
	for _, r := range w.replicas {
		if w.webhookService.programs[r.process] != nil {
			r.weather = weather{errors: 1}
			w.add(w.now.Add(length), nil, func() { r.weather = weather{} })
		}
	}
	for _, o := range w.configurations() {
		replaceAuthority(w, o.DeepCopyObject().(client.Object))
	}
}

// deleteCertificate deletes the Secret with the certificate of the webhooks.
func deleteCertificate(w *World) {
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	if _, err := w.users.do(&apiserver.Request{Verb: apiserver.Delete, Kind: secret, Namespace: leaseNamespace, Name: admission.SecretName}); err == nil {
		w.cover("deleted certificate of webhooks", "Secret")
	}
}

// configurations returns the stored webhook configurations.
func (w *World) configurations() []client.Object {
	var all []client.Object
	for _, kind := range configurationKinds {
		all = append(all, w.objectsAt(kind, len(w.changes[kind]))...)
	}
	return all
}

// removeAdmission ends the admission processes and deletes their configurations. The processes start again later.
func (w *World) removeAdmission(length time.Duration) {
	for _, r := range w.replicas {
		if w.webhookService.programs[r.process] != nil && !r.process.ended {
			r.process.end()
			w.add(w.now.Add(length), nil, r.start)
		}
	}
	for _, o := range w.configurations() {
		w.changeConfiguration("removed webhook configuration", apiserver.Delete, o)
	}
}
