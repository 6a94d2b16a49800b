import { readRequest, readResponse, type ReadRequest, type ReadResponse } from "./read-message.ts";
import type { Variant } from "./recording.ts";

/** A message in short, for people and for search. */
export interface MessageSummary {
  readonly type: string;
  readonly nonce: string;
  readonly text: string;
}

/** Up to this number of names are listed. */
const mostNames = 10;

/** A request in short; bytes that are none say so. */
export function describeRequest(variant: Variant, bytes: Uint8Array): MessageSummary {
  return described(
    () => readRequest(variant, bytes),
    (request) => requestText(request, variant),
  );
}

/** A response in short; bytes that are none say so. */
export function describeResponse(variant: Variant, bytes: Uint8Array): MessageSummary {
  return described(() => readResponse(variant, bytes), responseText);
}

function described<T extends { readonly type: string; readonly nonce: string }>(
  read: () => T,
  text: (message: T) => string,
): MessageSummary {
  try {
    const message = read();
    return { type: message.type, nonce: message.nonce, text: text(message) };
  } catch {
    return { type: "", nonce: "", text: "bytes that are not a message of this variant" };
  }
}

function requestText({ nonce, error, names, dropped }: ReadRequest, variant: Variant): string {
  const answer =
    nonce === "" ? [] : [error === undefined ? `ACK ${nonce}` : `NACK ${nonce}: ${error}`];
  const asked =
    names.length === 0
      ? []
      : [`${variant === "sotw" ? "wants" : "subscribes to"} ${listed(names)}`];
  const left = dropped.length === 0 ? [] : [`unsubscribes from ${listed(dropped)}`];
  const parts = [...answer, ...asked, ...left];
  return parts.length === 0 ? "wants all" : parts.join("; ");
}

function responseText({ version, resources, removed }: ReadResponse): string {
  const came = `${resources.length} resource${resources.length === 1 ? "" : "s"}${resources.length === 0 ? "" : ` (${listed(resources.map(({ name }) => name))})`}`;
  return [
    `version ${version === "" ? "none" : version}`,
    came,
    ...(removed.length === 0 ? [] : [`removed ${listed(removed)}`]),
  ].join("; ");
}

function listed(names: readonly string[]): string {
  const more = names.length - mostNames;
  return `${names.slice(0, mostNames).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
