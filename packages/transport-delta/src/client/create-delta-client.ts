import {
  type ClientContext,
  type ClientFeed,
  type ClientVariant,
  createClientFeed,
  typeUrlIn,
} from "@xdstp/protocol/client";

import { createDeltaSubscriptions } from "./delta-subscriptions.ts";
import { readResponse } from "./read-response.ts";

/** The node is field 1 of a `DeltaDiscoveryRequest`. */
const NODE = 1;

const delta: ClientVariant = {
  name: "delta",
  nodeField: NODE,
  silenceConfirms: true,
  typeUrlOf: typeUrlIn,
  read: readResponse,
  createSubscriptions: createDeltaSubscriptions,
};

/** The delta end of a client: a feed that asks one server for what is wanted, over one stream for all types. */
export function createDeltaClient(context: ClientContext): ClientFeed {
  return createClientFeed(context, delta);
}
