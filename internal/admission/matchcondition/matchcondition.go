// Package matchcondition contains CEL expressions that both the webhook configurations and the admission policies use. The API
// server evaluates them for a request.
//
//	In:   -
//	Out:  CEL expressions as text
package matchcondition

// MadeByOurControllers matches objects that the controllers create for a job, a pod or a workload. Such objects have a
// controller, and their author may write the status of jobs in all namespaces, which users may not. Testing only the owner reference would let
// users bypass the checks, because every user can write one.
const MadeByOurControllers = `has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller) && ` +
	`authorizer.group('batch.volcano.sh').resource('jobs').subresource('status').check('update').allowed()`
