// Command go-peer is what suites know of xDS in Go: a control plane built on go-control-plane, and a client of grpc-go.
//
//	go-peer serve KIND   a control plane on a free port of the loopback; KIND: linear, snapshot, snapshot-ads, mux
//	go-peer call         a gRPC client
//	go-peer pump TARGET PATH   the messages of a stream, whatever they are
//	go-peer version      the modules it is built of
//
// Both read lines of JSON on standard input and write lines of JSON on standard output; they end with their input.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		serve(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "call":
		call()
	case len(os.Args) == 4 && os.Args[1] == "pump":
		pump(os.Args[2], os.Args[3])
	case len(os.Args) == 2 && os.Args[1] == "version":
		version()
	default:
		fmt.Fprintln(os.Stderr, "go-peer serve linear|snapshot|snapshot-ads|mux, go-peer call, go-peer pump TARGET PATH, or go-peer version")
		os.Exit(2)
	}
}

func version() {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		fmt.Println(module.Path, module.Version)
	}
}

var output sync.Mutex

// say writes one line of JSON.
func say(value any) {
	line, err := json.Marshal(value)
	must(err)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
