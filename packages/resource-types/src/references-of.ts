import type { Reference } from "@xdstp/core";
import { decodeText, walkFields, WireType } from "@xdstp/core/wire";
import { authorityOf } from "@xdstp/uri";

import { assignmentOf } from "./assignment-of.ts";
import { messageNode, type MessageNode, type Naming } from "./message-node.ts";
import { lastField, type Range, sourceKind } from "./source-kind.ts";
import { typeUrls } from "./type-urls.ts";

/** The greatest depth of nested messages; an Any counts as two. Decoders of protobuf stop at the same depth. Deeper messages are not read. */
const MAX_DEPTH = 100;
/** Field numbers of `google.protobuf.Any`. */
const TYPE_URL = 1;
const VALUE = 2;

interface Walk {
  readonly bytes: Uint8Array;
  /** The names found, by type. */
  readonly found: Map<string, Set<string>>;
  /** The references with a ConfigSource of their own, by all their parts; few payloads have any. */
  own: Map<string, Reference> | undefined;
  readonly files: boolean;
}

/**
 * Returns the references of a message of the Envoy API, however deep in it, extensions in an Any included: each once, with names as the payload spells them.
 *
 * Clusters, assignments, route configurations, scoped routes, secrets, extension configs, endpoint collections (a name may be a glob); also where they are named in one of the known extensions.
 * A name next to a ConfigSource that says something else than plain `ads` has that ConfigSource as its `source`; so a name next to several is there once for each. The routes of inline scopes have that of their listener; a scope that comes by itself does not say it, so the name by which the listener takes it has it as `within`.
 * Not among them: what comes from a file, a secret without `sds_config` (it is static), what the client finds only when it runs (headers, plugins, VHDS, on-demand discovery), the clusters behind a config source (static by rule), and extensions that are not a message of the API, such as a TypedStruct.
 *
 * Never throws, costs one pass; of malformed bytes, the part in front of the fault counts. None for a type that it does not know.
 */
export function referencesOf(
  typeUrl: string,
  payload: Uint8Array,
  {
    files = false,
  }: {
    /** Also what comes from files; `source` says so. For whoever judges ConfigSources. Default: false. */
    readonly files?: boolean;
  } = {},
): readonly Reference[] {
  const walk: Walk = { bytes: payload, found: new Map(), own: undefined, files };
  const node = messageNode(fullNameIn(typeUrl));
  if (node !== undefined) visit(walk, node, { start: 0, end: payload.length }, 0, "plain");
  const found = [...walk.found].flatMap(([type, names]) =>
    [...names].map((name) => ({ typeUrl: type, name })),
  );
  return walk.own === undefined ? found : [...found, ...walk.own.values()];
}

/** @param outer - the source that the surrounding message gives to names */
function visit(walk: Walk, node: MessageNode, range: Range, depth: number, outer: OwnSource): void {
  if (depth > MAX_DEPTH) return;
  if (node.packed) {
    unpack(walk, range, depth);
    return;
  }
  if (node.cluster) noteAssignment(walk, range);
  const { inner, naming } = node;
  const around = node.around === undefined ? outer : ownSourceOf(walk, range, node.around, outer);
  let own: OwnSource | undefined;
  walkFields(
    walk.bytes,
    (field, start, end, wireType) => {
      if (wireType !== WireType.LENGTH_DELIMITED) return true;
      const next = inner.get(field);
      if (next !== undefined) visit(walk, next, { start, end }, depth + 1, around);
      if (
        field === naming?.field &&
        (own ??= ownSourceOf(walk, range, naming, around)) !== "elsewhere"
      )
        note(
          walk,
          naming.typeUrl,
          decodeText(walk.bytes, start, end),
          own,
          withinOf(walk, naming, around),
        );
      return true;
    },
    range,
  );
}

function unpack(walk: Walk, any: Range, depth: number): void {
  const typeUrl = lastField(walk.bytes, any, TYPE_URL);
  const node =
    typeUrl === undefined
      ? undefined
      : messageNode(fullNameIn(decodeText(walk.bytes, typeUrl.start, typeUrl.end)));
  if (node === undefined) return;
  const value = lastField(walk.bytes, any, VALUE);
  if (value !== undefined) visit(walk, node, value, depth + 1, "plain");
}

/** The source next to a name, or around it. `plain`: none, or plain `ads`. `elsewhere`: a source that excludes the name from the references. A range: a ConfigSource of its own. */
type OwnSource = "plain" | "elsewhere" | Range;

function ownSourceOf(
  { bytes, files }: Walk,
  message: Range,
  { source, sourceRequired }: Pick<Naming, "source" | "sourceRequired">,
  around: OwnSource,
): OwnSource {
  if (source === undefined) return around;
  if (source.length === 0) return "plain";
  let at: Range | undefined = message;
  for (const field of source) at = at === undefined ? undefined : lastField(bytes, at, field);
  if (at === undefined) return sourceRequired ? "elsewhere" : "plain";
  return besideSource(sourceKind(bytes, at), at, files);
}

function besideSource(
  kind: ReturnType<typeof sourceKind>,
  source: Range | undefined,
  files: boolean,
): OwnSource {
  if (kind === "ads" || source === undefined) return "plain";
  return kind === "file" && !files ? "elsewhere" : source;
}

function noteAssignment(walk: Walk, cluster: Range): void {
  const found = assignmentOf(walk.bytes, cluster);
  const own =
    found === undefined ? "elsewhere" : besideSource(found.kind, found.source, walk.files);
  if (own !== "elsewhere") note(walk, typeUrls.clusterLoadAssignment, found?.name, own);
}

/** The source that surrounds a name and applies to names inside the named resource; plain `ads` gives none. */
function withinOf(
  { bytes }: Walk,
  { within: typeUrl }: Naming,
  around: OwnSource,
): Reference["within"] {
  if (typeUrl === undefined || around === "plain") return undefined;
  return around === "elsewhere"
    ? { typeUrl }
    : { typeUrl, source: bytes.subarray(around.start, around.end) };
}

function note(
  walk: Walk,
  typeUrl: string,
  name: string | undefined,
  own: Exclude<OwnSource, "elsewhere">,
  within?: Reference["within"],
): void {
  if (name === undefined || name === "") return;
  if (own !== "plain" || within !== undefined) {
    noteBeside(walk, {
      typeUrl,
      name,
      ...(own !== "plain" && { source: walk.bytes.subarray(own.start, own.end) }),
      ...(within !== undefined && { within }),
    });
    return;
  }
  const names = walk.found.get(typeUrl);
  if (names === undefined) walk.found.set(typeUrl, new Set([name]));
  else names.add(name);
}

function noteBeside(walk: Walk, reference: Reference): void {
  const { typeUrl, name, source, within } = reference;
  walk.own ??= new Map();
  walk.own.set(
    JSON.stringify([typeUrl, name, source?.join(), within && [within.source?.join()]]),
    reference,
  );
}

/** The message that a type URL names, whatever its prefix. */
function fullNameIn(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

/**
 * Returns the references to xdstp names of other authorities than these. A client finds them only with a server for that authority, and one that understands xdstp (S-AUTH-10).
 * Opaque names are never among them. It is for checks of resources before they are put. The result is a reason for a warning, not for an error, since a client may have several servers.
 * @param references - The result of {@link referencesOf}, or of `references` of a type
 * @param authorities - The authorities of the server
 */
export function foreignReferences(
  references: readonly Reference[],
  authorities: readonly string[],
): readonly Reference[] {
  return references.filter(({ name }) => {
    const authority = name.startsWith("xdstp:") ? authorityOf(name) : undefined;
    return authority !== undefined && !authorities.includes(authority);
  });
}
