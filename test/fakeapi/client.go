package fakeapi

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Scheme returns the scheme of the objects.
func (s *Server) Scheme() *runtime.Scheme { return s.scheme }

// GroupVersionKindFor returns the kind of an object.
func (s *Server) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(o, s.scheme)
}

func resource(o client.Object) schema.GroupResource { return schema.GroupResource{Resource: Kind(o)} }

func (s *Server) find(o client.Object) (client.Object, error) {
	there := s.Objects[KeyOf(o)]
	if there == nil {
		return nil, apierrors.NewNotFound(resource(o), o.GetName())
	}
	return there, nil
}

// Get reads the current version of an object.
func (s *Server) Get(ctx context.Context, name client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if s.WritesLeft == 0 {
		return ErrDead
	}
	s.Reads = append(s.Reads, "get "+Kind(o)+" "+name.Name)
	return s.Objects.Get(ctx, name, o)
}

// List reads the current versions of objects.
func (s *Server) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if s.WritesLeft == 0 {
		return ErrDead
	}
	s.Reads = append(s.Reads, "list "+Kind(list))
	list.SetResourceVersion(strconv.Itoa(s.version))
	return s.Objects.List(ctx, list, opts...)
}

// Create creates an object.
func (s *Server) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	done, err := s.begin("create", o, false)
	if err != nil {
		return err
	}
	if _, err := s.find(o); err == nil {
		return apierrors.NewAlreadyExists(resource(o), o.GetName())
	}
	copyInto(s.Put(o), o)
	return done()
}

// Delete deletes an object if its preconditions hold.
func (s *Server) Delete(_ context.Context, o client.Object, opts ...client.DeleteOption) error {
	done, err := s.begin("delete", o, false)
	if err != nil {
		return err
	}
	there, err := s.find(o)
	if err != nil {
		return err
	}
	var options client.DeleteOptions
	options.ApplyOptions(opts)
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != there.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != there.GetResourceVersion() {
			return apierrors.NewConflict(resource(o), o.GetName(), errors.New("precondition failed"))
		}
	}
	s.Doom(there)
	return done()
}

// Update replaces an object if its resource version is current.
func (s *Server) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	return s.update("update", o)
}

func (s *Server) update(what string, o client.Object) error {
	done, err := s.begin(what, o, o.GetResourceVersion() != "")
	if err != nil {
		return err
	}
	there, err := s.find(o)
	if err != nil {
		return err
	}
	if o.GetResourceVersion() != "" && o.GetResourceVersion() != there.GetResourceVersion() || o.GetUID() != there.GetUID() {
		return apierrors.NewConflict(resource(o), o.GetName(), errors.New("the object has been modified"))
	}
	copyInto(s.Put(o), o)
	return done()
}

// Patch merges a patch into an object. A UID or resource version in the patch must be current.
func (s *Server) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return s.patch("patch", o, patch)
}

func (s *Server) patch(what string, o client.Object, patch client.Patch) error {
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	done, err := s.begin(what, o, restsOnAVersion(data))
	if err != nil {
		return err
	}
	there, err := s.find(o)
	if err != nil {
		return err
	}
	before, err := json.Marshal(there)
	if err != nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, data)
	if err != nil {
		return err
	}
	update := reflect.New(reflect.TypeOf(there).Elem()).Interface().(client.Object)
	if err := json.Unmarshal(after, update); err != nil {
		return err
	}
	if update.GetUID() != there.GetUID() || update.GetResourceVersion() != there.GetResourceVersion() {
		return apierrors.NewConflict(resource(o), o.GetName(), errors.New("precondition failed"))
	}
	copyInto(s.Put(update), o)
	return done()
}

func restsOnAVersion(patch []byte) bool {
	var says struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	return json.Unmarshal(patch, &says) == nil && says.Metadata.ResourceVersion != ""
}

// Status returns a writer for the status. The writer does not check that only the status changes.
func (s *Server) Status() client.SubResourceWriter { return statusWriter{server: s} }

type statusWriter struct {
	client.SubResourceWriter
	server *Server
}

func (w statusWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return w.server.update("status of", o)
}

func (w statusWriter) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return w.server.patch("patch status of", o, patch)
}
