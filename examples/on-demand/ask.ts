import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request for a host, sent to wherever `edge` is. Rejects after 30 s without an answer, and when `signal` aborts. */
export async function ask(edge: string, host: string, signal?: AbortSignal): Promise<Answer> {
  const late = AbortSignal.timeout(30_000);
  const sent = request(edge, {
    headers: { host },
    agent: false,
    signal: signal === undefined ? late : AbortSignal.any([late, signal]),
  });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, text };
}
