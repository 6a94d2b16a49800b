// Writes the v3 API of Envoy, with what it imports, as one FileDescriptorSet, and the comments on it. Run by make.mjs, which adds imports.go.
package main

import (
	"log"
	"os"
	"regexp"
	"sort"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

var (
	wanted   = regexp.MustCompile(`^(envoy|contrib|xds|udpa/type)/`)
	outdated = regexp.MustCompile(`^envoy/(.*/v[124](alpha)?\d*/|type/(matcher/)?\w+\.proto$)`)
)

func main() {
	files := map[string]protoreflect.FileDescriptor{}
	var paths []string
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		files[file.Path()] = file
		if isWanted(file) {
			paths = append(paths, file.Path())
		}
		return true
	})
	sort.Strings(paths)
	if err := write(os.Args[1], imageOf(files, paths)); err != nil {
		log.Fatal(err)
	}
	if err := writeComments(os.Args[2], sourceDirs); err != nil {
		log.Fatal(err)
	}
}

func isWanted(file protoreflect.FileDescriptor) bool {
	return wanted.MatchString(file.Path()) && !outdated.MatchString(file.Path())
}

// Dependencies come first, as readers of descriptor sets expect.
func imageOf(files map[string]protoreflect.FileDescriptor, paths []string) *descriptorpb.FileDescriptorSet {
	set, done := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	var add func(path string)
	add = func(path string) {
		if done[path] {
			return
		}
		done[path] = true
		file := files[path]
		if file == nil {
			log.Fatalf("%s is imported, but no Go package that was linked in registers it", path)
		}
		for i := 0; i < file.Imports().Len(); i++ {
			add(file.Imports().Get(i).Path())
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	for _, path := range paths {
		add(path)
	}
	return set
}

func write(path string, set *descriptorpb.FileDescriptorSet) error {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes, 0o644)
}
