// Package demo provides a made-up cluster, with which the dashboard can be tried without a real one.
package demo
