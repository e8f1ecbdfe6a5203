// Package policy holds the rules of the house that a machine can check, as tests:
// every package says what it is, imports flow as docs/architecture.md draws them,
// deciding code decides only, the documents' links lead somewhere.
//
// A rule that stands in somebody's way is changed here and in the document that
// states it, in the same commit; it is not worked round.
package policy
