import { describe, expect, test } from "vitest";
import { parseOptions, usage } from "./options.ts";

const known = ["fan-out-1000", "fan-out-10000", "uri"];

describe("parseOptions()", () => {
  test("runs everything as a table where nothing is said", () => {
    expect(parseOptions([], known)).toEqual({ json: false, quick: false, help: false, cases: [] });
  });

  test("takes cases by name or by the beginning of it, behind the -- of a package manager", () => {
    expect(
      parseOptions(["--", "--quick", "--json", "--case", "fan-out", "--case=uri"], known),
    ).toEqual({ json: true, quick: true, help: false, cases: ["fan-out", "uri"] });
  });

  test("names the cases where one is unknown, and rejects other options", () => {
    expect(() => parseOptions(["--case", "fanout"], known)).toThrow(
      'there is no case "fanout"; the cases are fan-out-1000, fan-out-10000, uri',
    );
    expect(() => parseOptions(["--fast"], known)).toThrow("--fast");
  });
});

describe("usage()", () => {
  test("names every case", () => {
    for (const name of known) expect(usage(known)).toContain(name);
  });
});
