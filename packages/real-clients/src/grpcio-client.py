# A gRPC client in Python. For each line of JSON on standard input one call, and one line of JSON on standard output when it is over.
import json
import sys
import threading

import grpc

methods = {}
lock = threading.Lock()


def reply(id, future):
    error = future.exception()
    result = {"answer": future.result().decode()} if error is None else {"error": f"{error.code().name}: {error.details()}"}
    with lock:
        sys.stdout.write(json.dumps({"id": id, **result}) + "\n")


for line in sys.stdin:
    call = json.loads(line)
    target = call["target"]
    if target not in methods:
        methods[target] = grpc.insecure_channel(target).unary_unary("/suite.Echo/Call")
    future = methods[target].future(b"", timeout=call["seconds"], wait_for_ready=call["wait"])
    future.add_done_callback(lambda done, id=call["id"]: reply(id, done))
