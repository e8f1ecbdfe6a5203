package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/vc-batch/vc/internal/usererror"
)

// Output holds the flags for the output format of a command.
type Output struct {
	flags *genericclioptions.PrintFlags
	// NoHeaders, SortBy, Watch and WatchOnly hold the flags of list commands.
	NoHeaders bool
	SortBy    string
	Watch     bool
	WatchOnly bool
	// ShowLabels adds a column with all labels; LabelColumns adds one column for each listed label.
	ShowLabels   bool
	LabelColumns []string
	// FieldSelector is a field selector that the server evaluates.
	FieldSelector string
}

// formats lists the values of -o; a value that ends with "=" requires an argument.
var formats = []string{"wide", "json", "yaml", "kyaml", "name", "jsonpath=", "jsonpath-as-json=", "jsonpath-file=", "go-template=", "go-template-file=", "custom-columns=", "custom-columns-file="}

// AddFormatFlags adds -o and its related flags.
func (o *Output) AddFormatFlags(cmd *cobra.Command, wide bool) {
	o.flags = genericclioptions.NewPrintFlags("").WithTypeSetter(Scheme())
	o.flags.AddFlags(cmd)
	output := cmd.Flags().Lookup("output")
	output.Usage = "Format: json, yaml, name, jsonpath=…, go-template=…, custom-columns=…"
	RejectTogether(cmd, "Volcano's table has a fixed format and is printed once", "compat", "output", "no-headers", "sort-by", "watch", "watch-only", "show-labels", "label-columns")
	RejectTogether(cmd, "both set the output format", "format", "output")
	choices := formats[1:]
	if wide {
		output.Usage = "Format: wide, json, yaml, name, jsonpath=…, go-template=…, custom-columns=…"
		choices = formats
	}
	for _, name := range []string{"template", "allow-missing-template-keys", "show-managed-fields"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	_ = cmd.RegisterFlagCompletionFunc("output", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return choices, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	})
}

// AddListFlags adds the flags of list commands.
func (o *Output) AddListFlags(cmd *cobra.Command) {
	o.AddFormatFlags(cmd, true)
	cmd.Flags().BoolVar(&o.NoHeaders, "no-headers", false, "Omit the header row")
	cmd.Flags().StringVar(&o.SortBy, "sort-by", "", "Column name or JSONPath to sort by, for example {.metadata.name}")
	cmd.Flags().BoolVarP(&o.Watch, "watch", "w", false, "After printing the list, print a row whenever an object changes")
	cmd.Flags().BoolVar(&o.WatchOnly, "watch-only", false, "Print only changes, without the initial list")
	cmd.Flags().BoolVar(&o.ShowLabels, "show-labels", false, "Show all labels as the last column")
	cmd.Flags().StringSliceVarP(&o.LabelColumns, "label-columns", "L", nil, "Labels to show in columns, for example team,stage; can be repeated")
	cmd.Flags().StringVar(&o.FieldSelector, "field-selector", "", "Field selector, for example metadata.name!=train; vc's resource types support metadata.name and metadata.namespace")
	RejectTogether(cmd, "changes are printed as they occur", "sort-by", "watch-only")
}

// AcceptAllNamespaces adds -A to a command for a cluster-scoped kind. The flag has no effect, as in kubectl.
func AcceptAllNamespaces(cmd *cobra.Command) {
	cmd.Flags().BoolP("all-namespaces", "A", false, "No effect: these objects do not belong to a namespace")
	cmd.Flags().Lookup("all-namespaces").Hidden = true
}

// checkLabelColumns rejects label columns if the output is not a table.
func (o *Output) checkLabelColumns() error {
	flag := ""
	switch {
	case !o.IsMachineReadable():
		return nil
	case o.ShowLabels:
		flag = "show-labels"
	case len(o.LabelColumns) > 0:
		flag = "label-columns"
	default:
		return nil
	}
	return usererror.Errorf("remove one of them; -o custom-columns=TEAM:.metadata.labels.team also prints a label", "--%s cannot be combined with --output=%s: labels are shown only in tables", flag, o.Format())
}

// parseFieldSelector parses the field selector; it returns nil for an empty one.
func (o *Output) parseFieldSelector() (fields.Selector, error) {
	if o.FieldSelector == "" {
		return nil, nil
	}
	selector, err := fields.ParseSelector(o.FieldSelector)
	if err != nil {
		return nil, usererror.Errorf("for example: metadata.name!=train", "field selector %q: %v", o.FieldSelector, err)
	}
	return selector, nil
}

// Format returns the value of -o.
func (o *Output) Format() string { return *o.flags.OutputFormat }

// IsMachineReadable reports whether the output is machine-readable, that is, anything but a table.
func (o *Output) IsMachineReadable() bool {
	template := o.flags.TemplatePrinterFlags.TemplateArgument
	if template != nil && *template != "" {
		return true
	}
	return o.Format() != "" && !o.IsWide()
}

// IsPlainTable reports whether the output is a table that is printed once, so that Volcano's table can replace it.
func (o *Output) IsPlainTable() bool {
	isWatch := o.Watch || o.WatchOnly
	return !isWatch && !o.IsMachineReadable() && !o.changesTable()
}

// changesTable reports whether the flags change the rows or columns in a way that Volcano's tables do not support.
func (o *Output) changesTable() bool {
	changesColumns := o.IsWide() || o.ShowLabels || len(o.LabelColumns) > 0
	return changesColumns || o.NoHeaders || o.SortBy != ""
}

// IsWide reports whether the table shows all its columns.
func (o *Output) IsWide() bool { return o.Format() == "wide" }

// NewPrinter returns the printer for a machine-readable format.
func (o *Output) NewPrinter() (printers.ResourcePrinter, error) {
	if spec, found := strings.CutPrefix(o.Format(), "custom-columns="); found {
		return newCustomColumns(spec, o.NoHeaders)
	}
	if file, found := strings.CutPrefix(o.Format(), "custom-columns-file="); found {
		spec, err := readColumnsFile(file)
		if err != nil {
			return nil, err
		}
		return newCustomColumns(spec, o.NoHeaders)
	}
	printer, err := o.flags.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		names := make([]string, len(formats))
		for i, format := range formats {
			names[i] = strings.TrimSuffix(format, "=")
		}
		hint := "formats: " + strings.Join(names, ", ")
		if near := FindNearest(o.Format(), names); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
		return nil, usererror.Errorf(hint, "unknown output format %q", o.Format())
	}
	if err != nil {
		return nil, usererror.Errorf("an example: -o jsonpath='{.metadata.name}'; see `vcctl formats`", "output format %q: %v", o.Format(), err)
	}
	return printer, nil
}

// Validate rejects an unknown format, so that the command fails before it sends a request.
func (o *Output) Validate() error {
	if !o.IsMachineReadable() {
		return nil
	}
	_, err := o.NewPrinter()
	return err
}

// PrintObjects prints objects in a machine-readable format: a single object by itself, multiple objects as a List.
func (o *Output) PrintObjects(f *Factory, objects []client.Object, single bool) error {
	printer, err := o.NewPrinter()
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := SetKind(object); err != nil {
			return err
		}
	}
	columns, custom := printer.(*customColumns)
	isSingle := single && len(objects) == 1
	if custom || isSingle || o.Format() == "name" {
		for _, object := range objects {
			if err := printer.PrintObj(object, f.Streams.Out); err != nil {
				return err
			}
		}
		if custom {
			return columns.PrintTable(f.Streams.Out)
		}
		return nil
	}
	list := &metav1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: []runtime.RawExtension{}}
	for _, object := range objects {
		if !o.showManagedFields() {
			object.SetManagedFields(nil)
		}
		list.Items = append(list.Items, runtime.RawExtension{Object: object})
	}
	return printer.PrintObj(list, f.Streams.Out)
}

func (o *Output) showManagedFields() bool { return o.flags.JSONYamlPrintFlags.ShowManagedFields }

// ToPlainObject converts an object to the form in which a user would write it: with its kind, and without an empty
// status and other fields that only the server sets.
func ToPlainObject(object client.Object) (*unstructured.Unstructured, error) {
	if err := SetKind(object); err != nil {
		return nil, err
	}
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	delete(plain, "status")
	pruneUnset(plain)
	return &unstructured.Unstructured{Object: plain}, nil
}

// pruneUnset removes unset creation timestamps, and empty objects below spec.
func pruneUnset(value any) {
	switch value := value.(type) {
	case map[string]any:
		if at, there := value["creationTimestamp"]; there && at == nil {
			delete(value, "creationTimestamp")
		}
		for key, child := range value {
			pruneUnset(child)
			if empty, isMap := child.(map[string]any); isMap && len(empty) == 0 && key != "emptyDir" {
				delete(value, key)
			}
		}
	case []any:
		for _, child := range value {
			pruneUnset(child)
		}
	}
}

// SetKind sets the apiVersion and kind of an object that was read through a typed client.
func SetKind(object client.Object) error {
	gvk, err := apiutil.GVKForObject(object, Scheme())
	if err != nil {
		return err
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return nil
}

// PrintSuccess prints the success line of an action, such as "job.batch.volcano.sh/x suspended". With -o name, it
// prints only the name; with another format, it prints the object.
func PrintSuccess(f *Factory, o *Output, object client.Object, done string) error {
	if o != nil && o.IsMachineReadable() {
		return o.PrintObjects(f, []client.Object{object}, true)
	}
	name, err := QualifiedName(object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f.Streams.Out, "%s %s\n", name, done)
	return err
}

// QualifiedName returns the kind, group and name of an object as kubectl prints them: kind.group/name in lower case.
func QualifiedName(object client.Object) (string, error) {
	gvk := object.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		var err error
		if gvk, err = apiutil.GVKForObject(object, Scheme()); err != nil {
			return "", err
		}
	}
	kind := strings.ToLower(gvk.Kind)
	if gvk.Group != "" {
		kind += "." + gvk.Group
	}
	return kind + "/" + object.GetName(), nil
}

// ExtractObjects returns the items of a typed list as pointers.
func ExtractObjects(list client.ObjectList) ([]client.Object, error) {
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	objects := make([]client.Object, 0, len(items))
	for _, item := range items {
		if object, ok := item.(client.Object); ok {
			objects = append(objects, object)
		}
	}
	return slices.Clip(objects), nil
}
