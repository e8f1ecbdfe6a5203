// Package jobrow presents jobs as rows. It defines their columns, sort order and filter keys, and how an array
// unfolds into its parts. Overview and Jobs show the same rows.
//
//	In:   snapshot.Job, the time
//	Out:  Row, widget.Column, filter.Fields
//
// Pure: the output depends only on the job and the Context's time.
package jobrow
