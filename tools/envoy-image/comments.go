package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// writeComments writes the comments on messages and enums, their fields and values, as JSON by full names. Generated Go code has the comments of its proto source, and its descriptors do not. dirs: the source directories of packages, by import path.
func writeComments(path string, dirs map[string]string) error {
	comments, err := commentsOf(dirs)
	if err != nil {
		return err
	}
	bytes, err := json.Marshal(comments)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes, 0o644)
}

func commentsOf(dirs map[string]string) (map[string]string, error) {
	messages, enums := goTypes()
	found := map[string]string{}
	for importPath, dir := range dirs {
		sources, err := filepath.Glob(filepath.Join(dir, "*.pb.go"))
		if err != nil {
			return nil, err
		}
		for _, source := range sources {
			file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			reader := fileReader{importPath, messages, enums, found, oneofCases(file)}
			for _, declaration := range file.Decls {
				reader.read(declaration)
			}
		}
	}
	return found, nil
}

// goTypes returns the messages and enums of wanted files by the Go types that are generated for them.
func goTypes() (map[string]protoreflect.MessageDescriptor, map[string]protoreflect.EnumDescriptor) {
	messages, enums := map[string]protoreflect.MessageDescriptor{}, map[string]protoreflect.EnumDescriptor{}
	protoregistry.GlobalTypes.RangeMessages(func(kind protoreflect.MessageType) bool {
		if isWanted(kind.Descriptor().ParentFile()) {
			goType := reflect.TypeOf(kind.Zero().Interface()).Elem()
			messages[goType.PkgPath()+"."+goType.Name()] = kind.Descriptor()
		}
		return true
	})
	protoregistry.GlobalTypes.RangeEnums(func(kind protoreflect.EnumType) bool {
		if isWanted(kind.Descriptor().ParentFile()) {
			goType := reflect.TypeOf(kind.New(0))
			enums[goType.PkgPath()+"."+goType.Name()] = kind.Descriptor()
		}
		return true
	})
	return messages, enums
}

// oneofCases returns, for each struct that holds one case of a oneof, the struct of the message. Only the case has the interface of the oneof as a method, and only the message has a field of that interface.
func oneofCases(file *ast.File) map[string]string {
	messageOf, interfaceOf := map[string]string{}, map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.TypeSpec:
			for _, field := range fieldsOf(node) {
				if ident, ok := field.Type.(*ast.Ident); ok && tagOf(field, "protobuf_oneof") != "" {
					messageOf[ident.Name] = node.Name.Name
				}
			}
		case *ast.FuncDecl:
			if node.Recv != nil && strings.HasPrefix(node.Name.Name, "is") {
				if pointer, ok := node.Recv.List[0].Type.(*ast.StarExpr); ok {
					if ident, ok := pointer.X.(*ast.Ident); ok {
						interfaceOf[ident.Name] = node.Name.Name
					}
				}
			}
			return false
		}
		return true
	})
	cases := map[string]string{}
	for name, of := range interfaceOf {
		cases[name] = messageOf[of]
	}
	return cases
}

type fileReader struct {
	importPath string
	messages   map[string]protoreflect.MessageDescriptor
	enums      map[string]protoreflect.EnumDescriptor
	found      map[string]string
	cases      map[string]string
}

func (r fileReader) read(declaration ast.Decl) {
	general, ok := declaration.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range general.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			r.readType(spec, general.Doc)
		case *ast.ValueSpec:
			r.readValue(spec)
		}
	}
}

func (r fileReader) readType(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	if enum := r.enums[r.importPath+"."+spec.Name.Name]; enum != nil {
		r.add(enum.FullName(), doc, spec.Comment)
		return
	}
	message := r.messages[r.importPath+"."+spec.Name.Name]
	if message != nil {
		r.add(message.FullName(), doc, spec.Comment)
	} else {
		message = r.messages[r.importPath+"."+r.cases[spec.Name.Name]]
	}
	if message == nil {
		return
	}
	for _, field := range fieldsOf(spec) {
		if name := fieldName.FindStringSubmatch(tagOf(field, "protobuf")); name != nil {
			r.add(message.FullName().Append(protoreflect.Name(name[1])), field.Doc, field.Comment)
		}
	}
}

func (r fileReader) readValue(spec *ast.ValueSpec) {
	ident, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	enum := r.enums[r.importPath+"."+ident.Name]
	if enum == nil {
		return
	}
	// The constant is Cluster_STATIC for a value of the enum Cluster_DiscoveryType, and Type_STATIC of an enum Type.
	prefix := ident.Name
	if enum.Parent() != enum.ParentFile() {
		prefix = strings.TrimSuffix(ident.Name, "_"+string(enum.Name()))
	}
	name := protoreflect.Name(strings.TrimPrefix(spec.Names[0].Name, prefix+"_"))
	if enum.Values().ByName(name) == nil {
		log.Fatalf("%s is not a value of %s", spec.Names[0].Name, enum.FullName())
	}
	r.add(enum.FullName().Append(name), spec.Doc, spec.Comment)
}

var (
	fieldName = regexp.MustCompile(`(?:^|,)name=([^,]+)`)
	// The generator of Go code adds this to what is deprecated.
	deprecation = regexp.MustCompile(`(?m)\n*^ ?Deprecated: Marked as deprecated in .*\n?`)
)

func (r fileReader) add(name protoreflect.FullName, groups ...*ast.CommentGroup) {
	var texts []string
	for _, group := range groups {
		if group == nil {
			continue
		}
		var lines []string
		for _, line := range group.List {
			lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(line.Text, "//"), " "))
		}
		if text := strings.TrimSpace(deprecation.ReplaceAllString(strings.Join(lines, "\n"), "")); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		r.found[string(name)] = strings.Join(texts, "\n\n")
	}
}

func fieldsOf(spec *ast.TypeSpec) []*ast.Field {
	if structure, ok := spec.Type.(*ast.StructType); ok {
		return structure.Fields.List
	}
	return nil
}

func tagOf(field *ast.Field, key string) string {
	if field.Tag == nil {
		return ""
	}
	return reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get(key)
}
