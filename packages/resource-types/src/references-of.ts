import { decodeText, walkFields, WireType, type Reference } from "@xdstp/core";
import { assignmentOf } from "./assignment-of.ts";
import { isFileSource } from "./is-file-source.ts";
import { messageNode, type MessageNode, type Naming } from "./message-node.ts";
import { lastField, type Range } from "./range.ts";
import { typeUrls } from "./type-urls.ts";

/** Messages within messages, an Any counted as two; decoders of protobuf give up at the same depth. What lies deeper is not read. */
const MAX_DEPTH = 100;
/** Of `google.protobuf.Any`. */
const TYPE_URL = 1;
const VALUE = 2;

interface Walk {
  readonly bytes: Uint8Array;
  /** By type, the names found. */
  readonly found: Map<string, Set<string>>;
}

/**
 * What a message of the Envoy API refers to, however deep in it, extensions in an Any included: each once, names as they are spelled in the payload.
 *
 * Clusters, assignments, route configurations, scoped routes, secrets, extension configs, endpoint collections (a name may be a glob); also where they are named in one of the known extensions.
 * Not among them: what comes from a file, a secret without `sds_config` (it is static), what the client finds only when it runs (headers, plugins, VHDS, on-demand discovery), the clusters behind a config source (static by rule), and extensions that are no message of the API, such as a TypedStruct.
 *
 * Never throws, costs one pass; of malformed bytes, the part in front of the fault counts. None for a type that it does not know.
 */
export function referencesOf(typeUrl: string, payload: Uint8Array): readonly Reference[] {
  const walk: Walk = { bytes: payload, found: new Map() };
  const node = messageNode(fullNameIn(typeUrl));
  if (node !== undefined) visit(walk, node, { start: 0, end: payload.length }, 0);
  return [...walk.found].flatMap(([type, names]) => [...names].map((name) => ({ typeUrl: type, name })));
}

function visit(walk: Walk, node: MessageNode, range: Range, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (node.packed) { unpack(walk, range, depth); return; }
  if (node.cluster) note(walk, typeUrls.clusterLoadAssignment, assignmentOf(walk.bytes, range));
  const { inner, naming } = node;
  let named: boolean | undefined;
  walkFields(walk.bytes, (field, start, end, wireType) => {
    if (wireType !== WireType.LENGTH_DELIMITED) return true;
    const next = inner.get(field);
    if (next !== undefined) visit(walk, next, { start, end }, depth + 1);
    if (field === naming?.field && (named ??= comesOverXds(walk.bytes, range, naming))) note(walk, naming.typeUrl, decodeText(walk.bytes, start, end));
    return true;
  }, range);
}

function unpack(walk: Walk, any: Range, depth: number): void {
  const typeUrl = lastField(walk.bytes, any, TYPE_URL);
  const node = typeUrl === undefined ? undefined : messageNode(fullNameIn(decodeText(walk.bytes, typeUrl.start, typeUrl.end)));
  if (node === undefined) return;
  const value = lastField(walk.bytes, any, VALUE);
  if (value !== undefined) visit(walk, node, value, depth + 1);
}

function comesOverXds(bytes: Uint8Array, message: Range, { source, sourceRequired }: Naming): boolean {
  let at: Range | undefined = message;
  for (const field of source) at = at === undefined ? undefined : lastField(bytes, at, field);
  if (at === undefined) return !sourceRequired;
  return source.length === 0 || !isFileSource(bytes, at);
}

function note({ found }: Walk, typeUrl: string, name: string | undefined): void {
  if (name === undefined || name === "") return;
  const names = found.get(typeUrl);
  if (names === undefined) found.set(typeUrl, new Set([name]));
  else names.add(name);
}

/** The message that a type URL names, whatever its prefix. */
function fullNameIn(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}
