import type { Settings } from "./rule-settings.ts";
import type { ValueCheck } from "./value-rules.ts";
import { all, listCheck, rangeCheck } from "./value-rules.ts";

/** The seconds and nanoseconds of a Duration or a Timestamp. */
interface Span {
  readonly seconds?: bigint | undefined;
  readonly nanos?: number | undefined;
}

/** Returns the check of a `google.protobuf.Duration` that is set. */
export function durationCheck(rules: Settings): ValueCheck | undefined {
  const check = all(
    equalCheck("duration", rules),
    rangeCheck("duration", rules, nanosOf, durationText),
    listCheck("duration", rules, durationText, nanosOf),
  );
  return check === undefined
    ? undefined
    : onlyValid("duration", isDuration, "must be a duration of at most 10,000 years", check);
}

/**
 * Returns the check of a `google.protobuf.Timestamp` that is set. `now` returns the current time in
 * milliseconds.
 */
export function timestampCheck(rules: Settings, now: () => number): ValueCheck | undefined {
  const check = all(
    equalCheck("timestamp", rules),
    rangeCheck("timestamp", rules, nanosOf, timestampText),
    nowCheck(rules, now),
  );
  return check === undefined
    ? undefined
    : onlyValid("timestamp", isTimestamp, "must be a time of the years 1 to 9999", check);
}

function onlyValid(
  kind: string,
  isValid: (span: Span) => boolean,
  message: string,
  check: ValueCheck,
): ValueCheck {
  return (value, report) => {
    if (isValid(value as Span)) check(value, report);
    else report(`${kind}.valid`, message);
  };
}

function nanosOf(value: unknown): bigint {
  const { seconds = 0n, nanos = 0 } = value as Span;
  return seconds * 1_000_000_000n + BigInt(nanos);
}

function isDuration({ seconds = 0n, nanos = 0 }: Span): boolean {
  const most = 315_576_000_000n;
  return (
    seconds >= -most &&
    seconds <= most &&
    Math.abs(nanos) < 1_000_000_000 &&
    (seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0)
  );
}

function isTimestamp({ seconds = 0n, nanos = 0 }: Span): boolean {
  return (
    seconds >= -62_135_596_800n &&
    seconds <= 253_402_300_799n &&
    nanos >= 0 &&
    nanos < 1_000_000_000
  );
}

function equalCheck(kind: string, rules: Settings): ValueCheck | undefined {
  if (rules.const === undefined) return undefined;
  const only = nanosOf(rules.const);
  const text = kind === "duration" ? durationText(rules.const) : timestampText(rules.const);
  return (value, report) => {
    if (nanosOf(value) !== only) report(`${kind}.const`, `must be ${text}`);
  };
}

function nowCheck(rules: Settings, now: () => number): ValueCheck | undefined {
  if (["lt", "lte", "gt", "gte"].some((limit) => rules[limit] !== undefined)) return undefined;
  const within = rules.within === undefined ? undefined : nanosOf(rules.within);
  const near = rules.within === undefined ? "" : `, by at most ${durationText(rules.within)}`;
  const [isBefore, isAfter] = [
    rules.lt_now === true,
    rules.gt_now === true && rules.lt_now !== true,
  ];
  if (!isBefore && !isAfter && within === undefined) return undefined;
  return (value, report) => {
    const late = nanosOf(value) - BigInt(Math.round(now() * 1000)) * 1000n;
    const isFar = within !== undefined && (late < -within || late > within);
    if (isBefore && (late >= 0n || isFar)) report("timestamp.lt_now", `must be in the past${near}`);
    else if (isAfter && (late <= 0n || isFar))
      report("timestamp.gt_now", `must be in the future${near}`);
    else if (!isBefore && !isAfter && isFar) report("timestamp.within", `must be now${near}`);
  };
}

/** Returns a duration as JSON spells it: `0.001s`. */
function durationText(value: unknown): string {
  const nanos = nanosOf(value);
  const [sign, size] = nanos < 0n ? ["-", -nanos] : ["", nanos];
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, "0")
    .replace(/0+$/u, "");
  return `${sign}${size / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}s`;
}

function timestampText(value: unknown): string {
  return new Date(Number(nanosOf(value) / 1_000_000n)).toISOString();
}
