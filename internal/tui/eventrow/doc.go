// Package eventrow presents events in the dashboard. Overview and Events show the same texts.
//
//	In:   snapshot.Event
//	Out:  text, style, filter fields
//
// Pure.
package eventrow
