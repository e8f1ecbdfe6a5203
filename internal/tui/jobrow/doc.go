// Package jobrow is jobs as rows: what stands in the columns, in which order, what
// they are filtered by, and how an array unfolds into its parts. Overview and Jobs
// show the same rows.
//
//	In:   snapshot.Job, the time
//	Out:  Row, widget.Column, filter.Fields
//
// Pure: what is shown follows from the job and the time of the Context.
package jobrow
