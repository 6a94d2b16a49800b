import type { DeltaDiscoveryResponse } from "@xdstp/protos/discovery";
import { createRawDeltaClient, type MemoryStream } from "@xdstp/testing";
import { isGlob, nameKey } from "@xdstp/uri";
import { isCoveredBy, type ModelClient, type ModelClientOptions } from "./model-client.ts";
import { createModelState, type ModelState } from "./model-state.ts";

/** A delta client that follows the protocol and notes what the server may not do. */
export function createModelDeltaClient(
  stream: MemoryStream,
  options: ModelClientOptions = {},
): ModelClient {
  const raw = createRawDeltaClient(stream, { node: { id: "model" } });
  const state = createModelState();
  const open = new Map<
    string,
    { readonly response: DeltaDiscoveryResponse; readonly bad: readonly string[] }
  >();
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
      raw.send({ typeUrl, resourceNamesSubscribe: [...add], resourceNamesUnsubscribe: [...drop] });
    },
    receive() {
      if (stream.unread === 0) return false;
      const response = raw.next();
      state.check(
        response,
        [...response.resources.map(({ name }) => name), ...response.removedResources],
        open.has(response.typeUrl),
      );
      open.set(response.typeUrl, { response, bad: apply(state, response, options) });
      return true;
    },
    answer(only) {
      const all = [...open.values()].filter(
        ({ response }) => only === undefined || response.typeUrl === only,
      );
      for (const { response } of all) open.delete(response.typeUrl);
      for (const { response, bad } of all) {
        if (bad.length > 0) raw.nack(response, `rejected: ${bad.join(" ")}`);
        else raw.ack(response);
      }
      return all.length > 0;
    },
  };
}

/** Takes a response over and gives the names that are rejected. */
function apply(
  state: ModelState,
  { typeUrl, resources, removedResources }: DeltaDiscoveryResponse,
  { rejects, wholeResponses }: ModelClientOptions,
): readonly string[] {
  const bad = resources
    .filter(({ version }) => rejects?.(version) === true)
    .map(({ name }) => name);
  if (bad.length > 0 && wholeResponses === true) return bad;
  for (const { name, version } of resources)
    if (!bad.includes(name) && state.covers(typeUrl, name))
      state.held(typeUrl).set(nameKey(name), version);
  for (const name of removedResources) remove(state, typeUrl, name);
  return bad;
}

/** A glob that is removed is empty: its members go, but for those that another subscription covers (S-GLOB-3). */
function remove(state: ModelState, typeUrl: string, name: string): void {
  const held = state.held(typeUrl);
  if (!isGlob(name)) {
    held.delete(nameKey(name));
    return;
  }
  const others = new Set(
    [...state.subscribed(typeUrl)].filter((other) => nameKey(other) !== nameKey(name)),
  );
  for (const member of [...held.keys()])
    if (isCoveredBy(new Set([name]), member) && !isCoveredBy(others, member)) held.delete(member);
}
