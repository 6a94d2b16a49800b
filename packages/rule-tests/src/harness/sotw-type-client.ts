import { StatusCode } from "@xdstp/core";
import type { RawSotwClient } from "@xdstp/testing";
import { createReading, type Change, type Inbox, type TypeClient } from "./type-client.ts";

/** One type of a SotW client: it keeps what each request has to repeat. */
export function createSotwTypeClient(raw: RawSotwClient, inbox: Inbox, typeUrl: string): TypeClient {
  let wanted: readonly string[] = [];
  let nonce = "";
  let accepted = "";
  const send = ({ add = [], drop = [] }: Change, answer: Parameters<RawSotwClient["send"]>[0] = {}): void => {
    wanted = [...wanted, ...add].filter((name) => !drop.includes(name));
    raw.send({ typeUrl, resourceNames: [...wanted], versionInfo: accepted, responseNonce: nonce, ...answer });
  };
  return {
    typeUrl,
    subscribe(...add) { send({ add }); },
    unsubscribe(...drop) { send({ drop }); },
    change(change) { send(change); },
    ack(answer, change = {}) {
      accepted = answer.version;
      send(change, { responseNonce: answer.nonce });
    },
    nack(answer, text, change = {}) {
      send(change, { responseNonce: answer.nonce, errorDetail: { code: StatusCode.INVALID_ARGUMENT, message: text } });
    },
    ...createReading(inbox, typeUrl, (answer) => { nonce = answer.nonce; }),
  };
}
