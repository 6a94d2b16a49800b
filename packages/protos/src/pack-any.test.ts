import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { packAny } from "./index.ts";
import { RouterSchema } from "./resources/router.ts";

it("packs the fields of a message under its type URL", () => {
  const any = packAny(RouterSchema, { suppressEnvoyHeaders: true });
  expect(any.typeUrl).toBe("type.googleapis.com/envoy.extensions.filters.http.router.v3.Router");
  expect(anyUnpack(any, RouterSchema)?.suppressEnvoyHeaders).toBe(true);
});
