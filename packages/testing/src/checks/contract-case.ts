/** The result of a case on one implementation. */
export type CaseResult =
  | { readonly kind: "passed" }
  | {
      readonly kind: "failed";
      /** Says what was expected, and what happened instead. */
      readonly error: Error;
    }
  | {
      readonly kind: "skipped";
      /** Says why the case does not concern the implementation: it lacks an optional member. */
      readonly reason: string;
    };

/** The part of the context of a test that a case uses. `node:test` and Vitest pass such a context. */
export interface SkippableTest {
  /** Marks the test as skipped. May throw, as that of Vitest does. */
  skip(reason: string): unknown;
}

/**
 * One requirement of a contract, checked on one implementation. Any test runner can run it:
 * `for (const { title, run } of checkByteStream(make)) test(title, run)`.
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
  /** Checks the requirement on a new instance. Never rejects. */
  readonly check: () => Promise<CaseResult>;
  /**
   * Checks the requirement as a test of a runner. Rejects with the error of a failed case. A skipped
   * case calls `skip` of the context that the runner passes. Without a context it rejects too, so
   * that a case which does not run is never counted as passed.
   */
  readonly run: (test?: SkippableTest) => Promise<void>;
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
  /**
   * Checks the requirement. Rejects if the implementation does not meet it. Returns the reason if the
   * case does not concern it.
   */
  readonly check: (place: Place) => Promise<string | undefined>;
}

const withoutContext: SkippableTest = {
  skip(reason) {
    throw new Error(`the case was skipped: ${reason}; pass a context with "skip", or call check()`);
  },
};

/** Binds a case to an implementation. `call` creates a new instance, and calls `check` with it. */
export function bindCase<Place>(
  { name, rules, check: checkPlace }: CaseOf<Place>,
  call: (check: CaseOf<Place>["check"]) => Promise<string | undefined>,
): ContractCase {
  const title = rules.length === 0 ? name : `${name} [${rules.join(", ")}]`;
  const check = async (): Promise<CaseResult> => {
    try {
      const reason = await call(checkPlace);
      return reason === undefined ? { kind: "passed" } : { kind: "skipped", reason };
    } catch (error) {
      return { kind: "failed", error: error instanceof Error ? error : new Error(String(error)) };
    }
  };
  return {
    name,
    rules,
    title,
    check,
    // Jest waits for a callback if a test has a parameter without a default.
    run: async (test = withoutContext) => {
      const result = await check();
      if (result.kind === "failed") throw result.error;
      if (result.kind === "skipped") test.skip(result.reason);
    },
  };
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
