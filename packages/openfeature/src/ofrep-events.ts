import type { ServerResponse } from "node:http";
import type { Clock } from "@xdstp/core";

import type { OpenFlags } from "./flag-source.ts";

/**
 * Creates the events of a collection: one for the present flags, unless the client has seen it, and
 * one after each change. The first one makes a client that evaluated before it connected evaluate
 * again, so no change between the two is lost.
 */
export async function* changeEvents(
  { flags, signal }: Pick<OpenFlags, "flags" | "signal">,
  { lastId, commentMs }: { readonly lastId: string | undefined; readonly commentMs: number },
): AsyncGenerator<string, void> {
  let known = flags.document;
  let sent = lastId;
  while (!signal.aborted) {
    if (known !== undefined && known.hash !== sent) {
      sent = known.hash;
      const data = JSON.stringify({ type: "refetchEvaluation", etag: `"${sent}"` });
      yield `id: ${sent}\ndata: ${data}\n\n`;
    }
    const next = await flags.next(known, commentMs, signal);
    if (next === known) yield ":\n\n";
    known = next;
  }
}

/** Writes events until they end. A client that does not read one in `writeMs` is disconnected. */
export async function writeEvents(
  response: ServerResponse,
  events: AsyncIterable<string>,
  { writeMs, clock }: { readonly writeMs: number; readonly clock: Clock },
): Promise<void> {
  response.flushHeaders();
  for await (const event of events) {
    if (response.destroyed) return;
    if (response.write(event)) continue;
    const timer = clock.after(writeMs, () => {
      response.destroy();
    });
    await new Promise<void>((resolve) => {
      response.once("drain", resolve);
      response.once("close", resolve);
    });
    timer.cancel();
  }
  response.end();
}
