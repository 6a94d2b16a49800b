import type { ServerHttp2Session } from "node:http2";

import type { WireMeter } from "./wire-meter.ts";

/**
 * Probes whether the peer of a session is alive; `onAnswer` is called when its answer has been read.
 *
 * The probe is a PING. On a session that is closing it is a SETTINGS frame without content, since Node sends no PING there. A session that is destroyed is not probed.
 */
export function probeSession(
  session: ServerHttp2Session,
  meter: WireMeter,
  onAnswer: () => void,
): void {
  const answered = (error: Error | null): void => {
    if (error === null) onAnswer();
  };
  if (session.destroyed) return;
  if (session.closed) {
    meter.settled();
    session.settings({}, answered);
  } else {
    meter.pinged();
    session.ping(answered);
  }
}
