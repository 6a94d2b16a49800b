import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { rolldown } from "rolldown";
import { expect, it } from "vitest";

it("is at most 20 KB compressed without messages, and needs nothing of Node", async () => {
  const bundle = await rolldown({
    input: join(import.meta.dirname, "index.ts"),
    platform: "browser",
    resolve: { conditionNames: ["@xdstp/source", "browser", "import", "default"] },
    external: ["@bufbuild/protobuf"],
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  const [{ code, imports }] = output;
  expect(imports).toEqual(["@bufbuild/protobuf"]);
  const size = gzipSync(code).length;
  console.log(`@xdstp/web: ${size} bytes compressed, ${code.length} minified`);
  expect(size).toBeLessThanOrEqual(20_000);
});
