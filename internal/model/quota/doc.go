// Package quota describes ResourceQuotas: which pods they apply to, and how much they allow.
package quota
