import type { Answer } from "./answer.ts";

/** A name, or a name with dynamic parameters (TP2). */
export type Wanted =
  string | { readonly name: string; readonly dynamicParameters: Readonly<Record<string, string>> };

/** A change of the wanted set. */
export interface Change {
  readonly add?: readonly Wanted[];
  readonly drop?: readonly Wanted[];
  /** The versions by name that the first request of a delta stream lists as received. */
  readonly held?: Readonly<Record<string, string>>;
}

/** The plain names. */
export function namesOf(wanted: readonly Wanted[]): string[] {
  return wanted.filter((one) => typeof one === "string");
}

/** Those with dynamic parameters. */
export function locatorsOf(wanted: readonly Wanted[]): Exclude<Wanted, string>[] {
  return wanted.filter((one) => typeof one !== "string");
}

/** One type of a client that says each step, the same in both variants. It never answers by itself. */
export interface TypeClient {
  readonly typeUrl: string;
  /** Sends a request that changes the wanted set; without names, an empty one. SotW: the whole list, with the nonce of the answer read last and the version accepted last. */
  subscribe(...names: readonly Wanted[]): void;
  unsubscribe(...names: readonly Wanted[]): void;
  change(change: Change): void;
  /** Accepts an answer. */
  ack(answer: Answer, change?: Change): void;
  /** Rejects an answer. */
  nack(answer: Answer, text: string, change?: Change): void;
  /** The oldest answer of this type not read yet; throws where there is none. */
  next(): Answer;
  /** All answers of this type not read yet; none is an empty list. */
  rest(): readonly Answer[];
}

/** The queue that the clients of single types read from. */
export interface Inbox {
  /** Takes the oldest answer of a type. */
  take(typeUrl: string): Answer | undefined;
}

/** The reading half of a {@link TypeClient}; `onRead` sees each answer. */
export function createReading(
  inbox: Inbox,
  typeUrl: string,
  onRead: (answer: Answer) => void = () => undefined,
): Pick<TypeClient, "next" | "rest"> {
  const take = (): Answer | undefined => {
    const answer = inbox.take(typeUrl);
    if (answer !== undefined) onRead(answer);
    return answer;
  };
  return {
    next() {
      const answer = take();
      if (answer === undefined)
        throw new Error(`an answer of ${typeUrl} was expected, and none has come`);
      return answer;
    },
    rest() {
      const answers: Answer[] = [];
      for (let answer = take(); answer !== undefined; answer = take()) answers.push(answer);
      return answers;
    },
  };
}
