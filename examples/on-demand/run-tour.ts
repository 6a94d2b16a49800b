import type { Client } from "@xdstp/client";
import { XdsError } from "@xdstp/core";

import { waitUntil } from "../mesh/wait-until.ts";
import { ask } from "./ask.ts";
import type { AskedNames } from "./asked-names.ts";
import { lookUp } from "./look-up.ts";
import type { Shop, Shops } from "./shops.ts";

/** The parts that the tour uses. */
export interface TourParts {
  readonly shops: Shops;
  readonly asked: AskedNames;
  readonly client: Client;
  /** The port of Envoy. Absent: there is no Envoy. */
  readonly edge?: string;
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Open at the beginning. */
  readonly one: Shop;
  /** Opens on the way. */
  readonly two: Shop;
}

/** Requests for hosts that nobody has heard of, then look-ups by a program. */
export async function runTour(parts: TourParts, say: (line: string) => void): Promise<void> {
  parts.shops.open(parts.one);
  if (parts.edge !== undefined) await throughEnvoy({ ...parts, edge: parts.edge }, say);
  parts.shops.open(parts.two);
  say("-- a program looks up what it meets");
  for (const attributes of [
    { host: "www.one.example" },
    { vip: parts.two.vip },
    { host: "nobody.example" },
  ]) {
    const [found] = Object.entries(attributes);
    say(`${String(found?.join(" "))}: ${await lookUp(parts.client, attributes).catch(codeOf)}`);
  }
}

async function throughEnvoy(
  { edge, shops, asked, two, signal }: TourParts & { readonly edge: string },
  say: (line: string) => void,
): Promise<void> {
  const answerTo = async (host: string): Promise<string> => {
    const { status, text } = await ask(edge, host, signal);
    return `${String(status)} ${text}`.trim();
  };
  const until = (host: string, answer: string): Promise<true> =>
    waitUntil(
      `${host}: ${answer}`,
      async () => ((await answerTo(host).catch(String)) === answer ? true : undefined),
      signal,
    );
  const show = async (host: string): Promise<void> => {
    say(`${host}: ${await answerTo(host)}`);
    for (const name of asked.take()) say(`   Envoy asked for ${name}`);
  };
  await until("welcome.example", "200 welcome");
  asked.take();
  for (const host of ["www.one.example", "one.example", "two.example"]) await show(host);
  say("-- two.example opens");
  shops.open(two);
  // Envoy has asked for it before, so it is told.
  await until("two.example", "200 hello from two");
  await show("two.example");
}

function codeOf(error: unknown): string {
  if (error instanceof XdsError) return error.code;
  throw error;
}
