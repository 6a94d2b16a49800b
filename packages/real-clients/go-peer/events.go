package main

import (
	"context"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
)

// event is what a suite is told of a stream.
type event struct {
	Event    string            `json:"event"`
	Stream   int64             `json:"stream"`
	TypeURL  string            `json:"typeUrl,omitempty"`
	Names    []string          `json:"names,omitempty"`
	Dropped  []string          `json:"dropped,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	Version  string            `json:"version,omitempty"`
	Nonce    string            `json:"nonce,omitempty"`
	Error    string            `json:"error,omitempty"`
}

// callbacks tell of streams, requests and responses.
func callbacks() server.Callbacks {
	opened := func(_ context.Context, id int64, _ string) error {
		say(event{Event: "opened", Stream: id})
		return nil
	}
	closed := func(id int64, _ *core.Node) { say(event{Event: "closed", Stream: id}) }
	return server.CallbackFuncs{
		StreamOpenFunc: opened, DeltaStreamOpenFunc: opened, StreamClosedFunc: closed, DeltaStreamClosedFunc: closed,
		StreamRequestFunc: func(id int64, r *discovery.DiscoveryRequest) error {
			say(event{Event: "request", Stream: id, TypeURL: r.GetTypeUrl(), Names: r.GetResourceNames(), Version: r.GetVersionInfo(), Nonce: r.GetResponseNonce(), Error: r.GetErrorDetail().GetMessage()})
			return nil
		},
		StreamDeltaRequestFunc: func(id int64, r *discovery.DeltaDiscoveryRequest) error {
			say(event{Event: "request", Stream: id, TypeURL: r.GetTypeUrl(), Names: r.GetResourceNamesSubscribe(), Dropped: r.GetResourceNamesUnsubscribe(), Versions: r.GetInitialResourceVersions(), Nonce: r.GetResponseNonce(), Error: r.GetErrorDetail().GetMessage()})
			return nil
		},
		StreamResponseFunc: func(_ context.Context, id int64, _ *discovery.DiscoveryRequest, r *discovery.DiscoveryResponse) {
			say(event{Event: "response", Stream: id, TypeURL: r.GetTypeUrl(), Version: r.GetVersionInfo(), Nonce: r.GetNonce()})
		},
		StreamDeltaResponseFunc: func(id int64, _ *discovery.DeltaDiscoveryRequest, r *discovery.DeltaDiscoveryResponse) {
			names := []string{}
			for _, one := range r.GetResources() {
				names = append(names, one.GetName())
			}
			say(event{Event: "response", Stream: id, TypeURL: r.GetTypeUrl(), Names: names, Dropped: r.GetRemovedResources(), Version: r.GetSystemVersionInfo(), Nonce: r.GetNonce()})
		},
	}
}
