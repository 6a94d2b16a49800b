# The messages of one stream at a time, by grpcio: `open` begins a stream, any other line is a message in base64. Each message that comes is a line too, and `ended ...` is the end of a stream.
import base64
import json
import queue
import sys
import threading

import grpc

target, path = sys.argv[1:]
call = grpc.insecure_channel(target, options=[("grpc.max_receive_message_length", -1)]).stream_stream(path)
lock = threading.Lock()


def write(line):
    with lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def receive(responses):
    try:
        for message in responses:
            write(base64.b64encode(message).decode())
        write("ended")
    except grpc.RpcError as error:
        write("ended " + json.dumps(f"{error.code().name}: {error.details()}"))


for line in sys.stdin:
    if line == "open\n":
        requests = queue.Queue()
        threading.Thread(target=receive, args=(call(iter(requests.get, None), wait_for_ready=True),), daemon=True).start()
    else:
        requests.put(base64.b64decode(line))
