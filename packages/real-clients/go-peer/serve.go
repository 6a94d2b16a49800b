package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"

	"google.golang.org/grpc"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
)

// command is one line of input. It is answered by {"done": ID}.
type command struct {
	ID int `json:"id"`
	// change: puts and removes at once. cut: ends all connections, the next ones after Bytes more. stop, start: the server, which has forgotten its versions when it starts.
	Do     string     `json:"do"`
	Put    []resource `json:"put"`
	Remove []resource `json:"remove"`
	// Bytes that connections may still write, all together, before they are cut.
	Bytes int `json:"bytes"`
}

// serve runs a control plane until its input ends.
func serve(kind string) {
	what := newStore(kind)
	wire := &cutter{}
	port := 0
	var running *grpc.Server
	start := func() {
		running, port = listen(what.open(), wire, port)
	}
	start()
	say(map[string]any{"event": "listening", "port": port})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<28)
	for lines.Scan() {
		var next command
		must(json.Unmarshal(lines.Bytes(), &next))
		switch next.Do {
		case "change":
			what.change(next.Put, next.Remove)
		case "cut":
			wire.cut(next.Bytes)
		case "stop":
			running.Stop()
		case "start":
			start()
		}
		say(map[string]any{"done": next.ID})
	}
}

// listen opens the port; 0 is any free one.
func listen(opened cacheOfAny, wire *cutter, port int) (*grpc.Server, int) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	must(err)
	served := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	discovery.RegisterAggregatedDiscoveryServiceServer(served, server.NewServer(context.Background(), opened, callbacks()))
	go func() { _ = served.Serve(wire.over(listener)) }()
	return served, listener.Addr().(*net.TCPAddr).Port
}
