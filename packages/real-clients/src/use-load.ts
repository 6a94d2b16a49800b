import { expect, onTestFinished } from "vitest";
import { patienceMs } from "./until.ts";

/** Calls at a fixed rate, whatever the results of earlier calls. */
export interface Load {
  /** Every call that was not success, with the moment and the reason; it grows. */
  readonly failures: readonly string[];
  /** Resolves with the first call that begins from now on and has this answer. Rejects after {@link patienceMs}. */
  answeredBy(answer: string): Promise<void>;
  /** Resolves when this number of further calls is over. */
  more(calls: number): Promise<void>;
  /** Begins no more calls, waits for those under way, prints what was sent and failed. Fails the test if a call failed, or less than 90 % was sent. */
  finish(): Promise<void>;
}

/** The options of {@link useLoad}. */
export interface LoadOptions {
  /** For the line that is printed at the end. */
  readonly name: string;
  /** Default: 200. */
  readonly perSecond?: number;
  /** Returns lines that explain a failure: the newest events of the server, for example. */
  readonly trace?: () => readonly string[];
}

/** A call that is later than this was not sent: it counts as meant, and nothing else. */
const lateMs = 1000;
const tickMs = 5;

interface Waiting {
  /** The number of the first call that counts. */
  readonly from: number;
  /** Absent: every answer counts. */
  readonly answer: string | undefined;
  left: number;
  done(): void;
}

/**
 * Begins a call each 1/`perSecond` of a second by the clock, also while others are unanswered. The call gives its answer, or throws.
 * So a pause of who is called, or of the caller, does not make the load smaller that was meant to be sent.
 */
export function useLoad(
  call: () => Promise<string>,
  { name, perSecond = 200, trace = () => [] }: LoadOptions,
): Load {
  const begun = performance.now();
  const failures: string[] = [];
  const waits = new Set<Waiting>();
  const last: string[] = [];
  let [meant, sent, over, slowestMs] = [0, 0, 0, 0];
  let [idle, ended] = [(): void => undefined, 0];
  const settle = (number: number, answer: string | undefined, from: number): void => {
    over++;
    slowestMs = Math.max(slowestMs, performance.now() - from);
    last.push(answer ?? "failed");
    if (last.length > 5) last.shift();
    for (const wait of waits)
      if (number >= wait.from && (wait.answer ?? answer) === answer && --wait.left <= 0)
        wait.done();
    if (over === sent) idle();
  };
  const begin = (): void => {
    const [number, from] = [sent++, performance.now()];
    call().then(
      (answer) => {
        settle(number, answer, from);
      },
      (error: unknown) => {
        failures.push(
          `${stamp()} ${String(error)} (begun ${Math.round(performance.now() - from)} ms before)${["", ...(failures.length < 3 ? trace() : [])].join("\n  ")}`,
        );
        settle(number, undefined, from);
      },
    );
  };
  const timer = setInterval(() => {
    const now = performance.now() - begun;
    for (; meant <= Math.floor((now * perSecond) / 1000); meant++)
      if (now - (meant * 1000) / perSecond <= lateMs) begin();
  }, tickMs);
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    ended ||= performance.now();
    if (over < sent)
      await new Promise<void>((resolve) => {
        idle = resolve;
      });
  };
  const wait = (calls: number, answer: string | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(late);
        waits.delete(waiting);
      };
      const waiting: Waiting = {
        from: answer === undefined ? 0 : sent,
        answer,
        left: calls,
        done: () => {
          end();
          resolve();
        },
      };
      const late = setTimeout(() => {
        end();
        reject(
          new Error(
            `${calls} answers ${answer === undefined ? "" : `by ${answer} `}did not come; last seen: ${last.join()}; failed: ${failures.length}${["", ...failures.slice(0, 3), ...trace()].join("\n")}`,
          ),
        );
      }, patienceMs);
      waits.add(waiting);
    });
  onTestFinished(stop);
  return {
    failures,
    answeredBy: (answer) => wait(1, answer),
    more: (calls) => wait(calls, undefined),
    async finish() {
      await stop();
      console.log(
        `load: ${name}: ${sent} requests sent of ${meant} meant in ${((ended - begun) / 1000).toFixed(1)} s, ${failures.length} failed, slowest ${Math.round(slowestMs)} ms`,
      );
      expect(failures.slice(0, 3)).toEqual([]);
      expect(sent / meant, "the part of the load that was sent").toBeGreaterThan(0.9);
    },
  };
}

function stamp(): string {
  return new Date().toISOString().slice(11, 23);
}
