// Package apiobject stores API objects with the versions that unconfirmed decisions will lead to.
package apiobject
