/** The state of a name: the number of the change that made it, and its text. */
export interface State {
  /** Grows with each change of the store. 0: the name was never put. */
  readonly seq: number;
  /** Absent: the name does not exist. */
  readonly text: string | undefined;
}

/** Where the text of a state says that the name leads to another one. */
const REDIRECT = "->";

const NEVER: State = { seq: 0, text: undefined };

/** The resources of an origin, which outlive its processes. All replicas of the origin read it. */
export class Store {
  #last = 0;
  readonly #states = new Map<string, State>();

  /** Puts a text under a name. Default: one that no name has had, with this at its end. */
  put(name: string, text?: string, end = ""): void {
    this.#set(name, (seq) => text ?? `v${seq}${end}`);
  }

  /** Lets a name lead to another one. */
  redirect(name: string, target: string): void {
    this.#set(name, (seq) => `v${seq}${REDIRECT}${target}`);
  }

  /** A name that does not exist stays as it is. */
  remove(name: string): void {
    if (this.at(name).text !== undefined) this.#set(name, () => undefined);
  }

  at(name: string): State {
    return this.#states.get(name) ?? NEVER;
  }

  /** The names that were put at some time. */
  get names(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** Returns the state to which a name leads. */
  resolve(name: string): State {
    const state = this.at(name);
    const target = targetOf(state);
    return target === undefined ? state : this.resolve(target);
  }

  #set(name: string, textOf: (seq: number) => string | undefined): void {
    const seq = ++this.#last;
    this.#states.set(name, { seq, text: textOf(seq) });
  }
}

/** Returns the name to which a state leads. undefined: it is a resource. */
export function targetOf({ text }: State): string | undefined {
  const [, target] = text?.split(REDIRECT) ?? [];
  return target;
}
