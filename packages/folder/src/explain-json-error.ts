import type { Registry } from "@bufbuild/protobuf";
import { ResourceJsonError } from "@xdstp/protos/envoy";
import { Fault, type FaultPlace, type JsonPath, reasonOf } from "./fault.ts";
import { jsonReason } from "./json-reason.ts";
import { shownKey } from "./quote.ts";

/** Of a longer path only this number of the last steps is printed: line and column say the rest. */
const mostSteps = 12;

/** An error of the JSON reader as a fault with its path: which field, what was found in it, and as a hint what is expected. */
export function explainJsonError(error: unknown, place: FaultPlace, registry: Registry): Fault {
  if (!(error instanceof ResourceJsonError))
    return new Fault({ ...place, message: reasonOf(error) });
  const { message, hint, owner } = jsonReason(error.reason, registry);
  const path = [...place.path, ...error.path];
  const subject = owner ?? (error.path.length === 0 ? undefined : fieldOf(path));
  return new Fault({
    ...place,
    path,
    message: `${subject === undefined ? "" : `${subject}: `}${message}`,
    ...(hint !== undefined && { hint }),
  });
}

/** `virtual_hosts[0].routes[2].route.cluster` */
function fieldOf(path: JsonPath): string {
  const steps = path
    .slice(-mostSteps)
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${shownKey(step)}`));
  return `${path.length > mostSteps ? "..." : ""}${steps.join("").replace(/^\./, "")}`;
}
