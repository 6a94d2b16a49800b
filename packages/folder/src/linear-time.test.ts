import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { readFolder } from "./read-folder.ts";

/** The time limit in milliseconds. Each file takes a small part of it. A reader whose time grows with the square of the file's size takes several times as long. */
const bound = 5_000;

const blank = "\n".repeat(200_000);
const web = "_opaque/secrets/web";

/** Hostile files, and the beginning of the message about each. */
const hostile: readonly (readonly [what: string, file: string, text: string, message: string])[] = [
  ["blank lines in text format", "a/clusters/x.txtpb", `type: NONE${blank}`, "is not a valid"],
  [
    "certificates without an end",
    `${web}/ca.crt`,
    "-----BEGIN CERTIFICATE-----\n".repeat(40_000),
    "holds no certificate",
  ],
  [
    "blank lines in a secret that names a file",
    `${web}.yaml`,
    `validation_context: {trusted_ca: {filename: x}}${blank}`,
    "validation_context.trusted_ca.filename:",
  ],
];

describe("readFolder() of hostile files", () => {
  it.each(hostile)(
    "does not take the square of their size: %s",
    async (_, file, text, message) => {
      const { dir } = await useFolder({ [file]: text });
      const start = performance.now();
      const { problems } = await readFolder({ dir, registry: envoyRegistry() });
      expect(performance.now() - start).toBeLessThan(bound);
      expect(problems[0]?.message.slice(0, message.length)).toBe(message);
    },
    300_000,
  );
});
