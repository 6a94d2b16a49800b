import { XdsError } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { FollowedName } from "./followed-name.ts";
import { FollowedNames } from "./followed-names.ts";

const typeUrl = "type.googleapis.com/acme.v1.Flag";
const outage = new XdsError("UNAVAILABLE", "the server cannot be reached");
const late = new XdsError("UNAVAILABLE", "the server has not sent it");

/** Follows names, and notes the error of each state that their followers receive. */
function useNames(...all: readonly string[]): {
  readonly names: FollowedNames;
  readonly errors: readonly string[];
} {
  const names = new FollowedNames();
  const errors: string[] = [];
  for (const name of all)
    names.add(
      new FollowedName({
        clock: createFakeClock(),
        typeUrl,
        name,
        follower: {
          onState: (state) => errors.push(`${name}: ${state.error?.text ?? "none"}`),
          onConfirmed: () => undefined,
          check: () => undefined,
        },
        outage: () => names.outage,
        onClose: () => undefined,
      }),
    );
  return { names, errors };
}

describe("FollowedNames", () => {
  it("shows an outage with each name, after the error of that name alone", async () => {
    const { names, errors } = useNames("dark", "beta");
    names.unavailable({ typeUrl, interest: { name: "dark" } }, late);
    names.unavailable({}, outage);
    await Promise.resolve();
    expect(errors).toEqual([`dark: ${late.text}`, `beta: ${outage.text}`]);
  });

  it("ends the errors of single names with an outage, since the feed reports again those that remain", async () => {
    const { names, errors } = useNames("dark", "beta");
    for (const name of ["dark", "beta"]) names.unavailable({ typeUrl, interest: { name } }, late);
    names.unavailable({}, outage);
    names.unavailable({}, undefined);
    names.unavailable({ typeUrl, interest: { name: "beta" } }, late);
    await Promise.resolve();
    expect(errors).toEqual(["dark: none", `beta: ${late.text}`]);
  });
});
