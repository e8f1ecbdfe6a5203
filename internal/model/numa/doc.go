// Package numa describes the CPUs of a node: their arrangement, and which of them are free.
package numa
