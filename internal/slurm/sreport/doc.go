// Package sreport implements the language and the output of sreport: which report is requested, for which period, and how
// the use of resources is listed.
//
//	In:   the words of a command line; sums of use from the accounting database
//	Out:  Request, the query for the database; Lines, the rows of the report
package sreport
