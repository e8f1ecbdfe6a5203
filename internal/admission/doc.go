// Package admission is the HTTP skin over the defaulting and validation of package api: the webhooks that the
// API server asks before it stores a Job, a Queue or a PodGroup, and the certificates they are served with.
//
//	In:   AdmissionReview requests over TLS; Queues (one informer, with a live read before a refusal)
//	Out:  patches (defaults), refusals that say what and where, Warning headers; our webhook configurations
//
// # Invariants
//
//   - Rules live in package api. Here is only what needs the cluster: which queues there are, what the namespace
//     says, and Kubernetes' own full validation of a pod template.
//   - Defaulting webhooks fail open and validating ones fail closed. A mutating webhook is asked before the API
//     server looks at schema and CEL rules, a validating one after: so with the daemon stopped a broken object still
//     gets the precise answer of the CRD, and one that the CRD cannot fault is refused because nobody could check it.
//     Everything downstream copes with objects that were not defaulted.
//   - Nobody else's pods depend on us: the rule for pods selects, in the API server, only pods that name our
//     scheduler and carry one of the annotations that we check, and it fails open.
//   - Pods and PodGroups that our own controllers make for a Job were checked with the Job and are not sent here.
//
// # Concurrency
//
// Handlers run concurrently and share nothing mutable but the informer's cache and the current certificate.
package admission
