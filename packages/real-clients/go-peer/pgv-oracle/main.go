// Command pgv-oracle is what go-control-plane says of messages: the generated ValidateAll() of Envoy's whole API.
//
//	pgv-oracle check         a verdict for each message
//	pgv-oracle descriptors   the descriptors of all messages that it knows, as a FileDescriptorSet
//	pgv-oracle version       the modules it is built of
//
// check reads size-delimited messages of google.protobuf.Any on standard input and writes a line of JSON for each: a list of the violated fields, each a list of the names of fields on the way, as PGV prints them, and the reason. It ends with its input.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
)

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "check":
		check()
	case len(os.Args) == 2 && os.Args[1] == "descriptors":
		descriptors()
	case len(os.Args) == 2 && os.Args[1] == "version":
		info, _ := debug.ReadBuildInfo()
		for _, module := range info.Deps {
			fmt.Println(module.Path, module.Version)
		}
	default:
		fmt.Fprintln(os.Stderr, "pgv-oracle check, pgv-oracle descriptors, or pgv-oracle version")
		os.Exit(2)
	}
}

type violation struct {
	Path   []string `json:"path"`
	Reason string   `json:"reason"`
}

func check() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriterSize(os.Stdout, 1<<20)
	lines := json.NewEncoder(output)
	anySize := protodelim.UnmarshalOptions{MaxSize: -1}
	for {
		packed := &anypb.Any{}
		err := anySize.UnmarshalFrom(input, packed)
		if errors.Is(err, io.EOF) {
			break
		}
		must(err)
		message, err := packed.UnmarshalNew()
		must(err)
		must(lines.Encode(violationsOf(message)))
		if input.Buffered() == 0 {
			must(output.Flush())
		}
	}
	must(output.Flush())
}

func violationsOf(message proto.Message) []violation {
	found := []violation{}
	if validated, ok := message.(interface{ ValidateAll() error }); ok {
		collect(nil, validated.ValidateAll(), &found)
	}
	return found
}

func collect(path []string, err error, found *[]violation) {
	if err == nil {
		return
	}
	if many, ok := err.(interface{ AllErrors() []error }); ok {
		for _, one := range many.AllErrors() {
			collect(path, one, found)
		}
		return
	}
	one, ok := err.(interface {
		Field() string
		Reason() string
		Cause() error
	})
	if !ok {
		*found = append(*found, violation{path, err.Error()})
		return
	}
	below := append(append([]string{}, path...), one.Field())
	if nested, ok := one.Cause().(interface{ AllErrors() []error }); ok {
		collect(below, nested.(error), found)
		return
	}
	*found = append(*found, violation{below, one.Reason()})
}

func descriptors() {
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		add(file)
		return true
	})
	bytes, err := proto.Marshal(set)
	must(err)
	_, err = os.Stdout.Write(bytes)
	must(err)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
