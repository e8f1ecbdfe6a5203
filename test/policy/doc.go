// Package policy tests the rules of the project that a machine can check: every package has a package comment, imports
// follow docs/architecture.md, code that decides has no side effects, and links in documents are valid.
//
// To change a rule, change the test and the document that states the rule in the same commit. Do not work around it.
package policy
