package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	_ "google.golang.org/grpc/xds"
)

type order struct {
	ID      int    `json:"id"`
	Target  string `json:"target"`
	Seconds int    `json:"seconds"`
	Wait    bool   `json:"wait"`
}

type answer struct {
	ID     int     `json:"id"`
	Answer *string `json:"answer,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// call makes one call for each line; its answer is one line.
func call() {
	channels := map[string]*grpc.ClientConn{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var wanted order
		must(json.Unmarshal(lines.Bytes(), &wanted))
		if channels[wanted.Target] == nil {
			channel, err := grpc.NewClient(wanted.Target, grpc.WithTransportCredentials(insecure.NewCredentials()))
			must(err)
			channels[wanted.Target] = channel
		}
		go make1(channels[wanted.Target], wanted)
	}
}

func make1(channel *grpc.ClientConn, wanted order) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(wanted.Seconds)*time.Second)
	defer cancel()
	var text []byte
	err := channel.Invoke(ctx, "/suite.Echo/Call", []byte{}, &text, grpc.WaitForReady(wanted.Wait), grpc.ForceCodecV2(bytesCodec{}))
	if err != nil {
		say(answer{ID: wanted.ID, Error: err.Error()})
		return
	}
	said := string(text)
	say(answer{ID: wanted.ID, Answer: &said})
}

// bytesCodec hands bytes on as they are.
type bytesCodec struct{}

var _ encoding.CodecV2 = bytesCodec{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(value any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(value.([]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, value any) error {
	*value.(*[]byte) = data.Materialize()
	return nil
}
