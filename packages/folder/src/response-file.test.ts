import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { readResponseFile } from "./response-file.ts";

const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const read = (file: string, text: string) =>
  readResponseFile(file, new TextEncoder().encode(text), envoyRegistry());
const problemOf = (file: string, text: string) => {
  const result = read(file, text);
  return "problem" in result ? result.problem : undefined;
};

describe("readResponseFile()", () => {
  it("knows the lines of resources in YAML and JSON, and of no others", () => {
    const yaml = read(
      "a.yaml",
      `resources:\n- "@type": ${clusters}\n  name: a\n- "@type": ${clusters}\n`,
    );
    if ("problem" in yaml) throw new Error(yaml.problem.message);
    expect([0, 1, 2, -1].map(yaml.lineOf)).toEqual([2, 4, undefined, undefined]);
    const text = read("a.pb_text", `resources { [${clusters}] { name: "a" } }`);
    expect("problem" in text ? text.problem : text.lineOf(0)).toBeUndefined();
  });

  it.each([
    ["a.yaml", "resources:\n  - [\n", { line: 3, code: "syntax" }],
    ["a.json", '{\n"resources": ]', { line: 2, code: "syntax" }],
    ["a.pb_text", "resources {", { code: "syntax" }],
    ["a.pb", "\n\x05", { code: "syntax" }],
    ["a.yaml", "- 1\n", { code: "not-a-message", line: 1 }],
    ["a.yaml", `"@type": ${clusters}\nname: web\n`, { code: "wrong-type", line: 1 }],
    ["a.yaml", "resources:\n- name: web\n", { line: 2 }],
    [
      "a.yaml",
      `resources:\n- "@type": ${clusters}\n  nam: web\n`,
      { line: 3, code: "unknown-field" },
    ],
    [
      "a.yaml",
      `resources:\n- "@type": type.googleapis.com/no.Such\n`,
      { line: 2, code: "unknown-type" },
    ],
    ["a.yaml", "", { code: "empty-file" }],
    ["a.pb", "", { code: "empty-file" }],
    ["a.yaml", "\uFEFF# nothing\n", { code: "empty-file" }],
  ])("reports a problem of %s: %j", (file, text, problem) => {
    expect(problemOf(file, text)).toMatchObject({ file, ...problem });
  });

  it("shows no value of a text that is not a response, since it may be a secret", () => {
    const secret = `resources {\n [type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret] { name: hunter2 } }`;
    expect(problemOf("sds.pb_text", secret)?.message).not.toContain("hunter2");
  });

  it("has equal versions for equal content, whatever the order of its keys", () => {
    const versionOf = (text: string) => {
      const result = read("a.yaml", text);
      return "problem" in result ? undefined : result.response.versionInfo;
    };
    const one = versionOf(`resources: [{ "@type": ${clusters}, name: a, alt_stat_name: b }]`);
    expect(versionOf(`resources: [{ alt_stat_name: b, name: a, "@type": ${clusters} }]`)).toBe(one);
    expect(versionOf(`resources: [{ "@type": ${clusters}, name: b }]`)).not.toBe(one);
  });
});
