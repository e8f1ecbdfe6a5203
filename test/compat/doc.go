// Package compat compares our types with Volcano's: for each JSON field of volcano.sh/apis in Job, Command, PodGroup
// and Queue, our types have a field with the same JSON type, and objects survive a round trip through both.
//
// Volcano's module is v1.14.0, the newest published version. The test lists the fields that only our types have, with
// reasons. It fails for a field that is in neither.
package compat
