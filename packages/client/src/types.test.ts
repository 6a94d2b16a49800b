import { type Duration, DurationSchema } from "@bufbuild/protobuf/wkt";
import { describe, expectTypeOf, it } from "vitest";

import { flag } from "../test/use-script.ts";
import type {
  Client,
  Member,
  Snapshot,
  ValueOf,
  Watch,
  WatchedType,
  WatchOptions,
} from "./index.ts";

describe("the types of a client", () => {
  it("know of a schema its message, and of a type of one's own what it decodes", () => {
    expectTypeOf<ValueOf<typeof DurationSchema>>().toEqualTypeOf<Duration>();
    expectTypeOf<ValueOf<WatchedType<string>>>().toEqualTypeOf<string>();
  });

  it("need no cast in loops, calls, checks and collections", () => {
    const look = async (client: Client): Promise<void> => {
      for await (const { value, error } of client.watch(DurationSchema, "a")) {
        expectTypeOf(value).toEqualTypeOf<Duration | undefined>();
        expectTypeOf(error?.code).toExtend<string | undefined>();
      }
      client.watch(DurationSchema, "a", {
        onChanged: ({ value }) => {
          expectTypeOf(value).toEqualTypeOf<Duration | undefined>();
        },
        onAmbientError: (error) => {
          expectTypeOf(error?.message).toEqualTypeOf<string | undefined>();
        },
        validate: ({ seconds }) => (seconds > 1n ? "too long" : undefined),
      });
      expectTypeOf((await client.read(flag, "a")).value).toEqualTypeOf<string>();
      for await (const { added } of client.watchAll(flag, "*"))
        expectTypeOf(added).toEqualTypeOf<readonly Member<string>[]>();
      expectTypeOf(client.watch(flag, "a")).toEqualTypeOf<Watch<Snapshot<string>>>();
      for await (const { value } of client.watch(flag, "a", { default: "off" }))
        expectTypeOf(value).toEqualTypeOf<string>();
      // @ts-expect-error A default is a value of the type.
      client.watch(flag, "a", { default: 1 });
    };
    expectTypeOf(look).toBeFunction();
    expectTypeOf<{ readonly signal?: AbortSignal }>().toExtend<WatchOptions<string>>();
  });
});
