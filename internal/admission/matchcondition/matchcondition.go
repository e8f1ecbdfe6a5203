// Package matchcondition contains CEL expressions that both the webhook configurations and the admission policies use. The API
// server evaluates them for a request.
//
//	In:   -
//	Out:  CEL expressions as text
package matchcondition

// HasController matches objects that have a controller. Every user can write such an owner reference.
const HasController = `object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))`

// IsOurController matches requests whose author may write the status of jobs in all namespaces, which users may not.
const IsOurController = `authorizer.group('batch.volcano.sh').resource('jobs').subresource('status').check('update').allowed()`

// MadeByOurControllers matches objects that the controllers create for a job, a pod or a workload.
const MadeByOurControllers = HasController + " && " + IsOurController
