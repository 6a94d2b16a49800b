import { fromBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { ResourceSchema, type DiscoveryResponse } from "@xdstp/protos/discovery";
import { createRawSotwClient, type MemoryStream } from "@xdstp/testing";
import { nameKey } from "@xdstp/uri";
import type { ModelClient, ModelClientOptions } from "./model-client.ts";
import { createModelState, type ModelState } from "./model-state.ts";

/** The facts about types that the client needs. */
export interface ModelTypes {
  isFullState(typeUrl: string): boolean;
  readPayload(value: Uint8Array): NamedVersion;
}

interface NamedVersion {
  readonly name: string;
  readonly version: string;
}

/** A SotW client that follows the protocol and notes what the server may not do. It takes wrapped resources. */
export function createModelSotwClient(
  stream: MemoryStream,
  types: ModelTypes,
  options: ModelClientOptions = {},
): ModelClient {
  const raw = createRawSotwClient(stream, {
    node: { id: "model", clientFeatures: ["xds.config.supports-resource-in-sotw"] },
  });
  const state = createModelState();
  const accepted = new Map<string, string>();
  const nonces = new Map<string, string>();
  const open = new Map<string, { readonly response: DiscoveryResponse; readonly bad: boolean }>();
  const send = (typeUrl: string, errorDetail?: { code: number; message: string }): void => {
    raw.send({
      typeUrl,
      resourceNames: [...state.subscribed(typeUrl)],
      versionInfo: accepted.get(typeUrl) ?? "",
      responseNonce: nonces.get(typeUrl) ?? "",
      ...(errorDetail === undefined ? {} : { errorDetail }),
    });
  };
  return {
    stream,
    faults: state.faults,
    covers: state.covers,
    held: state.held,
    get unanswered() {
      return open.size;
    },
    get unansweredTypes() {
      return [...open.keys()];
    },
    change(typeUrl, add, drop) {
      state.change(typeUrl, add, drop);
      send(typeUrl);
    },
    receive() {
      if (stream.unread === 0) return false;
      const response = raw.next();
      const resources = response.resources.map((any) => read(any, types));
      state.check(
        response,
        resources.map(({ name }) => name),
        open.has(response.typeUrl),
      );
      if (response.versionInfo === "") state.faults.push("S-VER-7: empty version");
      open.set(response.typeUrl, {
        response,
        bad: apply(state, response.typeUrl, resources, types, options),
      });
      return true;
    },
    answer(only) {
      const all = [...open.values()].filter(
        ({ response }) => only === undefined || response.typeUrl === only,
      );
      for (const { response } of all) open.delete(response.typeUrl);
      for (const {
        response: { typeUrl, nonce, versionInfo },
        bad,
      } of all) {
        nonces.set(typeUrl, nonce);
        if (!bad) accepted.set(typeUrl, versionInfo);
        send(typeUrl, bad ? { code: 3, message: "rejected" } : undefined);
      }
      return all.length > 0;
    },
  };
}

function read({ typeUrl, value }: Any, types: ModelTypes): NamedVersion {
  if (!typeUrl.endsWith("/envoy.service.discovery.v3.Resource")) return types.readPayload(value);
  const { name, resource } = fromBinary(ResourceSchema, value);
  return { name, version: types.readPayload(resource?.value ?? new Uint8Array()).version };
}

/** Takes a response over; true: it is rejected as a whole. */
function apply(
  state: ModelState,
  typeUrl: string,
  resources: readonly NamedVersion[],
  types: ModelTypes,
  { rejects }: ModelClientOptions,
): boolean {
  if (resources.some(({ version }) => rejects?.(version) === true)) return true;
  const held = state.held(typeUrl);
  const keys = new Set(resources.map(({ name }) => nameKey(name)));
  if (types.isFullState(typeUrl))
    for (const key of [...held.keys()]) if (!keys.has(key)) held.delete(key);
  for (const { name, version } of resources)
    if (state.covers(typeUrl, name)) held.set(nameKey(name), version);
  return false;
}
