/**
 * One requirement of a contract, checked on one implementation. Any test runner can run it:
 * `for (const { name, run } of checkByteStream(make)) test(name, run)`.
 */
export interface ContractCase {
  /** The required behaviour. */
  readonly name: string;
  /**
   * The ids of the protocol rules (docs/rules) that an implementation cannot follow without this
   * behaviour. Empty: the behaviour is only a part of the contract in `@xdstp/core`.
   */
  readonly rules: readonly string[];
  /** The name, and the ids of the rules in brackets: the title of a test in this repository. */
  readonly title: string;
  /**
   * Checks the requirement on a new instance. Rejects with an `Error` that says what was expected
   * and what happened instead.
   *
   * @returns Why the case does not concern this implementation: it lacks an optional member.
   * `undefined`: the implementation meets the requirement
   */
  readonly run: () => Promise<string | undefined>;
}

/** Options of all checks. */
export interface CheckOptions {
  /**
   * Milliseconds until an awaited event counts as missing. Ignored if the instance has `step`.
   * Default: 10,000.
   */
  readonly timeoutMs?: number;
}

/** The time of an instance. */
export interface Steps {
  /**
   * Lets the instance work on, for instance by advancing its clock. It is called again and again
   * while a case waits. Absent: the instance works in real time.
   */
  step?(): void | Promise<void>;
}

/** A case whose implementation is given when it runs. */
export interface CaseOf<Place> extends Pick<ContractCase, "name" | "rules"> {
  /** Checks the requirement; see {@link ContractCase.run}. */
  readonly check: (place: Place) => Promise<string | undefined>;
}

/** Binds a case to an implementation. `run` creates a new instance, and calls `check` with it. */
export function bindCase<Place>(
  { name, rules, check }: CaseOf<Place>,
  run: (check: CaseOf<Place>["check"]) => Promise<string | undefined>,
): ContractCase {
  const title = rules.length === 0 ? name : `${name} [${rules.join(", ")}]`;
  return { name, rules, title, run: () => run(check) };
}

/** Throws unless a requirement is met. */
export function demand(isMet: boolean, what: string): asserts isMet {
  if (!isMet) throw new Error(what);
}

/** Waits for conditions that change when something happens. */
export interface Waiter {
  /** Checks the conditions again. Call it after each event. */
  notify(): void;
  /**
   * Resolves when `isMet` returns true. It is called at once, and after each event.
   *
   * @param what - What is awaited; the error text contains it, and what `state` returns
   */
  until(isMet: () => boolean, what: string, state?: () => string): Promise<void>;
}

/** Steps after which an event counts as missing. */
const MOST_STEPS = 20_000;

/** Creates a waiter for one instance. */
export function createWaiter(steps: Steps, { timeoutMs = 10_000 }: CheckOptions): Waiter {
  const waiting = new Set<() => void>();
  return {
    notify: () => {
      for (const check of waiting) check();
    },
    until: async (isMet, what, state) => {
      const missing = (): Error => new Error(`${what}: ${state?.() ?? "this did not happen"}`);
      if (steps.step !== undefined) {
        for (let taken = 0; !isMet(); taken++) {
          if (taken === MOST_STEPS) throw missing();
          await steps.step();
        }
        return;
      }
      if (isMet()) return;
      await new Promise<void>((resolve, reject) => {
        const end = (finish: () => void): void => {
          waiting.delete(check);
          clearTimeout(timer);
          finish();
        };
        const check = (): void => {
          try {
            if (isMet()) end(resolve);
          } catch (error) {
            end(() => {
              reject(error instanceof Error ? error : new Error(String(error)));
            });
          }
        };
        const timer = setTimeout(() => {
          end(() => {
            reject(missing());
          });
        }, timeoutMs);
        waiting.add(check);
      });
    },
  };
}
