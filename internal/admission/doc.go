// Package admission serves the admission webhooks for Jobs, Queues, PodGroups and the other kinds of the project over
// HTTPS, and manages their certificates. The rules for defaulting and validation are in package api.
//
//	In:   AdmissionReview requests over TLS; Queues (one informer, and a live read before a rejection)
//	Out:  patches (defaults), rejections that name the field and the problem, Warning headers; the project's webhook configurations
//
// # Invariants
//
//   - Rules are in package api. This package adds only the parts that need the cluster: the existing queues,
//     annotations of the namespace, and Kubernetes' own full validation of a pod template.
//   - Defaulting webhooks fail open, validating webhooks fail closed. The API server calls a mutating webhook before it
//     evaluates the schema and CEL rules, and a validating webhook after that. Therefore, while the daemon is stopped,
//     an invalid object is still rejected with the precise error from the CRD, and an object that passes the CRD is
//     rejected because it cannot be checked. All later components handle objects without defaults.
//   - Pods of other schedulers do not depend on the webhooks, because the rule for pods makes the API server select
//     only pods with one of the project's schedulers and with an annotation that is checked. This rule fails open.
//   - Pods and PodGroups that the controllers create for a Job were checked with the Job and are not sent to the
//     webhooks.
//
// # Concurrency
//
// Handlers run concurrently and share only the informer's cache and the current certificate.
package admission
