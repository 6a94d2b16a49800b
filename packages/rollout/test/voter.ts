import type { Variant } from "./wire-bytes.ts";
import type { Answer, NodeInit, WorldClient } from "./world-client.ts";

/** The part of a simulated world that a voter uses. */
export interface VoterWorld {
  readonly connect: (variant: Variant, node?: NodeInit) => WorldClient;
  /** Runs everything that needs no time. */
  readonly settle: () => Promise<void>;
}

/** A client that answers by itself. */
export interface Voter extends WorldClient {
  readonly id: string;
  /** Everything that it was shown, each as `name=text`. */
  readonly seen: string[];
  /** The text of each name that it last accepted; names whose removal it accepted are deleted. */
  readonly holds: Map<string, string>;
  /** Returns why it rejects a response, or undefined to accept it; "silent" sends no answer. */
  verdict: (answer: Answer) => string | undefined;
  /** Reads and answers what has come. Returns false if there was nothing. */
  answer(): boolean;
}

/** Rejects responses with one of these texts. */
export function rejects(...texts: readonly string[]): Voter["verdict"] {
  return ({ shown }) =>
    shown.some((one) => texts.includes(one.split("=")[1] ?? ""))
      ? `cannot use ${texts.join(" or ")}`
      : undefined;
}

/** Accepts everything. */
export const accepts: Voter["verdict"] = () => undefined;

/** Sends no answer yet. */
export const silent: Voter["verdict"] = () => "silent";

/** Opens a stream of a client. `whole`: a SotW response has all resources. */
export function openVoter(
  world: Pick<VoterWorld, "connect">,
  variant: Variant,
  id: string,
  verdict: Voter["verdict"] = accepts,
  form: "whole" | "parts" = "parts",
): Voter {
  const client = world.connect(variant, { id });
  const seen: string[] = [];
  const holds = new Map<string, string>();
  const waiting: Answer[] = [];
  const voter: Voter = {
    ...client,
    id,
    seen,
    holds,
    verdict,
    get closed() {
      return client.closed;
    },
    answer() {
      let answered = 0;
      const updates = client.read();
      for (const { shown, removed } of updates)
        seen.push(
          ...shown,
          ...removed.map((name) => `${name.slice(name.lastIndexOf("/") + 1)} gone`),
        );
      waiting.push(...updates);
      while (waiting[0] !== undefined) {
        const answer = waiting[0];
        const why = voter.verdict(answer);
        if (why === "silent") return updates.length > 0;
        waiting.shift();
        answered++;
        if (why !== undefined) {
          client.nack(answer, why);
          continue;
        }
        if (variant === "sotw" && form === "whole") holds.clear();
        for (const one of answer.shown) holds.set(nameIn(one), one.split("=")[1] ?? "");
        for (const name of answer.removed) holds.delete(name.slice(name.lastIndexOf("/") + 1));
        client.ack(answer);
      }
      return answered > 0;
    },
  };
  return voter;
}

/**
 * Returns the name of a resource. A SotW resource that is sent without its name may have it in its
 * text, after an `@`.
 */
function nameIn(shown: string): string {
  const [name = "", text = ""] = shown.split("=");
  return text.split("@")[1] ?? name;
}

/** Lets all voters read and answer until there is nothing left. */
export async function talk(
  world: Pick<VoterWorld, "settle">,
  voters: readonly Voter[],
): Promise<void> {
  for (let round = 0; round < 100; round++) {
    await world.settle();
    if (voters.filter((voter) => voter.answer()).length === 0) return;
  }
  throw new Error("they never stop talking");
}
