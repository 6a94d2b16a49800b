import { StatusCode } from "@xdstp/core";
import type { RawClient } from "@xdstp/testing";
import {
  createReading,
  locatorsOf,
  namesOf,
  type Change,
  type Inbox,
  type TypeClient,
} from "./type-client.ts";

/** One type of a delta client. */
export function createDeltaTypeClient(
  raw: RawClient<"delta">,
  inbox: Inbox,
  typeUrl: string,
): TypeClient {
  const send = (
    { add = [], drop = [], held = {} }: Change,
    answer: Parameters<RawClient<"delta">["send"]>[0] = {},
  ): void => {
    raw.send({
      typeUrl,
      resourceNamesSubscribe: namesOf(add),
      resourceLocatorsSubscribe: locatorsOf(add),
      resourceNamesUnsubscribe: namesOf(drop),
      resourceLocatorsUnsubscribe: locatorsOf(drop),
      initialResourceVersions: held,
      ...answer,
    });
  };
  return {
    typeUrl,
    subscribe(...add) {
      send({ add });
    },
    unsubscribe(...drop) {
      send({ drop });
    },
    change(change) {
      send(change);
    },
    ack({ nonce }, change = {}) {
      send(change, { responseNonce: nonce });
    },
    nack({ nonce }, text, change = {}) {
      send(change, {
        responseNonce: nonce,
        errorDetail: { code: StatusCode.INVALID_ARGUMENT, message: text },
      });
    },
    ...createReading(inbox, typeUrl),
  };
}
