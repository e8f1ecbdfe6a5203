// Package apiobject stores API objects, together with assumed versions that contain decisions that the API has not
// confirmed yet.
package apiobject
