package sim

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/utils/ptr"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/vc-batch/vc/test/apiserver"
)

// webhookService is the Service through which the API server reaches the admission processes.
type webhookService struct {
	world    *World
	random   *rand.Rand
	programs map[*process]*admissionProgram
	// unusable holds the time since when a process has been dead or paused.
	unusable map[*process]time.Time
	trusted  map[handshake]error // results of handshakes

	isDown bool          // connections are refused
	slow   time.Duration // additional delay of requests and responses, at most
}

// handshake is a certificate and the authorities that must have signed it.
type handshake struct{ certificate, authorities string }

// Times after which a process that does not respond is no longer an endpoint of the Service.
const (
	deadEndpointTime   = time.Second
	pausedEndpointTime = 30 * time.Second // the readiness probe fails three times
)

func newWebhookService(w *World) *webhookService {
	return &webhookService{
		world: w, random: w.randomFor("webhooks"), programs: map[*process]*admissionProgram{}, unusable: map[*process]time.Time{}, trusted: map[handshake]error{},
	}
}

// isEndpoint reports whether requests to the Service may be sent to a process.
func (s *webhookService) isEndpoint(p *process) bool {
	a := s.programs[p]
	if a == nil || !a.isReady {
		return false
	}
	if p.isAlive() && !p.isPaused() {
		delete(s.unusable, p)
		return true
	}
	since, isKnown := s.unusable[p]
	if !isKnown {
		s.unusable[p] = s.world.now
		return true
	}
	if !p.isAlive() {
		return s.world.now.Sub(since) < deadEndpointTime
	}
	return s.world.now.Sub(since) < pausedEndpointTime
}

// pick returns one of the processes behind the Service, or nil.
func (s *webhookService) pick() *admissionProgram {
	var endpoints []*admissionProgram
	for _, r := range s.world.replicas {
		if s.isEndpoint(r.process) {
			endpoints = append(endpoints, s.programs[r.process])
		}
	}
	if len(endpoints) == 0 {
		return nil
	}
	return endpoints[s.random.IntN(len(endpoints))]
}

// call sends a review to a webhook and waits for the response. It must be called from a fiber.
func (s *webhookService) call(c *apiserver.WebhookCall) (response *admissionv1.AdmissionResponse, err error) {
	w := s.world
	w.wait(func(resume func()) {
		isOver := false
		respond := func(pause time.Duration, r *admissionv1.AdmissionResponse, e error) {
			w.outside.after(pause, func() {
				if !isOver {
					isOver, response, err = true, r, e
					resume()
				}
			})
		}
		respond(c.Timeout, nil, context.DeadlineExceeded)
		s.connect(c, respond)
	})
	if err != nil {
		w.trace("API server: webhook %s for %s: %v", c.Name, c.Request.Name, err)
	}
	return response, err
}

var errRefused = errors.New("connect: connection refused")

// connect sends a review to one of the processes. It does not call respond if there is no response.
func (s *webhookService) connect(c *apiserver.WebhookCall, respond func(time.Duration, *admissionv1.AdmissionResponse, error)) {
	there, back := between(s.random, shortestTrip, longestTrip+s.slow), between(s.random, shortestTrip, longestTrip+s.slow)
	service := c.Client.Service
	if service == nil || service.Name != webhookServiceName || service.Namespace != leaseNamespace {
		respond(there, nil, errors.New("the service does not exist"))
		return
	}
	a := s.pick()
	if s.isDown {
		s.coverCall("webhooks down", c)
	}
	if s.isDown || a == nil || !a.process.isAlive() {
		respond(there, nil, errRefused)
		return
	}
	if s.slow > 0 {
		s.coverCall("slow webhooks", c)
	}
	condition := s.world.weatherOf(a.process)
	if condition.cut || s.random.Float64() < condition.loseRequests+condition.loseResponses {
		return
	}
	there += between(s.random, 0, condition.slow)
	back += between(s.random, 0, condition.slow)
	a.process.after(there, func() {
		if err := s.verify(a, c.Client.CABundle); err != nil {
			s.coverCall("webhook that the API server does not trust", c)
			respond(back, nil, err)
			return
		}
		var reviewed crwebhook.Response
		var err error
		a.process.spawn(
			func() {
				reviewed, err = a.webhooks.Review(context.Background(), ptr.Deref(service.Path, ""), crwebhook.Request{AdmissionRequest: *c.Request})
			},
			func() { respond(back, &reviewed.AdmissionResponse, err) },
		)
	})
}

// verify reports why the authorities of a configuration do not verify the certificate of a process, like a handshake.
func (s *webhookService) verify(a *admissionProgram, authorities []byte) error {
	certificate, err := a.webhooks.Certificate(nil)
	if err != nil {
		return err
	}
	h := handshake{string(certificate.Certificate[0]), string(authorities)}
	if err, isKnown := s.trusted[h]; isKnown {
		return err
	}
	s.trusted[h] = verifyCertificate(certificate.Certificate[0], authorities, s.world.now)
	return s.trusted[h]
}

func verifyCertificate(der, authorities []byte, now time.Time) error {
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authorities)
	host := strings.Join([]string{webhookServiceName, leaseNamespace, "svc"}, ".")
	if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: now}); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	return nil
}
