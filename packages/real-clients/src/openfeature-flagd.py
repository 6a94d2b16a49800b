# A program of OpenFeature in Python, with the provider of flagd that evaluates in its process. The argument is the port. For each key on standard input it prints the value and the reason.
import json
import sys

from openfeature import api
from openfeature.contrib.provider.flagd import FlagdProvider
from openfeature.contrib.provider.flagd.config import ResolverType
from openfeature.evaluation_context import EvaluationContext

provider = FlagdProvider(
    resolver_type=ResolverType.IN_PROCESS,
    host="127.0.0.1",
    port=int(sys.argv[1]),
    deadline_ms=20_000,
    retry_backoff_ms=100,
    retry_backoff_max_ms=500,
)
api.set_provider_and_wait(provider)
client = api.get_client()
print("ready", flush=True)
for line in sys.stdin:
    details = client.get_string_details(line.strip(), "default", EvaluationContext("user-1", {"plan": "pro"}))
    print(json.dumps({"value": details.value, "reason": str(details.reason)}), flush=True)
