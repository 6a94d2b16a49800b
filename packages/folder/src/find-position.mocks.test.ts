import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { expect, it, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { useFolder } from "../test/use-folder.ts";
import { checkFolder } from "./check-folder.ts";

vi.mock(import("yaml"), { spy: true });

it("parses a text once for the positions of all its violations", async () => {
  const endpoint = `  - endpoint: { address: { socket_address: { address: a, port_value: 70000 } } }\n`;
  const { dir } = await useFolder({
    "_opaque/endpoints/web.yaml": `endpoints:\n- lb_endpoints:\n${endpoint.repeat(20)}`,
  });
  const before = vi.mocked(parseAllDocuments).mock.calls.length;
  const { problems } = await checkFolder({ dir, registry: envoyRegistry() });
  expect(problems).toHaveLength(20);
  expect(problems.at(-1)).toMatchObject({
    file: join(dir, "_opaque/endpoints/web.yaml"),
    line: 22,
  });
  // The text is parsed once for the content and once for the positions.
  expect(vi.mocked(parseAllDocuments).mock.calls.length - before).toBeLessThanOrEqual(2);
});
