package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// pump carries the messages of one stream at a time: `open` begins a stream, any other line is a message in base64. Each message that comes is a line too, and `ended ...` is the end of a stream.
func pump(target, path string) {
	channel, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	must(err)
	var stream grpc.ClientStream
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, math.MaxInt32)
	for lines.Scan() {
		if lines.Text() == "open" {
			stream, err = channel.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, path, grpc.WaitForReady(true), grpc.ForceCodecV2(bytesCodec{}))
			must(err)
			go receive(stream)
			continue
		}
		message, err := base64.StdEncoding.DecodeString(lines.Text())
		must(err)
		// A stream that has ended says so by itself.
		_ = stream.SendMsg(message)
	}
}

func receive(stream grpc.ClientStream) {
	for {
		var message []byte
		if err := stream.RecvMsg(&message); err != nil {
			print1("ended " + fmt.Sprintf("%q", err.Error()))
			return
		}
		print1(base64.StdEncoding.EncodeToString(message))
	}
}

func print1(line string) {
	output.Lock()
	defer output.Unlock()
	fmt.Println(line)
}
