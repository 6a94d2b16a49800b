import { StatusCode } from "@xdstp/core";
import type { RawClient } from "@xdstp/testing";
import {
  createReading,
  locatorsOf,
  namesOf,
  type Change,
  type Inbox,
  type TypeClient,
  type Wanted,
} from "./type-client.ts";

/** One type of a SotW client: it keeps what each request has to repeat. */
export function createSotwTypeClient(
  raw: RawClient<"sotw">,
  inbox: Inbox,
  typeUrl: string,
): TypeClient {
  let wanted: readonly Wanted[] = [];
  let nonce = "";
  let accepted = "";
  const send = (
    { add = [], drop = [] }: Change,
    answer: Parameters<RawClient<"sotw">["send"]>[0] = {},
  ): void => {
    const dropped = drop.map((one) => JSON.stringify(one));
    wanted = [...wanted, ...add].filter((one) => !dropped.includes(JSON.stringify(one)));
    raw.send({
      typeUrl,
      resourceNames: namesOf(wanted),
      resourceLocators: locatorsOf(wanted),
      versionInfo: accepted,
      responseNonce: nonce,
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
    ack(answer, change = {}) {
      accepted = answer.version;
      send(change, { responseNonce: answer.nonce });
    },
    nack(answer, text, change = {}) {
      send(change, {
        responseNonce: answer.nonce,
        errorDetail: { code: StatusCode.INVALID_ARGUMENT, message: text },
      });
    },
    ...createReading(inbox, typeUrl, (answer) => {
      nonce = answer.nonce;
    }),
  };
}
