import type { ServerHttp2Session } from "node:http2";

import type { WireMeter } from "./wire-meter.ts";

/**
 * Asks the peer of a session for a sign of life; `onAnswer` is called once the answer has been read.
 *
 * The question is a PING, or SETTINGS without content where the session is closing: Node sends no PING then.
 */
export function probeSession(session: ServerHttp2Session, meter: WireMeter, onAnswer: () => void): void {
  const answered = (error: Error | null): void => {
    if (error === null) onAnswer();
  };
  if (session.closed) {
    meter.settled();
    session.settings({}, answered);
  } else {
    meter.pinged();
    session.ping(answered);
  }
}
