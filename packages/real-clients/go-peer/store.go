package main

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	types3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
)

type cacheOfAny = cache.Cache

// resource is one of a command; Value is its encoding.
type resource struct {
	TypeURL string `json:"typeUrl"`
	Name    string `json:"name"`
	Value   []byte `json:"value"`
}

// theTypes are those that the caches hold.
var theTypes = []string{types3.ListenerType, types3.RouteType, types3.ClusterType, types3.EndpointType}

// store has all resources, whatever becomes of the cache that serves them.
type store struct {
	kind      string
	resources map[string]map[string]types.Resource
	starts    int
	changes   int
	linear    map[string]*cache.LinearCache
	snapshots cache.SnapshotCache
}

func newStore(kind string) *store {
	resources := map[string]map[string]types.Resource{}
	for _, typeURL := range theTypes {
		resources[typeURL] = map[string]types.Resource{}
	}
	return &store{kind: kind, resources: resources}
}

// open makes a cache that has what there is, and has never served it.
func (s *store) open() cache.Cache {
	s.starts++
	s.changes = 0
	s.linear = map[string]*cache.LinearCache{}
	s.snapshots = nil
	switch s.kind {
	case "linear":
		return s.openLinear(types3.ClusterType)
	case "snapshot", "snapshot-ads":
		return s.openSnapshot(s.kind == "snapshot-ads")
	case "mux":
		return s.openMux()
	}
	must(fmt.Errorf("%s: linear, snapshot, snapshot-ads or mux", s.kind))
	return nil
}

func (s *store) openLinear(typeURL string) cache.Cache {
	prefix := fmt.Sprintf("start%d-", s.starts)
	made := cache.NewLinearCache(typeURL, cache.WithVersionPrefix(prefix), cache.WithInitialResources(s.resources[typeURL]))
	s.linear[typeURL] = made
	return made
}

func (s *store) openSnapshot(ads bool) cache.Cache {
	s.snapshots = cache.NewSnapshotCache(ads, oneNode{}, nil)
	s.publish()
	return s.snapshots
}

// openMux serves clusters and endpoints from a linear cache each, the rest from snapshots.
func (s *store) openMux() cache.Cache {
	linear := map[string]bool{types3.ClusterType: true, types3.EndpointType: true}
	caches := map[string]cache.Cache{"snapshot": s.openSnapshot(false)}
	for typeURL := range linear {
		caches[typeURL] = s.openLinear(typeURL)
	}
	classify := func(typeURL string) string {
		if linear[typeURL] {
			return typeURL
		}
		return "snapshot"
	}
	return &cache.MuxCache{
		Caches:        caches,
		Classify:      func(request *cache.Request) string { return classify(request.GetTypeUrl()) },
		ClassifyDelta: func(request *cache.DeltaRequest) string { return classify(request.GetTypeUrl()) },
	}
}

// change is one update of each linear cache, and one snapshot.
func (s *store) change(put []resource, remove []resource) {
	updated := map[string]map[string]types.Resource{}
	deleted := map[string][]string{}
	for _, one := range put {
		if updated[one.TypeURL] == nil {
			updated[one.TypeURL] = map[string]types.Resource{}
		}
		updated[one.TypeURL][one.Name] = one.decode()
		s.resources[one.TypeURL][one.Name] = updated[one.TypeURL][one.Name]
	}
	for _, one := range remove {
		deleted[one.TypeURL] = append(deleted[one.TypeURL], one.Name)
		delete(s.resources[one.TypeURL], one.Name)
	}
	for typeURL, made := range s.linear {
		if len(updated[typeURL])+len(deleted[typeURL]) > 0 {
			must(made.UpdateResources(updated[typeURL], deleted[typeURL]))
		}
	}
	if s.snapshots != nil {
		s.publish()
	}
}

func (s *store) publish() {
	s.changes++
	all := map[types3.Type][]types.Resource{}
	for typeURL, named := range s.resources {
		for _, one := range named {
			all[typeURL] = append(all[typeURL], one)
		}
	}
	snapshot, err := cache.NewSnapshot("start"+strconv.Itoa(s.starts)+"-"+strconv.Itoa(s.changes), all)
	must(err)
	must(s.snapshots.SetSnapshot(context.Background(), "", snapshot))
}

func (r resource) decode() proto.Message {
	message, err := (&anypb.Any{TypeUrl: r.TypeURL, Value: r.Value}).UnmarshalNew()
	must(err)
	return message
}

// oneNode gives every node the same snapshot.
type oneNode struct{}

func (oneNode) ID(*core.Node) string { return "" }
