import {
  type ClientContext,
  type ClientFeed,
  type ClientVariant,
  createClientFeed,
  typeUrlIn,
} from "@xdstp/protocol/client";

import { isGlob } from "@xdstp/uri";

import { readResponse } from "./read-response.ts";
import { createSotwSubscriptions } from "./sotw-subscriptions.ts";

/** The node is field 2 of a `DiscoveryRequest`. */
const NODE = 2;

const sotw: ClientVariant = {
  name: "sotw",
  nodeField: NODE,
  silenceConfirms: false,
  typeUrlOf: typeUrlIn,
  read: readResponse,
  rejectionOf: ({ name }, type) =>
    isGlob(name) && type?.fullStateInSotw !== true
      ? `${JSON.stringify(name)}: SotW cannot say what leaves a glob of this type; ask by delta, or by name (C-GLOB-10)`
      : undefined,
  createSubscriptions: createSotwSubscriptions,
};

/** The SotW end of a client: a feed that asks one server for what is wanted, over one stream for all types. */
export function createSotwClient(context: ClientContext): ClientFeed {
  return createClientFeed(context, sotw);
}
