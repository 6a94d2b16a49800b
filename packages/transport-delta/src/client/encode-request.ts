import { type Interest, StatusCode } from "@xdstp/core";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { type RequestChanges, requestNames } from "@xdstp/protocol/client";

import { TextWriter } from "./text-writer.ts";

/** The content of a request. */
export interface RequestParts {
  readonly typeUrl: string;
  readonly subscribe: readonly Interest[];
  readonly unsubscribe: readonly Interest[];
  /** Cached names and versions; in the first request of a type only (C-RECON-3). */
  readonly versions: ReadonlyMap<string, string>;
  /**
   * The answer to a response. undefined: the request answers nothing, so it has no nonce
   * (C-NONCE-10).
   */
  readonly answer: RequestChanges["answer"];
}

/** The field numbers of `DeltaDiscoveryRequest`. */
const fields = {
  typeUrl: 2,
  subscribe: 3,
  unsubscribe: 4,
  versions: 5,
  nonce: 6,
  error: 7,
  subscribeLocators: 8,
  unsubscribeLocators: 9,
} as const;
/** The field `code` of a `google.rpc.Status`, encoded (C-ACK-14). */
const rejected = Uint8Array.of(1 << 3, StatusCode.INVALID_ARGUMENT);
/** The field number of its text. */
const STATUS_MESSAGE = 2;
/** The field numbers of a `ResourceLocator`. */
const [LOCATOR_NAME, LOCATOR_PARAMETERS] = [1, 2];

/**
 * Encodes a `DeltaDiscoveryRequest` without its node. An interest with parameters becomes a locator
 * (C-DYN-1). It is written field by field, so that a page needs no messages of protobuf for it.
 */
export function encodeRequest({
  typeUrl,
  subscribe,
  unsubscribe,
  versions,
  answer,
}: RequestParts): Uint8Array {
  const [added, dropped] = [requestNames(subscribe), requestNames(unsubscribe)];
  const writer = new TextWriter();
  writer.text(fields.typeUrl, typeUrl);
  for (const name of added.names) writer.text(fields.subscribe, name);
  for (const name of dropped.names) writer.text(fields.unsubscribe, name);
  for (const [name, version] of versions) writer.entry(fields.versions, name, version);
  if (answer !== undefined) writer.text(fields.nonce, answer.nonce);
  if (answer?.error !== undefined) writer.message(fields.error, encodeStatus(answer.error));
  for (const locator of added.locators)
    writer.message(fields.subscribeLocators, encodeLocator(locator));
  for (const locator of dropped.locators)
    writer.message(fields.unsubscribeLocators, encodeLocator(locator));
  return writer.finish();
}

function encodeStatus(text: string): Uint8Array {
  return concatBytes([rejected, lengthDelimited(STATUS_MESSAGE, text)]);
}

function encodeLocator({
  name,
  dynamicParameters,
}: ReturnType<typeof requestNames>["locators"][number]): Uint8Array {
  const writer = new TextWriter();
  writer.text(LOCATOR_NAME, name);
  for (const [key, value] of Object.entries(dynamicParameters))
    writer.entry(LOCATOR_PARAMETERS, key, value);
  return writer.finish();
}
