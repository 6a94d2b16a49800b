import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";

/** Bytes, compressed, without messages and the reader of protobuf. */
const entries = [
  { name: "@xdstp/web", file: "index.ts", atMost: 10_500 },
  // It has the client of the delta variant.
  { name: "@xdstp/web/websocket", file: "websocket/index.ts", atMost: 20_000 },
];

describe.each(entries)("$name", ({ name, file, atMost }) => {
  it(`is at most ${atMost} bytes compressed without messages, and needs nothing of Node`, async () => {
    const bundle = await rolldown({
      input: join(import.meta.dirname, file),
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
    console.log(`${name}: ${size} bytes compressed, ${code.length} minified`);
    expect(size).toBeLessThanOrEqual(atMost);
  });
});
